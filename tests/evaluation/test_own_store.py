"""A user's own questions over their own store, through the command."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from benchmarks.__main__ import main
from picomem.app import open_engine
from picomem.clock import UTC, parse_iso
from picomem.errors import InvalidInput, NoStore, NotADatabase, NotFound
from question_sets import own_store
from question_sets.own_questions import OwnQuestion, read_questions
from question_sets.own_report import render
from question_sets.variants import variants

SAID = {
    "kiln": ["Did we fire the teapot too hot, that the glaze ran?", "Then lower the kiln to 1,220 degrees."],
    "ferry": ["When does the boat to Skye leave?", "It leaves Mallaig at noon."],
    "sill": ["How do I water tomato seedlings?", "From below, and in the morning."],
}
QUESTIONS = (
    {"question": "how hot may the kiln be?", "words": "1,220 DEGREES"},
    {"question": "when does the ferry leave Mallaig?", "words": ["noon"], "session": "ferry"},
    {"question": "how are seedlings watered?", "session": "sil", "asked_at": "2026-03-01"},
    {"question": "which colour has the tram?", "words": "purple"},
)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store without any vector."""
    talks = tmp_path / "talks"
    talks.mkdir()
    for name, turns in SAID.items():
        lines = [
            {"role": ("user", "assistant")[n % 2], "content": text, "timestamp": f"2026-02-0{n + 1}T09:00:00Z"}
            for n, text in enumerate(turns)
        ]
        (talks / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    path = tmp_path / "memory.db"
    with open_engine(path, embedder="none") as engine:
        engine.ingest([talks])
        engine.remember("The kiln stands in the shed behind the house", key="kiln_place")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    def _file(*questions: object) -> Path:
        path = tmp_path / "questions.jsonl"
        lines = (question if isinstance(question, str) else json.dumps(question) for question in questions or QUESTIONS)
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return _file


def everything_in(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_recall_is_asked_beside_plain_full_text_and_another_embedder(store, file):
    report = own_store.run(file(), variants(["none"], ["static"]), database=store)
    assert (report.episodes, report.memories, report.user) == (6, 1, "local")
    assert [way.name for way in report.ways] == ["none", "static", "fts5"]
    assert [way.vectors for way in report.ways] == [0, 7, 0]
    assert [question.line for question in report.asked] == [1, 2, 3, 4]
    assert [question.ranks["none"] is not None for question in report.asked] == [True, True, True, False]
    assert report.ways[0].scores["any@10"] == 0.75
    assert [(comparison.ours, comparison.theirs) for comparison in report.compared] == [
        ("none", "fts5"),
        ("static", "none"),
    ]
    assert all(comparison.worth.questions == 4 for comparison in report.compared)


def test_nothing_is_written_to_the_store_and_the_copy_is_private_and_gone(store, file, tmp_path, monkeypatch):
    spare = tmp_path / "spare"
    spare.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spare))
    modes: set[int] = set()
    questions, before = file(), {}
    before |= everything_in(tmp_path)

    def look(_: str) -> None:
        modes.update(mode for path, (_, mode) in everything_in(spare).items() if path.endswith("memory.db"))

    own_store.run(questions, variants(["static"], ["none"]), database=store, progress=look)
    assert modes == {0o600}
    assert everything_in(tmp_path) == before


def test_a_store_that_is_being_written_to_is_asked_as_it_was(store, file):
    with open_engine(store, embedder="none") as engine:  # the log is not folded in yet
        engine.remember("The tram is purple with a white roof", key="tram_colour")
        report = own_store.run(file(), variants(["none"], []), database=store)
    assert report.asked[3].ranks == {"none": 1, "fts5": 1}


def test_what_was_missed_is_shown_with_what_came_instead(store, file):
    text = render(own_store.run(file(), variants(["none"], []), database=store))
    missed = text.partition("Not among the first 10 of none:")[2]
    assert "line 4: which colour has the tram?" in missed
    assert "wanted “purple”" in missed
    assert "line 1" not in missed
    report = own_store.run(file({"question": "hot kiln glaze", "session": "pottery"}), variants([], []), database=store)
    assert not report.asked[0].known
    assert report.asked[0].came[0].place.startswith(("plain kiln turn", "memory kiln_place"))
    assert "which is not in this store" in render(report)


def test_words_are_found_in_the_messages_behind_a_preview(tmp_path, file):
    (tmp_path / "long.jsonl").write_text(
        "".join(
            json.dumps({"role": "assistant", "content": f"{text} " * 9}) + "\n"
            for text in ("The lighthouse keeper writes a log", "The log names the wreck of the Perseverance")
        )
    )
    with open_engine(tmp_path / "memory.db", embedder="none") as engine:
        engine.ingest([tmp_path / "long.jsonl"])
    asked = file({"question": "who writes a log in the lighthouse?", "words": "wreck of the perseverance"})
    assert own_store.run(asked, variants(["none"], []), database=tmp_path / "memory.db").asked[0].ranks["none"] == 1


def test_a_memory_counts_for_the_session_in_which_it_was_said(tmp_path, file):
    (tmp_path / "talk-9.jsonl").write_text(
        json.dumps({"role": "user", "content": "Remember that the spare key hangs behind the blue door."}) + "\n"
    )
    with open_engine(tmp_path / "memory.db", embedder="none") as engine:
        engine.ingest([tmp_path / "talk-9.jsonl"])
        assert engine.memories()
    asked = file({"question": "where is the spare key?", "session": "talk-9"})
    assert own_store.run(asked, variants(["none"], []), database=tmp_path / "memory.db").asked[0].ranks["none"] == 1


