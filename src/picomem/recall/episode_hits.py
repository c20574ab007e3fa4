"""What recall finds among episodes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice, tee

from picomem.errors import Corrupt
from picomem.light_dataclass import replace
from picomem.recall import rank
from picomem.recall.confidence import LOOKED
from picomem.recall.hits import episode_hit, why
from picomem.recall.legs import Looking, shares
from picomem.recall.lexical_search import WordMatches
from picomem.recall.rank import Fusion, Signals
from picomem.recall.speaker import called_only, groups, meant, names
from picomem.recall.substance import substance
from picomem.recall.time_window import TimeWindow, events_inside, inside_of, meant_window
from picomem.recall.vector_search import Cosines
from picomem.records.episode import Transcript
from picomem.records.hit import Hit
from picomem.store import episode_events, episodes, row_counts, search
from picomem.store.memories import missing
from picomem.store.search import EpisodePlace

_WIDER = 4  # times as many are looked at where too few are allowed
_WEIGHED = 40  # episodes of which it is looked whether they say something by themselves
_SAME_TURN = 0.5  # what another part of a turn weighs beside the best of its parts
_SHORT = 60  # tokens; a longer episode does


def episode_hits(looking: Looking) -> list[Hit]:
    """The episodes that answer the question, the best first."""
    total = row_counts.episodes(looking.tx, looking.scope)
    looking.episodes = total
    words = looking.words("episode", total)
    near = looking.near("episode", total)
    window = meant_window(looking)
    inside = inside_of(looking, window) if window else {}
    events = events_inside(looking, window) if window else {}
    places = _places(looking, words, near, window, inside, events)
    spoken = {(place.transcript, place.role) for place in places.values()}
    heard = [term for term in looking.question.terms if words.weights.get(term)]
    if only_called := called_only(spoken, heard):
        words.drop(only_called)
        places = _places(looking, words, near, window, inside, events)
    own = meant({place.role for place in places.values()}, looking.question.of_asker, looking.question.terms)
    signals = _signals(looking, words, places, own)
    # A limit is no evidence; but with nothing else asked for, what lies within it is the answer.
    if window and not (window.hard and looking.question.terms):
        signals.in_window = dict.fromkeys(inside, window.weight)
    signals.event = events
    looking.add_meaning(signals, near, {doc: places[doc].tokens for doc in near.nearest if doc in places})
    fusion = looking.fused(places, signals, words)
    ranked = shares(fusion.scores, signals, words)
    if not (window and window.hard):
        ranked = (entry for entry in ranked if _has_reason(entry[0], signals))
    ranked, again = tee(_weighed(looking, ranked, places, window))
    hits = _handed_out(looking, ranked, signals, words, fusion)
    if hits:  # the best may be held back for its origin
        best = list(islice((doc for doc, share in again if share <= hits[0].score), LOOKED))
        looking.weigh(best, signals, words, named=names(own))
    return hits


def _places(
    looking: Looking,
    words: WordMatches,
    near: Cosines,
    window: TimeWindow | None,
    inside: dict[int, EpisodePlace],
    events: Collection[int],
) -> dict[int, EpisodePlace]:
    """Return where those stand that may answer, and the neighbours of the likeliest of them."""
    tx, scope = looking.tx, looking.scope
    allowed = _allowed_transcripts(looking)
    if window is not None:
        candidates = list(words.totals)
    else:
        candidates = words.best if allowed is None else _best_allowed(looking, words, allowed)
    closer = candidates[: rank.CANDIDATES] if looking.weights.context else []
    places = {place.doc: place for place in search.around(tx, scope, closer)} if closer else {}
    others = [doc for doc in dict.fromkeys([*candidates, *near.nearest, *events]) if doc not in places]
    if window is not None and window.hard:
        # The places inside are known, and nothing outside may answer: of a long time that spares a look at ten thousand
        # rows. The likeliest are looked up, to notice one whose row is lost.
        places |= {doc: inside[doc] for doc in others if doc in inside}
        candidates = words.best
        others = [doc for doc in candidates if doc not in places]
    for place in search.places(tx, scope, others) if others else []:
        places[place.doc] = place
    for place in inside.values() if window and window.weight == 1.0 else ():
        places.setdefault(place.doc, place)
    looking.damaged += missing("episode", candidates, places)
    if allowed is not None:
        places = {doc: place for doc, place in places.items() if place.transcript in allowed}
    if window is not None and window.hard:
        places = {doc: place for doc, place in places.items() if doc in inside}
    return places


def _best_allowed(looking: Looking, words: WordMatches, allowed: Collection[str]) -> list[int]:
    """The episodes that the words like best, of the transcripts that are allowed: as many as of all transcripts where
    nothing is narrowed. A common word stands in many thousands, and most of what is asked lies in few projects."""
    count = rank.CANDIDATES
    while True:
        best = rank.best_by_words(words.totals, count)
        places = {place.doc: place for place in search.places(looking.tx, looking.scope, best)}
        of_allowed = {doc for doc, place in places.items() if place.transcript in allowed}
        if len(of_allowed) >= rank.CANDIDATES or count >= len(words.totals):
            looking.damaged += missing("episode", best, places)
            return [doc for doc in best if doc in of_allowed][: rank.CANDIDATES]
        count *= _WIDER


def _signals(looking: Looking, words: WordMatches, places: dict[int, EpisodePlace], own: frozenset[str]) -> Signals:
    weights, parts = looking.weights, words.parts(places)
    signals = Signals(totals=words.totals, words=parts)
    if weights.context:
        signals.context = rank.context_scores(places.values(), words.totals, weights)
    if weights.session:
        sessions = rank.session_scores(places.values(), parts, words.idf)
        signals.session = {
            doc: sessions[place.transcript] for doc, place in places.items() if place.transcript in sessions
        }
    if own:
        signals.own = {doc for doc, place in places.items() if place.role in own}
    if looking.question.telling and weights.recent:
        signals.recent = {doc: rank.recency(place.started_at, looking.now) for doc, place in places.items()}
    return signals


def _handed_out(
    looking: Looking, ranked: Iterator[tuple[int, float]], signals: Signals, words: WordMatches, fusion: Fusion
) -> list[Hit]:
    """The first of what was found, as many as are wanted, that may be handed out."""
    hits: list[Hit] = []
    transcripts: dict[str, Transcript | None] = {}
    damaged: set[str] = set()
    while some := list(islice(ranked, max(looking.wanted.limit, 8))):
        records = {
            episode.doc: episode
            for episode in episodes.by_docs(looking.tx, looking.scope, [doc for doc, _ in some], looking.damaged)
        }
        events = episode_events.of_docs(looking.tx, looking.scope, records)
        for doc, share in some:
            episode = records.get(doc)
            if episode is None or not looking.wanted.filters.admits_episode(episode):
                continue
            name = episode.transcript_id
            if name not in transcripts and name not in damaged:
                try:
                    transcripts[name] = looking.transcript(name)
                except Corrupt:
                    damaged.add(name)
                    looking.damaged.append(name)
            if name in damaged:
                continue
            evidence = signals.evidence(doc)
            asked = evidence.words.keys()
            looking.note_matched(episode.id, doc, evidence, words)
            text = episodes.text_of(episode)
            reason = why(doc, evidence, words, looking.question.words, text)
            hit = episode_hit(episode, transcripts[name], share, reason, asked, events.get(doc))
            hits.append(replace(hit, parts=looking.parts(doc, share, fusion, signals)))
            if len(hits) == looking.wanted.limit:
                return hits
    return hits


def _weighed(
    looking: Looking,
    ranked: Iterator[tuple[int, float]],
    places: dict[int, EpisodePlace],
    window: TimeWindow | None,
) -> Iterator[tuple[int, float]]:
    """What was found, with three kinds of episodes further down: those that say nothing by themselves, the further
    parts of a long turn (the best of them opens the whole turn), and those of a session that gave much already."""
    first = list(islice(ranked, max(_WEIGHED, looking.wanted.limit)))
    short = [doc for doc, _ in first if places[doc].tokens <= _SHORT]
    weights: dict[int, float] = {}
    if short:
        asked = frozenset(looking.question.terms)
        for episode in episodes.by_docs(looking.tx, looking.scope, short, looking.damaged):
            text = episode.summary or episode.preview or episode.actions
            weights[episode.doc] = substance(text, asked, by_agent=episode.role == "assistant")
    turns: set[tuple[str, int, int]] = set()
    for doc, _ in first:
        turn = (places[doc].transcript, places[doc].first_turn, places[doc].last_turn)
        weights[doc] = weights.get(doc, 1.0) * (_SAME_TURN if turn in turns else 1.0)
        turns.add(turn)
    weighed = [(doc, round(share * weights[doc], 4)) for doc, share in first]
    weighed.sort(key=lambda doc_and_share: -doc_and_share[1])
    if not (window and window.weight == 1.0):  # else one time or session is asked for, and all of it may be wanted
        of_groups = groups((place.transcript, place.role) for place in places.values())
        weighed = rank.spread(weighed, places, of_groups)
    yield from weighed
    least = weighed[-1][1] if weighed else 0.0
    yield from ((doc, min(share, least)) for doc, share in ranked)


def _allowed_transcripts(looking: Looking) -> set[str] | None:
    """The transcripts that may answer, or None for all of them."""
    narrowed = looking.scope.project or looking.scope.agent or looking.scope.session
    if not narrowed and not episodes.any_withheld(looking.tx, looking.scope):
        return None
    return episodes.allowed_transcripts(looking.tx, looking.scope)


def _has_reason(doc: int, signals: Signals) -> bool:
    """Return whether anything but its whole session speaks for an episode. (Inside a hard window an empty question is a
    request for everything, so there nothing is held against it.)"""
    return (
        doc in signals.words
        or doc in signals.context
        or signals.meaning.get(doc, 0.0) > 0
        or signals.in_window.get(doc, 0.0) > 0
        or signals.event.get(doc, 0.0) > 0
    )
