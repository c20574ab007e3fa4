"""A host's send policy: a session that its host may not send is withheld here as well.

A transcript is withheld from the moment at which its host's policy is read, and released when the host lists the
session as allowed. A person's decision stands: what they withheld stays so, and what they released although the host
denies it stays released until the host allows it itself. A policy that cannot be read changes nothing, and a transcript
that is new then is left for the next run, because nobody knows whether it may be shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from picomem.errors import InvalidInput
from picomem.ingest.discovery import FoundTranscript
from picomem.ingest.format import HostPolicy, SendPolicies, format_named, strictest
from picomem.ingest.report import Report
from picomem.ingest.source import is_database
from picomem.records.episode import BY_HOST, BY_PERSON, DENY, PRIVATE, Transcript
from picomem.records.scope import Scope
from picomem.store.connector import Connector, Transaction
from picomem.store.tables import transcript_rows
from picomem.store.tables.transcript_rows import TranscriptPolicy

_Place = tuple[str, Path]  # a host, and a folder of its transcripts or one of its databases


class HostPolicies:
    """The policies of the hosts of some transcripts, read once for a run of ingest."""

    def __init__(self, connector: Connector, scope: Scope, home: Path, env: Mapping[str, str]) -> None:
        self._connector = connector
        self._scope = scope
        self._home = home
        self._env = env
        self._places: dict[_Place, SendPolicies] = {}

    def settle(self, files: Iterable[FoundTranscript], report: Report) -> None:
        """Read what the hosts of these transcripts, with resolved paths, say now, and withhold or release what was read
        before."""
        self._places = {}
        for host, path in dict.fromkeys((file.format, _place(file.path)) for file in files if file.format):
            policies = format_named(host).send_policies(path, self._home, self._env)
            if policies is not None:
                self._places[host, path] = policies
                report.problems += [policies.problem] if policies.problem else []
        for host in dict.fromkeys(host for host, _ in self._places):
            self._settle(host, report)

    def first(self, tx: Transaction, transcript: Transcript) -> str | None:
        """Who withholds a transcript that is stored for the first time; None if nobody does. Raises InvalidInput where
        nobody knows yet."""
        decided = transcript_rows.withheld_by(tx, self._scope, transcript)
        if decided is not None:
            return decided
        if problem := self._problem(transcript.host, transcript.path):
            raise InvalidInput(problem)
        policy = self._policy(transcript.host, _policy_of(transcript))
        return BY_HOST if policy in (HostPolicy.DENY, HostPolicy.DOUBTFUL) else None

    def _settle(self, host: str, report: Report) -> None:
        places = [policies for (of, _), policies in self._places.items() if of == host]
        is_any_denied = any(
            policy is HostPolicy.DENY
            for policies in places
            for policy in (*policies.listed.values(), policies.unlisted)
        )
        with self._connector.read() as tx:
            known = transcript_rows.policies(tx, self._scope, host, decided_only=not is_any_denied)
        if not self._changes(host, known):
            return
        with self._connector.write(self._scope) as tx:
            known = transcript_rows.policies(tx, self._scope, host, decided_only=not is_any_denied)
            for before, (policy, by) in self._changes(host, known):
                transcript_rows.set_policy(tx, self._scope, before.id, policy, by)
                report.withheld += policy == DENY
                report.released += before.policy == DENY

    def _changes(
        self, host: str, known: Sequence[TranscriptPolicy]
    ) -> list[tuple[TranscriptPolicy, tuple[str, str | None]]]:
        decided = ((one, decide(one.policy, one.by, self._policy(host, one))) for one in known)
        return [(one, after) for one, after in decided if after != (one.policy, one.by)]

    def _policy(self, host: str, transcript: TranscriptPolicy) -> HostPolicy:
        """What a host says of a session and of the one that set it to work. A copy of a transcript is what the original
        is, wherever it lies."""
        names = {transcript.session, transcript.parent, _name_of(transcript.path)} - {""}
        of_host = [policies for (of, _), policies in self._places.items() if of == host]
        listed = [policies.listed[name] for policies in of_host for name in names if name in policies.listed]
        here = self._places.get((host, _place(Path(transcript.path))))
        return strictest(listed) if listed else here.unlisted if here else HostPolicy.UNKNOWN

    def _problem(self, host: str, path: str) -> str:
        here = self._places.get((host, _place(Path(path))))
        return here.problem if here else ""


def decide(policy: str, by: str | None, host: HostPolicy) -> tuple[str, str | None]:
    """The policy of a transcript that was read before, and who decided on it, when its host says this."""
    if by == BY_PERSON or (policy == DENY and by is None):  # withheld before anybody but a person could
        return (PRIVATE, None) if policy == PRIVATE and host is HostPolicy.ALLOW else (policy, by)
    if host is HostPolicy.DENY:
        return DENY, BY_HOST
    return (PRIVATE, None) if host is HostPolicy.ALLOW else (policy, by)


def _policy_of(transcript: Transcript) -> TranscriptPolicy:
    return TranscriptPolicy(
        id=transcript.id,
        path=transcript.path,
        session=transcript.session,
        parent=transcript.parent_session,
        policy=transcript.send_policy,
        by=transcript.policy_by,
    )


def _place(path: Path) -> Path:
    return path if is_database(path) else path.parent


def _name_of(path: str) -> str:
    """The session in the name of a file; a topic of a group has a file of its own."""
    file = Path(path)
    return "" if is_database(file) else file.name.partition(".jsonl")[0].partition("-topic-")[0]
