"""Recall: a question in, budgeted hits out. Reads, and hands to the pure parts what they decide on.

    question.parse → words.match_words, meaning.nearest → filters → rank → hits → budget

Recall never fails because one leg failed: each leg is tried by itself, and the answer says what became of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import tzinfo
from typing import TYPE_CHECKING

from picomem.clock import MINUTE, Micros, to_datetime
from picomem.errors import Corrupt, EmbedderFailed, StoreError
from picomem.recall import rank
from picomem.recall.filters import Filters
from picomem.recall.meaning import Likeness, MeaningLeg
from picomem.recall.question import Question, parse
from picomem.recall.rank import Evidence
from picomem.recall.speaker import meant, names
from picomem.recall.sureness import FIRST, confidence
from picomem.recall.weights import WEIGHTS, Weights
from picomem.recall.when.sessions import SessionReading, chosen
from picomem.recall.words import Search, WordMatches, match_words
from picomem.records.episode import Episode, Transcript
from picomem.records.hit import Answer, Hit
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store import episodes, memories, search, sessions
from picomem.store.connector import Connector, Transaction
from picomem.values import dataclass, field, replace

if TYPE_CHECKING:
    from picomem.models.lexicon import Lexicon
    from picomem.policy.redact import Redactor
    from picomem.records.session import Message

MEMORY_SHARE = 0.6  # of the token budget; what memories leave over goes to episodes
HIT_OVERHEAD = 24  # tokens of a hit's key, score, date and citation, which are handed out with its text
_IMPORTANCE = 0.15  # what an importance of 1 adds to a memory that fits the question perfectly
_DURABLE = 1.1  # the weight of a memory beside an episode that fits as well: it was meant to last
_WINDOW_DOCUMENTS = 2_000  # episodes of a named time that are looked at even though no word fits
_SUBSTRING_CONFIDENCE = 0.4  # a string that occurs somewhere inside other words says little
_WINDOW_CONFIDENCE = 0.3  # something was said at that time, whether or not it is what was meant
_DOUBTFUL = 0.3  # below this confidence the answer says that it is hardly one
_QUIET = 30 * MINUTE  # after so long without a word a session is over: who asks then begins another
_NOTHING = Likeness({}, 0.0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a caller asks for besides the question. `token_budget` None means as much as `limit` allows; below
    `min_confidence` (0–1) the answer is that nothing was found."""

    limit: int = 10
    token_budget: int | None = 2_000
    min_confidence: float = 0.0
    include_context: bool = False
    filters: Filters = field(default_factory=Filters)


class Recall:
    """Answers questions over one store."""

    def __init__(
        self,
        connector: Connector,
        redactor: Callable[[], Redactor],
        meaning: MeaningLeg | None,
        zone: tzinfo,
        lexicon: Lexicon | None = None,
        weights: Weights = WEIGHTS,
    ) -> None:
        self._connector = connector
        self._redactor = redactor
        self._meaning = meaning
        self._zone = zone
        self._lexicon = lexicon
        self._weights = weights

    def answer(self, scope: Scope, text: str, wanted: Wanted, now: Micros) -> Answer:
        question = parse(text, now, self._zone)
        legs: dict[str, str] = {}
        notes: list[str] = []
        with self._connector.read() as tx:
            looking = _Looking(
                tx, scope, question, wanted, now, self._meaning, self._lexicon, self._weights, legs, notes
            )
            found = looking.memories() if wanted.filters.include_memories else []
            found += looking.episodes() if wanted.filters.include_transcripts else []
        if looking.damaged:
            notes.append(f"{len(looking.damaged)} rows are damaged and were left out; run `picomem doctor`.")
        sure = looking.confidence if found else 0.0
        if found and sure < wanted.min_confidence:
            notes.append(_too_unsure(found, sure, wanted))
            found = []
        elif found and sure < _DOUBTFUL:
            notes.append(f"What was asked is probably not known: {sure:.0%} of such answers hold it.")
        hits, left_out = _budgeted(found, wanted)
        redactor = self._redactor() if hits else None
        hits = [_redacted(hit, redactor) for hit in hits] if redactor else hits
        filters, time = wanted.filters, question.time
        # What was not looked at must not be said: a limit of the caller's goes before the question's words.
        asked = time.window if filters.since is None and filters.until is None else None
        return Answer(
            question=text[:400],
            hits=tuple(hits),
            confidence=sure,
            legs=legs,
            tokens=sum(hit.tokens for hit in hits),
            token_budget=wanted.token_budget,
            left_out=left_out,
            since=asked.since if asked else filters.since,
            until=asked.until if asked else filters.until,
            time_phrase=time.phrase if asked else "",
            notes=tuple(notes),
        )


