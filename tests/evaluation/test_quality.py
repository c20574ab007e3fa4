from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from tests.cases import each_case

from benchmarks.__main__ import main
from picomem.errors import InvalidInput
from question_sets import quality
from question_sets.cases import read_cases
from question_sets.trial import read_numbers, try_case, write_transcript

SYSTEMS = ("picomem", "default call", "fts5")
GROUPS = [(unit, system) for unit in ("session", "turn") for system in SYSTEMS]


@pytest.fixture
def case(haystack, write_set):
    return next(read_cases(write_set(haystack)))


def test_hits_are_mapped_back_to_sessions_and_turns(case):
    first, second, third, unanswerable = try_case(case, 10, "none").outcomes
    assert first.ranks["turn", "picomem"] == (1,)
    assert second.ranks["turn", "picomem"] == (1,)  # the second of two turns of an agent in one hit
    assert first.ranks["session", "picomem"] == second.ranks["session", "picomem"] == (1,)
    assert third.ranks["turn", "picomem"][0] == 1
    assert all(set(outcome.ranks) == set(GROUPS) for outcome in (first, second, third))
    assert unanswerable.ranks == {}


def test_a_hit_that_spans_turns_is_told(case):
    assert max(try_case(case, 10, "none").outcomes[1].widths) == 2


def test_turns_without_words_do_not_shift_the_others(haystack, write_set, tmp_path):
    haystack["sessions"][0]["turns"].insert(0, {"id": "x", "role": "Nate", "text": " \n", "ts": ""})
    case = next(read_cases(write_set(haystack)))
    path = write_transcript(tmp_path / "000000.jsonl", case.sessions[0])
    assert list(read_numbers(path)) == [1, 2]
    assert try_case(case, 10, "none").outcomes[0].ranks["turn", "picomem"] == (1,)


def test_what_is_yet_to_come_is_not_seen(haystack, write_set):
    haystack["questions"][1]["n_visible"] = 1
    case = next(read_cases(write_set(haystack)))
    early = try_case(case, 10, "none").outcomes[0]
    assert early.type == "time"
    assert [early.ranks[group] for group in GROUPS] == [(None,)] * 6


def test_a_session_of_nothing_but_silence_is_no_obstacle(haystack, write_set):
    haystack["sessions"][0]["turns"] = haystack["sessions"][0]["turns"][2:]
    haystack["sessions"].append({"id": "s-none", "ts": "", "turns": []})
    haystack["questions"][0]["gold_turns"] = ["2"]
    case = next(read_cases(write_set(haystack)))
    silent, heard, *_ = try_case(case, 10, "none").outcomes
    assert silent.ranks["turn", "picomem"] == (None,)
    assert heard.ranks["turn", "picomem"] == (1,)


def test_sessions_that_say_the_same_are_all_there(haystack, write_set):
    twin = haystack["sessions"][0] | {"id": "s-twin"}
    haystack["sessions"].append(twin)
    haystack["questions"][0]["gold_sessions"] = ["s-kiln", "s-twin"]
    case = next(read_cases(write_set(haystack)))
    outcome = try_case(case, 10, "none").outcomes[0]
    assert sorted(outcome.ranks["session", "picomem"], key=str) == [1, 2]
    assert sorted(outcome.ranks["turn", "picomem"], key=str) == [1, 2]


def test_the_default_call_is_measured_with_its_own_limits(haystack, write_set):
    """Fourteen turns hold the question's words, and the one that is asked for holds them last and least."""
    chatter = [{"id": str(n), "role": "Nate", "text": f"glazes teapot, part {n}", "ts": ""} for n in range(14)]
    haystack["sessions"].append({"id": "s-long", "ts": "", "turns": chatter})
    haystack["questions"][0] |= {"text": "glazes teapot part", "gold_sessions": ["s-kiln"], "gold_turns": ["1"]}
    case = next(read_cases(write_set(haystack)))
    ranks = try_case(case, 20, "none").outcomes[0].ranks
    assert ranks["turn", "picomem"] == (15,)
    assert ranks["turn", "default call"] == (None,)


def test_a_memory_counts_where_it_was_said(haystack, write_set):
    """It stands before the turn that it was taken from, and both are hits of that session."""
    haystack["sessions"][1]["turns"][0]["text"] = "Remember that the ferry from Mallaig costs nine pounds."
    haystack["questions"][1] |= {"text": "What does the ferry from Mallaig cost?", "gold_turns": ["0"]}
    case = next(read_cases(write_set(haystack)))
    assert try_case(case, 10, "none").outcomes[1].ranks["turn", "default call"] == (1,)


def test_enough_hits_are_asked_for_to_rank_every_session(haystack, write_set):
    """One long session holds all the best hits; the one that is asked for comes behind them."""
    chatter = [{"id": str(n), "role": "Nate", "text": f"glazes teapot tried, part {n}", "ts": ""} for n in range(80)]
    haystack["sessions"].append({"id": "s-long", "ts": "", "turns": chatter})
    haystack["questions"][0] |= {"text": "tried glazes teapot part", "gold_turns": []}
    case = next(read_cases(write_set(haystack)))
    assert try_case(case, 10, "none").outcomes[0].ranks["session", "picomem"] == (2,)


