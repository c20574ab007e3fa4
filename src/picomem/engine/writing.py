"""The engine writes: remember, revise, forget, take over what others wrote, and take any of it back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from picomem.clock import Micros
from picomem.engine.reading import Reading
from picomem.errors import Conflict, NotFound, Refused
from picomem.memory.arguments import chosen, importance_of
from picomem.records.kinds import Decision, Kind, Origin, Priority
from picomem.records.memory import Change, Memory
from picomem.records.scope import Scope
from picomem.store import episodes
from picomem.store.connector import Transaction
from picomem.values import replace

if TYPE_CHECKING:
    from pathlib import Path

    from picomem.history.undo import Undone
    from picomem.ingest.ingest import Ingest
    from picomem.ingest.places import Place
    from picomem.ingest.report import Progress, Report
    from picomem.ingest.storing import Asked
    from picomem.memory.migrate import Entry
    from picomem.memory.remember import Remembered


class Writing(Reading):
    """Each method is one transaction, or one for each file; what was decided is a change on record."""

    def remember(
        self,
        content: str,
        *,
        kind: Kind | str | None = None,
        key: str = "",
        context: str = "",
        importance: float | None = None,
        priority: Priority | str | None = None,
        tags: Sequence[str] = (),
        related: Sequence[str] = (),
        pinned: bool = False,
        expires: Micros | str | None = None,
        since: Micros | str | None = None,
        origin: Origin | str = Origin.USER,
        scope: Scope | None = None,
    ) -> Remembered:
        """Store something: through redaction, the gate and the match with what is known.

        Raises InvalidInput or InvalidKey for a bad argument, and Refused, with the gate's reason, when it is not
        kept; the refusal is on record (`data["change_id"]`).
        """
        from picomem.memory.decide import Offer
        from picomem.text.keys import check_key, suggest_key

        what = chosen(Kind, kind or Kind.FACT, "kind")
        source = chosen(Origin, origin, "origin")
        clean = self._cleaner()
        content = clean.text(content)
        offer = Offer(
            scope=self._owner(scope),
            content=content,
            kind=what,
            key=check_key(key) if key else suggest_key(content, what.value),
            key_given=bool(key),
            kind_given=kind is not None,
            importance_given=importance is not None or priority is not None,
            # What a person asks for themselves is kept, chatter or not; an agent's offer must be worth it.
            explicit=source is Origin.USER,
            context=clean.text(context),
            importance=importance_of(importance, priority),
            pinned=pinned,
            tags=clean.names(tags, "tag"),
            related=clean.names(related, "related entry"),
            origin=source,
            expires_at=self._expiry(expires),
            valid_from=self._time(since),
        )
        persons = [] if source is Origin.USER else self._persons()
        with self._connector.write() as tx:
            result = self._writer("remember", said=persons).remember(tx, offer)
        self._settle()
        if result.decision is Decision.REFUSE:
            raise Refused(f"Not stored: {result.reason}", change_id=result.change_id, reason=result.reason)
        return result

    def revise(
        self,
        name: str,
        content: str | None = None,
        *,
        kind: Kind | str | None = None,
        context: str | None = None,
        importance: float | None = None,
        priority: Priority | str | None = None,
        tags: Sequence[str] | None = None,
        related: Sequence[str] | None = None,
        pinned: bool | None = None,
        expires: Micros | str | None = None,
        since: Micros | str | None = None,
        correct: bool = False,
        reason: str = "",
        origin: Origin | str = Origin.USER,
        scope: Scope | None = None,
    ) -> Memory:
        """Replace what is believed of a memory (its key, its id, or the beginning of one) by a new version.

        The new content holds from `since`, or from now; with `correct` it was always so. `expires` "never" takes an
        expiry away. `origin` says where the new text came from. Raises NotFound, Conflict, InvalidInput, or Refused
        where the gate says no.
        """
        from picomem.memory.naming import resolve
        from picomem.memory.revise import revised

        clean = self._cleaner()
        fields: dict[str, object] = {}
        if content is not None:
            fields["content"] = clean.text(content)
        if kind is not None:
            fields["kind"] = chosen(Kind, kind, "kind")
        if context is not None:
            fields["context"] = clean.text(context)
        if importance is not None or priority is not None:
            fields["importance"] = importance_of(importance, priority)
        if tags is not None:
            fields["tags"] = clean.names(tags, "tag")
        if related is not None:
            fields["related"] = clean.names(related, "related entry")
        if pinned is not None:
            fields["pinned"] = pinned
        if expires is not None:
            fields["expires_at"] = self._expiry(expires)
        source = chosen(Origin, origin, "origin")
        at = self._time(since)
        persons = [] if source is Origin.USER else self._persons()
        with self._connector.write() as tx:
            memory = resolve(tx, self._owner(scope), name)
            writer = self._writer("revise", said=persons)
            made = revised(tx, writer, memory, fields, source, at, correct, clean.text(reason))
        self._settle()
        return made

    def forget(self, name: str, *, reason: str = "", scope: Scope | None = None) -> Change:
        """Archive a memory: it is believed no longer, and `history` still shows it. Raises NotFound or Conflict, and
        Refused where an agent may not (see `acting_as`)."""
        from picomem.memory.naming import resolve

        persons = self._persons()

        def archive() -> Change:
            with self._connector.write() as tx:
                memory = resolve(tx, self._owner(scope), name)
                writer = self._writer("forget", said=persons)
                asked = writer.persons.ask_to_forget(memory.key, memory.content)
                if self.caller.is_agent and memory.is_a_persons and not asked:
                    raise Refused(
                        f"Not forgotten: the user {'stated' if memory.origin is Origin.USER else 'pinned'} "
                        f"“{memory.key}” and has not asked for this in their own words; ask them to say that it shall "
                        f"be forgotten, or to forget it in a terminal, as in “picomem forget {memory.key}”."
                    )
                return writer.forget(tx, self.scope, memory.id, self._cleaner().text(reason))

        return self._deleting(archive)

    def asked(self, said: str, *, kept: Sequence[str] = ()) -> list[Remembered]:
        """Take up what a person asks to be remembered in a message to their agent; what became of each request.

        `said` is the person's own text, and `kept` what the agent has stored itself. Each other request goes through
        the gate, as one that ingest finds does.
        """
        from picomem.ingest.storing import Asked
        from picomem.memory.proposals import is_met, offer_of
        from picomem.policy.requests import find_requests

        text = self._cleaner().text(said)
        found = [Asked(each, text, "", None, self.scope.project) for each in find_requests(text)]
        open_ = [offer_of(each, self.scope) for each in found if not is_met(each, kept)]
        if not open_:
            return []
        with self._connector.write() as tx:
            writer = self._writer("remember")
            done = [writer.remember(tx, offer) for offer in open_]
        self._settle()
        return done

    def undo(self, name: str, *, reason: str = "") -> list[Undone]:
        """Take back a change, or all changes of a run (its id, or the beginning of one); see history/undo.py.

        What was believed before is believed again, and history shows all of it. Raises NotFound, InvalidInput for what
        cannot be undone, and Conflict where something was built on it since.
        """
        from picomem.history.undo import undo

        with self._connector.write() as tx:
            said = self._cleaner().text(reason)
            done = undo(tx, self._writer("undo"), self.scope, name, said, self._vectors())
        if not done:
            raise Conflict(f"All of run {name} was undone already; `picomem changes --run {name}` shows by what.")
        self._settle()
        return [replace(each, memory=self._cleaner().shown(each.memory) if each.memory else None) for each in done]

    def ingest(
        self,
        found: str | Path | Iterable[str | Path | Place],
        *,
        progress: Callable[[Progress], None] | None = None,
    ) -> Report:
        """Read what is new in these transcripts, files or folders, or in a single one; see ingest/ingest.py."""
        from picomem.ingest.places import find

        if isinstance(found, str | os.PathLike):
            found = [found]
        ingester = self.ingester()
        with self._connector.read():  # one snapshot: a transaction for each file costs more than the look at it
            files = find(found, ingester.recognize)
        report = ingester.run(files, progress)
        self._settle()
        made_by = self._vectors()
        report.without_vector = made_by.without() if made_by else 0
        if made_by and report.without_vector:
            report.problems.append(made_by.without_sentence(report.without_vector))
        return report

    def ingester(self) -> Ingest:
        """What reads transcripts into this store, for callers that read again and again."""
        from picomem.ingest.ingest import Ingest

        return Ingest(self._connector, self.scope, self._redactor(), self._vectors(), self._propose, self._clock)

    def _propose(self, tx: Transaction, asked: Sequence[Asked], run: str) -> list[str]:
        from picomem.memory.proposals import propose

        writer = replace(self._writer("remember", "ingest"), run=run)
        return [each.decision.value for each in propose(tx, writer, self.scope, asked)]

    def migrate(self, paths: Sequence[Path]) -> list[tuple[Path, Entry, Remembered]]:
        """Take the entries of Markdown memory over as typed memories, through the gate; what became of each.

        A file may be migrated again: what is known already is merged. Raises InvalidInput for what is no Markdown.
        """
        from picomem.memory.migrate import markdown_files, migrate_file
        from picomem.records.ids import new_id

        done = []
        run = new_id()
        for path in markdown_files(list(paths)):
            writer = replace(self._writer("migrate"), run=run)
            with self._connector.write() as tx:
                each = migrate_file(tx, writer, self.scope, self._cleaner(), path, self._zone)
            self._settle()
            done += [(path, entry, result) for entry, result in each]
        return done

    def withhold(self, session: str, *, release: bool = False) -> int:
        """Keep a session's transcripts from being handed out by anything (O17), or release them; how many there are.

        `session` is its id or the beginning of it. Raises NotFound.
        """
        policy = "private" if release else "deny"
        with self._connector.write() as tx:
            changed = episodes.set_send_policy(tx, self.scope, session, policy)
        if not changed:
            raise NotFound(f"There is no session “{session[:80]}”; `picomem timeline --json` shows their ids.")
        return changed
