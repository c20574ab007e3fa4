"""Converts the episodes of a transcript to messages for a generator. Pure.

A transcript is long, and most of it is the agent's text, while a person's words say most. So a person's turns are shown
whole, except for the middle of one that is so long that it was pasted. Of what an agent says between two turns of the
person only the last episode is shown, cut, because it says what came of the work. If the host has summarised the
session, its last summary replaces the agent's text before it. Abandoned branches are left out. No episode holds the
results of tools.

A named speaker in a log is a person, but not the user, so that text has the origin of other people.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from picomem.light_dataclass import dataclass
from picomem.models.generator import Hint, PromptLine
from picomem.records.episode import HOST_SUMMARY, SUGGESTED, Episode, Transcript, suggested_spans
from picomem.records.kinds import Origin
from picomem.records.session import Message, Role
from picomem.text.tokens import count_tokens, cut_to_tokens

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
