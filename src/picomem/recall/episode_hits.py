"""What recall finds among episodes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, tee

from picomem.errors import Corrupt
from picomem.light_dataclass import replace
from picomem.recall import rank
from picomem.recall.confidence import LOOKED
from picomem.recall.hits import episode_hit, why
from picomem.recall.informativeness import informativeness
from picomem.recall.legs import RecallState, shares
from picomem.recall.lexical_search import WordMatches
from picomem.recall.question import called_only, groups, meant, names, speakers_by_transcript
from picomem.recall.rank import Fusion, Signals
from picomem.recall.time_window import TimeWindow, events_inside, inside_of, meant_window
from picomem.recall.vector_search import Cosines
from picomem.records.episode import SUGGESTED, Episode, SuggestedSpan, Transcript, suggested_spans
from picomem.records.hit import Hit
from picomem.store import row_counts, search
from picomem.store.search import EpisodePlace
from picomem.store.tables import episode_events, episodes, transcript_rows
from picomem.store.tables.memory_rows import missing
from picomem.text.terms import terms

_WIDER = 4  # times as many are looked at where too few are allowed
_WEIGHED = 40  # episodes of which it is looked whether they say something by themselves
_SAME_TURN = 0.5  # what another part of a turn weighs beside the best of its parts
_SHORT = 60  # tokens; a longer episode does


def episode_hits(state: RecallState) -> list[Hit]:
    """The episodes that answer the question, the best first."""
    total = row_counts.episodes(state.tx, state.scope)
    state.episodes = total
    words = state.words("episode", total)
    near = state.near("episode", total)
    window = meant_window(state)
    inside = inside_of(state, window) if window else {}
    events = events_inside(state, window) if window else {}
    if window and window.is_certain and not inside and not events:
        state.empty_window = window
    allowed = state.allowed = _allowed_transcripts(state)
    places = _places(state, words, near, window, inside, events, allowed)
    speakers = speakers_by_transcript((place.transcript, place.role) for place in places.values())
    heard = [term for term in state.question.terms if words.weights.get(term)]
    if only_called := called_only(speakers, heard):
        words.drop(only_called)
        places = _places(state, words, near, window, inside, events, allowed)
        speakers = speakers_by_transcript((place.transcript, place.role) for place in places.values())
    if allowed is not None:
        state.count_only(places, words, near)
    own = meant(set().union(*speakers.values()), state.question.of_asker, state.question.terms)
    signals = _signals(state, words, places, own)
    # A limit is no evidence; but with nothing else asked for, what lies within it is the answer.
    if window and not (window.hard and state.question.terms):
        signals.in_window = dict.fromkeys(inside, window.weight)
    signals.event = events
    state.add_meaning(signals, near, {doc: places[doc].tokens for doc in near.nearest if doc in places})
    fusion = state.fused(places, signals, words)
    ranked = shares(fusion.scores, signals, words)
    if not (window and window.hard):
        ranked = (entry for entry in ranked if _has_reason(entry[0], signals))
    # One time or session may be asked for, and all of it wanted; several people seldom say the same.
    is_spread = not (window and window.weight == 1.0)
    records = _Records(state)
    # What holds is asked for, and not what the agent said, or was talked of at a time, or what goes on with something.
    of_what_holds = not (window or state.question.telling or state.question.of_agent)
    stated = state.weights.stated if of_what_holds else 0.0
    weighed = _weighed(state, ranked, places, records, groups(speakers) if is_spread else None, words, stated)
    ranked, again = tee(weighed)
    hits = _handed_out(state, ranked, signals, words, fusion, records)
    if hits:  # the best may be held back for its origin
        best = list(islice((doc for doc, share in again if share <= hits[0].score), LOOKED))
        state.weigh(best, signals, words, named=names(own), places=places.values())
    return hits


class _Records:
    """The episodes that were read for one question, each read once."""

    def __init__(self, state: RecallState) -> None:
        self._state = state
        self._by_doc: dict[int, Episode | None] = {}

    def read(self, docs: Sequence[int]) -> dict[int, Episode]:
        """The episodes of these numbers, without the damaged ones, which are noted."""
        known, state = self._by_doc, self._state
        new = [doc for doc in docs if doc not in known]
        if new:
            known.update(dict.fromkeys(new))
            read = episodes.by_docs(state.tx, state.scope, new, state.damaged)
            known.update((episode.doc, episode) for episode in read)
        return {doc: episode for doc in docs if (episode := known[doc]) is not None}


def _places(
    state: RecallState,
    words: WordMatches,
    near: Cosines,
    window: TimeWindow | None,
    inside: dict[int, EpisodePlace],
    events: Collection[int],
    allowed: Collection[str] | None,
) -> dict[int, EpisodePlace]:
    """Return where those stand that may answer, and the neighbours of the likeliest of them."""
    tx, scope = state.tx, state.scope
    if window is not None and window.hard:
        candidates = _best_inside(words, inside, allowed)
    elif window is not None:
        candidates = list(words.totals)
    else:
        candidates = words.best if allowed is None else _best_allowed(state, words, allowed)
    closer = candidates[: rank.CANDIDATES] if state.weights.context else []
    places = {place.doc: place for place in search.around(tx, scope, closer)} if closer else {}
    others = [doc for doc in dict.fromkeys([*candidates, *near.nearest, *events]) if doc not in places]
    if window is not None and window.hard:
        # The places inside are known, and nothing outside may answer. The likeliest are looked up all the same, to
        # notice one whose row is lost.
        places |= {doc: inside[doc] for doc in others if doc in inside}
        candidates = words.best
        others = [doc for doc in candidates if doc not in places]
    for place in search.places(tx, scope, others) if others else []:
        places[place.doc] = place
    for place in inside.values() if _is_wanted_whole(state, window) else ():
        places.setdefault(place.doc, place)
    state.damaged += missing("episode", candidates, places)
    if allowed is not None:
        places = {doc: place for doc, place in places.items() if place.transcript in allowed}
    if window is not None and window.hard:
        places = {doc: place for doc, place in places.items() if doc in inside}
    return places


def _is_wanted_whole(state: RecallState, window: TimeWindow | None) -> bool:
    """Return whether everything in the window may answer. A limit is no evidence beside words that are asked for."""
    return window is not None and window.weight == 1.0 and not (window.hard and state.question.terms)


def _best_inside(words: WordMatches, inside: Mapping[int, EpisodePlace], allowed: Collection[str] | None) -> list[int]:
    """The episodes inside a limit, of the transcripts that are allowed, that the words like best: as many as of all
    times where there is no limit."""
    totals = {
        doc: total
        for doc, total in words.totals.items()
        if doc in inside and (allowed is None or inside[doc].transcript in allowed)
    }
    return rank.best_by_words(totals)


def _best_allowed(state: RecallState, words: WordMatches, allowed: Collection[str]) -> list[int]:
    """The episodes that the words like best, of the transcripts that are allowed: as many as of all transcripts where
    nothing is narrowed. A common word stands in many thousands, and most of what is asked lies in few projects."""
    count = rank.CANDIDATES
    while True:
        best = rank.best_by_words(words.totals, count)
        places = {place.doc: place for place in search.places(state.tx, state.scope, best)}
        of_allowed = {doc for doc, place in places.items() if place.transcript in allowed}
        if len(of_allowed) >= rank.CANDIDATES or count >= len(words.totals):
            state.damaged += missing("episode", best, places)
            return [doc for doc in best if doc in of_allowed][: rank.CANDIDATES]
        count *= _WIDER


def _signals(state: RecallState, words: WordMatches, places: dict[int, EpisodePlace], own: frozenset[str]) -> Signals:
    weights, parts = state.weights, words.parts(places)
    signals = Signals(totals=words.totals, words=parts)
    if weights.context:
        signals.context = rank.context_scores(places.values(), words.totals, weights)
    if weights.session:
        sessions = rank.session_scores(places.values(), parts, words.idf, words.nearly)
        signals.session = {
            doc: sessions[place.transcript] for doc, place in places.items() if place.transcript in sessions
        }
    if own:
        signals.own = {doc for doc, place in places.items() if place.role in own}
    if state.question.telling and weights.recent:
        signals.recent = {doc: rank.recency(place.started_at, state.now) for doc, place in places.items()}
    return signals


def _handed_out(
    state: RecallState,
    ranked: Iterator[tuple[int, float]],
    signals: Signals,
    words: WordMatches,
    fusion: Fusion,
    read: _Records,
) -> list[Hit]:
    """The first of what was found, as many as are wanted, that may be handed out."""
    hits: list[Hit] = []
    transcripts: dict[str, Transcript] = {}
    damaged: set[str] = set()
    while some := list(islice(ranked, max(state.wanted.limit, 8))):
        records = read.read([doc for doc, _ in some])
        events = episode_events.of_docs(state.tx, state.scope, records)
        for doc, share in some:
            episode = records.get(doc)
            if episode is None or not state.wanted.filters.admits_episode(episode):
                continue
            name = episode.transcript_id
            if name not in transcripts and name not in damaged:
                try:
                    transcripts[name] = state.transcript(name)
                except Corrupt:
                    damaged.add(name)
                    state.damaged.append(name)
            if name in damaged:
                continue
            evidence = signals.evidence(doc)
            asked = evidence.words.keys()
            state.note_matched(episode.id, doc, evidence, words)
            stated = _stated(episode, words)
            if stated.estimate >= SUGGESTED and episode.tokens <= _SHORT:
                state.stated[episode.id] = episode.preview[stated.start : stated.end]
            text = episodes.text_of(episode)
            reason = why(doc, evidence, words, state.question.written_words, text)
            hit = episode_hit(episode, transcripts[name], share, reason, asked, events.get(doc))
            hits.append(replace(hit, parts=state.parts(doc, share, fusion, signals)))
            if len(hits) == state.wanted.limit:
                return hits
    return hits


def _weighed(
    state: RecallState,
    ranked: Iterator[tuple[int, float]],
    places: dict[int, EpisodePlace],
    read: _Records,
    of_groups: Collection[str] | None,
    words: WordMatches,
    stated: float,
) -> Iterator[tuple[int, float]]:
    """What was found, with three kinds of episodes further down: those that say nothing by themselves, the further
    parts of a long turn (the best of them opens the whole turn), and those of a session that gave much already, unless
    `of_groups` has the session, or is None. What a short turn of the user's states goes first, by `stated`."""
    first = list(islice(ranked, max(_WEIGHED, state.wanted.limit)))
    asked = frozenset(state.question.terms)
    weights: dict[int, float] = {}
    looked_at = read.read([doc for doc, _ in first])
    by_user = [episode for episode in looked_at.values() if episode.role == "user"] if stated else []
    estimates = {episode.doc: _stated(episode, words).estimate for episode in by_user}
    usual = sum(estimates.values()) / max(1, len(estimates))  # what most turns do says nothing for one of them
    for doc, episode in looked_at.items():
        if places[doc].tokens <= _SHORT:
            weights[doc] = 1 + stated * max(0.0, estimates.get(doc, 0.0) - usual)
            text = episode.summary or episode.preview or episode.actions or episode.outcomes
            weights[doc] *= informativeness(text, asked, by_agent=episode.role == "assistant")
    turns: set[tuple[str, int, int]] = set()
    for doc, _ in first:
        turn = (places[doc].transcript, places[doc].first_turn, places[doc].last_turn)
        weights[doc] = weights.get(doc, 1.0) * (_SAME_TURN if turn in turns else 1.0)
        turns.add(turn)
    weighed = [(doc, share * weights[doc]) for doc, share in first]
    most = max((share for _, share in weighed), default=0.0)
    scale = min(1.0, first[0][1] / most) if most else 1.0  # no answer is surer because it was stated
    weighed = sorted(((doc, round(share * scale, 4)) for doc, share in weighed), key=lambda entry: -entry[1])
    if of_groups is not None:
        weighed = rank.spread(weighed, places, of_groups)
    yield from weighed
    least = weighed[-1][1] if weighed else 0.0
    yield from ((doc, min(share, least)) for doc, share in ranked)