@dataclass(slots=True)
class _Looking:
    """One question on its way through the legs."""

    tx: Transaction
    scope: Scope
    question: Question
    wanted: Wanted
    now: Micros
    meaning: MeaningLeg | None
    lexicon: Lexicon | None
    weights: Weights
    legs: dict[str, str]
    notes: list[str]
    damaged: list[str] = field(default_factory=list)
    confidence: float = 0.0

    def memories(self) -> list[Hit]:
        total = int((self.tx.one("count_memory_docs", user=self.scope.user) or (0,))[0])
        words = self._words("memory", total)
        near = self._near("memory", total)
        evidence: dict[int, Evidence] = {}
        records: dict[int, Memory] = {}
        docs = list(dict.fromkeys([*words.totals, *near.nearest]))
        parts = words.parts(docs)
        for memory in memories.by_docs(self.tx, self.scope, docs, self.damaged) if docs else []:
            if self.wanted.filters.admits_memory(memory, self.scope, self.now):
                records[memory.doc] = memory
                evidence[memory.doc] = Evidence(words=parts.get(memory.doc, {}))
        self._add_meaning(evidence, near, {doc: memory.tokens for doc, memory in records.items()})
        order = self._fused(evidence, words)
        for doc in order:
            evidence[doc].score += _IMPORTANCE * records[doc].importance
        order.sort(key=lambda doc: (-evidence[doc].score, -doc))
        scores = _absolute(order, evidence, words)
        scores = {doc: round(min(1.0, _DURABLE * score), 4) for doc, score in scores.items()}
        kept = _known(order, scores)
        hits = [
            self._memory_hit(records[doc], scores[doc], _why(doc, evidence[doc], words))
            for doc in kept[: self.wanted.limit]
        ]
        self._weigh([evidence[doc] for doc in kept], words)
        return hits

    def _memory_hit(self, memory: Memory, score: float, why: str) -> Hit:
        return Hit(
            source="memory",
            id=memory.id,
            text=memory.content,
            score=score,
            why=why,
            origin=memory.origin,
            tokens=memory.tokens + HIT_OVERHEAD,
            at=memory.valid_from,
            key=memory.key,
            kind=memory.kind.value,
            context=memory.context if self.wanted.include_context else "",
            importance=memory.importance,
            tags=memory.tags,
            session=memory.scope.session,
            project=memory.scope.project,
            citation=self._said_in(memory),
        )

    def _said_in(self, memory: Memory) -> str:
        """Where a memory was said, if it was taken from a transcript; empty if it was given to us."""
        for parent, _ in memories.parents_of(self.tx, self.scope, memory.id):
            if parent.kind == "message":
                said = sessions.message_by_id(self.tx, self.scope, parent.id)
                if said is not None:
                    return message_citation(said)
            try:
                episode = episodes.episode(self.tx, self.scope, parent.id) if parent.kind == "episode" else None
            except Corrupt:
                self.damaged.append(parent.id)
                continue
            if episode is not None:
                return citation(episode, self._transcript(episode.transcript_id))
        return ""

    def _transcript(self, transcript_id: str) -> Transcript | None:
        """The record of a transcript; None where it is damaged, for the episode itself is whole."""
        try:
            return episodes.transcript(self.tx, self.scope, transcript_id)
        except Corrupt:
            self.damaged.append(transcript_id)
            return None

    def episodes(self) -> list[Hit]:
        total = int((self.tx.one("count_episodes", user=self.scope.user) or (0,))[0])
        words = self._words("episode", total)
        near = self._near("episode", total)
        allowed = self._allowed_transcripts()
        window = self._window()
        candidates = rank.best_by_words(words.totals) if allowed is None and window is None else list(words.totals)
        closer = candidates[: rank.CANDIDATES]
        places = {place.doc: place for place in search.around(self.tx, self.scope, closer)} if closer else {}
        others = [doc for doc in dict.fromkeys([*candidates, *near.nearest]) if doc not in places]
        for place in search.places(self.tx, self.scope, others) if others else []:
            places[place.doc] = place
        inside = self._inside(window)
        for place in inside.values() if window and window.weight == 1.0 else ():
            places.setdefault(place.doc, place)
        if allowed is not None:
            places = {doc: place for doc, place in places.items() if place.transcript in allowed}
        if window is not None and window.hard:
            places = {doc: place for doc, place in places.items() if doc in inside}
        parts = words.parts(places)
        context = rank.context_scores(places.values(), parts, self.weights)
        sessions = rank.session_scores(places.values(), parts, words.idf)
        own = meant({place.role for place in places.values()}, self.question.of_asker, self.question.terms)
        evidence = {
            doc: Evidence(
                words=parts.get(doc, {}),
                context=context.get(doc, 0.0),
                session=sessions.get(place.transcript, 0.0),
                own=place.role in own,
                recent=rank.recency(place.started_at, self.now) if self.question.telling else 0.0,
                # A limit is no evidence; but with nothing else asked for, what lies within it is the answer.
                in_window=window.weight
                if window and doc in inside and not (window.hard and self.question.terms)
                else 0.0,
            )
            for doc, place in places.items()
        }
        self._add_meaning(evidence, near, {doc: place.tokens for doc, place in places.items()})
        order = self._fused(evidence, words)
        scores = _absolute(order, evidence, words)
        kept = [doc for doc in _known(order, scores) if _has_reason(evidence[doc], window)]
        hits = self._episode_hits(kept, scores, evidence, words)
        if hits:  # the best may be held back for its origin
            best = [evidence[doc] for doc in kept if scores[doc] <= hits[0].score]
            self._weigh(best, words, names(own))
        return hits

    def _episode_hits(
        self, order: list[int], scores: dict[int, float], evidence: dict[int, Evidence], words: WordMatches
    ) -> list[Hit]:
        hits: list[Hit] = []
        transcripts: dict[str, Transcript | None] = {}
        step = max(self.wanted.limit, 8)
        for start in range(0, len(order), step):
            docs = order[start : start + step]
            records = {episode.doc: episode for episode in episodes.by_docs(self.tx, self.scope, docs, self.damaged)}
            for doc in docs:
                episode = records.get(doc)
                if episode is None or not self.wanted.filters.admits_origin(episode.origin):
                    continue
                if episode.transcript_id not in transcripts:
                    transcripts[episode.transcript_id] = self._transcript(episode.transcript_id)
                transcript = transcripts[episode.transcript_id]
                hits.append(episode_hit(episode, transcript, scores[doc], _why(doc, evidence[doc], words)))
                if len(hits) == self.wanted.limit:
                    return hits
        return hits

    def _words(self, source: str, total: int) -> WordMatches:
        leg = _LEG_NAMES[source] + " by words"
        try:
            where = Search(self.tx, self.scope, source, total, self.lexicon, self.weights)
            found = self._matched(where)
        except StoreError as error:
            self.legs[leg] = f"failed: {error}"
            return WordMatches()
        self.legs[leg] = f"{len(found.totals)}" + (" by substring" if found.substring else "")
        for term, spellings in found.spelled.items():
            note = f"“{term}” was not found; looked for {', '.join(spellings)} as well."
            if note not in self.notes:
                self.notes.append(note)
        return found

    def _matched(self, where: Search) -> WordMatches:
        try:
            return match_words(where, self.question)
        except ModuleNotFoundError:  # of the lexicon's model; the words themselves need none
            return match_words(replace(where, lexicon=None), self.question)

    def _near(self, source: str, total: int) -> Likeness:
        leg = _LEG_NAMES[source] + " by vector"
        if self.meaning is None:
            self.legs[leg] = "off"
            return _NOTHING
        if not total or not self.question.text.strip():
            self.legs[leg] = "0"
            return _NOTHING
        try:
            near = self.meaning.nearest(self.tx, self.scope, source, self.question.text, rank.CANDIDATES)
        except (StoreError, EmbedderFailed, ModuleNotFoundError) as error:
            self.legs[leg] = f"failed: {error}"
            return _NOTHING
        partial = f"; partial: {near.documents:,} of {total:,} have a vector" if near.documents < total else ""
        self.legs[leg] = f"{len(near.nearest)}{partial}"
        return near

    def _add_meaning(self, evidence: dict[int, Evidence], near: Likeness, tokens: dict[int, int]) -> None:
        trust = self.meaning.embedder.trust(self.question.text) if self.meaning and near.nearest else 0.0
        reads = self._reads_sentences()
        for doc, value in rank.meaning_scores(near.nearest, near.middling, tokens, reads_sentences=reads).items():
            if doc in evidence:
                evidence[doc].meaning = trust * value
        if self.meaning is not None:
            marks = self.meaning.embedder.marks
            for doc, cosine in near.nearest.items():
                if doc in evidence:
                    evidence[doc].near = rank.nearness(cosine, marks)

    def _weigh(self, best: list[Evidence], words: WordMatches, named: Collection[str] = ()) -> None:
        """What one source knows makes the answer as sure as that; the surer of the sources counts."""
        sure = confidence(best, words.idf, words.unheard, named)
        if words.substring:
            sure = min(sure, _SUBSTRING_CONFIDENCE)
        if best and best[0].in_window == 1.0:
            sure = max(sure, _WINDOW_CONFIDENCE)
        self.confidence = max(self.confidence, sure)

    def _fused(self, evidence: dict[int, Evidence], words: WordMatches) -> list[int]:
        return rank.fuse(evidence, words.idf, reads_sentences=self._reads_sentences(), weights=self.weights)

    def _reads_sentences(self) -> bool:
        return self.meaning is not None and self.meaning.embedder.reads_sentences

    def _allowed_transcripts(self) -> set[str] | None:
        """The transcripts that may answer, or None for all of them."""
        narrowed = self.scope.project or self.scope.agent or self.scope.session
        if not narrowed and self.tx.one("denied_transcript", user=self.scope.user) is None:
            return None
        rows = self.tx.all(
            "allowed_transcripts",
            user=self.scope.user,
            project=self.scope.project,
            agent=self.scope.agent,
            session=self.scope.session,
        )
        return {row[0] for row in rows}

    def _window(self) -> _Window | None:
        """The time to look in: what the caller set is a limit, what the question says is a preference."""
        filters = self.wanted.filters
        until = filters.until
        if filters.known_at is not None:
            until = min(until or filters.known_at, filters.known_at)
        if filters.since is not None or until is not None:
            return _Window(filters.since or -(1 << 62), until or 1 << 62, hard=True)
        if self.question.sessions and (named := self._named_sessions(self.question.sessions)):
            weight = 1.0 if self.question.sessions.certain else self.weights.perhaps
            return _Window(0, self.now, self.question.sessions.phrase, weight=weight, transcripts=tuple(named))
        time = self.question.time
        if time.window is None:
            return None
        weight = 1.0 if time.certain else self.weights.perhaps
        return _Window(time.window.since, time.window.until, time.phrase, weight=weight)

    def _named_sessions(self, reading: SessionReading) -> list[str]:
        """The transcripts that a question names by their place among those that it may know of.

        Counted from the end, one whose last word was said just now is this conversation itself, and is not counted.
        """
        rows = self.tx.all(
            "sessions_in_order",
            user=self.scope.user,
            project=self.scope.project,
            agent=self.scope.agent,
            session=self.scope.session,
            now=self.now,
            quiet=self.now - _QUIET if reading.from_end else self.now,
        )
        named = chosen(reading, [row[0] for row in rows])
        if not named and reading.certain:
            self.notes.append(f"There is no “{reading.phrase}”: {len(rows)} sessions are known; looked at all of them.")
        return named

    def _inside(self, window: _Window | None) -> dict[int, search.Place]:
        if window is None:
            return {}
        limit = 1 << 40 if window.hard else _WINDOW_DOCUMENTS
        if window.transcripts:
            found = search.of_transcripts(self.tx, self.scope, window.transcripts, limit)
        else:
            found = search.in_window(self.tx, self.scope, window.since, window.until, limit)
        if not found and not window.hard and window.weight == 1.0:
            self.notes.append(f"Nothing is known from “{window.phrase}”; looked at all times.")
        return {place.doc: place for place in found}


