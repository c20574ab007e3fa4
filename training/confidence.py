"""Fits the confidence of recall to what was observed on public sets, and validates it by leaving one set out.

    python -m training.confidence             writes the weights into the package
    python -m training.confidence --validate  prints how well each set is judged by weights fitted to the others
    python -m training.confidence --observe SET.jsonl.gz …
                                              asks the questions of these sets anew, and writes what was observed

The observations (data/confidence.csv) are numbers, and hold nothing of the sets' texts: for each question the signs of
its answer, and whether some of the answer was found. Besides its own questions, a haystack is asked some that it cannot
answer: those of another case; those of another case, with its speakers' names exchanged for the haystack's; and those
whose answers were taken out of the haystack. The same observations give the same bytes.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from picomem.evaluation.cases import Case, CaseQuestion, read_cases, set_name
from picomem.evaluation.metrics import DEPTH, auroc
from picomem.evaluation.sureness import is_found
from picomem.evaluation.tables import markdown, plain
from picomem.evaluation.trial import try_case
from picomem.light_dataclass import dataclass, replace
from picomem.recall.confidence import SIGNS, WEIGHTS
from training.examples import DATA

OBSERVED = DATA / "confidence.csv"
ANSWERED = "answered"
UNANSWERABLE = ("the set's own", "of another case", "names exchanged", "answer taken out")
# How much each kind weighs: written questions are more like what people ask than made-up ones.
_TYPICAL: dict[str, int] = {kind: 3 if kind == UNANSWERABLE[0] else 1 for kind in UNANSWERABLE}
_SHARE = 0.4  # of a set's weight for questions without an answer: a doubt too many is better than one too few
_PENALTY = 1e-4  # of squared weights, of signs that were brought to the same spread
_STEPS = 50
_CASES = 20  # of a set at most
_QUESTIONS = 150  # of a case at most, of its own
_OTHERS = 60  # questions of other cases at most, for a set
_ROLES = frozenset(("user", "assistant"))


@dataclass(frozen=True, slots=True)
class Observation:
    """One question: its set, its kind (ANSWERED or one of UNANSWERABLE), whether some of its answer was among the first
    five hits, and the signs."""

    name: str
    kind: str
    found: bool
    signs: tuple[float, ...]


def observe(files: Sequence[Path]) -> Iterator[Observation]:
    """Ask the questions of sets, and those that are made up. A question without any hit is not judged by signs."""
    for path in files:
        cases = list(read_cases(path))
        chosen = cases[:: max(1, -(-len(cases) // _CASES))]
        for number, case in enumerate(chosen):
            for asked in (_with_others(chosen, number), _without_answers(case)):
                for outcome in try_case(asked, DEPTH).outcomes if asked.questions else ():
                    kind = ANSWERED if outcome.answerable else outcome.type
                    if outcome.signs is not None:
                        signs = tuple(round(getattr(outcome.signs, sign), 4) for sign in SIGNS)
                        yield Observation(set_name(path), kind, outcome.answerable and is_found(outcome), signs)
            sys.stderr.write(f"{set_name(path)}: {number + 1} of {len(chosen)} cases\n")


def _with_others(cases: Sequence[Case], number: int) -> Case:
    """A case with its own questions, and questions of other cases."""
    case, chance = cases[number], random.Random(number)
    own = [question if question.answerable else _unanswerable(question, UNANSWERABLE[0]) for question in case.questions]
    own = (
        sorted(chance.sample(own, _QUESTIONS), key=lambda question: question.visible) if len(own) > _QUESTIONS else own
    )
    others = [
        (other, question) for other in cases if other is not case for question in other.questions if question.answerable
    ]
    chance.shuffle(others)
    mine, made = _speakers(case), []
    for other, question in others[: -(-_OTHERS // len(cases)) * 2]:
        last = replace(question, visible=len(case.sessions))
        made.append(_unanswerable(last, UNANSWERABLE[1]))
        if mine and (theirs := _speakers(other)):
            names = dict(zip(theirs, mine, strict=False))
            text = re.sub("|".join(map(re.escape, names)), lambda name, names=names: names[name[0]], question.text)
            made.append(_unanswerable(replace(last, text=text), UNANSWERABLE[2]))
    return replace(case, questions=(*own, *made))


def _without_answers(case: Case) -> Case:
    """A case without the answers of every third question, asked those; none of them where the history grows."""
    known = [question for question in case.questions if question.answerable][:_QUESTIONS]
    gone = known[:: 3 if len(known) > 2 else 1]
    if any(question.visible < len(case.sessions) for question in gone):
        gone = []
    turns = {turn for question in gone for turn in question.gold_turns}
    whole = {session for question in gone if not question.gold_turns for session in question.gold_sessions}
    sessions = tuple(
        replace(session, turns=tuple(turn for turn in session.turns if (session.id, turn.id) not in turns))
        for session in case.sessions
        if session.id not in whole
    )
    asked = (_unanswerable(replace(question, visible=len(sessions)), UNANSWERABLE[3]) for question in gone)
    return replace(case, sessions=sessions, questions=tuple(asked))


def _unanswerable(question: CaseQuestion, kind: str) -> CaseQuestion:
    return replace(question, type=kind, gold_sessions=(), gold_turns=())


def _speakers(case: Case) -> list[str]:
    """The two who say most, where they have names."""
    said = Counter(turn.role for session in case.sessions for turn in session.turns)
    return [role for role, _ in said.most_common(2) if role not in _ROLES]


def fit(observed: Sequence[Observation]) -> dict[str, float]:
    """The weights of the signs, and the bias.

    What the signs weigh beside each other is fitted to tell questions with an answer from those without; then one scale
    and one bias make the sum of them the share of questions whose answer is among the first five hits.
    """
    weights = np.array(_weights(observed))
    weights /= weights.sum()
    signs = np.array([row.signs for row in observed])
    spread = np.sqrt(np.maximum(weights @ (signs - weights @ signs) ** 2, 1e-6))
    names = sorted({row.name for row in observed})
    # A sign that only one set has would otherwise stand for how many of its questions have an answer.
    of_set = np.array([[float(row.name == name) for name in names] for row in observed])
    answered = np.array([float(row.kind == ANSWERED) for row in observed])
    linear = _regress(np.hstack([signs / spread, of_set]), answered, weights)[: len(SIGNS)] / spread
    is_found = np.array([float(row.found) for row in observed])
    scale, bias = _regress(np.stack([signs @ linear, np.ones(len(signs))], axis=1), is_found, weights)
    return {"bias": round(float(bias), 2)} | {
        name: round(float(scale * weight), 2) for name, weight in zip(SIGNS, linear, strict=True)
    }


def _regress(inputs: np.ndarray, target: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weights of a logistic regression without a bias of its own, by Newton's steps."""
    penalty = np.eye(inputs.shape[1]) * _PENALTY
    fitted = np.zeros(inputs.shape[1])
    for _ in range(_STEPS):
        shares = 1 / (1 + np.exp(-inputs @ fitted))
        slope = inputs.T @ (weights * (shares - target)) + penalty @ fitted
        curve = (inputs.T * (weights * shares * (1 - shares))) @ inputs + penalty
        fitted -= np.linalg.solve(curve, slope)
    return fitted


