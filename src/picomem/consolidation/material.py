"""The part of a conversation for one run of consolidation, as a generator may see it. Pure; a redactor is passed in.

If more is due than a model takes, a run takes the oldest messages that fit, and the next run continues there. A cut
follows the rules of `due`: never between a call and its result. A part has two borders, because a summary covers fewer
messages than memory extraction (see `due`): messages that were consolidated before, but that no summary covers yet, are
included only for the summary.

Calls of tools are shown without their results: these are long, the agent's text repeats what matters, and the orders of
a hostile page cannot take effect. Text of other people is marked as theirs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate

from picomem.consolidation.due import Due
from picomem.light_dataclass import dataclass
from picomem.models.generator import PromptLine
from picomem.records.session import Message, Role, Session, Summary
from picomem.sessions.pairs import Group, grouped, last_of, may_cut_behind
from picomem.text.tokens import count_tokens, cut_to_tokens

Safe = Callable[[str], str]

_LINE = 6  # tokens of a line's number and speaker
_TAIL = 300  # characters of the end of a message that was cut: people ask at the end of what they paste
_PRIVATE = r"(?is)<private>.*?(?:</private>|\Z)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Messages `first` to `last` of a session, as it was when it was read. A summary of those up to `covers` is wanted
    (0: none is), on top of `summary`, which stands for those before `messages`."""

    session: Session
    first: int
    last: int
    covers: int
    messages: tuple[Message, ...]
    lines: tuple[PromptLine, ...]
    summary: Summary | None

    @property
    def fresh(self) -> tuple[Message, ...]:
        """The messages that this run consolidates."""
        return tuple(message for message in self.messages if message.seq >= self.first)

    @property
    def has_words(self) -> bool:
        """Whether anybody said anything in the new messages, tools and their use apart."""
        talking = (message for message in self.fresh if message.role in (Role.USER, Role.ASSISTANT))
        return any(char.isalnum() for message in talking for char in message.content)

    @property
    def covered(self) -> int:
        """How many messages the new summary stands for."""
        before = self.summary.message_count if self.summary else 0
        return before + sum(message.seq <= self.covers for message in self.messages)


def part_of(
    session: Session, messages: Sequence[Message], due: Due, summary: Summary | None, most: int, safe: Safe
) -> Part:
    """The first part of what is due, of at most `most` tokens of new messages where a cut can be made there.

    `messages` are all behind the earlier summary and behind the pointer. `safe` redacts; no message behind the part is
    read, except the first that does not fit.
    """
    groups, _ = grouped(messages)

    @cache
    def show(message: Message) -> PromptLine | None:
        return _line(message, due.first, most // 4, safe)

    @cache
    def cost(place: int) -> int:
        lines = map(show, groups[place].messages)
        return sum(_LINE + count_tokens(line.text) for line in lines if line is not None)

    fresh = [place for place, group in enumerate(groups) if due.first <= group.first <= due.last]
    end = _end(groups, cost, fresh, most)
    last = min(last_of(groups, end), due.last)
    stands = summary.covered_seq if summary else 0
    older = [place for place, group in enumerate(groups) if stands < group.first < due.first]
    covers = min(due.covers, last)
    if any(spent > most for spent in accumulate(map(cost, older))):
        covers = min(covers, last_of(groups, _end(groups, cost, older, most)))
    if covers <= stands:
        covers = 0
    taken = [
        message
        for message in messages
        if due.first <= message.seq <= last or (stands < message.seq <= covers and message.seq < due.first)
    ]
    return Part(
        session=session,
        first=due.first,
        last=last,
        covers=covers,
        messages=tuple(taken),
        lines=tuple(line for message in taken if (line := show(message)) is not None),
        summary=summary,
    )


def _end(groups: Sequence[Group], cost: Callable[[int], int], places: Sequence[int], most: int) -> int:
    """The place of the last of these groups that fits, where a cut may be made behind it; at least the first such."""
    spent, end = 0, -1
    for place in places:
        spent += cost(place)
        if spent > most and end >= 0:
            break
        if may_cut_behind(groups, place):
            end = place
    return end if end >= 0 else places[-1]


def _line(message: Message, first: int, most: int, safe: Safe) -> PromptLine | None:
    """A message as a line; None where it has nothing to show."""
    if message.role in (Role.TOOL, Role.SYSTEM):
        return None
    text = safe(re.sub(_PRIVATE, "", message.content)).strip()
    short = cut_to_tokens(text, most)
    if short != text:
        text = f"{short.rstrip()} [… cut …] {text[-_TAIL:].lstrip()}"
    calls = ", ".join(call.name for call in message.tool_calls)
    if calls:
        text = f"{text} (it used {calls})".strip()
    return PromptLine(message.seq, message.role, text, message.origin, message.seq >= first) if text else None
