"""Scrub: redacts what is already stored, by the current rules. It can be repeated safely.

A rule that was added later finds secrets that were missed when the text was stored. Besides purge, this is the only
place that changes stored text, because a secret must not survive in an old version, a tag, a summary or a reason. The
record of what changed does not contain the secret.

A row that does not match its hash is scrubbed as well, because a secret in it is still a secret. The row does not match
its hash afterwards either, so the doctor still reports it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TypeVar

from picomem.coded_text import rewritten
from picomem.light_dataclass import dataclass, field, replace
from picomem.policy.redact import Redactor, redact_json
from picomem.records.episode import Episode, Transcript
from picomem.records.memory import Change, Memory
from picomem.records.scope import Scope
from picomem.sessions.pairs import safe_name
from picomem.store import full_text
from picomem.store.connector import Connector, Transaction, erasing
from picomem.store.tables import (
    audit,
    consolidations,
    episodes,
    index_page_rows,
    memories,
    session_rows,
    tombstones,
    transcript_rows,
    users,
    vector_rows,
)
from picomem.store.tables.consolidations import RunText
from picomem.store.tables.session_rows import MessageText, SessionText, SummaryText
from picomem.store.unchecked_rows import Stored
from picomem.text.tokens import count_tokens

T = TypeVar("T")


@dataclass(slots=True)
class Scrubbed:
    """The result of a scrub: rows checked, rows with a secret in them, those that do not match their hash, and the
    secrets by rule. `unfinished` says why old text may still stand in the file, or its log; `left` names exported
    pages to check by hand; `out_of_reach` says where copies stay that no scrub reaches, empty if nowhere."""

    rows: int = 0
    changed: int = 0
    damaged: int = 0
    findings: dict[str, int] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    out_of_reach: str = ""
    unfinished: str = ""


def scrub(
    connector: Connector, scope: Scope, redactor: Redactor, *, dry_run: bool, store_vector: Callable | None
) -> Scrubbed:
    """Redact every memory version, episode, title of a transcript, change and conversation of a user; in one
    transaction, of everyone, because full text of a damaged row is made anew with that of all users."""
    with connector.write(erasing(connector, scope)) if not dry_run else connector.read() as tx:
        scrubbing = _Scrubbing(tx, scope, redactor, dry_run, store_vector)
        scrubbing.every_row()
        for source in sorted(scrubbing.to_rebuild):
            full_text.rebuild(tx, users.scopes(tx), source)
        if not dry_run and scrubbing.result.changed:
            index_page_rows.forget(tx, scope)
            if not tombstones.marks(tx, scope):  # what it takes out leaves traces as what is purged does
                tombstones.begin(tx, scope, everything=False)
    return scrubbing.result


@dataclass(slots=True)
class _Scrubbing:
    """One scrub on its way through the rows."""

    tx: Transaction
    scope: Scope
    redactor: Redactor
    dry_run: bool
    store_vector: Callable | None
    result: Scrubbed = field(default_factory=Scrubbed)
    to_rebuild: set[str] = field(default_factory=set)  # sources with a row whose full text was made from other words

    def every_row(self) -> None:
        self._redact_rows(memories.stored_versions, self.memory)
        self._redact_rows(episodes.stored_episodes, self.episode)
        self._redact_rows(transcript_rows.stored_transcripts, self.transcript)
        self._redact_rows(audit.stored_changes, self.change)
        self._redact_rows(session_rows.stored_sessions, self.session)
        self._redact_rows(session_rows.stored_messages, self.message)
        self._redact_rows(session_rows.stored_summaries, self.summary)
        self._redact_rows(consolidations.stored_runs, self.consolidation)

    def _redact_rows(self, stored: Callable[[Transaction, Scope], Iterable[T]], redact: Callable[[T], None]) -> None:
        for row in stored(self.tx, self.scope):
            redact(row)

    def memory(self, version: Stored[Memory]) -> None:
        old = version.record
        new = replace(
            old,
            content=self._redacted(old.content),
            context=self._redacted(old.context),
            tags=tuple(map(self._redacted, old.tags)),
            related=tuple(map(self._redacted, old.related)),
            path=self._redacted(old.path),
        )
        if not self._to_write(new != old, version.is_whole):
            return
        memories.rewrite_text(self.tx, version, replace(new, tokens=count_tokens(new.content)))
        if version.is_whole:
            memories.reindex(self.tx, old, new)
        else:
            self.to_rebuild.add("memory")
        if new.content != old.content and old.searchable:
            vector_rows.remove(self.tx, self.scope, "memory", old.doc)
            if self.store_vector:
                self.store_vector(self.tx, self.scope, "memory", old.doc, new.content)

    def episode(self, stored: Stored[Episode]) -> None:
        old = stored.record
        preview, summary = self._redacted(old.preview), self._redacted(old.summary)
        actions = "\n".join(map(self._redacted, old.actions.splitlines()))
        outcomes = "\n".join(map(self._redacted, old.outcomes.splitlines()))
        suggested = "\n".join(map(self._redacted, old.suggested.splitlines()))
        texts = {"preview": preview, "summary": summary, "actions": actions, "outcomes": outcomes}
        texts["suggested"] = suggested if preview == old.preview else ""  # else the places are others now
        new = replace(old, **texts, tags=tuple(map(self._redacted, old.tags)), tokens=count_tokens(preview))
        is_changed = new != replace(old, tokens=new.tokens)
        if not self._to_write(is_changed, stored.is_whole):
            return
        episodes.rewrite_text(self.tx, self.scope, new)
        if stored.is_whole:
            episodes.reindex(self.tx, self.scope, old, new)
        else:
            self.to_rebuild.add("episode")
        vector_rows.remove(self.tx, self.scope, "episode", old.doc)
        if self.store_vector:
            self.store_vector(self.tx, self.scope, "episode", old.doc, episodes.meaning_of(new))

    def transcript(self, stored: Stored[Transcript]) -> None:
        old = stored.record
        new = replace(old, title=self._redacted(old.title))
        if self._to_write(new != old, stored.is_whole):
            transcript_rows.retitle_transcript(self.tx, self.scope, new)

    def change(self, stored: Stored[Change]) -> None:
        old = stored.record
        new = replace(old, reason=rewritten(old.reason, self._redacted), candidate=self._redacted(old.candidate))
        if self._to_write(new != old, stored.is_whole):
            audit.rewrite_text(self.tx, self.scope, new)

    def session(self, stored: Stored[SessionText]) -> None:
        old = stored.record
        new = old._replace(title=self._redacted(old.title), channel_id=self._redacted(old.channel_id))
        if self._to_write(new != old, stored.is_whole):
            session_rows.rewrite_text(self.tx, self.scope, new)

    def message(self, stored: Stored[MessageText]) -> None:
        old = stored.record
        content, calls = self._redacted(old.content), self._calls(old.tool_calls)
        answered = safe_name(old.tool_call_id, self._redacted)
        is_changed = (content, calls, answered) != (old.content, old.tool_calls, old.tool_call_id)
        if not self._to_write(is_changed, stored.is_whole):
            return
        grown_by = count_tokens(content) - count_tokens(old.content)
        grown_by += count_tokens(calls) - count_tokens(old.tool_calls)
        new = old._replace(
            content=content, tool_calls=calls, tool_call_id=answered, tokens=max(1, old.tokens + grown_by)
        )
        session_rows.rewrite_message(self.tx, self.scope, new)

    def summary(self, stored: Stored[SummaryText]) -> None:
        old = stored.record
        new = old._replace(text=self._redacted(old.text))
        if self._to_write(new != old, stored.is_whole):
            session_rows.rewrite_summary(self.tx, self.scope, new)

    def consolidation(self, stored: Stored[RunText]) -> None:
        """The summary that stood there before a run, and an entry that it removed: JSON, so the texts in it are
        redacted by themselves."""
        old = stored.record
        new = old._replace(summary=self._within(old.summary, "text"), episodes=self._within(old.episodes, "preview"))
        if self._to_write(new != old, stored.is_whole):
            consolidations.rewrite_text(self.tx, self.scope, new)

    def _within(self, stored: str, name: str) -> str:
        """JSON in which the texts of that name are redacted; what cannot be read, as a text."""
        try:
            parsed = json.loads(stored) if stored else []
            for entry in parsed if isinstance(parsed, list) else [parsed]:
                if isinstance(entry, dict):
                    entry[name] = self._redacted(entry[name])
        except (ValueError, KeyError, TypeError):
            return self._redacted(stored)
        safe = json.dumps(parsed, ensure_ascii=False)
        return safe if stored and parsed != json.loads(stored) else stored

    def _calls(self, stored: str) -> str:
        """The calls of a message, with the names and the arguments of each redacted; what cannot be read, as a text."""
        try:
            calls = json.loads(stored)
            safe = [
                [
                    safe_name(id_, self._redacted),
                    safe_name(name, self._redacted),
                    redact_json(arguments, self._redacted),
                ]
                for id_, name, arguments in calls
            ]
        except (ValueError, TypeError):
            return self._redacted(stored)
        return stored if safe == calls else json.dumps(safe, ensure_ascii=False)

    def _to_write(self, differs: bool, whole: bool) -> bool:
        """Count a row; whether it is to be written anew."""
        self.result.rows += 1
        self.result.changed += differs
        self.result.damaged += not whole
        return differs and not self.dry_run

    def _redacted(self, text: str) -> str:
        result = self.redactor.redact(text)
        for finding in result.findings:
            self.result.findings[finding.rule] = self.result.findings.get(finding.rule, 0) + 1
        return result.text