def test_a_limit_counts_where_it_is_compared(store, file):
    report = own_store.run(file(), variants(["none"], ["recall.token_budget=1"]), database=store)
    assert report.ways[1].scores["any@10"] == 0


def test_the_command_prints_a_report_or_a_document(store, file, capsys):
    arguments = ["own", str(file()), "--db", str(store), "--embedder", "none"]
    assert main([*arguments, "--compare", "static"]) == 0
    printed = capsys.readouterr().out
    assert "4 questions over 6 episodes and 1 memory of user local" in printed
    assert "static beside none:" in printed
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["asked"][0]["ranks"]["none"] == 1
    assert main([*arguments, "--markdown"]) == 0
    assert "| none | " in capsys.readouterr().out


@each_case(
    ("line", "said"),
    [
        ("{", "is not JSON"),
        ("[1]", "is not an object"),
        ({"words": "x"}, "has no question"),
        ({"question": " ", "words": "x"}, "has no question"),
        ({"question": 7, "words": "x"}, "has a question that is no text"),
        ({"question": "x"}, "says neither which session nor which words"),
        ({"question": "x", "words": []}, "says neither"),
        ({"question": "x", "words": [""]}, "neither a text nor a list"),
        ({"question": "x", "words": 7}, "neither a text nor a list"),
        ({"question": "x", "word": "y"}, "has “word”, which is not known"),
        ({"question": "x", "words": "y", "asked_at": "2026-02-31"}, "2026-02-31"),
    ],
)
def test_a_bad_line_is_named_with_what_is_wrong(file, line, said):
    with pytest.raises(InvalidInput, match=r"^Line 2 of ") as caught:
        read_questions(file(QUESTIONS[0], line), UTC)
    assert said in str(caught.value)


def test_times_without_an_offset_are_read_in_the_zone_and_empty_lines_are_passed_over(file):
    first, second = read_questions(file("", QUESTIONS[2], "  ", QUESTIONS[0]), UTC)
    assert (first.line, first.asked_at, second.line) == (2, parse_iso("2026-03-01"), 4)


def test_a_file_that_is_not_there_or_holds_nothing_is_told(tmp_path, file):
    with pytest.raises(NotFound):
        read_questions(tmp_path / "none.jsonl", UTC)
    with pytest.raises(InvalidInput, match="holds no question"):
        read_questions(file(""), UTC)


@each_case(
    ("embedders", "compared", "said"),
    [
        (["none", "none"], [], "named twice"),
        ([], ["recall.limt=3"], "no setting"),
        ([], ["data.user=eve"], "cannot be compared"),
        ([], ["embedder.key=sesame"], "no setting"),
        ([], ["recall.limit=many"], "whole number"),
    ],
)
def test_a_way_that_is_none_is_told(embedders, compared, said):
    with pytest.raises(InvalidInput, match=said):
        variants(embedders, compared, {})


def test_a_way_may_differ_in_several_settings():
    first, second = variants(["none"], ["onnx:~/m; embedder.query_prefix=query: "], {})
    assert (first.settings.recall.embedder, second.settings.recall.embedder) == ("none", "onnx:~/m")
    assert second.settings.embedder.query_prefix == "query: "


def test_a_store_that_is_not_there_or_is_somebody_elses_is_told(store, file, tmp_path):
    ways = variants(["none"], [])
    with pytest.raises(NoStore):
        own_store.run(file(), ways, database=tmp_path / "nowhere.db")
    with pytest.raises(NotADatabase):
        own_store.run(file(), ways, database=file())
    with pytest.raises(NotADatabase):
        own_store.run(file(), ways, database=tmp_path)
    with pytest.raises(NotFound, match="user eve"):
        own_store.run(file(), ways, database=store, user="eve")


WORDS = st.lists(st.text("abcß é", min_size=1).filter(str.strip), min_size=1, max_size=3)


@given(WORDS, st.text("xyz \n"), st.booleans())
def test_words_are_found_whatever_their_case_and_blanks(words, between, opened):
    text = between.join(f"  {word.upper()}\t".replace(" ", "\n ") for word in words)
    question = OwnQuestion(line=1, text="?", session="", words=tuple(words), asked_at=None)
    assert question.is_met([], *(("", lambda: text) if opened else (text, lambda: "")))
    assert not question.is_met([], "nothing", lambda: "of it")


@given(st.text("ab", min_size=1), st.lists(st.text("ab"), max_size=3))
def test_a_session_is_meant_by_the_beginning_of_its_id(session, others):
    question = OwnQuestion(line=1, text="?", session=session, words=(), asked_at=None)
    assert question.is_met([*others, f"{session}ba"], "", lambda: "")
    assert question.is_met(others, "", lambda: "") == any(other.startswith(session) for other in others)


@pytest.mark.parametrize("stray", ["--k=1,3", "--jobs=2", "--every=2"])
def test_what_is_for_sets_is_refused_and_not_ignored(store, file, stray, capsys) -> None:
    assert main(["own", str(file()), "--db", str(store), stray]) == 2
    assert f"unrecognized arguments: {stray}" in capsys.readouterr().err
