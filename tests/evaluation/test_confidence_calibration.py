from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from tests.cases import each_case

from question_sets import quality
from question_sets.confidence_calibration import is_found, measure_calibration, rendered
from question_sets.fts5_baseline import Fts5
from question_sets.metrics import auroc
from question_sets.trial import TrialOutcome


def asked(confidence: float, *ranks: int | None, turns: bool = True) -> TrialOutcome:
    """A question whose gold, if any, has these ranks."""
    unit = "turn" if turns else "session"
    return TrialOutcome(
        type="plain",
        answerable=bool(ranks),
        certainty={"picomem": confidence, "fts5 session": 1.0, "fts5 turn": 1 - confidence},
        ranks={(unit, "picomem"): ranks} if ranks else {},
        widths=(),
        seconds={},
    )


@each_case(
    ("higher", "lower", "area"),
    [
        ([0.9, 0.8], [0.1, 0.2], 1.0),
        ([0.1], [0.9], 0.0),
        ([0.5, 0.5], [0.5], 0.5),
        ([0.9, 0.3], [0.5, 0.3], 0.625),  # of four pairs two and a half
        ([], [0.5], 0.0),
    ],
)
def test_the_area_counts_the_pairs_in_the_right_order(higher, lower, area):
    assert auroc(higher, lower) == area


def test_each_judge_is_measured_on_the_same_questions():
    judged = measure_calibration([asked(0.9, 1), asked(0.6, 1), asked(0.3)])
    assert judged is not None
    assert (judged.answerable, judged.unanswerable) == (2, 1)
    assert judged.auroc == {"picomem": 1.0, "fts5 session": 0.5, "fts5 turn": 0.0}


def test_a_bin_says_how_often_an_answer_was_found():
    judged = measure_calibration([asked(0.9, 1), asked(1.0, 7, None), asked(0.8), asked(0.79, 2), asked(0.0)])
    assert judged is not None
    assert [row.n for row in judged.reliability] == [1, 0, 0, 1, 3]
    assert [row.found for row in judged.reliability] == [0, 0, 0, 1, pytest.approx(1 / 3)]
    assert judged.reliability[-1].confidence == pytest.approx(0.9)


@each_case(
    ("outcome", "is_there"),
    [
        (asked(0.5, None, 5), True),
        (asked(0.5, 6), False),
        (asked(0.5), False),
        (asked(0.5, 3, turns=False), True),
    ],
)
def test_some_of_the_gold_among_the_first_five_is_an_answer_found(outcome, is_there):
    assert is_found(outcome) is is_there


def test_where_every_question_has_an_answer_there_is_nothing_to_say():
    assert measure_calibration([asked(0.9, 1)]) is None
    assert list(rendered(None)) == []


def test_the_command_says_how_well_it_knows_that_nothing_is_known(haystack, write_set):
    report = quality.run([write_set(haystack)], embedder="none")
    judged = report.sets[0].calibration
    assert judged is not None
    assert (judged.answerable, judged.unanswerable) == (3, 1)
    assert sum(row.n for row in judged.reliability) == 4
    assert judged.auroc["picomem"] == 1.0  # of a shoe size nothing was ever said
    assert json.loads(json.dumps(asdict(report)))["sets"][0]["calibration"]["auroc"]["fts5 turn"] > 0.5
    told = quality.render(report).splitlines()[-7:]
    assert told[0].split(":")[0].strip() == "AUROC, 3 questions with an answer beside 1 without"
    assert [row.split()[0] for row in told[2:]] == ["0.0–0.2", "0.2–0.4", "0.4–0.6", "0.6–0.8", "0.8–1.0"]


def test_the_baselines_score_is_that_of_its_best(tmp_path):
    table = Fts5(tmp_path / "words.db")
    table.add(["a heron on the pier", "boats", "a heron"])
    assert table.top_score("heron pier") > table.top_score("heron") > 0
    assert table.top_score("a kingfisher") == 0
    table.close()