def _stated(episode: Episode, words: WordMatches) -> SuggestedSpan:
    """The sentence of an episode that most likely states what is asked for: with the estimate that it is worth knowing,
    in proportion to how much it holds of the question's words in the episode."""
    best = SuggestedSpan(0, 0, 0.0)
    held = {term: weights[episode.doc] for term, weights in words.weights.items() if episode.doc in weights}
    total = sum(held.values())
    for span in suggested_spans(episode.suggested) if total else ():
        said = frozenset(terms(episode.preview[span.start : span.end]))
        share = sum(
            weight
            for term, weight in held.items()
            if not said.isdisjoint(words.nearly.get(term, {}).get(episode.doc, (term,)))
        )
        best = max(best, span._replace(estimate=span.estimate * share / total), key=lambda one: one.estimate)
    return best


def _allowed_transcripts(state: RecallState) -> set[str] | None:
    """The transcripts that may answer, or None for all of them."""
    narrowed = state.scope.project or state.scope.agent or state.scope.session
    if not narrowed and not transcript_rows.any_withheld(state.tx, state.scope):
        return None
    return transcript_rows.allowed_transcripts(state.tx, state.scope)


def _has_reason(doc: int, signals: Signals) -> bool:
    """Return whether anything but its whole session speaks for an episode. The nearest of unrelated texts is no match.
    (Inside a hard window an empty question is a request for everything, so there nothing is held against it.)"""
    return (
        doc in signals.words
        or doc in signals.context
        or doc in signals.similar
        or signals.in_window.get(doc, 0.0) > 0
        or signals.event.get(doc, 0.0) > 0
    )