@dataclass(frozen=True, slots=True)
class _Window:
    since: Micros
    until: Micros
    phrase: str = ""  # the question's words for it
    weight: float = 1.0  # how surely it is meant
    hard: bool = False  # nothing outside may answer
    transcripts: tuple[str, ...] = ()  # if any, these are meant, and not a time


_LEG_NAMES = {"memory": "memories", "episode": "episodes"}


def _has_reason(found: Evidence, window: _Window | None) -> bool:
    """Whether anything but its neighbourhood speaks for an episode. Inside a hard window an empty question is a
    request for everything, so there nothing is held against it."""
    return bool(found.words or found.context or found.meaning > 0 or found.in_window) or (
        window is not None and window.hard
    )


def _absolute(order: list[int], evidence: dict[int, Evidence], words: WordMatches) -> dict[int, float]:
    """Scores in 0–1 that compare between questions: how far the best hit fits, shared out in proportion."""
    if not order:
        return {}
    top = evidence[order[0]].score or 1.0
    sure = max(rank.fit(evidence[doc], words.idf) for doc in order[:FIRST])
    if words.substring:
        sure = min(sure, _SUBSTRING_CONFIDENCE)
    sure = max(sure, _WINDOW_CONFIDENCE if evidence[order[0]].in_window == 1.0 else 0.0)
    return {doc: round(sure * max(0.0, evidence[doc].score) / top, 4) for doc in order}


