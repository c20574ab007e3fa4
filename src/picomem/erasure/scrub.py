"""Scrub: redact what is stored already, with the rules of today. Safe to run again and again.

A rule that is added later finds what it did not find when the text came in. This is the one place besides purge that
changes stored text: a secret must not survive in an old version, in a tag, in what a summary or a reason says. What it
changed is recorded without the secret.

A row that does not match its hash is scrubbed like any other, since a secret in it is no less a secret; it still does
not match afterwards, so the doctor still tells of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from picomem.policy.redact import Redactor
from picomem.records.ids import content_hash
from picomem.records.scope import Scope
from picomem.sessions.arguments import safe_arguments
from picomem.store import consolidations, episodes, memories, tombstones, vectors
from picomem.store.connector import Connector, Row, Transaction
from picomem.store.full_text import rebuild as rebuild_words
from picomem.store.legible import legible
from picomem.store.row_hash import is_whole
from picomem.text.tokens import count_tokens
from picomem.values import dataclass, field, replace


@dataclass(slots=True)
class Scrubbed:
    """What a scrub found: rows looked at, rows with a secret in them, those that do not match their hash, and the
    secrets by rule. `unfinished` says why old text may still stand in the file, or its log; `left` names exported pages
    that are to be looked at."""

    rows: int = 0
    changed: int = 0
    damaged: int = 0
    findings: dict[str, int] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    unfinished: str = ""


def scrub(
    connector: Connector, scope: Scope, redactor: Redactor, *, dry_run: bool, store_vector: Callable | None
) -> Scrubbed:
    """Redact every memory version, episode, title of a transcript, change and conversation of a user; in one
    transaction."""
    with connector.write() if not dry_run else connector.read() as tx:
        scrubbing = _Scrubbing(tx, scope, redactor, dry_run, store_vector)
        for name, table, scrub_row in (
            ("all_memories", "memories", scrubbing.memory),
            ("all_episodes", "episodes", scrubbing.episode),
            ("transcripts", "transcripts", scrubbing.transcript),
            ("whole_changes", "changes", scrubbing.change),
            ("all_sessions", "sessions", scrubbing.session),
            ("all_messages", "messages", scrubbing.message),
            ("all_summaries", "session_summaries", scrubbing.summary),
            ("all_consolidations", "consolidations", scrubbing.consolidation),
        ):
            for row in tx.all(name, user=scope.user):
                whole = is_whole(table, row)
                scrub_row(row if whole else legible(table, row), whole)
        for source in sorted(scrubbing.to_rebuild):
            rebuild_words(tx, [Scope(user) for (user,) in tx.all("users")], source)
        if not dry_run and scrubbing.result.changed:
            tx.run("forget_index_pages", user=scope.user)
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

    def memory(self, row: Row, whole: bool) -> None:
        old = memories.unchecked(row)
        new = replace(
            old,
            content=self._redacted(old.content),
            context=self._redacted(old.context),
            tags=tuple(map(self._redacted, old.tags)),
            related=tuple(map(self._redacted, old.related)),
        )
        if not self._to_write(new != old, whole):
            return
        self.tx.run(
            "rewrite_memory_text",
            user=self.scope.user,
            id=new.id,
            version=new.version,
            content=new.content,
            context=new.context,
            tags=_as_stored(old.tags, new.tags, row[12]),
            related=_as_stored(old.related, new.related, row[13]),
            tokens=count_tokens(new.content),
        )
        if whole:
            self.tx.run("memory_words_remove", doc=old.doc, **memories.words(old))
            self.tx.run("memory_words_add", doc=old.doc, **memories.words(new))
        else:
            self.to_rebuild.add("memory")
        if new.content != old.content:
            vectors.remove(self.tx, self.scope, "memory", old.doc)
        if self.store_vector and new.content != old.content:
            self.store_vector(self.tx, self.scope, "memory", old.doc, new.content)

    def episode(self, row: Row, whole: bool) -> None:
        old = episodes.unchecked(row)
        preview, summary = self._redacted(old.preview), self._redacted(old.summary)
        new = replace(old, preview=preview, summary=summary, tokens=count_tokens(preview))
        if not self._to_write((preview, summary) != (old.preview, old.summary), whole):
            return
        self.tx.run(
            "rewrite_episode_text",
            user=self.scope.user,
            id=old.id,
            preview=preview,
            summary=summary,
            tokens=new.tokens,
        )
        if whole:
            episodes.reindex(self.tx, self.scope, old, new)
        else:
            self.to_rebuild.add("episode")
        vectors.remove(self.tx, self.scope, "episode", old.doc)
        if self.store_vector:
            self.store_vector(self.tx, self.scope, "episode", old.doc, episodes.text_of(new))

    def transcript(self, row: Row, whole: bool) -> None:
        old = episodes.unchecked_transcript(row)
        new = replace(old, title=self._redacted(old.title))
        if self._to_write(new != old, whole):
            self.tx.run("retitle_transcript", user=self.scope.user, id=old.id, title=new.title)

    def change(self, row: Row, whole: bool) -> None:
        change_id, reason, candidate = row[0], row[6], row[10]
        safe = self._redacted(reason), self._redacted(candidate)
        if self._to_write(safe != (reason, candidate), whole):
            self.tx.run(
                "rewrite_change_text",
                user=self.scope.user,
                id=change_id,
                reason=safe[0],
                candidate=safe[1],
                content_hash=content_hash(*safe),
            )

    def session(self, row: Row, whole: bool) -> None:
        title, channel_id = self._redacted(row[5]), self._redacted(row[4])
        if self._to_write((title, channel_id) != (row[5], row[4]), whole):
            self.tx.run("rewrite_session_text", user=self.scope.user, id=row[0], title=title, channel_id=channel_id)

    def message(self, row: Row, whole: bool) -> None:
        content, calls = self._redacted(row[4]), self._calls(row[5])
        if not self._to_write((content, calls) != (row[4], row[5]), whole):
            return
        tokens = row[8] + count_tokens(content) - count_tokens(row[4]) + count_tokens(calls) - count_tokens(row[5])
        self.tx.run(
            "rewrite_message_text",
            user=self.scope.user,
            session_id=row[0],
            seq=row[1],
            content=content,
            tool_calls=calls,
            tokens=max(1, tokens),
        )

    def summary(self, row: Row, whole: bool) -> None:
        text = self._redacted(row[1])
        if self._to_write(text != row[1], whole):
            self.tx.run("rewrite_summary_text", user=self.scope.user, session_id=row[0], summary=text)

    def consolidation(self, row: Row, whole: bool) -> None:
        """The summary that stood there before a run, and an entry that it removed: JSON, so the texts in it are
        redacted by themselves."""
        safe = self._within(row[7], "text"), self._within(row[9], "preview")
        if self._to_write(safe != (row[7], row[9]), whole):
            consolidations.rewrite(self.tx, self.scope, row, *safe)

    def _within(self, stored: str, name: str) -> str:
        """JSON in which the texts of that name are redacted; what cannot be read, as a text."""
        try:
            found = json.loads(stored) if stored else []
            for each in found if isinstance(found, list) else [found]:
                if isinstance(each, dict):
                    each[name] = self._redacted(each[name])
        except (ValueError, KeyError, TypeError):
            return self._redacted(stored)
        safe = json.dumps(found, ensure_ascii=False)
        return safe if stored and found != json.loads(stored) else stored

    def _calls(self, stored: str) -> str:
        """The calls of a message, with the arguments of each redacted; what cannot be read, as a text."""
        try:
            calls = json.loads(stored)
            safe = [[id_, name, safe_arguments(arguments, self._redacted)] for id_, name, arguments in calls]
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
        found = self.redactor.redact(text)
        for finding in found.findings:
            self.result.findings[finding.rule] = self.result.findings.get(finding.rule, 0) + 1
        return found.text


def _as_stored(old: tuple[str, ...], new: tuple[str, ...], stored: str) -> str:
    """Names as a column; what could not be read as names stays what it is."""
    return stored if new == old else json.dumps(new, ensure_ascii=False)
