"""The documents say what is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.cases import each_case
from tests.docs.reference_page import render

from benchmarks.arguments import make_parser
from picomem.cli.main import command_of, in_one_word, parser_for
from picomem.operations.table import operations

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for folder in (".", "docs", "benchmarks", "training", "tests")
    for page in (ROOT / folder).glob("*.md")
    if page.name != "CHANGELOG.md"
)

# The program of a command at the beginning of a line of an example: `$ picomem …`, `uv run picomem …`, `git diff | picomem …`
_PICOMEM = "(?:uv run |git diff \\| )?picomem"
_BENCHMARKS = "python -m benchmarks"


def _command_lines(program: str) -> list[str]:
    command = re.compile(rf"^(?: {{4}}|\$ )+{program} ((?:[^\\\n]|\\\n)+)", re.MULTILINE)
    return [line for page in PAGES for line in command.findall(page.read_text("utf-8"))]


def _words_of(line: str) -> list[str]:
    words = shlex.split(re.sub(r"\\\n|[][…]", " ", line), comments=True)
    return words[: next((at for at, word in enumerate(words) if word in ("|", ">")), len(words))]


def test_the_reference_page_is_the_one_that_the_table_renders() -> None:
    assert (ROOT / "docs" / "reference.md").read_text("utf-8") == render()


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
    assert "port 6432" in capsys.readouterr().out


def test_the_python_of_the_page_on_agents_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    from tests.agent.conftest import Script

    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "agent.md").read_text("utf-8"), re.DOTALL)
    script = Script("It listens on 5433.")
    exec(compile(example.replace('"openai:gpt-5-mini"', "model"), "agent.md", "exec"), {"model": script.model})
    assert capsys.readouterr().out == "It listens on 5433.\n"
    assert "- staging_db_port: The staging database listens on port 5433" in script.prompts()[0]


def test_the_page_on_agents_names_what_there_is() -> None:
    from picomem.agent.tools import MEMORY, TOOLS
    from picomem.cli.chat import command_names
    from picomem.models.provider import PROVIDERS

    page = (ROOT / "docs" / "agent.md").read_text("utf-8")
    named = [MEMORY, *(operation.tool for operation in operations() if operation.name in TOOLS), *PROVIDERS]
    assert [name for name in named if name not in page] == []
    assert [name for name in command_names() if f"/{name}" not in page and name != "quit"] == []


@each_case("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


@each_case("line", _command_lines(_PICOMEM))
def test_a_command_line_of_the_documents_is_one_that_the_program_takes(line: str) -> None:
    words = in_one_word(_words_of(line))
    assert parser_for(command_of(words)).parse_args(words)


@each_case("line", _command_lines(_BENCHMARKS))
def test_a_benchmark_of_the_documents_is_one_that_there_is(line: str) -> None:
    assert make_parser().parse_args(_words_of(line))


def test_every_setting_is_explained() -> None:
    settings = render().partition("## Settings")[2].partition("## Errors")[0]
    rows = re.findall(r"^- `(\w+)` \(default .*?`\): (.*)$", settings, re.MULTILINE)
    assert len(rows) > 40
    assert [key for key, text in rows if not text.strip()] == []


def test_every_operation_says_what_it_does_and_shows_an_example() -> None:
    for operation in operations():
        assert operation.doc.endswith("."), operation.name
        words = operation.example.split()
        assert in_one_word(words[1:])[0] == operation.name
