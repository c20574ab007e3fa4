"""Fits the confidence of recall to what was observed on public sets, and validates it by leaving one set out.

    python -m training.confidence             writes the weights into the package
    python -m training.confidence --validate  prints how well each set is judged by weights fitted to the others
    python -m training.confidence --observe SET.jsonl.gz … --sessions QUESTIONS.jsonl UNANSWERABLE.jsonl TRANSCRIPTS
                                              asks the questions of these sets anew, and writes what was observed

The observations (data/confidence.csv) are numbers, and hold nothing of the sets' texts: for each question the signs of
its answer, and whether some of the answer was found. Besides its own questions, a haystack is asked some that it cannot
answer: those of another case; those of another case, with its speakers' names exchanged for the haystack's; those
whose answers were taken out of the haystack; and prompts that ask nothing (data/d*.txt). Small haystacks of 1 to 1,000
turns are made of a set's: with the answers of some questions, and with what stands beside these answers instead.

The statements are our own sets (data/e*.txt): memories, each with a question that it answers and one that it leaves
open, in stores of 1, 3, 10 and all of them. Questions over the sessions of coding agents are in session_questions.py.
The same observations give the same bytes.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from picomem.app import open_engine
from picomem.engine.engine import Engine
from picomem.light_dataclass import replace
from picomem.models.static_embedder import StaticEmbedder
from picomem.recall.confidence import SIGNS, WEIGHTS, inputs
from picomem.records.hit import Signs
from question_sets.cases import Case, CaseQuestion, CaseSession, TurnKey, read_cases, set_name
from question_sets.confidence_calibration import DEPTH
from question_sets.metrics import auroc
from question_sets.tables import markdown, plain
from question_sets.trial import judge_case
from training.examples import DATA, Prompt, Statement, prompts, statements
from training.observation import ANSWERED, LEFT_OPEN, NO_QUESTION, UNANSWERABLE, Observation, numbers
from training.session_questions import observe_sessions

OBSERVED = DATA / "confidence.csv"
# How much each kind weighs: written lines are more like what people write than made-up ones.
_TYPICAL: dict[str, int] = dict.fromkeys(UNANSWERABLE, 1) | {UNANSWERABLE[0]: 3, LEFT_OPEN: 3, NO_QUESTION: 3}
_SHARE = 0.4  # of a set's weight for questions without an answer: a doubt too many is better than one too few
_SIDES = {"fit": 1, "lead": 1, "asks": 1, "lacks": -1}  # whether more of a sign makes surer
_PENALTY = 1e-4  # of squared weights, of signs that were brought to the same spread
_STEPS = 50  # of Newton's at most
_SMALL_STEP = 1e-9  # after which the next one changes nothing that is written
_CASES = 20  # of a set at most
_QUESTIONS = 150  # of a case at most, of its own
_OTHERS = 60  # questions of other cases at most, for a set
_PROMPTS = 300  # for a set; at least 20 for a case
# The sizes of the small haystacks, in turns, each with how many questions one of them is asked.
_SIZES = ((1, 1), (3, 1), (10, 2), (100, 15), (1_000, 30))
_OF_A_SIZE = 16  # questions at least, where the set has so many
# The numbers of statements in a store, each with how many stores are made, beside one for each and one for all.
_STORES = ((3, 15), (10, 10))
_FEW_PROMPTS = 6
_ROLES = frozenset(("user", "assistant"))


def observe(files: Sequence[Path], sessions: Sequence[Path] = ()) -> Iterator[Observation]:
    """Ask the questions of sets, and those that are made up. A question without any hit is not judged by signs.

    `sessions` are the questions over a folder of transcripts, those that it does not answer, and the folder.
    """
    yield from observe_statements()
    for path in files:
        yield from observe_set(path)
    if sessions:
        questions, unanswerable, transcripts = sessions
        yield from observe_sessions(questions, unanswerable, transcripts, files)


def observe_set(path: Path, of_a_size: int = _OF_A_SIZE) -> Iterator[Observation]:
    """Ask the questions of one set, and at least so many of small haystacks of each size."""
    name, cases = set_name(path), list(read_cases(path))
    chosen = cases[:: max(1, -(-len(cases) // _CASES))]
    for number, case in enumerate(chosen):
        asked = _with_prompts(_with_others(chosen, number), number, len(chosen))
        yield from _judged(name, asked)
        yield from _judged(name, _without_answers(case))
        sys.stderr.write(f"{name}: {number + 1} of {len(chosen)} cases\n")
    for size, together in _SIZES:
        for small in _small_cases(cases, size, together, of_a_size):
            yield from _judged(name, small, size)
        sys.stderr.write(f"{name}: {size} turns\n")


def observe_statements() -> Iterator[Observation]:
    """Ask stores of statements what each of them answers and leaves open, what others answer, and nothing. The
    statements of each file are a set of their own."""
    files: dict[str, list[Statement]] = {}
    for statement in statements():
        files.setdefault(statement.file.partition("_")[0], []).append(statement)
    for file, known in files.items():
        chance = random.Random(file)
        stores = [[statement] for statement in known]
        stores += [chance.sample(known, size) for size, count in _STORES for _ in range(count)]
        for stored in [*stores, known]:
            others = [one for one in known if one not in stored]
            said = prompts() if stored is known else chance.sample(prompts(), _FEW_PROMPTS)
            yield from _judged_statements(
                f"statements {file}", stored, chance.sample(others, min(3, len(others))), said
            )
        sys.stderr.write(f"statements {file}: {len(known)}\n")


def _judged_statements(
    name: str, stored: Sequence[Statement], others: Sequence[Statement], said: Sequence[Prompt]
) -> Iterator[Observation]:
    asked = [(ANSWERED, "", one.answered, one.text) for one in stored]
    asked += [(LEFT_OPEN, "", one.left_open, "") for one in stored]
    asked += [(UNANSWERABLE[1], "", other.answered, "") for other in others]
    asked += [(NO_QUESTION, prompt.pattern, prompt.text, "") for prompt in said]
    with TemporaryDirectory(prefix="picomem-statements-") as folder:
        engine = open_engine(Path(folder).resolve() / "memory.db", embedder=StaticEmbedder())
        try:
            for statement in stored:
                engine.remember(statement.text)
            for kind, pattern, text, answer in asked:
                signs, is_found = _asked(engine, text, answer)
                if signs is not None:
                    yield Observation(name, kind, len(stored), pattern, is_found, numbers(signs))
        finally:
            engine.close()


def _asked(engine: Engine, text: str, answer: str) -> tuple[Signs | None, bool]:
    given = engine.recall(text, limit=20, token_budget=None, min_confidence=0.0)
    return given.signs, any(hit.text == answer for hit in given.hits[:DEPTH])


def _judged(name: str, case: Case, size: int = 0) -> Iterator[Observation]:
    for answer in judge_case(case, DEPTH) if case.questions else ():
        kind, _, pattern = answer.question.type.partition(": ")
        kind = ANSWERED if answer.question.answerable else kind
        if answer.signs is not None:
            yield Observation(name, kind, size, pattern, answer.is_found, numbers(answer.signs))


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


def _with_prompts(case: Case, number: int, cases: int) -> Case:
    """A case that is asked its questions, and then some prompts."""
    said = prompts()
    if cases > 1:
        said = random.Random(number).sample(said, max(20, _PROMPTS // cases))
    like = replace(case.questions[-1], visible=len(case.sessions))
    made = [_unanswerable(replace(like, text=prompt.text), f"{NO_QUESTION}: {prompt.pattern}") for prompt in said]
    return replace(case, questions=(*case.questions, *made))


def _small_cases(cases: Sequence[Case], size: int, together: int, least: int) -> Iterator[Case]:
    """Haystacks of `size` turns of a set's cases: with the answers of some questions, asked those and as many others;
    and, for the same questions, with the turns beside the answers instead."""
    chance = random.Random(size)
    known = [
        (
            case,
            [question for question in case.questions if question.answerable and question.visible >= len(case.sessions)],
        )
        for case in cases
    ]
    known = [(case, questions) for case, questions in known if questions]
    asked = 0
    while known and asked < least:
        case, questions = chance.choice(known)
        chosen = chance.sample(questions, min(together, len(questions)))
        asked += len(chosen)
        gold = {question.id: _gold(case, question) for question in chosen}
        kept = _kept(case, [key for keys in gold.values() for key in keys[:size]], size, set(), chance)
        others = [one for one in questions if one not in chosen and kept.isdisjoint(_gold(case, one))]
        others = chance.sample(others, min(len(chosen), len(others)))
        yield _small_case(case, kept, [*chosen, *(_unanswerable(other, UNANSWERABLE[1]) for other in others)])
        gone = {key for keys in gold.values() for key in keys}
        kept = _kept(case, _beside(case, gone), size, gone, chance)
        yield _small_case(case, kept, [_unanswerable(question, UNANSWERABLE[3]) for question in chosen])


def _gold(case: Case, question: CaseQuestion) -> list[TurnKey]:
    if question.gold_turns:
        return list(question.gold_turns)
    return [(one.id, turn.id) for one in case.sessions if one.id in question.gold_sessions for turn in one.turns]


def _beside(case: Case, turns: set[TurnKey]) -> list[TurnKey]:
    """The turns beside these, which are not among them."""
    keys = [[(session.id, turn.id) for turn in session.turns] for session in case.sessions]
    pairs = [pair for row in keys for one, two in pairwise(row) for pair in ((one, two), (two, one))]
    return [other for key, other in pairs if key in turns and other not in turns]


def _kept(case: Case, wanted: Sequence[TurnKey], size: int, gone: set[TurnKey], chance: random.Random) -> set[TurnKey]:
    """`size` turns of a case: those that are wanted, and any others that are not `gone`."""
    kept = set(list(dict.fromkeys(wanted))[:size])
    others = [(session.id, turn.id) for session in case.sessions for turn in session.turns]
    others = [key for key in others if key not in kept and key not in gone]
    return kept | set(chance.sample(others, min(len(others), size - len(kept))))


def _small_case(case: Case, kept: set[TurnKey], questions: Iterable[CaseQuestion]) -> Case:
    whole = [
        CaseSession(session.id, tuple(turn for turn in session.turns if (session.id, turn.id) in kept))
        for session in case.sessions
    ]
    sessions = tuple(session for session in whole if session.turns)
    asked = tuple(replace(question, visible=len(sessions)) for question in questions)
    return replace(case, sessions=sessions, questions=asked if sessions else ())


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
    signs = np.array([_inputs(row) for row in observed])
    spread = np.sqrt(np.maximum(weights @ (signs - weights @ signs) ** 2, 1e-6))
    names = sorted({row.name for row in observed})
    # A sign that only one set has would otherwise stand for how many of its questions have an answer.
    of_set = np.array([[float(row.name == name) for name in names] for row in observed])
    answered = np.array([float(row.kind == ANSWERED) for row in observed])
    linear = _on_their_sides(signs / spread, of_set, answered, weights) / spread
    is_found = np.array([float(row.found) for row in observed])
    scale, bias = _regress(np.stack([signs @ linear, np.ones(len(signs))], axis=1), is_found, weights)
    return {"bias": round(float(bias), 2)} | {
        name: round(float(scale * weight), 2) for name, weight in zip(SIGNS, linear, strict=True)
    }


def _on_their_sides(signs: np.ndarray, of_set: np.ndarray, target: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weights of the signs, each on the side that its meaning has; 0 for one that these observations would turn
    round. Only a set whose questions name speakers can teach their sign."""
    used = list(range(len(SIGNS)))
    while True:
        fitted = _regress(np.hstack([signs[:, used], of_set]), target, weights)[: len(used)]
        wrong = {sign for sign, weight in zip(used, fitted, strict=True) if weight * _SIDES[SIGNS[sign]] < 0}
        if not wrong:
            linear = np.zeros(len(SIGNS))
            linear[used] = fitted
            return linear
        used = [sign for sign in used if sign not in wrong]


