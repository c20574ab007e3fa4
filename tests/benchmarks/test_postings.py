from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from benchmarks import postings
from benchmarks.postings import DESIGNS, KINDS, Effort, is_same
from benchmarks.prose import Prose
from picomem.errors import InvalidInput

LITTLE = Effort(questions=4, rounds=1)


@pytest.fixture(scope="module")
def report() -> postings.PostingsReport:
    return postings.run((300,), effort=LITTLE)


def test_every_design_is_measured_for_one_user_and_for_one_of_many(report):
    assert [(figure.users, figure.design) for figure in report.figures] == [
        (users, design) for users in (1, 300) for design in DESIGNS
    ]
    for figure in report.figures:
        assert (figure.documents, figure.stored) == (300, 300)
        assert set(figure.latencies) == set(KINDS)
        assert min(figure.mb, figure.packed_mb, figure.per_cpu_second, figure.remove_ms, figure.clean_ms) > 0


def test_every_design_gives_the_answers_of_fts5(report):
    for figure in report.figures:
        assert figure.same_answers == figure.questions > 0


def test_nothing_is_left_in_a_file_of_what_was_removed(report):
    for figure in report.figures:
        assert figure.removed == (3 if figure.users == 1 else 1)
        assert figure.traces_after_clean == 0


def test_the_search_for_traces_finds_what_is_there(tmp_path):
    file = tmp_path / "file"
    word = b"jkqvwxzjkqvwxzjk"
    file.write_bytes(b"a" * ((1 << 22) - 5) + word[4:] + b"zz")
    assert postings._traces(file, {word[-9:], b"zzzzzzzzz"}) == 1


def test_a_design_that_takes_too_long_is_given_up():
    report = postings.run((1200,), effort=Effort(questions=2, rounds=1, fill_seconds=0.0), owners="many", words=8)
    for figure in report.figures:
        assert 0 < figure.stored < figure.documents
        assert figure.latencies == {}
    assert "given up at" in postings.render(report)


def test_answers_are_the_same_but_for_ties():
    best = [(3, 2.0), (7, 1.0)]
    assert is_same(best, [(3, 2.0 + 1e-9), (7, 1.0)])
    assert is_same(best, [(3, 2.0), (8, 1.0)])
    assert not is_same(best, [(4, 2.0), (7, 1.0)])
    assert not is_same(best, [(3, 2.0), (7, 1.1)])
    assert not is_same(best, [(3, 2.0)])
    assert is_same([], [])


def test_a_report_is_json_and_a_table(report):
    assert json.loads(json.dumps(asdict(report)))["figures"][0]["latencies"]["said"]["p50_ms"] > 0
    assert len(postings.render(report).splitlines()) == 3 + 2 * len(DESIGNS)


def test_a_text_of_function_words_alone_is_not_asked_about():
    collection = postings._Collection(3_000, 1, None)
    prose = Prose(7)
    postings._add_questions(collection, prose, "you having whose", prose.topic())
    assert collection.asked == {kind: [] for kind in KINDS}
    assert sum(len(documents) for _, documents in postings._talks(collection, Effort())) == 3_000
    assert {kind: len(questions) for kind, questions in collection.asked.items()} == dict.fromkeys(KINDS, 50)
    assert all(all(questions) for questions in collection.asked.values())


def test_sizes_are_at_least_one():
    with pytest.raises(InvalidInput):
        postings.run(())
