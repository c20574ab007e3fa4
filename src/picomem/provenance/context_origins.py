"""Tracks the texts in an agent's context during a conversation, and the origin of what the agent says then. Pure.

An assistant that has read a page repeats its content in its own words. So once untrusted text is in its context (a
tool's result, another person's message, a mail that the user pasted, a quote that memory returned), its words have
the least trusted origin of these, except for what the person said word for word.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from picomem.provenance.statements import Grounds, content_words
from picomem.provenance.whose_words import pasted_words
from picomem.records.kinds import Origin, worst
from picomem.records.untrusted_fence import quoted_in

# Memory's own tools. They quote what nobody trusted wrote inside of a fence; the rest of their answers is memory's.
OWN_TOOLS = frozenset(
    "memory memory_store memory_recall memory_forget memory_revise memory_show memory_why memory_why_not memory_search "
    "memory_get memory_ingest memory_audit memory_index_status".split()
)
_MESSAGES = 50  # of the person's, that an answer may repeat


class ContextOrigins:
    """The texts read so far, message by message."""

    def __init__(self) -> None:
        self._said: deque[str] = deque(maxlen=_MESSAGES)
        self._others: set[Origin] = set()
        self._own_calls: set[str] = set()

    def person(self, text: str) -> None:
        """The person says something."""
        self._said.append(text)
        if pasted_words(text):
            self._others.add(Origin.OTHER)

    def text(self, origin: Origin) -> None:
        """A text of that origin is read, or written by the assistant itself."""
        if not origin.trusted:
            self._others.add(origin)

    def calls(self, calls: Iterable[tuple[str, str]]) -> None:
        """The assistant calls tools, each with its id and name."""
        for id_, name in calls:
            (self._own_calls.add if name in OWN_TOOLS else self._own_calls.discard)(id_)

    def result(self, call: str, text: str, origin: Origin) -> None:
        """A tool answers."""
        if call in self._own_calls:
            self._others.update(quoted for quoted, _ in quoted_in(text) if not quoted.trusted)
        else:
            self.text(origin)

    def origin_of(self, text: str) -> Origin:
        """The origin of the assistant's words in this text."""
        if not self._others or not content_words(text) or Grounds(self._said).hold(text):
            return Origin.AGENT
        return worst(self._others)
