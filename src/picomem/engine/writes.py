"""The verbs of an engine that change memory: remember, revise, forget, undo, and reading what others wrote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.engine.caller_context import CallerContext, EngineBase
from picomem.errors import Conflict, NotFound, Refused
from picomem.light_dataclass import replace
from picomem.memory.checked_arguments import check_names, chosen
from picomem.memory.name_lookup import resolve
from picomem.memory.text_cleaning import Cleaner
from picomem.records.caller import WRITE, WRITE_SESSIONS, needs
from picomem.records.episode import BY_PERSON, DENY, PRIVATE, Episode
from picomem.records.ids import new_id
from picomem.records.kinds import Decision, Kind, Origin, Priority
from picomem.records.memory import Change, Memory, Parent
from picomem.records.scope import Scope
from picomem.store.tables import episodes, memory_lineage, transcript_rows

if TYPE_CHECKING:
    from picomem.emulation.agent_files import Files
    from picomem.history.undo import Undone
    from picomem.memory.remember import Remembered
    from picomem.sessions.log import Sessions
    from picomem.transfer.markdown_import import MarkdownEntry


class MemoryFields(TypedDict, total=False):
    """What a memory has beside its content; see `EngineWrites.remember` and `EngineWrites.revise`."""

    kind: Kind | str | None
    context: str | None
    importance: float | None
    priority: Priority | str | None
    tags: Sequence[str] | None
    related: Sequence[str] | None
    pinned: bool | None
    expires: Micros | str | None
    since: Micros | str | None
    origin: Origin | str | None


class EngineWrites(EngineBase):
    """Changes one user's memory; see `Engine`."""

    @needs(WRITE)
    def remember(
        self,
        content: str,
        *,
        key: str = "",
        replaces: str = "",
        scope: Scope | None = None,
        **fields: Unpack[MemoryFields],
    ) -> Remembered:
        """Store something: through redaction, the gate and the match with what is known.

        `origin` is the user's by default, or the agent's where one acts (see `acting_as`). A pin is a person's: of an
        agent the memory is stored without it. `replaces` names a memory that is no longer true because of this one: it
        ends where this one begins. Raises NotFound for a memory that there is not, InvalidInput or InvalidKey for
        another bad argument, and Refused, with the reason, when the text is not kept, or may not replace that memory;
        the refusal is on record (`data["change_id"]`).
        """
        from picomem.memory import decide, review_items  # noqa: PLC0415 - a recall does not need it
        from picomem.text.memory_keys import check_key, suggest_key  # noqa: PLC0415 - a recall does not need it

        check_names(fields, MemoryFields, "remember")
        if replaces and self._context.is_group:
            # Whatever it names: any other answer would tell what there is.
            raise Refused(CodedText("failure.replaces_in_group"))
        kind, importance, priority = fields.get("kind"), fields.get("importance"), fields.get("priority")
        what = chosen(Kind, kind or Kind.FACT, "kind")
        source = self._context.origin(fields.get("origin"))
        clean = self._context.cleaner()
        content = clean.text(content)
        offer = decide.Offer(
            scope=self._context.owner(scope),
            content=content,
            kind=what,
            key=check_key(key) if key else suggest_key(content, what.value),
            key_given=bool(key),
            kind_given=kind is not None,
            importance_given=importance is not None or priority is not None,
            # What a person asks for themselves is kept, chatter or not; an agent's offer must be worth it.
            explicit=source is Origin.USER,
            context=clean.text(fields.get("context") or ""),
            importance=self._context.importance(importance, priority),
            pinned=bool(fields.get("pinned")) and not self.caller.is_agent,
            tags=clean.names(fields.get("tags") or (), "tag"),
            related=clean.names(fields.get("related") or (), "related entry"),
            origin=source,
            expires_at=self._context.expiry(fields.get("expires")),
            valid_from=self._context.time(fields.get("since")),
        )
        with self._context.connector.write(self.scope) as tx:
            writer = self._context.writer("remember", origin=source)
            result = (
                writer.remember(tx, offer) if not replaces else review_items.replace_memory(tx, writer, offer, replaces)
            )
        self._context.settle()
        if result.decision is Decision.REFUSE:
            raise Refused(f"Not stored: {result.reason}", change_id=result.change_id, reason=result.reason)
        return result

    @needs(WRITE)
    def revise(
        self,
        name: str,
        content: str | None = None,
        *,
        correct: bool = False,
        reason: str = "",
        version: int | None = None,
        scope: Scope | None = None,
        **fields: Unpack[MemoryFields],
    ) -> Memory:
        """Replace what is believed of a memory (its key, its id, or the beginning of one) by a new version.

        The new content holds from `since`, or from now; with `correct` it was always so. `expires` "never" takes an
        expiry away. `origin` says where the new text came from. With `version`, the memory must still be at it. Raises
        NotFound, Conflict, InvalidInput, or Refused where the gate says no, or an agent would pin.
        """
        from picomem.memory.revise import revised  # noqa: PLC0415 - a recall does not need it

        check_names(fields, MemoryFields, "revise")
        if fields.get("pinned") and self.caller.is_agent:
            raise Refused(CodedText("failure.only_user_pins", command=Command("revise", name, pin=True)))
        clean = self._context.cleaner()
        changed = _changed(self._context, clean, content, fields)
        source = self._context.origin(fields.get("origin"))
        at = self._context.time(fields.get("since"))
        with self._context.connector.write(self.scope) as tx:
            memory = resolve(tx, self._context.owner(scope), name)
            if version is not None and memory.version != version:
                raise Conflict(f"“{memory.key}” changed meanwhile; look at what it says now, and revise that.")
            writer = self._context.writer("revise", origin=source)
            made = revised(tx, writer, memory, changed, source, at, correct, clean.text(reason))
        self._context.settle()
        return made

    @needs(WRITE)
    def forget(self, name: str, *, reason: str = "", scope: Scope | None = None) -> Change:
        """Archive a memory: it is believed no longer, and `history` still shows it. Raises NotFound or Conflict, and
        Refused where an agent may not (see `acting_as`)."""
        from picomem.memory.decide import not_forgotten  # noqa: PLC0415 - a recall does not need it

        def archive() -> Change:
            with self._context.connector.write(self.scope) as tx:
                memory = resolve(tx, self._context.owner(scope), name)
                writer = self._context.writer("forget")
                asked = writer.persons.ask_to_forget(memory.key, memory.content)
                if self.caller.is_agent and memory.is_a_persons and not asked:
                    raise Refused(not_forgotten(memory))
                return writer.forget(tx, self.scope, memory.id, self._context.cleaner().text(reason))

        return self._context.deleting(archive)

    @needs(WRITE)
    def undo(self, name: str = "", *, reason: str = "") -> list[Undone]:
        """Take back a change, all changes of a run, or all that a model made of a session of another program, by its id
        or the beginning of one; see history/undo.py. Without a name take back the last run of the caller's own that is
        in force and is no undo.

        What was believed before is believed again, and history shows all of it. Raises NotFound, InvalidInput for what
        cannot be undone, Conflict where something was built on it since, and Refused where an agent may not (see
        `acting_as`).
        """
        from picomem.history.undo import last_run, undo_named  # noqa: PLC0415 - a recall does not need it

        with self._context.connector.write(self.scope) as tx:
            name = name or last_run(tx, self.scope, self.caller.signature)
            said = self._context.cleaner().text(reason)
            writer, vectors = self._context.writer("undo"), self._context.vectors()
            done = undo_named(tx, writer, self.scope, name, said, vectors, by_agent=self.caller.is_agent)
        if not done:
            raise Conflict(CodedText("failure.run_undone", run=name, command=Command("changes", run=name)))
        self._context.settle()
        return [
            replace(change, memory=self._context.cleaner().shown(change.memory) if change.memory else None)
            for change in done
        ]

    @needs(WRITE)
    def migrate(self, paths: Sequence[Path]) -> list[tuple[Path, MarkdownEntry, Remembered]]:
        """Take the entries of Markdown memory over as typed memories, through the gate; what became of each.

        A file may be migrated again: what is known already is merged. Raises InvalidInput for what is no Markdown.
        """
        from picomem.transfer.markdown_import import markdown_files, migrate_file  # noqa: PLC0415 - a recall does not need it

        done = []
        run = new_id()
        for path in markdown_files(list(paths)):
            writer = replace(self._context.writer("migrate"), run=run)
            with self._context.connector.write(self.scope) as tx:
                entries = migrate_file(tx, writer, self.scope, self._context.cleaner(), path, self._context.zone)
            self._context.settle()
            done += [(path, entry, result) for entry, result in entries]
        return done

    @needs(WRITE_SESSIONS)
    def withhold(self, session: str, *, release: bool = False) -> int:
        """Withhold a session's transcripts from every answer (O17), or release them; return how many there are.

        `session` is its id or the beginning of it. A session that its host denies is released as well, until the host
        allows it and denies it again. Raises NotFound.
        """
        policy = PRIVATE if release else DENY
        with self._context.connector.write(self.scope) as tx:
            changed = transcript_rows.set_send_policy(tx, self.scope, session, policy, BY_PERSON)
        if not changed:
            raise NotFound(
                CodedText("failure.no_read_session", name=session[:80], command=Command("timeline", json=True))
            )
        return changed

    @needs(WRITE_SESSIONS)
    def tag(self, episode_id: str, tags: Sequence[str]) -> Episode:
        """Give an episode these tags in place of those that it has; no tag takes all away. Raises NotFound, Refused for
        a withheld session, and InvalidInput."""
        from picomem.history.explain import check_shown, find_episode  # noqa: PLC0415 - a recall does not need it

        cleaned = self._context.cleaner().names(tags, "tag")
        writer = self._context.writer("tag")
        with self._context.connector.write(self.scope) as tx:
            episode = find_episode(tx, self.scope, episode_id)
            check_shown(transcript_rows.transcript(tx, self.scope, episode.transcript_id))
            change = writer.record(tx, self.scope, "tag", CodedText("reason.tagged"))
            memory_lineage.add_lineage(
                tx, self.scope, "change", change.id, 0, [Parent(kind="episode", id=episode.id)], change.id
            )
            return episodes.set_tags(tx, self.scope, episode, cleaned)

    def sessions(self) -> Sessions:
        """The conversations of this user with PicoBot: create, append, load, fork, list; see sessions/log.py."""
        from picomem.sessions.log import Sessions  # noqa: PLC0415 - a recall does not need it

        if self._context.kept_sessions is None:
            self._context.kept_sessions = Sessions(
                self._context.of_sessions(), self.scope, self._context.redactor, self._context.clock
            )
        return self._context.kept_sessions

    @needs(WRITE)
    def files(self) -> Files:
        """Texts that an agent keeps as a whole under a path, for foreign memory tools; see emulation/agent_files.py."""
        from picomem.engine.agent_texts import agent_files  # noqa: PLC0415 - a recall does not need it

        return agent_files(self)


def _changed(context: CallerContext, clean: Cleaner, content: str | None, given: MemoryFields) -> dict[str, object]:
    """The fields of a memory that a revision changes, cleaned."""
    texts = (("content", content), ("context", given.get("context")))
    lists = (("tags", given.get("tags"), "tag"), ("related", given.get("related"), "related entry"))
    changed: dict[str, object] = {field: clean.text(text) for field, text in texts if text is not None}
    changed |= {field: clean.names(names, what) for field, names, what in lists if names is not None}
    kind, importance, priority = given.get("kind"), given.get("importance"), given.get("priority")
    pinned, expires = given.get("pinned"), given.get("expires")
    if kind is not None:
        changed["kind"] = chosen(Kind, kind, "kind")
    if importance is not None or priority is not None:
        changed["importance"] = context.importance(importance, priority)
    if pinned is not None:
        changed["pinned"] = pinned
    if expires is not None:
        changed["expires_at"] = context.expiry(expires)
    return changed