def _known(order: list[int], scores: dict[int, float]) -> list[int]:
    return [doc for doc in order if scores[doc] > 0]


def _why(doc: int, found: Evidence, words: WordMatches) -> str:
    reasons = []
    if found.words:
        heaviest = sorted(found.words, key=lambda term: -found.words[term])[:5]
        near = {term: words.nearly[term][doc] for term in heaviest if doc in words.nearly.get(term, ())}
        named = (f"{near[term]} (near {term})" if term in near else term for term in heaviest)
        reasons.append(("contains " if words.substring else "words: ") + ", ".join(named))
    if found.context > 0:
        reasons.append("its neighbours fit")
    if found.meaning >= 0.5:
        reasons.append("near in meaning")
    if found.in_window:
        reasons.append("from the time asked for")
    if not reasons:
        reasons.append(
            "near in meaning" if found.meaning > 0 else "its session fits" if found.session else "in the time"
        )
    return "; ".join(reasons)


def episode_hit(episode: Episode, transcript: Transcript | None, score: float, why: str) -> Hit:
    """An episode as a hit, with the pointer that opens it."""
    return Hit(
        source="episode",
        id=episode.id,
        text=episode.summary or episode.preview,
        score=score,
        why=why,
        origin=episode.origin,
        tokens=episode.tokens + HIT_OVERHEAD,
        at=episode.started_at,
        key=episode.key,
        kind=episode.category,
        importance=episode.importance,
        role=episode.role,
        session=transcript.session if transcript else "",
        project=transcript.project if transcript else "",
        branch=episode.branch,
        transcript=transcript.path if transcript else "",
        turns=(episode.first_turn, episode.last_turn),
        citation=citation(episode, transcript),
        abandoned=transcript is not None and transcript.took_back(episode.first_turn),
    )


