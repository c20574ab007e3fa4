"""What recall finds among episodes."""

from __future__ import annotations

from picomem.recall import rank
from picomem.recall.hits import episode_hit, why
from picomem.recall.looking import Looking, absolute, known
from picomem.recall.rank import Evidence
from picomem.recall.speaker import meant, names
from picomem.recall.window import Window, inside_of, meant_window
from picomem.recall.words import WordMatches
from picomem.records.episode import Transcript
from picomem.records.hit import Hit
from picomem.store import episodes, search


def episode_hits(looking: Looking) -> list[Hit]:
    """The episodes that answer the question, the best first."""
    total = int((looking.tx.one("count_episodes", user=looking.scope.user) or (0,))[0])
    words = looking.words("episode", total)
    near = looking.near("episode", total)
    allowed = _allowed_transcripts(looking)
    window = meant_window(looking)
    inside = inside_of(looking, window) if window else {}
    candidates = rank.best_by_words(words.totals) if allowed is None and window is None else list(words.totals)
    closer = candidates[: rank.CANDIDATES]
    places = {place.doc: place for place in search.around(looking.tx, looking.scope, closer)} if closer else {}
    others = [doc for doc in dict.fromkeys([*candidates, *near.nearest]) if doc not in places]
    for place in search.places(looking.tx, looking.scope, others) if others else []:
        places[place.doc] = place
    for place in inside.values() if window and window.weight == 1.0 else ():
        places.setdefault(place.doc, place)
    if allowed is not None:
        places = {doc: place for doc, place in places.items() if place.transcript in allowed}
    if window is not None and window.hard:
        places = {doc: place for doc, place in places.items() if doc in inside}
    parts = words.parts(places)
    context = rank.context_scores(places.values(), parts, looking.weights)
    sessions = rank.session_scores(places.values(), parts, words.idf)
    own = meant({place.role for place in places.values()}, looking.question.of_asker, looking.question.terms)
    evidence = {
        doc: Evidence(
            words=parts.get(doc, {}),
            context=context.get(doc, 0.0),
            session=sessions.get(place.transcript, 0.0),
            own=place.role in own,
            recent=rank.recency(place.started_at, looking.now) if looking.question.telling else 0.0,
            # A limit is no evidence; but with nothing else asked for, what lies within it is the answer.
            in_window=window.weight
            if window and doc in inside and not (window.hard and looking.question.terms)
            else 0.0,
        )
        for doc, place in places.items()
    }
    looking.add_meaning(evidence, near, {doc: place.tokens for doc, place in places.items()})
    order = looking.fused(evidence, words)
    scores = absolute(order, evidence, words)
    kept = [doc for doc in known(order, scores) if _has_reason(evidence[doc], window)]
    hits = _handed_out(looking, kept, scores, evidence, words)
    if hits:  # the best may be held back for its origin
        best = [evidence[doc] for doc in kept if scores[doc] <= hits[0].score]
        looking.weigh(best, words, names(own))
    return hits


def _handed_out(
    looking: Looking, order: list[int], scores: dict[int, float], evidence: dict[int, Evidence], words: WordMatches
) -> list[Hit]:
    hits: list[Hit] = []
    transcripts: dict[str, Transcript | None] = {}
    step = max(looking.wanted.limit, 8)
    for start in range(0, len(order), step):
        docs = order[start : start + step]
        records = {
            episode.doc: episode for episode in episodes.by_docs(looking.tx, looking.scope, docs, looking.damaged)
        }
        for doc in docs:
            episode = records.get(doc)
            if episode is None or not looking.wanted.filters.admits_origin(episode.origin):
                continue
            if episode.transcript_id not in transcripts:
                transcripts[episode.transcript_id] = looking.transcript(episode.transcript_id)
            transcript = transcripts[episode.transcript_id]
            hits.append(episode_hit(episode, transcript, scores[doc], why(doc, evidence[doc], words)))
            if len(hits) == looking.wanted.limit:
                return hits
    return hits


def _allowed_transcripts(looking: Looking) -> set[str] | None:
    """The transcripts that may answer, or None for all of them."""
    narrowed = looking.scope.project or looking.scope.agent or looking.scope.session
    if not narrowed and looking.tx.one("denied_transcript", user=looking.scope.user) is None:
        return None
    rows = looking.tx.all(
        "allowed_transcripts",
        user=looking.scope.user,
        project=looking.scope.project,
        agent=looking.scope.agent,
        session=looking.scope.session,
    )
    return {row[0] for row in rows}


def _has_reason(found: Evidence, window: Window | None) -> bool:
    """Whether anything but its neighbourhood speaks for an episode. Inside a hard window an empty question is a
    request for everything, so there nothing is held against it."""
    return bool(found.words or found.context or found.meaning > 0 or found.in_window) or (
        window is not None and window.hard
    )
