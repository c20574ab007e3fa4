"""The time, or the sessions, in which recall looks: a limit of the caller's, or what the question names."""

from __future__ import annotations

from picomem.clock import MINUTE, Micros
from picomem.coded_text import CodedText
from picomem.light_dataclass import dataclass
from picomem.recall.legs import RecallState
from picomem.store import search
from picomem.store.tables import episode_events, transcript_rows
from picomem.text.temporal.session_references import SessionReading, chosen

_DOCUMENTS = 2_000  # episodes of a named time that are looked at even though no word fits
_QUIET = 30 * MINUTE  # after so long without a word a session is over: who asks then begins another


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A span of time in UTC microseconds; `until` is exclusive."""

    since: Micros
    until: Micros
    phrase: str = ""  # the question's words for it
    weight: float = 1.0  # how surely it is meant
    hard: bool = False  # nothing outside may answer
    known_since: Micros | None = None  # of a hard one: nothing that was stored before may answer
    of_events: bool = False  # what happened in it is asked for, whenever it was told
    transcripts: tuple[str, ...] = ()  # if any, these are meant, and not a time

    @property
    def is_certain(self) -> bool:
        """Whether the question certainly names it, and looks elsewhere only where nothing is in it."""
        return not self.hard and self.weight == 1.0

    def holds(self, at: Micros | None) -> bool:
        """Return whether a moment is in the time; none is in a session that is meant."""
        return not self.transcripts and at is not None and self.since <= at < self.until


def meant_window(state: RecallState) -> TimeWindow | None:
    """The time to look in: what the caller set is a limit, what the question says is a preference."""
    filters, question = state.wanted.filters, state.question
    if filters.limits_time:
        since = search.ALWAYS[0] if filters.since is None else filters.since
        until = min((at for at in (filters.until, filters.known_at) if at is not None), default=search.ALWAYS[1])
        return TimeWindow(since, until, hard=True, known_since=filters.known_since)
    sessions, time = question.sessions, question.time
    if sessions and (weight := _weight(state, sessions.certain)) and (named := _named_sessions(state, sessions)):
        return TimeWindow(0, state.now, sessions.phrase, weight=weight, transcripts=tuple(named))
    if time.window and (weight := _weight(state, time.certain)):
        happened = time.certain and not time.of_talk
        return TimeWindow(time.window.since, time.window.until, time.phrase, weight=weight, of_events=happened)
    return None


def _weight(state: RecallState, certain: bool) -> float:
    """How surely a time is meant; 0 where times weigh nothing, so that nobody looks for one."""
    if not state.weights.time:
        return 0.0
    return 1.0 if certain else state.weights.perhaps


def inside_of(state: RecallState, window: TimeWindow) -> dict[int, search.EpisodePlace]:
    """The episodes inside, by document."""
    limit = 1 << 40 if window.hard else _DOCUMENTS
    if window.transcripts:
        places = search.of_transcripts(state.tx, state.scope, window.transcripts, limit)
    else:
        places = search.in_window(state.tx, state.scope, window.since, window.until, limit, window.known_since)
    return {place.doc: place for place in places}


def events_inside(state: RecallState, window: TimeWindow) -> dict[int, float]:
    """The episodes that tell of an event which happened in a window, by document, each with how likely it did."""
    if not window.of_events or not state.weights.events:
        return {}
    within = episode_events.within(state.tx, state.scope, window.since, window.until, _DOCUMENTS)
    return {doc: event.share_within(window.since, window.until) for doc, event in within.items()}


def _named_sessions(state: RecallState, reading: SessionReading) -> list[str]:
    """The transcripts that a question names by their place among those that it may know of.

    Counted from the end, one whose last word was said just now is this conversation itself, and is not counted.
    """
    quiet = state.now - _QUIET if reading.from_end else state.now
    known = transcript_rows.transcripts_in_order(state.tx, state.scope, state.now, quiet)
    named = chosen(reading, known)
    if not named and reading.certain:
        state.warnings.append(CodedText("warning.no_such_session", name=reading.phrase, count=len(known)))
    return named
