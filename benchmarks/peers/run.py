"""`python -m benchmarks peers`: other libraries for text search, in the same run and on the same machine.

Each gets the same texts and the same questions, in a process of its own:

- speed: made-up texts (prose.py) are added 500 at a time, then made-up questions are asked in several rounds, and the
  fastest time of each question counts; with the memory of the process, and the size on disk at the end;
- quality: every turn of a case of a development set is a text, "NAME (DATE): what was said", because the questions
  name speakers and days. The questions are those that have gold turns. picomem reads the same turns as transcripts, as
  a user would provide them, with the same names and times.

A peer that cannot take all the texts in the available minutes is asked about those that it took. If one is not
installed, fails, or does not finish a set, the report gives the reason.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from os import cpu_count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.peers.kinds import KINDS, OURS, Kind
from benchmarks.peers.model import packaged_model
from benchmarks.peers.report import PeerQuality, PeerReport, PeerSpeed
from benchmarks.peers.talking import PeerFailed, Talk, Time, talking
from benchmarks.prose import Prose
from benchmarks.recall_speed import percentile
from picomem.errors import EmbedderFailed, InvalidInput
from picomem.light_dataclass import dataclass, replace
from question_sets import metrics
from question_sets.cases import Case, read_cases, set_name
from question_sets.significance import paired
from question_sets.trial import try_case

_SEED = 7
_TALK = 40  # texts on a topic
_BATCH = 500
_FOUND = 10
_DEPTH = 10
Telling = Callable[[str], None]
Scores = list[dict[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What is measured with: questions, rounds of asking them, and minutes that a peer has for a size or a set."""

    questions: int = 200
    rounds: int = 3
    minutes: float = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where peers are: the folder of their environments, the folder of the model (see model.py)."""

    environments: Path | None = None
    model: Path | None = None

    def with_model(self) -> Place:
        """The same, with the model that lies in the environments where none is named."""
        if self.model is not None or self.environments is None:
            return self
        return replace(self, model=packaged_model(self.environments))


def run(
    sets: Sequence[Path],
    *,
    sizes: Sequence[int] = (10_000,),
    place: Place | None = None,
    only: Sequence[str] = (),
    bounds: Bounds | None = None,
    progress: Telling | None = None,
) -> PeerReport:
    """Measure the peers (those that `only` names, or all) at these sizes and on these sets. Raises InvalidInput for a
    name that is no peer's and for a bad set or folder. It may take an hour: an interrupt ends it with what there is."""
    place, bounds, tell = (place or Place()).with_model(), bounds or Bounds(), progress or (lambda _: None)
    kinds = _chosen(only)
    if bounds.minutes <= 0:
        raise InvalidInput("A peer needs more than no minutes.")
    if place.model is not None and not (place.model / "model.onnx").is_file():
        raise InvalidInput(f"{place.model} holds no model.onnx; it is a folder as for onnx:FOLDER.")
    speeds: list[PeerSpeed] = []
    qualities: list[PeerQuality] = []
    stopped = False
    try:
        for size in sizes:
            for kind in kinds:
                speeds.append(_speed(kind, size, place, bounds, tell))
        for path in sets:
            for quality in _qualities(path, kinds, place, bounds, tell):
                qualities.append(quality)
    except KeyboardInterrupt:
        stopped = True
    machine = f"{cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return PeerReport(machine=machine, speeds=tuple(speeds), qualities=tuple(qualities), stopped=stopped)


def _chosen(only: Sequence[str]) -> list[Kind]:
    names = [kind.name for kind in KINDS]
    for name in only:
        if name not in names:
            raise InvalidInput(f"“{name}” is no peer that is known here; there are {'; '.join(names)}.")
    return [kind for kind in KINDS if not only or kind.name in only]


def _speed(kind: Kind, size: int, place: Place, bounds: Bounds, tell: Telling) -> PeerSpeed:
    texts, questions = _made_up(size, bounds.questions)
    with TemporaryDirectory(prefix="picomem-bench-") as folder:
        kept = Path(folder).resolve() / "kept"
        try:
            with _opened(kind, kept, place) as talk:
                added, (seconds, cpu_seconds) = _added(talk, texts, f"{kind.name}: ", bounds, tell)
                tell(f"{kind.name}: asking of {added:,} texts")
                passed, used = _least_times(talk, questions, bounds)
                mb, peak_mb = talk.weigh()
                talk.close()
        except PeerFailed as error:
            return PeerSpeed.failed(kind.name, size, str(error))
        return PeerSpeed(
            name=kind.name,
            version=talk.version,
            wanted=size,
            texts=added,
            texts_per_second=added / seconds,
            texts_per_cpu_second=added / cpu_seconds,
            p50_ms=percentile(passed, 0.5) * 1000,
            p99_ms=percentile(passed, 0.99) * 1000,
            cpu_p50_ms=percentile(used, 0.5) * 1000,
            mb=mb,
            peak_mb=peak_mb,
            disk_mb=sum(file.stat().st_size for file in kept.rglob("*") if file.is_file()) / 1e6,
        )


def _opened(kind: Kind, folder: Path, place: Place) -> AbstractContextManager[Talk]:
    if kind.needs_model and place.model is None:
        raise PeerFailed("needs a model that it would download; --model names the folder of one")
    return talking(kind, folder, place.environments, place.model)


