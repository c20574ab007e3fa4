"""Recall: a question in, budgeted hits out. Reads, and hands to the pure parts what they decide on.

    question.parse → legs (lexical_search.match_words, VectorSearch.nearest) → filters → rank → hits → budget

What is found among memories stands in memory_hits.py, what among episodes in episode_hits.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.light_dataclass import replace
from picomem.recall import rank
from picomem.recall.episode_hits import episode_hits
from picomem.recall.filters import Wanted
from picomem.recall.final_scores import with_final_scores
from picomem.recall.hits import HIT_OVERHEAD, redacted, spelling_warnings
from picomem.recall.legs import RecallState
from picomem.recall.memory_hits import memory_hits, note_archived
from picomem.recall.passages import LEAST, allowance, fitted, marks
from picomem.recall.question import parse
from picomem.recall.recency import replaced_last
from picomem.recall.vector_search import VectorSearch
from picomem.recall.weights import WEIGHTS, Weights
from picomem.records.hit import Answer, Hit
from picomem.records.scope import Scope
from picomem.store.connector import Connector
from picomem.store.project_names import with_former_projects

if TYPE_CHECKING:
    from picomem.models.static_embedder import Lexicon
    from picomem.policy.redact import Redactor
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from picomem.coded_text import all_of
from picomem.errors import Corrupt, StoreError
from picomem.recall.final_scores import rescored
from picomem.recall.hits import episode_hit
from picomem.recall.lexical_search import Corpus, match_statement
from picomem.recall.memory_hits import admitted, as_hit
from picomem.recall.question import statement
from picomem.recall.rank import best_by_words
from picomem.recall.recency import OUTDATED
from picomem.records.episode import Episode, suggested_spans
from picomem.records.kinds import Origin
from picomem.records.memory import Memory
from picomem.store import episodes, memories, memory_lineage, row_counts
from picomem.text.likeness import SAME_SUBJECT, subject_likeness
from picomem.text.terms import terms

# Finds newer statements on the subjects of those among the hits: they stand first, and the older ones are marked.
#
# “Tom does the reviews” and, a month later, “Priya took over from Tom” share little, and a question often fits the
# older one alone. So the rare words of a statement lead to what was stated after it: memories, and sentences of other
# sessions that seem worth knowing too (`Episode.suggested`). The most alike of them stands right before it, whether
# or not the question found it, and the older one is marked. A wrong pair costs an order and a mark, never a text, for
# nothing is stored of it. Of two memories, only those are a pair that `remember` linked and that no person has kept
# side by side.

_FITS = 0.5  # of the older one's score; a newer one that fits the question so well needs half of the likeness
_STATES = 0.15  # estimate of a newer sentence that the question does not fit
_MOST_OLDER = 3  # statements of which a newer one is looked for
_COMMON = 500  # a word of more memories, or episodes, says too little for what it costs
_MOST_READ = 16  # memories, and episodes, those that have most of a statement's words
_USUAL = 3  # episodes that are taken to hold a word of the newer statement alone: to count them takes too long
_REASON = "newer than a hit on the same subject"


class _Later(NamedTuple):
    """What was stated later than an older hit: where, in which words, and how surely it is a statement (0–1)."""

    record: Episode | Memory
    text: str
    estimate: float


def with_newer_statements(state: RecallState, ranked: Sequence[Hit]) -> list[Hit]:
    """The hits with newer statements before the older ones of the same subject, and a mark on these. Where no session
    has been read, the links between memories say all."""
    best = sorted((hit for hit in ranked if hit.id in state.stated and not hit.remark), key=lambda hit: -hit.score)
    if not best or not state.episodes:
        return list(ranked)
    by_id = {hit.id: hit for hit in ranked}
    try:
        totals = {"memory": row_counts.memories_written(state.tx, state.scope).searchable, "episode": state.episodes}
        corpora = [Corpus(state.tx, state.scope, source, total) for source, total in totals.items()]
        newer = {older.id: hit for older in best[:_MOST_OLDER] if (hit := _newer_than(older, state, corpora, by_id))}
    except StoreError as error:  # of full text, without which the question itself was answered too
        state.legs["newer statements"] = f"failed: {error}"
        return list(ranked)
    for older_id, hit in newer.items():
        older, first = by_id[older_id], by_id.get(hit.id, hit)
        by_id[first.id] = rescored(first, max(first.score, older.score))
        older = rescored(older, round(older.score * 0.999, 4))
        by_id[older_id] = replace(older, why=all_of(older.why, OUTDATED), remark=OUTDATED)
    return list(by_id.values())


def _newer_than(older: Hit, state: RecallState, corpora: Sequence[Corpus], ranked: Mapping[str, Hit]) -> Hit | None:
    """The hit, new or among the ranked ones, of the statement that most likely replaces an older one. Of a turn whose
    memory was archived, by a merge too, `recency` knows more."""
    made = [memory for memory, _ in memory_lineage.made_from_episodes(state.tx, state.scope, [older.id])]
    if made and all(memory.archived for memory in made):
        return None
    words = statement(state.stated[older.id])
    among_memories, among_episodes = (match_statement(corpus, words, _COMMON) for corpus in corpora)
    said = corpora[-1]
    rarity, unknown = said.rarities(words.terms, words, among_episodes.counts), said.rarity(_USUAL)
    docs = [best_by_words(matches.totals, _MOST_READ) for matches in (among_memories, among_episodes)]
    fitting = {hit.id for hit in ranked.values() if hit.score >= _FITS * older.score}
    fitting |= {memory_id for memory_id, episode_id in state.taken_from.items() if episode_id in fitting}
    weighed: list[tuple[float, _Later]] = []
    for later in _later(older, state, *docs):
        likeness = subject_likeness(words.terms, terms(later.text), lambda term: rarity.get(term, unknown))
        fits = later.record.id in fitting
        if likeness >= (SAME_SUBJECT / 2 if fits else SAME_SUBJECT) and (fits or later.estimate >= _STATES):
            weighed.append((likeness * (SAME_SUBJECT + later.estimate), later))
    for _, later in sorted(weighed, key=lambda entry: (-entry[0], entry[1].record.id)):
        if hit := _hit_of(later.record, older, state):
            return ranked.get(state.taken_from.get(hit.id, ""), hit)
    return None


def _later(older: Hit, state: RecallState, of_memories: Sequence[int], of_episodes: Sequence[int]) -> Iterator[_Later]:
    since, filters = older.at, state.wanted.filters
    if since is None:
        return
    known = _memories_of(older, state)
    for memory in admitted(state, memories.by_docs(state.tx, state.scope, of_memories, [])):
        is_pair = not known or any(memory.id in one.contradicts or one.id in memory.contradicts for one in known)
        if is_pair and memory.valid_from > since and memory.origin is Origin.USER:
            yield _Later(memory, memory.content, 1.0)
    for episode in episodes.by_docs(state.tx, state.scope, of_episodes, state.damaged):
        is_theirs = episode.role == "user" and episode.origin is Origin.USER and filters.admits_episode(episode)
        if is_theirs and (episode.started_at or since) > since:
            for span in suggested_spans(episode.suggested):
                yield _Later(episode, episode.preview[span.start : span.end], span.estimate)


def _memories_of(hit: Hit, state: RecallState) -> list[Memory]:
    """The memory that a hit is, or those that were taken from it."""
    return [memory for memory in state.listed if hit.id in (memory.id, state.taken_from.get(memory.id))]


def _hit_of(record: Episode | Memory, older: Hit, state: RecallState) -> Hit | None:
    """A later statement as a hit with the score of an older one, if it is of the same project, of another session, and
    may be handed out."""
    if isinstance(record, Memory):
        hit = as_hit(state, record, older.score, _REASON)
    elif state.allowed is not None and record.transcript_id not in state.allowed:
        return None
    elif memory_lineage.made_from_episodes(state.tx, state.scope, [record.id]):
        return None  # a person decided on what is stated there
    else:
        try:
            transcript = state.transcript(record.transcript_id)
        except Corrupt:
            state.damaged.append(record.transcript_id)
            return None
        hit = episode_hit(record, transcript, older.score, _REASON)
    is_elsewhere = bool(older.project and hit.project) and hit.project != older.project
    is_same_session = bool(older.transcript) and hit.transcript == older.transcript
    return None if is_elsewhere or is_same_session or hit.abandoned or hit.id == older.id else hit


MEMORY_SHARE = 0.6  # of the token budget; what memories leave over goes to episodes
_MOST_OF_IT = 0.5  # a memory with so much of its episode's tokens says what the episode says
_OF_ANOTHER_TIME = 0.3  # the most that an answer is sure of where nothing is known from the time that was asked for
_DOUBTFUL = 0.3  # below this confidence the answer says that it is hardly one


class Recall:
    """Answers questions over one store."""

    def __init__(
        self,
        connector: Connector,
        redactor: Callable[[], Redactor],
        vectors: VectorSearch | None,
        zone: tzinfo,
        lexicon: Lexicon | None = None,
        weights: Weights = WEIGHTS,
        without_vectors: str = "off",
    ) -> None:
        """`without_vectors` is what the legs by vector are said to be where there are no `vectors`."""
        self._connector = connector
        self._redactor = redactor
        self._vectors = vectors
        self._zone = zone
        self._lexicon = lexicon
        self._weights = weights
        self._without_vectors = without_vectors

    def answer(self, scope: Scope, text: str, wanted: Wanted, now: Micros) -> Answer:
        question = parse(text, now, self._zone)
        with self._connector.read() as tx:
            scope = with_former_projects(tx, scope)
            state = RecallState(
                tx, scope, question, wanted, now, self._vectors, self._lexicon, self._weights, self._without_vectors
            )
            ranked = memory_hits(state) if wanted.filters.include_memories else []
            ranked += episode_hits(state) if wanted.filters.include_transcripts else []
            note_archived(state, [hit.id for hit in ranked if hit.source == "episode"])
            ranked, repeats = _without_repeats(ranked, state.taken_from)
            ranked = replaced_last(ranked, state.replaced_by, state.taken_from)
            ranked = with_final_scores(ranked, state.memory_weight)
            if wanted.filters.asks_what_holds and not question.time.window:
                ranked = with_newer_statements(state, ranked)
        warnings = state.warnings
        if state.damaged:
            lost = len(set(state.damaged))
            warnings.append(CodedText("warning.damaged_rows", count=lost, command=Command("doctor")))
        sure = state.confidence if ranked else 0.0
        missed = state.empty_window
        if missed is not None and not any(missed.holds(hit.at) for hit in ranked):
            warnings.append(CodedText("warning.nothing_from_time", name=missed.phrase))
            sure = min(sure, _OF_ANOTHER_TIME)
        if ranked and sure < wanted.min_confidence:
            warnings.append(_too_unsure(ranked, sure, wanted))
            ranked = []
        if state.episodes == 0 and sure < _DOUBTFUL:
            warnings.append(CodedText("warning.nothing_read", command=Command("ingest")))
        chosen = _chosen(ranked, wanted)
        redactor = self._redactor() if chosen else None
        # Before anything is cut, for half of a secret is not known as one.
        chosen = [redacted(hit, redactor) for hit in chosen] if redactor else chosen
        hits = _within_budget(chosen, wanted.token_budget, state.matched)
        hits = [replace(hit, marks=marks(hit.text, state.matched.get(hit.id, {}))) for hit in hits]
        left_out = min(len(ranked), wanted.limit) - len(hits)
        warnings = [*spelling_warnings(state.spelled, question.written_words, hits), *warnings]
        filters, time = wanted.filters, question.time
        # What was not looked at must not be said: a limit of the caller's goes before the question's words.
        asked = None if filters.limits_time else time.window
        return Answer(
            question=text[:400],
            hits=tuple(hits),
            confidence=sure,
            legs=state.legs,
            tokens=sum(hit.tokens for hit in hits),
            token_budget=wanted.token_budget,
            left_out=left_out,
            since=asked.since if asked else filters.since,
            until=asked.until if asked else filters.until,
            time_phrase=time.phrase if asked else "",
            warnings=tuple(warnings),
            signs=state.signs,
            repeats=tuple(redacted(hit, redactor) for hit in repeats) if redactor else (),
        )


def with_doubt(answer: Answer) -> Answer:
    """A whole answer, with a warning if what was asked is probably not known."""
    if not (answer.hits or answer.left_out) or answer.confidence >= _DOUBTFUL:
        return answer
    said = CodedText("warning.probably_unknown", sure=f"{answer.confidence:.0%}")
    return replace(answer, warnings=(*answer.warnings, said))


def _too_unsure(withheld: list[Hit], sure: float, wanted: Wanted) -> str:
    least = f"{wanted.min_confidence:.0%}"
    return CodedText("warning.held_back", count=len(withheld), sure=f"{sure:.0%}", least=least)


def _without_repeats(ranked: list[Hit], taken_from: Mapping[str, str]) -> tuple[list[Hit], list[Hit]]:
    """The hits without those that repeat a better one, and those that do: of a memory and the episode that it was taken
    from the second, but for an episode that says much more than the memory."""
    episodes = {hit.id: hit for hit in ranked if hit.source == "episode"}
    repeats: set[str] = set()
    for memory in ranked:
        episode = episodes.get(taken_from.get(memory.id, ""))
        if episode is None:
            continue
        if memory.score < episode.score:
            repeats.add(memory.id)
        elif memory.tokens - HIT_OVERHEAD >= _MOST_OF_IT * (episode.tokens - HIT_OVERHEAD):
            repeats.add(episode.id)
    return [hit for hit in ranked if hit.id not in repeats], [hit for hit in ranked if hit.id in repeats]


def _chosen(ranked: list[Hit], wanted: Wanted) -> list[Hit]:
    """The hits that may be handed out, by score: memories as far as their share of the budget goes, then episodes. The
    share keeps room for episodes, and so leaves out no memory that is better than all of them."""
    durable = sorted((hit for hit in ranked if hit.source == "memory"), key=lambda hit: -hit.score)
    episodic = sorted((hit for hit in ranked if hit.source != "memory"), key=lambda hit: -hit.score)
    budget = wanted.token_budget
    if budget is not None:
        share = int(budget * MEMORY_SHARE) if episodic else budget
        if episodic and durable and durable[0].score >= episodic[0].score:
            share = max(share, min(budget, durable[0].tokens))
        durable = durable[: rank.within_budget([hit.tokens for hit in durable], share)]
    return sorted([*durable, *episodic], key=lambda hit: (-hit.score, hit.source != "memory"))[: wanted.limit]


def _within_budget(chosen: list[Hit], budget: int | None, matched: Mapping[str, Mapping[str, float]]) -> list[Hit]:
    """Those of the hits that fit a budget, large episodes cut to the passage that answers."""
    if budget is None or sum(hit.tokens for hit in chosen) <= budget:
        return chosen
    rest = budget - sum(hit.tokens for hit in chosen if hit.source == "memory")
    episodic = [hit for hit in chosen if hit.source != "memory"]
    # As many as there is room for at the least; the last ones are left out.
    episodic = episodic[: rest // (HIT_OVERHEAD + LEAST) or 1]
    room = allowance([hit.tokens - HIT_OVERHEAD for hit in episodic], rest - HIT_OVERHEAD * len(episodic))
    cut = [fitted(hit, matched.get(hit.id, {}), max(LEAST, room), HIT_OVERHEAD) for hit in episodic]
    cut = cut[: rank.within_budget([hit.tokens for hit in cut], rest)]
    kept = {hit.id: hit for hit in [*(hit for hit in chosen if hit.source == "memory"), *cut]}
    return [kept[hit.id] for hit in chosen if hit.id in kept]
