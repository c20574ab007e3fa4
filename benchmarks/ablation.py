"""`python -m benchmarks ablation`: the value and the cost of each part of recall.

Each question of a set is asked once with everything, and once without each part, over the same store: the weight of
the part is 0 (see recall/weights.py), or the embedder is none. The value of a part is the difference between the
whole and the rest, question by question (significance.py tells whether it may be chance); its cost is in
milliseconds. A part that adds nothing on any set, or does harm on most, should be removed from recall.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass, replace
from picomem.recall.weights import WEIGHTS
from question_sets import metrics
from question_sets.cases import read_cases, set_name
from question_sets.quality import MOST, tried
from question_sets.significance import Paired, paired
from question_sets.tables import chance, markdown, plain, share
from question_sets.trial import SYSTEMS, UNITS, RecallWay, TrialOutcome

_PARTS = {
    "words weighed by the language": ("language",),
    "synonyms": ("synonyms",),
    "near words": ("near_words",),
    "near spellings": ("spelling",),
    "neighbouring turns": ("context",),
    "whole sessions": ("session",),
    "vectors": ("meaning", "sentences"),
    "times": ("time", "perhaps"),
    "whose words": ("own",),
    "what happened then": ("events",),
    "what goes on lately": ("recent",),
}
_NUMPY = "all that needs the model"  # vectors, near words and the language's weights: what an install without it lacks
_MEASURES = ("any@5", "frac@5", "frac@10", "ndcg@10")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What recall has with a part more than without, by measure, and the milliseconds (the medians' difference)."""

    name: str
    worth: dict[str, Paired]
    ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAblation:
    """One set, by its finest unit that has gold: the means with everything, and each part. `ms` is the median recall
    with everything."""

    name: str
    unit: str
    questions: int
    scores: dict[str, float]
    ms: float
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AblationReport:
    """`dataclasses.asdict` of it can be written as JSON."""

    embedder: str
    sets: tuple[SetAblation, ...]


def run(
    files: Sequence[Path], *, jobs: int = 1, embedder: str = "static", progress: Callable[[str], None]
) -> AblationReport:
    """Measure on these sets (see cases.py). Raises NotFound or InvalidInput for a file that is no set, and for fewer
    jobs than 1."""
    if not 1 <= jobs <= MOST:
        raise InvalidInput(f"The number of jobs is a whole number from 1 to {MOST:,}.")
    lacking = {name: RecallWay(embedder, replace(WEIGHTS, **dict.fromkeys(keys, 0.0))) for name, keys in _PARTS.items()}
    lacking[_NUMPY] = RecallWay("none")
    sets = []
    for path in files:
        asked: list[TrialOutcome] = []
        case_of: list[int] = []
        for number, trial in enumerate(tried(read_cases(path), metrics.DEPTH, embedder, jobs, lacking)):
            asked += trial.outcomes
            case_of += [number] * len(trial.outcomes)
            progress(f"{set_name(path)}: {number + 1} cases, {len(asked)} questions")
        sets.append(of_outcomes(set_name(path), asked, case_of))
    return AblationReport(embedder=embedder, sets=tuple(ablation for ablation in sets if ablation is not None))


def of_outcomes(name: str, asked: Sequence[TrialOutcome], case_of: Sequence[int]) -> SetAblation | None:
    """What the parts are worth by these outcomes, whose systems are named by the part that they lack. None where no
    question has gold."""
    units = {unit for outcome in asked for unit, system in outcome.ranks if system == SYSTEMS[0]}
    if not units:
        return None
    unit = max(units, key=UNITS.index)
    known = [number for number, outcome in enumerate(asked) if (unit, SYSTEMS[0]) in outcome.ranks]
    systems = [system for system in asked[known[0]].seconds if system not in SYSTEMS]
    cases = [case_of[number] for number in known]

    def values(system: str) -> list[dict[str, float]]:
        return [metrics.values(asked[number].ranks[unit, system], (5, 10)) for number in known]

    def ms(system: str) -> float:
        return metrics.median([asked[number].seconds[system] for number in known]) * 1000

    whole = values(SYSTEMS[0])
    parts = []
    for system in systems:
        without = values(system)
        worth = {
            measure: paired(
                [measures[measure] for measures in whole], [measures[measure] for measures in without], cases
            )
            for measure in _MEASURES
        }
        measured = {measure: difference for measure, difference in worth.items() if difference is not None}
        parts.append(Part(name=system, worth=measured, ms=ms(SYSTEMS[0]) - ms(system)))
    return SetAblation(
        name=name,
        unit=unit,
        questions=len(known),
        scores={measure: metrics.mean([measures[measure] for measures in whole]) for measure in _MEASURES},
        ms=ms(SYSTEMS[0]),
        parts=tuple(parts),
    )


def render(report: AblationReport, *, as_markdown: bool = False) -> str:
    """A table for each set; or as Markdown one for all sets, by frac@10, for a document."""
    if as_markdown:
        return "\n".join(markdown(summary(report)))
    return "\n\n".join("\n".join([_heading(ablation), *plain(_rows(ablation), left=1)]) for ablation in report.sets)


def summary(report: AblationReport) -> list[list[str]]:
    """What each part adds to frac@10 on each set; a star where that is unlikely to be luck (p < .05)."""
    rows = [["", *(f"{ablation.name}, {ablation.unit}" for ablation in report.sets), "ms"]]
    rows.append(["everything", *(share(ablation.scores["frac@10"]) for ablation in report.sets), ""])
    for number, part in enumerate(report.sets[0].parts if report.sets else ()):
        cells = []
        for ablation in report.sets:
            worth = ablation.parts[number].worth["frac@10"]
            cells.append(f"{_signed(worth.difference)}{'*' if worth.p < 0.05 else ''}")
        cost = metrics.mean([ablation.parts[number].ms for ablation in report.sets])
        rows.append([part.name, *cells, f"{cost:.1f}"])
    return rows


def _heading(ablation: SetAblation) -> str:
    told = ", ".join(f"{measure} {share(value)}" for measure, value in ablation.scores.items())
    asked = f"{ablation.name}, by {ablation.unit}, {ablation.questions} questions"
    return f"{asked}; with everything: {told}; {ablation.ms:.1f} ms"


def _rows(ablation: SetAblation) -> list[list[str]]:
    rows = [["what this adds", *_MEASURES, "p of frac@10", "won", "lost", "ms"]]
    for part in ablation.parts:
        worth = part.worth["frac@10"]
        rows.append(
            [
                part.name,
                *(_signed(part.worth[measure].difference) for measure in _MEASURES),
                chance(worth.p),
                f"{worth.won}",
                f"{worth.lost}",
                f"{part.ms:.1f}",
            ]
        )
    return rows


def _signed(value: float) -> str:
    return share(value) if value < 0.0005 else f"+{share(value)}"
