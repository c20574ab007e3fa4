"""The engine for agents: conversations, what goes into the prompt, consolidation's part in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.engine.writing import Writing
from picomem.values import replace

if TYPE_CHECKING:
    from pathlib import Path

    from picomem.consolidation.consolidate import Consolidator
    from picomem.memory.files import Files
    from picomem.records.session import Loaded, Summary
    from picomem.sessions.log import Sessions
    from picomem.sessions.snapshot import TakenOver
    from picomem.sessions.window import Window


class Conversing(Writing):
    """What PicoBot, and whoever builds an agent, needs besides reading and writing."""

    def heard(self, *texts: str) -> None:
        """Know texts that nobody trusted wrote (a tool's output) again, where an agent offers them as its own words."""
        self._handed_out().keep(texts)

    def sessions(self) -> Sessions:
        """The conversations of this user with PicoBot: create, append, load, fork, list; see sessions/log.py."""
        from picomem.sessions.log import Sessions

        if self._kept_sessions is None:
            self._kept_sessions = Sessions(self._connector, self.scope, self._redactor, self._clock)
        return self._kept_sessions

    def files(self) -> Files:
        """Texts that an agent keeps as a whole under a path, for foreign memory tools; see memory/files.py."""
        from picomem.memory.files import Files

        return Files(self._connector, self.scope, lambda: self._writer("remember"), self._cleaner, self._clock)

    def consolidator(self) -> Consolidator:
        """What reads and writes for `picomem.distillation`, which asks the generator."""
        from picomem.consolidation.consolidate import Consolidator

        return Consolidator(
            self._connector,
            self.scope,
            self._cleaner(),
            self._vectors(),
            lambda actor: self._writer("consolidate", actor),
            self.settings,
            self._clock,
            self._zone,
        )

    def window(self, session: str, *, until: int | None = None) -> Window:
        """What goes into the prompt of a session now, within the budgets of the settings; see sessions/window.py.

        With `until` as it stood with the message of that number: what another process said meanwhile is not answered
        here. With `memory.enabled` off it is the conversation alone.
        """
        from picomem.sessions.window import newest_question

        log = self.sessions()
        loaded = log.end_of(session)
        if until is not None:
            loaded = replace(loaded, messages=tuple(each for each in loaded.messages if each.seq <= until))
        shown = self.settings.session.include_summary_on_truncation
        question = newest_question(loaded)
        return self._window(loaded, question, log.summary(session) if shown else None, self.settings.memory.enabled)

    def context(self, question: str) -> Window:
        """What memory puts into the prompt for a question, without a conversation of ours: the index page and what is
        known that matters to it."""
        from picomem.records.session import Loaded

        return self._window(Loaded(), question, None, enabled=True)

    def _window(self, loaded: Loaded, question: str, summary: Summary | None, enabled: bool) -> Window:
        from picomem.sessions.window import Budgets, Known, window

        budgets = Budgets.of(self.settings)
        index, known = "", []
        if enabled and self.settings.session.enable_user_memories:
            index = self.index(budget=min(self.settings.index.budget, budgets.memory // 2)).text
            found = self.recall(question, limit=budgets.memories, include_transcripts=False).hits if question else ()
            known = [Known(hit.key, hit.text, hit.origin) for hit in found]
        return window(loaded, budgets, index=index, known=known, summary=summary)

    def import_sessions(self, path: Path, *, move: bool = False) -> TakenOver:
        """Take over the sessions of a PicoBot snapshot, each for its own user; see sessions/snapshot.py.

        With `move` the file is renamed when all is stored. Raises NotFound, InvalidInput or StoreError.
        """
        from picomem.sessions.snapshot import take_over

        return take_over(self._connector, self._redactor, self._clock, path, move=move)
