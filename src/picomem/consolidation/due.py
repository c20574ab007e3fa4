"""Decides when a conversation is consolidated, and up to which message. Pure.

The decision depends on the messages after the last consolidated one, by number, because a clock may jump. Any of three
conditions suffices (A6): their tokens exceed half of the model's window, enough turns are finished, or the conversation
has been idle long enough. The two designs say "half of the context window" and "about 8,000 tokens"; these are equal
with the default window of 16,000. The settings may add a time of day, at which all earlier messages are due.

The result has two numbers. `last` is the last message to extract memories from: the end of the conversation, because
memory should keep what a short conversation says, too. `covers` is the last message that a summary may replace in the
prompt: the latest messages stay verbatim (P6). Neither cut separates a call from its result, or follows a call at the
end whose result may still come. A question that waits for its answer is consolidated with the answer, unless the
conversation is idle.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta, tzinfo
from enum import StrEnum

from picomem.clock import MINUTE, Micros, to_datetime, to_micros
from picomem.light_dataclass import dataclass
from picomem.records.session import Message, Role, Session
from picomem.sessions.pairs import Group, grouped, last_of, may_cut_behind
from picomem.settings import Settings


def distils_unasked(settings: Settings) -> bool:
    """Return whether ingested sessions go to a model without anybody's asking."""
    memory = settings.memory
    return memory.consolidate_transcripts and bool(memory.consolidation_model or memory.consolidation_command)


class Trigger(StrEnum):
    """The reason why a conversation is consolidated."""

    SIZE = "size"
    TURNS = "turns"
    IDLE = "idle"
    DAILY = "daily"
    ASKED = "asked"  # by a person


@dataclass(frozen=True, slots=True, kw_only=True)
class Triggers:
    """More than so many tokens, so many turns, so long idle (microseconds); how many messages stay in the prompt.

    `daily` is the time of day, in `zone`, at which all earlier messages are due.
    """

    tokens: int
    turns: int
    idle: Micros
    keep: int
    daily: time | None = None
    zone: tzinfo = UTC

    @classmethod
    def of(cls, settings: Settings, zone: tzinfo) -> Triggers:
        daily = settings.memory.consolidation_time
        return cls(
            tokens=settings.session.context_window // 2,
            turns=settings.memory.consolidation_turn_threshold,
            idle=settings.memory.idle_consolidation_minutes * MINUTE,
            keep=settings.session.keep_messages,
            daily=time.fromisoformat(daily) if daily else None,
            zone=zone,
        )

    def quiet_before(self, now: Micros) -> Micros:
        """A conversation in which nobody has said anything after this is due."""
        quiet = now - self.idle
        return quiet if self.daily is None else max(quiet, _last(self.daily, now, self.zone))


@dataclass(frozen=True, slots=True)
class Due:
    """Consolidate the messages `first` to `last`; a summary may stand for those up to `covers` (0: for none)."""

    trigger: Trigger
    first: int
    last: int
    covers: int


def due(
    session: Session, messages: Sequence[Message], now: Micros, triggers: Triggers, *, asked: bool = False
) -> Due | None:
    """Return whether a consolidation is due, of what; one that a person `asked` for is due whenever anything is new.

    `messages` are the session's, or at least its last `keep` messages and all that came after the last consolidated
    one."""
    groups, _ = grouped(messages)
    start = next((at for at, group in enumerate(groups) if group.first > session.last_consolidated_seq), len(groups))
    fresh = groups[start:]
    is_quiet = session.last_active_at <= triggers.quiet_before(now)
    end = _end(groups, with_questions=is_quiet or asked)
    if end < start:
        return None
    turns = sum(group.role is Role.USER for group in groups[start : end + 1])
    if sum(group.tokens for group in fresh) > triggers.tokens:
        trigger = Trigger.SIZE
    elif turns >= triggers.turns:
        trigger = Trigger.TURNS
    elif is_quiet:
        trigger = Trigger.IDLE if now - session.last_active_at >= triggers.idle else Trigger.DAILY
    elif asked:
        trigger = Trigger.ASKED
    else:
        return None
    covered = min(_cover(groups, triggers.keep), end)
    return Due(trigger, groups[start].first, last_of(groups, end), last_of(groups, covered))


def _last(daily: time, now: Micros, zone: tzinfo) -> Micros:
    """Return the last moment at which it was that time of day."""
    today = datetime.combine(to_datetime(now, zone).date(), daily, zone)
    at = to_micros(today)
    return at if at <= now else to_micros(datetime.combine(today.date() - timedelta(days=1), daily, zone))


def _end(groups: Sequence[Group], with_questions: bool) -> int:
    """The place of the last group that can be consolidated, or -1."""
    end = len(groups) - 1
    if end >= 0 and groups[end].waits:
        end -= 1  # its results may yet come
    while end >= 0 and groups[end].role is Role.USER and not with_questions:
        end -= 1
    return _cuttable(groups, end)


def _cover(groups: Sequence[Group], keep: int) -> int:
    """The place of the last group that has `keep` stored messages behind it, or -1."""
    place = len(groups) - 1
    while place >= 0 and keep > 0:
        keep -= len(groups[place].messages) - groups[place].waits
        place -= 1
    return _cuttable(groups, place)


def _cuttable(groups: Sequence[Group], place: int) -> int:
    while place >= 0 and not may_cut_behind(groups, place):
        place -= 1
    return place
