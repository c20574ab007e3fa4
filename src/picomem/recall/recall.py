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
from picomem.recall.newer_statements import with_newer_statements
from picomem.recall.passages import LEAST, allowance, fitted, marks
from picomem.recall.question import parse
from picomem.recall.recency import replaced_last
from picomem.recall.vector_search import VectorSearch
from picomem.recall.weights import WEIGHTS, Weights
from picomem.records.hit import Answer, Hit
from picomem.records.scope import Scope
from picomem.store.connector import Connector
from picomem.store.tables.project_names import with_former_projects

if TYPE_CHECKING:
    from picomem.models.static_embedder import Lexicon
    from picomem.policy.redact import Redactor

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