def _made_up(size: int, questions: int) -> tuple[list[str], list[str]]:
    prose = Prose(_SEED)
    texts: list[str] = []
    while len(texts) < size:
        topic = prose.topic()
        texts += [prose.text(topic) for _ in range(min(_TALK, size - len(texts)))]
    return texts, [prose.question(texts[number * size // questions]) for number in range(questions)]


def _added(talk: Talk, texts: Sequence[str], name: str, bounds: Bounds, tell: Telling) -> tuple[int, Time]:
    """Return how many of them got in, in the minutes that there are, and the time that it took until they can be
    found."""
    times: list[Time] = []
    done = 0
    while done < len(texts) and sum(passed for passed, _ in times) < bounds.minutes * 60:
        tell(f"{name}{done:,} of {len(texts):,} texts")
        batch = texts[done : done + _BATCH]
        times.append(talk.add([str(done + number) for number in range(len(batch))], batch))
        done += len(batch)
    times.append(talk.ready())
    return done, (sum(passed for passed, _ in times), sum(used for _, used in times))


def _least_times(talk: Talk, questions: Sequence[str], bounds: Bounds) -> tuple[list[float], list[float]]:
    """The least time that passed, and the least of the processor, by question."""
    talk.ask(questions[:1], _FOUND)
    passed, used = ([float("inf")] * len(questions) for _ in range(2))
    began = perf_counter()
    for number in range(bounds.rounds):
        if number and perf_counter() - began > bounds.minutes * 60:
            break
        times = talk.ask(questions, _FOUND)[1]
        passed = [min(least, time[0]) for least, time in zip(passed, times, strict=True)]
        used = [min(least, time[1]) for least, time in zip(used, times, strict=True)]
    return passed, used


def _qualities(path: Path, kinds: Sequence[Kind], place: Place, bounds: Bounds, tell: Telling) -> Iterator[PeerQuality]:
    """Each peer on a set, and what picomem's difference to it is worth."""
    cases = list(read_cases(path))
    name = set_name(path)
    case_of: list[int] = []
    for number, case in enumerate(cases):
        case_of += [number] * sum(bool(question.gold_turns) for question in case.questions)
    if not case_of:
        raise InvalidInput(f"{path} names no turns that answer its questions, and peers are measured by turns.")
    ours: Scores = []
    for kind in sorted(kinds, key=lambda kind: kind.name != OURS):  # ours first, for the others are held against it
        try:
            scores = list(_scores(kind, cases, place, bounds, tell))
        except (PeerFailed, EmbedderFailed) as error:
            yield PeerQuality.failed(kind.name, name, str(error))
            continue
        ours = scores if kind.name == OURS else ours
        worth = {
            measure: paired([values[measure] for values in ours], [values[measure] for values in scores], case_of)
            for measure in scores[0]
            if ours and kind.name != OURS
        }
        means = {measure: metrics.mean([values[measure] for values in scores]) for measure in scores[0]}
        yield PeerQuality(name=kind.name, set=name, questions=len(scores), scores=means, worth=worth)


def _scores(
    kind: Kind, cases: Sequence[Case], place: Place, bounds: Bounds, tell: Telling
) -> Iterator[dict[str, float]]:
    """The measures of every question with gold turns, in the order of the cases."""
    began = perf_counter()
    for number, case in enumerate(cases):
        tell(f"{kind.name}: case {number + 1} of {len(cases)}")
        if perf_counter() - began > bounds.minutes * 60:
            raise PeerFailed(f"got through {number} of {len(cases)} cases in {bounds.minutes:.0f} minutes")
        for ranks in _ranks_of_ours(kind, case, place) if kind.adapter == "on_picomem" else _ranks(kind, case, place):
            yield metrics.values(ranks, (5, _DEPTH))


def _ranks_of_ours(kind: Kind, case: Case, place: Place) -> Iterator[metrics.Ranks]:
    if kind.needs_model and place.model is None:
        raise PeerFailed("needs a model; --model names the folder of one")
    outcomes = try_case(case, _DEPTH, f"onnx:{place.model}" if kind.needs_model else "static").outcomes
    for outcome in outcomes:
        if ("turn", "picomem") in outcome.ranks:
            yield outcome.ranks["turn", "picomem"]


def _ranks(kind: Kind, case: Case, place: Place) -> Iterator[metrics.Ranks]:
    keys: list[tuple[str, str]] = []
    seen = 0
    with (
        TemporaryDirectory(prefix="picomem-bench-") as folder,
        _opened(kind, Path(folder).resolve() / "kept", place) as talk,
    ):
        for question in case.questions:
            fresh = [(session, turn) for session in case.sessions[seen : question.visible] for turn in session.turns]
            seen = max(seen, question.visible)
            first = len(keys)
            keys += [(session.id, turn.id) for session, turn in fresh]
            turns = [(str(first + number), turn) for number, (_, turn) in enumerate(fresh)]
            told = [(text_id, turn.labelled_text) for text_id, turn in turns if turn.text.strip()]
            for begin in range(0, len(told), _BATCH):
                batch = told[begin : begin + _BATCH]
                talk.add([text_id for text_id, _ in batch], [text for _, text in batch])
            if fresh:
                talk.ready()
            if question.gold_turns:
                (ids,), _ = talk.ask([question.text], _DEPTH)
                yield metrics.ranks(question.gold_turns, [(keys[int(text_id)],) for text_id in ids])
        talk.close()