def _regress(inputs: np.ndarray, target: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weights of a logistic regression without a bias of its own, by Newton's steps."""
    penalty = np.eye(inputs.shape[1]) * _PENALTY
    fitted = np.zeros(inputs.shape[1])
    for _ in range(_STEPS):
        shares = 1 / (1 + np.exp(-inputs @ fitted))
        slope = inputs.T @ (weights * (shares - target)) + penalty @ fitted
        curve = (inputs.T * (weights * shares * (1 - shares))) @ inputs + penalty
        step = np.linalg.solve(curve, slope)
        fitted -= step
        if np.abs(step).max() < _SMALL_STEP:
            break
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
    logit = weights["bias"] + sum(weights[name] * value for name, value in zip(SIGNS, _inputs(row), strict=True))
    return float(1 / (1 + np.exp(-logit)))


def _inputs(row: Observation) -> tuple[float, ...]:
    return inputs(Signs(**dict(zip(SIGNS, row.signs, strict=True))))


def validated(observed: Sequence[Observation]) -> Iterator[list[str]]:
    """For each set, judged by weights fitted to the other sets: how often a question that it answers is given the
    greater confidence than one that it does not (AUROC), of all kinds and of each (and how many there are); the mean
    confidence, and the share found. Prompts are judged by weights that are fitted without their half of the patterns as
    well. The heading comes first."""
    yield ["set", "answered", "all kinds", "all questions", *UNANSWERABLE, "mean confidence", "found"]
    areas: list[tuple[float, float]] = []
    for name, judged in _left_out(observed):
        known = [sure for sure, row in judged if row.kind == ANSWERED]
        by_kind = {kind: [sure for sure, row in judged if row.kind == kind] for kind in UNANSWERABLE}
        cells = [f"{auroc(known, of):.3f} ({len(of)})" if of else "–" for of in by_kind.values()]
        questions = [sure for kind, of in by_kind.items() if kind != NO_QUESTION for sure in of]
        areas.append((auroc(known, [*questions, *by_kind[NO_QUESTION]]), auroc(known, questions)))
        found_shares = [float(row.found) for _, row in judged if row.kind == ANSWERED]
        means = (f"{np.mean(known):.2f}", f"{np.mean(found_shares):.2f}")
        yield [name, f"{len(known)}", *(f"{area:.3f}" for area in areas[-1]), *cells, *means]
    yield ["mean", "", *(f"{area:.3f}" for area in np.mean(areas, axis=0)), *[""] * (len(UNANSWERABLE) + 2)]


def validated_by_size(observed: Sequence[Observation]) -> Iterator[list[str]]:
    """The same by the size of the haystack, over all sets: AUROC against questions and against prompts that ask
    nothing, the mean confidence, and the share found. The heading comes first."""
    yield ["turns or memories", "answered", "other questions", NO_QUESTION, "mean confidence", "found"]
    judged = [pair for _, of_set in _left_out(observed) for pair in of_set]
    sizes = sorted({row.size for row in observed}, key=lambda size: size or 1 << 30)
    for size in sizes:
        of_size = [(sure, row) for sure, row in judged if row.size == size]
        known = [sure for sure, row in of_size if row.kind == ANSWERED]
        if not known:
            continue
        others = [sure for sure, row in of_size if row.kind not in (ANSWERED, NO_QUESTION)]
        said = [sure for sure, row in of_size if row.kind == NO_QUESTION]
        cells = [f"{auroc(known, of):.3f} ({len(of)})" if of else "–" for of in (others, said)]
        found_shares = [float(row.found) for _, row in of_size if row.kind == ANSWERED]
        means = (f"{np.mean(known):.2f}", f"{np.mean(found_shares):.2f}")
        yield [f"{size or 'all of a set'}", f"{len(known)}", *cells, *means]


def _left_out(observed: Sequence[Observation]) -> Iterator[tuple[str, list[tuple[float, Observation]]]]:
    """Each set, with its observations and what weights fitted to others make of them."""
    halves = {pattern: number % 2 for number, pattern in enumerate(sorted({row.pattern for row in observed} - {""}))}
    for name in sorted({row.name for row in observed}):
        others = [row for row in observed if row.name != name]
        fitted = {
            half: fit([row for row in others if halves.get(row.pattern) != half])
            if half in halves.values()
            else fit(others)
            for half in (None, 0, 1)
        }
        own = [row for row in observed if row.name == name]
        yield name, [(judge(fitted[halves.get(row.pattern)], row), row) for row in own]


def encode(weights: dict[str, float]) -> bytes:
    return (json.dumps(weights) + "\n").encode()


def read_observed(path: Path = OBSERVED) -> list[Observation]:
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Observation(name, kind, int(size), pattern, is_found == "1", tuple(map(float, signs)))
            for name, kind, size, pattern, is_found, *signs in csv.reader(file)
        ]


