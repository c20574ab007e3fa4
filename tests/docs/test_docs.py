"""The documents say what is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from picomem.operations.reference import render
from picomem.operations.table import operations

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])


def test_the_reference_page_is_the_one_that_the_table_renders() -> None:
    assert (ROOT / "docs" / "reference.md").read_text("utf-8") == render()


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
    assert "port 6432" in capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_every_operation_says_what_it_does_and_shows_an_example() -> None:
    for operation in operations():
        assert operation.doc.endswith("."), operation.name
        assert operation.example.startswith(f"picomem {operation.name}")
