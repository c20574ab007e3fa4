"""The confidence of recall is fitted again to the same bytes, and a set's cases give what it is fitted to."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from tests.cases import each_case
from tests.small_question_set import asked, said

from picomem.recall.confidence import SIGNS, WEIGHTS
from question_sets.cases import read_cases
from training.confidence import (
    encode,
    fit,
    observe_set,
    read_observed,
    validated,
    validated_by_size,
    write_observed,
)
from training.examples import prompts, statements
from training.observation import ANSWERED, NO_QUESTION
from training.session_questions import observe_sessions


def test_the_same_observations_give_the_bytes_in_the_package() -> None:
    assert encode(fit(read_observed())) == WEIGHTS.read_bytes(), "fit them again: python -m training.confidence"


def test_weights_fitted_to_the_other_sets_judge_a_set_better_than_chance() -> None:
    heading, *rows, mean = validated(read_observed())
    another, said = heading.index("of another case"), heading.index(NO_QUESTION)
    for place, least in ((another, 0.7), (said, 0.85)):
        assert min(float(row[place].partition(" ")[0]) for row in rows if row[place] != "–") > least
    assert float(mean[heading.index("all questions")]) > 0.8


def test_a_question_is_answered_as_surely_from_few_memories_as_from_many() -> None:
    heading, *rows = validated_by_size(read_observed())
    means = [float(row[heading.index("mean confidence")]) for row in rows]
    assert min(means) > 0.6


def test_there_are_prompts_of_many_patterns_and_statements_in_two_files() -> None:
    assert len(prompts()) > 300
    assert len({prompt.pattern for prompt in prompts()}) > 20
    assert {statement.file[:2] for statement in statements()} == {"e1", "e2"}


def test_a_set_is_asked_its_own_questions_and_some_that_it_cannot_answer(write_set, tmp_path: Path) -> None:
    def talk(one: str, other: str, what: str) -> dict:
        return {
            "id": one,
            "sessions": [said("s", "2026-02-03T18:30", (one, f"I painted the {what}."), (other, "How nice!"))],
            "questions": [asked(f"What did {one} paint?", gold_sessions=["s"], gold_turns=["0"])],
        }

    path = write_set(talk("Maria", "Nate", "harbour"), talk("Ann", "Ben", "barn"))
    assert len(list(read_cases(path))) == 2
    observed = list(observe_set(path, of_a_size=1))
    assert {row.kind for row in observed if row.found} == {ANSWERED}
    assert {row.size for row in observed} == {0, 1, 3, 10, 100, 1_000}
    assert "" in {row.pattern for row in observed} and any(row.pattern for row in observed)
    observed = [row for row in observed if row.size == 0]
    exchanged = [row.signs[SIGNS.index("fit")] for row in observed if row.kind == "names exchanged"]
    other = [row.signs[SIGNS.index("fit")] for row in observed if row.kind == "of another case"]
    assert len(exchanged) == len(other) == 2
    assert write_observed(iter(observed), tmp_path / "observed.csv") == len(observed)
    assert read_observed(tmp_path / "observed.csv") == observed


def test_sessions_are_asked_their_questions_and_those_whose_session_is_left_out(write_set, tmp_path: Path) -> None:
    folder = tmp_path / "transcripts"
    folder.mkdir()
    for name, text in (("a", "The port is 6432."), ("b", "The badge beside the port failed for its whitespace.")):
        turn = {"role": "user", "content": text, "timestamp": "2026-03-02T10:00:00Z"}
        (folder / f"{name}.jsonl").write_text(json.dumps(turn) + "\n", "utf-8")
    questions, unanswerable = tmp_path / "coding.jsonl", tmp_path / "unanswerable.jsonl"
    asked_of = [("which port was it?", "6432"), ("why did the badge fail?", "whitespace")]
    questions.write_text("".join(json.dumps({"question": q, "words": w}) + "\n" for q, w in asked_of), "utf-8")
    unanswerable.write_text(json.dumps({"question": "what was the webhook?", "words": "nothing"}) + "\n", "utf-8")
    other = write_set(
        {
            "id": "x",
            "sessions": [said("s", "2026-02-03T18:30", ("Ann", "I painted the port."))],
            "questions": [asked("What did Ann paint at the port?", gold_sessions=["s"], gold_turns=["0"])],
        }
    )
    observed = list(observe_sessions(questions, unanswerable, folder, [other]))
    kinds = Counter(row.kind for row in observed)
    assert (kinds[ANSWERED], kinds["of another case"]) == (2, 1)
    assert 0 < kinds[NO_QUESTION] < len(prompts())  # to most of them nothing is found
    assert sum(row.found for row in observed) == 2
    assert kinds["answer taken out"] == 1  # to the other question nothing is found then


@each_case("name", SIGNS)
def test_every_sign_has_a_weight_of_the_side_that_its_meaning_has(name: str) -> None:
    weights = fit(read_observed())
    assert (weights[name] < 0) == (name == "lacks")