def _weights(observed: Sequence[Observation]) -> list[float]:
    """What each observation weighs."""
    counts = Counter((row.name, row.kind) for row in observed)
    shares = {
        (name, kind): 1 - _SHARE
        if kind == ANSWERED
        else _SHARE * _TYPICAL[kind] / sum(_TYPICAL[other] for other in UNANSWERABLE if (name, other) in counts)
        for name, kind in counts
    }
    return [shares[row.name, row.kind] / counts[row.name, row.kind] for row in observed]


def judge(weights: dict[str, float], row: Observation) -> float:
    logit = weights["bias"] + sum(weights[name] * sign for name, sign in zip(SIGNS, row.signs, strict=True))
    return float(1 / (1 + np.exp(-logit)))


def validated(observed: Sequence[Observation]) -> Iterator[list[str]]:
    """For each set, judged by weights fitted to the other sets: how often a question that it answers is given the
    greater confidence than one of each kind that it does not (AUROC, and how many there are); the mean confidence, and
    the share found. The heading comes first."""
    yield ["set", "answered", *UNANSWERABLE, "mean confidence", "found"]
    for name in sorted({row.name for row in observed}):
        weights = fit([row for row in observed if row.name != name])
        by_kind: dict[str, list[float]] = {}
        for row in (row for row in observed if row.name == name):
            by_kind.setdefault(row.kind, []).append(judge(weights, row))
        known = by_kind.get(ANSWERED, [])
        cells = [
            f"{auroc(known, by_kind[kind]):.3f} ({len(by_kind[kind])})" if kind in by_kind else "–"
            for kind in UNANSWERABLE
        ]
        found_shares = [float(row.found) for row in observed if row.name == name and row.kind == ANSWERED]
        yield [name, f"{len(known)}", *cells, f"{np.mean(known):.2f}", f"{np.mean(found_shares):.2f}"]


def encode(weights: dict[str, float]) -> bytes:
    return (json.dumps(weights) + "\n").encode()


def read_observed(path: Path = OBSERVED) -> list[Observation]:
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Observation(name, kind, is_found == "1", tuple(map(float, signs)))
            for name, kind, is_found, *signs in csv.reader(file)
        ]


def write_observed(observed: Iterator[Observation], path: Path = OBSERVED) -> int:
    rows = list(observed)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            (row.name, row.kind, int(row.found), *(f"{sign:g}" for sign in row.signs)) for row in rows
        )
    return len(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m training.confidence", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--validate", action="store_true", help="leave one set out; writes nothing")
    parser.add_argument("--markdown", action="store_true", help="the table for a document")
    parser.add_argument("--observe", type=Path, nargs="+", metavar="SET", help="ask the questions of these sets anew")
    chosen = parser.parse_args(arguments)
    if chosen.observe:
        sys.stdout.write(f"{write_observed(observe(chosen.observe))} questions\n")
    elif chosen.validate:
        rows = list(validated(read_observed()))
        sys.stdout.write("\n".join(markdown(rows) if chosen.markdown else plain(rows, left=1)) + "\n")
    else:
        weights = fit(read_observed())
        WEIGHTS.write_bytes(encode(weights))
        sys.stdout.write(f"{weights}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
