"""`python -m benchmarks`: its help, its errors, and what each benchmark prints."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cases import each_case

from benchmarks.__main__ import main
from benchmarks.arguments import make_parser

ROOT = Path(__file__).parents[2]


def _benchmarks() -> dict[str, argparse.ArgumentParser]:
    (action,) = (candidate for candidate in make_parser()._actions if isinstance(candidate, argparse._SubParsersAction))
    return action.choices


@each_case("name", _benchmarks())
def test_the_help_of_a_benchmark_has_an_example_that_it_takes(name: str) -> None:
    examples = [
        line.split(" > ")[0].split()[3:]
        for line in _benchmarks()[name].format_help().splitlines()
        if line.startswith("  python -m benchmarks ")
    ]
    assert name in [words[0] for words in examples]
    for words in examples:
        assert make_parser().parse_args(words).what == words[0]


def test_it_runs_from_the_folder_of_the_project_and_lists_what_there_is() -> None:
    done = subprocess.run([sys.executable, "-m", "benchmarks"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert [name for name in _benchmarks() if name not in done.stdout] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["speed", "--embedder", "none"], "--embedder"),
        (["speed", "--files", "0"], "at least 1"),
        (["speed", "--sizes", "many"], "whole numbers"),
        (["redaction", "--instances", "0"], "from 1 to"),
        (["quality"], "the following arguments are required: FILE"),
        (["qualiti"], "invalid choice"),
        (["ablation"], "FILE"),
    ],
)
def test_bad_arguments_are_one_sentence_and_an_exit_code(arguments: list[str], said: str, capsys) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.startswith("benchmarks: ")
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_an_error_with_json_is_a_document_too(tmp_path: Path, capsys) -> None:
    assert main(["--json", "curves", str(tmp_path / "none.json")]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "not_found"
