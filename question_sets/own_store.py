"""`python -m benchmarks own`: measures how well recall answers a user's own questions over their own store.

    the store ──copied──▶ a temporary file ──▶ vectors that are missing ──▶ the real recall, one variant after another
                                           └─▶ the same texts in plain FTS5

The store is read once, to copy it, and nothing is written to it: no vectors, no newer schema, no record of answers. All
variants (see variants.py) use the one copy, which holds the vectors of several models. Notes are left out, because FTS5
does not have them. The token budget does not limit the results unless a variant sets it, because the benchmark measures
the ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from picomem.app import check_exists, open_engine, zone_of
from picomem.engine.engine import Engine
from picomem.errors import Conflict, Corrupt, EmbedderFailed, NotFound, Refused
from picomem.light_dataclass import dataclass
from picomem.paths import database_path, named_store
from picomem.records.hit import Hit
from picomem.store.files.copying import copy_store
from question_sets import metrics
from question_sets.fts5_baseline import Fts5
from question_sets.own_questions import OwnQuestion, read_questions
from question_sets.own_report import BARE, DEPTH, Answered, MeasuredStore, OwnReport, ShownResult, made_report
from question_sets.variants import Variant

_UNBOUNDED = 1_000_000_000
_EVERYTHING = 1 << 40
_SHOWN = 3  # results of a question that was missed
Telling = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """One result, of recall or of FTS5; `place` says to a person where it stands."""

    source: str
    id: str
    session: str
    place: str
    text: str


def run(
    file: Path,
    ways: Sequence[Variant],
    *,
    database: Path | None = None,
    user: str | None = None,
    progress: Telling | None = None,
) -> OwnReport:
    """Ask the questions of a file, by every way, over a copy of the store (default: the settings').

    Raises NotFound or InvalidInput for the file (naming the line), StoreError for the store, EmbedderFailed where an
    embedder cannot make the vectors.
    """
    tell = progress or (lambda _: None)
    settings = ways[0].settings
    questions = read_questions(file, zone_of(settings))
    named = named_store(settings.data.database)
    store = database or database_path(settings.data.dir, named)
    check_exists(store, named=database is not None or bool(named))
    with TemporaryDirectory(prefix="picomem-bench-") as folder:
        copy = Path(folder).resolve() / "memory.db"
        tell(f"copying {store}")
        copy_store(store, copy)
        with open_engine(copy, user=user, settings=settings, embedder="none") as engine:
            owner = engine.scope.user
            texts = list(_texts(engine))
            with closing(Fts5(copy.with_name("plain.db"))) as plain:
                if not texts:
                    raise NotFound(f"Nothing of user {owner} is in {store}; --user names another.")
                plain.add(text.text for text in texts)
                answered = {BARE: list(_asked_plain(engine, plain, texts, questions, tell))}
        made: dict[str, int] = {}
        for way in ways:
            with open_engine(copy, user=user, settings=way.settings) as engine:
                made[way.name] = _vectors_made(engine, way, tell)
                answered[way.name] = list(_asked(engine, way, questions, tell))
    return made_report(
        MeasuredStore(
            store=str(store),
            user=owner,
            episodes=sum(text.source == "episode" for text in texts),
            memories=sum(text.source == "memory" for text in texts),
        ),
        ways=[way.name for way in ways],
        made=made,
        questions=questions,
        unknown={question.line for question in questions if not _is_known(question, texts)},
        answered=answered,
    )


def _vectors_made(engine: Engine, way: Variant, tell: Telling) -> int:
    if trouble := engine.status().embedder_trouble:
        raise EmbedderFailed(trouble)
    if engine.embedder_name == "none":
        return 0
    return engine.embed(
        remove=False, progress=lambda done, total, _: tell(f"{way.name}: {done:,} of {total:,} vectors")
    ).made


def _texts(engine: Engine) -> Iterator[_Result]:
    """Return all texts that recall may return, for a plain search."""
    for memory in engine.memories():
        if memory.origin.trusted:
            place = f"memory {memory.key}"
            yield _Result(source="memory", id=memory.id, session=memory.scope.session, place=place, text=memory.content)
    episodes = engine.timeline(limit=_EVERYTHING)
    yield from (_result(hit) for hit in episodes if hit.origin.trusted or hit.role == "assistant")


def _result(hit: Hit) -> _Result:
    place = f"memory {hit.key}" if hit.source == "memory" else hit.citation
    return _Result(
        source=hit.source,
        id=hit.id,
        session=hit.session,
        place=place,
        text="\n".join((hit.text, *hit.actions, *hit.outcomes)),
    )


def _is_known(question: OwnQuestion, texts: Sequence[_Result]) -> bool:
    return not question.session or any(text.session.startswith(question.session) for text in texts)


def _asked(engine: Engine, way: Variant, questions: Sequence[OwnQuestion], tell: Telling) -> Iterator[Answered]:
    limit = way.settings.recall.limit if "recall.limit" in way.named else DEPTH
    budget = way.settings.recall.token_budget if "recall.token_budget" in way.named else _UNBOUNDED
    rank_of = _judge(engine)
    for number, question in enumerate(questions, 1):
        tell(f"{way.name}: {number} of {len(questions)} questions")
        began = perf_counter()
        answer = engine.recall(
            question.text,
            now=question.asked_at,
            limit=limit,
            token_budget=budget,
            include_notes=False,
            include_retold=True,  # as `picomem recall` does
        )
        seconds = perf_counter() - began
        results = [_result(hit) for hit in answer.hits]
        yield Answered(
            rank=rank_of(question, results), seconds=seconds, confidence=answer.confidence, came=_came(results)
        )


def _asked_plain(
    engine: Engine, plain: Fts5, texts: Sequence[_Result], questions: Sequence[OwnQuestion], tell: Telling
) -> Iterator[Answered]:
    rank_of = _judge(engine)
    for number, question in enumerate(questions, 1):
        tell(f"{BARE}: {number} of {len(questions)} questions")
        began = perf_counter()
        best = plain.best(question.text, DEPTH)
        seconds = perf_counter() - began
        results = [texts[document] for document in best]
        yield Answered(rank=rank_of(question, results), seconds=seconds, confidence=None, came=_came(results))


def _came(results: Sequence[_Result]) -> tuple[ShownResult, ...]:
    return tuple(ShownResult(place=result.place, text=result.text) for result in results[:_SHOWN])


def _judge(engine: Engine) -> Callable[[OwnQuestion, Sequence[_Result]], metrics.Rank]:
    """Return a function that finds the rank of the first wanted result; it returns None if none is among the first."""

    @cache
    def opened(episode: str) -> str:
        with suppress(NotFound, Refused, Corrupt):
            return "\n".join(line for turn in engine.show(episode)[2].turns for line in (turn.shown, *turn.outcomes))
        return ""

    @cache
    def sessions_of(memory: str) -> tuple[str, ...]:
        """The sessions in which a memory was stated."""
        with suppress(NotFound, Conflict, Corrupt):
            sources = [source.parent.id for source in engine.why(memory).sources if source.parent.kind == "episode"]
            spoken = [engine.why(source).transcript for source in sources]
            return tuple(transcript.session for transcript in spoken if transcript is not None)
        return ()

    def rank_of(question: OwnQuestion, results: Sequence[_Result]) -> metrics.Rank:
        for rank, result in enumerate(results[:DEPTH], 1):
            is_memory = result.source == "memory"
            sessions = [result.session, *(sessions_of(result.id) if question.session and is_memory else ())]
            if question.is_met(
                sessions, result.text, lambda result=result: "" if result.source == "memory" else opened(result.id)
            ):
                return rank
        return None

    return rank_of