def test_a_report_has_a_line_for_every_unit_type_and_system(haystack, write_set):
    seen: list[quality.QualityProgress] = []
    path = write_set(haystack, haystack | {"id": "again"})
    report = quality.run([path], (1, 5), seen.append, embedder="none")
    assert [(progress.cases, progress.questions) for progress in seen] == [(1, 3), (2, 6)]
    measured = report.sets[0]
    assert (measured.name, measured.cases, measured.questions, measured.turns) == ("talks", 2, 6, 18)
    assert [(line.unit, line.type, line.system) for line in measured.lines] == [
        (unit, kind, system) for unit in ("session", "turn") for kind in ("all", "plain", "time") for system in SYSTEMS
    ]
    line = report.line("talks", "session")
    assert line is not None
    assert line.scores["any@5"] == 1
    assert measured.turns_per_hit > 1
    assert measured.time_ratio == pytest.approx(measured.recall_ms / measured.fts5_ms)
    assert json.loads(json.dumps(asdict(report)))["sets"][0]["lines"][0]["scores"]["n"] == 6


def test_a_report_is_read_as_a_table(haystack, write_set):
    rows = quality.render(quality.run([write_set(haystack)], (5,), embedder="none")).splitlines()
    assert rows[0] == "talks: 1 cases, 3 questions, 9 turns; embedder none"
    assert rows[2].split() == ["unit", "type", "system", "n", "any@5", "all@5", "frac@5", "ndcg@10", "mrr@10"]
    assert len({len(row) for row in rows[2:21]}) == 1


@pytest.mark.requirement("X1")
def test_what_a_difference_is_worth_is_told_for_every_unit_and_measure(haystack, write_set):
    haystack["questions"][1]["text"] = "When does the boat leave?"  # the harbour is named by the answer alone
    report = quality.run([write_set(haystack, haystack | {"id": "again"})], (1, 5), embedder="none")
    worths = {(difference.unit, difference.measure): difference.worth for difference in report.sets[0].differences}
    assert list(worths) == [
        (unit, measure)
        for unit in ("session", "turn")
        for measure in ("any@1", "any@5", "all@1", "all@5", "frac@1", "frac@5", "ndcg@10", "mrr@10")
    ]
    for (unit, measure), worth in worths.items():
        ours, theirs = (report.line("talks", unit, system) for system in ("picomem", "fts5"))
        assert ours is not None
        assert theirs is not None
        assert worth.difference == pytest.approx(ours.scores[measure] - theirs.scores[measure])
        assert (worth.questions, worth.cases) == (6, 2)
        assert worth.low <= worth.difference <= worth.high


def test_a_report_is_written_as_markdown_for_the_documents(haystack, write_set):
    scores, worth = quality.render_markdown(quality.run([write_set(haystack)], (5,), embedder="none")).split("\n\n")
    assert scores.splitlines()[0] == "| set | unit | system | n | any@5 | all@5 | frac@5 | ndcg@10 | mrr@10 |"
    assert scores.splitlines()[2].startswith("| talks | session | picomem | 3 | 1.000 |")
    assert worth.splitlines()[2].startswith("| talks | session | any@5 | 3 | 1 | .000 | .000 to .000 | 1.000 | – | 0 |")
    assert len({line.count("|") for line in worth.splitlines()}) == 1


def test_two_processes_find_what_one_finds(haystack, write_set):
    cases = [haystack | {"id": str(number)} for number in range(3)]
    path = write_set(*cases)
    alone, shared = (quality.run([path], jobs=jobs, embedder="none").sets[0] for jobs in (1, 2))
    timeless = {"recall_ms": 0.0, "fts5_ms": 0.0, "time_ratio": 0.0, "ingest_turns_per_second": 0.0}
    assert replace(alone, **timeless) == replace(shared, **timeless)


def test_a_set_without_gold_turns_has_no_turn_lines(haystack, write_set):
    for question in haystack["questions"]:
        question["gold_turns"] = []
    report = quality.run([write_set(haystack)], embedder="none")
    assert {line.unit for line in report.sets[0].lines} == {"session"}
    assert report.line("talks", "turn") is None


@each_case(("ks", "jobs", "every"), [((), 1, 1), ((0, 5), 1, 1), ((5,), 0, 1), ((5,), 1, 0)])
def test_depths_jobs_and_the_part_are_at_least_one(ks, jobs, every):
    with pytest.raises(InvalidInput):
        quality.run([], ks, jobs=jobs, every=every)


def test_a_part_of_the_cases_is_tried_and_said(haystack, write_set, capsys):
    cases = [haystack | {"id": str(number)} for number in range(6)]
    for number in (0, 3):  # those that are to be tried have two questions, the others three
        cases[number] = haystack | {"id": str(number), "questions": haystack["questions"][:2]}
    path = write_set(*cases)
    assert main(["quality", str(path), "--every", "3", "--embedder", "none", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["every"], report["sets"][0]["cases"], report["sets"][0]["questions"]) == (3, 2, 4)
    assert main(["quality", str(path), "--every", "4", "--embedder", "none"]) == 0
    assert capsys.readouterr().out.startswith("talks, one case in 4: 2 cases, 5 questions")
    assert "| talks, one case in 3 | session | picomem |" in quality.render_markdown(
        quality.run([path], embedder="none", every=3)
    )