def write_observed(observed: Iterator[Observation], path: Path = OBSERVED) -> int:
    rows = list(observed)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            (row.name, row.kind, row.size, row.pattern, int(row.found), *(f"{sign:g}" for sign in row.signs))
            for row in rows
        )
    return len(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m training.confidence", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--validate", action="store_true", help="leave one set out; writes nothing")
    parser.add_argument("--markdown", action="store_true", help="the table for a document")
    parser.add_argument("--observe", type=Path, nargs="+", metavar="SET", help="ask the questions of these sets anew")
    parser.add_argument(
        "--sessions",
        type=Path,
        nargs=3,
        default=(),
        metavar=("QUESTIONS", "UNANSWERABLE", "TRANSCRIPTS"),
        help="with --observe: also ask the sessions of coding agents",
    )
    chosen = parser.parse_args(arguments)
    if chosen.observe:
        sys.stdout.write(f"{write_observed(observe(chosen.observe, chosen.sessions))} questions\n")
    elif chosen.validate:
        observed = read_observed()
        for rows in (list(validated(observed)), list(validated_by_size(observed))):
            sys.stdout.write("\n".join(markdown(rows) if chosen.markdown else plain(rows, left=1)) + "\n\n")
    else:
        weights = fit(read_observed())
        WEIGHTS.write_bytes(encode(weights))
        sys.stdout.write(f"{weights}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