def citation(episode: Episode, transcript: Transcript | None) -> str:
    """Where an episode stands, for a person: `claude-code 8463c716 turn 12, 2026-02-10`; and if it was taken back."""
    if transcript is None:
        return "transcript gone"
    turns = (
        f"turn {episode.first_turn + 1}"
        if episode.first_turn == episode.last_turn
        else f"turns {episode.first_turn + 1}–{episode.last_turn + 1}"
    )
    day = f", {to_datetime(episode.started_at):%Y-%m-%d}" if episode.started_at is not None else ""
    left = ", on an abandoned branch" if transcript.took_back(episode.first_turn) else ""
    return f"{transcript.host} {transcript.session[:8] or transcript.id[:8]} {turns}{day}{left}"


def _too_unsure(found: list[Hit], sure: float, wanted: Wanted) -> str:
    count = "One hit was" if len(found) == 1 else f"{len(found)} hits were"
    return (
        f"{count} held back: that they answer the question is {sure:.0%} likely, and less than "
        f"{wanted.min_confidence:.0%} counts as nothing; ask with a min_confidence of 0 to see them."
    )


def message_citation(message: Message) -> str:
    """Where a message of a conversation with PicoBot stands: `picobot 01a20090 message 12, 2026-02-10`."""
    return f"picobot {message.session_id[:8]} message {message.seq}, {to_datetime(message.created_at):%Y-%m-%d}"


def _redacted(hit: Hit, redactor: Redactor) -> Hit:
    """What was stored before a rule existed is redacted on the way out."""
    text, context = redactor.redact(hit.text).text, redactor.redact(hit.context).text
    if text == hit.text and context == hit.context:
        return hit
    return replace(hit, text=text, context=context)


def _budgeted(found: list[Hit], wanted: Wanted) -> tuple[list[Hit], int]:
    """Durable memories first in what may be spent, then by score; what did not fit is counted."""
    durable = sorted((hit for hit in found if hit.source == "memory"), key=lambda hit: -hit.score)
    episodic = sorted((hit for hit in found if hit.source != "memory"), key=lambda hit: -hit.score)
    budget = wanted.token_budget
    if budget is not None:
        share = int(budget * MEMORY_SHARE) if episodic else budget
        durable = durable[: rank.within_budget([hit.tokens for hit in durable], share)]
        rest = budget - sum(hit.tokens for hit in durable)
        episodic = episodic[: rank.within_budget([hit.tokens for hit in episodic], rest)]
    kept = sorted([*durable, *episodic], key=lambda hit: (-hit.score, hit.source != "memory"))[: wanted.limit]
    return kept, min(len(found), wanted.limit) - len(kept)
