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
from itertools import accumulate, pairwise

from picomem.consolidation.due import Due
from picomem.light_dataclass import dataclass
from picomem.models.generator import Hint, PromptLine
from picomem.records.episode import HOST_SUMMARY, SUGGESTED, Episode, Transcript, suggested_spans
from picomem.records.kinds import Origin
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


# Converts the episodes of a transcript to messages for a generator. Pure.
#
# A transcript is long, and most of it is the agent's text, while a person's words say most. So a person's turns are
# shown whole, except for the middle of one that is so long that it was pasted. Of what an agent says between two turns
# of the person only the last episode is shown, cut, because it says what came of the work. If the host has summarised
# the session, its last summary replaces the agent's text before it. Abandoned branches are left out. No episode holds
# the results of tools.
#
# A named speaker in a log is a person, but not the user, so that text has the origin of other people.

MOST_TOKENS = 1_000  # of an episode that is shown, and of a person's turn
_OF_AN_AGENT = 150
_MOST_PARTS = 4  # of a turn, that are shown from its beginning
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "agent": Role.ASSISTANT, "summary": Role.ASSISTANT}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidatedUpTo:
    """The consolidated part of a transcript: the number of turns, the generation of the file, and the time."""

    turns: int = 0
    generation: int = 0
    at: int = 0

    def is_fresh(self, episode: Episode, generation: int) -> bool:
        """Return whether an episode is not consolidated. A rewrite renumbers turns, so the time decides then."""
        if not self.at or self.generation == generation:
            return episode.last_turn >= self.turns
        return episode.created_at > self.at


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptPlace:
    """A part in its transcript: the episodes that stand for its messages, and the first turn and the last, counted from
    1."""

    transcript: Transcript
    reached: ConsolidatedUpTo
    shown: tuple[Episode, ...]
    first_turn: int
    last_turn: int


def fresh_episodes(transcript: Transcript, there: Sequence[Episode], reached: ConsolidatedUpTo) -> list[Episode]:
    """Return the unconsolidated episodes of a transcript, in order."""
    fresh = [
        episode
        for episode in there
        if episode.preview
        and not transcript.took_back(episode.first_turn)
        and (episode.category == "transcript" or episode.key.startswith(HOST_SUMMARY))
        and reached.is_fresh(episode, transcript.generation)
    ]
    last_summary = max((episode.first_turn for episode in fresh if episode.category == "timeline"), default=-1)
    ends = {episode.first_turn: episode.part for episode in fresh}
    answers = _answers(fresh)

    def is_shown(episode: Episode) -> bool:
        if episode.role == "user":
            return episode.part < _MOST_PARTS or episode.part == ends[episode.first_turn]
        if episode.first_turn < last_summary or (_is_an_agents(episode) and episode.first_turn not in answers):
            return False
        return episode.category == "timeline" or episode.part in (0, ends[episode.first_turn])

    return [episode for episode in fresh if is_shown(episode)]


def _answers(episodes: Sequence[Episode]) -> frozenset[int]:
    """The turns of the agent behind which somebody else speaks, or nobody."""
    is_agents = {episode.first_turn: _is_an_agents(episode) for episode in episodes}
    turns = sorted(is_agents)
    followed = {turn for turn, after in pairwise(turns) if is_agents[after]}
    return frozenset(turn for turn in turns if is_agents[turn] and turn not in followed)


def _is_an_agents(episode: Episode) -> bool:
    return _ROLES.get(episode.role) is Role.ASSISTANT and episode.category == "transcript"


def messages_of(transcript: Transcript, shown: Sequence[Episode]) -> list[Message]:
    """Episodes as messages, numbered from 1."""
    return [_message(transcript, episode, number) for number, episode in enumerate(shown, 1)]


def hints_of(shown: Sequence[Episode], lines: Sequence[PromptLine]) -> tuple[Hint, ...]:
    """The sentences of the person among these episodes that look worth remembering (memory/suggestions.py)."""
    numbers = {line.number for line in lines}
    return tuple(
        Hint(number, episode.preview[span.start : span.end])
        for number, episode in enumerate(shown, 1)
        if number in numbers
        for span in suggested_spans(episode.suggested)
        if span.estimate >= SUGGESTED
    )


def turns_before(shown: Sequence[Episode], number: int, turns: int) -> int:
    """Return how many turns are consolidated when the message of that number was the last one; `turns` are all there
    are."""
    if number >= len(shown):
        return max(turns, shown[-1].last_turn + 1)
    # The next run begins with the whole turn where this one ended in the middle of it.
    return min(shown[number - 1].last_turn + 1, shown[number].first_turn)


def _message(transcript: Transcript, episode: Episode, number: int) -> Message:
    role = _ROLES.get(episode.role)
    text = episode.preview if role else f"{episode.role}: {episode.preview}"
    most = _OF_AN_AGENT if role is Role.ASSISTANT and episode.category == "transcript" else MOST_TOKENS
    text = cut_to_tokens(text, most)
    return Message(
        session_id=transcript.session,
        seq=number,
        id=episode.id,
        role=role or Role.ASSISTANT,
        content=text,
        origin=episode.origin if role else Origin.OTHER,
        tokens=count_tokens(text),
        created_at=episode.started_at or transcript.started_at or episode.created_at,
    )
