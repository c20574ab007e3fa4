"""What people are told of the sessions that hits come from: title, date and the files that were worked on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath, PureWindowsPath

from picomem.errors import Corrupt
from picomem.policy.redact import Redactor
from picomem.provenance.wrapping import without_wrapping
from picomem.records.episode import Transcript
from picomem.records.hit import Hit, HitSession
from picomem.records.kinds import Origin
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables import episodes, transcript_rows

LONGEST_TITLE = 80  # characters
MOST_FILES = 20  # of a session
# Lines of ingest/outcomes.py.
_CHANGED = r"(?:edited|wrote|deleted) (.+)"
_READ = r"read (.+)"


def hit_sessions(tx: Transaction, scope: Scope, hits: Iterable[Hit], redactor: Redactor) -> list[HitSession]:
    """The sessions of the hits, in the order of their first hits. A session whose record is gone or damaged is left
    out."""
    places = dict.fromkeys((hit.transcript, hit.session) for hit in hits)
    sessions: list[HitSession] = []
    for path, session in places:
        try:
            transcript = transcript_rows.transcript_at(tx, scope, path, session)
        except Corrupt:
            continue
        if transcript is not None:
            sessions.append(session_of(tx, scope, transcript, redactor))
    return sessions


def session_title(
    tx: Transaction, scope: Scope, transcript: Transcript, safe: Callable[[str], str]
) -> tuple[str, Origin]:
    """The title that the host gave a session, or else the first line of the first request, and where it came from."""
    first = None if transcript.title else episodes.first_request(tx, scope, transcript.id)
    # A host's title is made by a model, of words that anybody may have said.
    title, origin = (without_wrapping(first.preview), first.origin) if first else (transcript.title, Origin.AGENT)
    return _first_line(safe(title)), origin


def session_of(tx: Transaction, scope: Scope, transcript: Transcript, redactor: Redactor) -> HitSession:
    """What people are told of a session."""
    title, origin = session_title(tx, scope, transcript, lambda text: redactor.redact(text).text)
    actions = episodes.latest_actions(tx, scope, transcript.id)
    folder = _last_part(transcript.cwd)
    return HitSession(
        session=transcript.session,
        transcript=transcript.path,
        host=transcript.host,
        title=title,
        origin=origin,
        project=transcript.project,
        folder=folder if folder != transcript.project else "",
        started_at=transcript.started_at,
        files=tuple(redactor.redact(file).text for file in touched_files(actions)),
    )


def touched_files(actions: Iterable[str]) -> tuple[str, ...]:
    """The files that were changed by actions, or else the files that were read; each once."""
    lines = [line for some in actions for line in some.splitlines()]
    for shape in (_CHANGED, _READ):
        files = dict.fromkeys(match[1] for line in lines if (match := re.fullmatch(shape, line)))
        if files:
            return tuple(files)[:MOST_FILES]
    return ()


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1].rstrip() + "…"


def _last_part(cwd: str) -> str:
    return (PureWindowsPath(cwd) if "\\" in cwd else PurePosixPath(cwd)).name
