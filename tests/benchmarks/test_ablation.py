"""What each part of recall is said to be worth."""

from __future__ import annotations

import json

from benchmarks import ablation
from benchmarks.__main__ import main
from question_sets.trial import TrialOutcome


def _outcome(**ranks: int | None) -> TrialOutcome:
    named = {name.replace("_", " "): rank for name, rank in ranks.items()}
    return TrialOutcome(
        type="",
        answerable=True,
        certainty={"picomem": 0.5},
        ranks={("turn", name): (rank,) for name, rank in named.items()},
        widths=(1,),
        seconds={name: 0.004 if name == "picomem" else 0.001 for name in named},
    )


def test_a_part_is_worth_what_is_found_with_it_and_not_without() -> None:
    asked = [_outcome(picomem=1, fts5=1, near_words=None), _outcome(picomem=2, fts5=1, near_words=2)]
    report = ablation.of_outcomes("talks", asked, [0, 1])
    assert report is not None
    (part,) = report.parts
    assert (part.name, part.worth["frac@10"].difference, part.worth["frac@10"].won) == ("near words", 0.5, 1)
    assert round(part.ms, 6) == 3.0


def test_the_command_asks_without_each_part_and_without_the_model(haystack, write_set, capsys) -> None:
    assert main(["ablation", str(write_set(haystack)), "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)["sets"]
    names = [part["name"] for part in report["parts"]]
    assert {"vectors", "near words", "neighbouring turns", "all that needs the model"} <= set(names)
    assert report["scores"]["frac@10"] > 0


def test_the_table_for_a_document_has_a_row_a_part(haystack, write_set, capsys) -> None:
    assert main(["ablation", str(write_set(haystack)), "--markdown"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[2].startswith("| everything | ")
    assert any(row.startswith("| near words | ") for row in rows)
