"""The page on export and import says what is so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import picomem
from picomem.cli.main import main
from picomem.engine.transfers import export_lines
from picomem.operations.transferring import IMPORT_FORMATS
from picomem.records.session import NewMessage, Role

PAGE = (Path(__file__).parents[2] / "docs" / "transfer.md").read_text("utf-8")


def test_the_page_names_every_format_with_an_example() -> None:
    rows = re.findall(r"(?m)^\| `([\w-]+)` \| .* \| `picomem import ([\w-]+) \S+` \|$", PAGE)
    assert [name for name, _ in rows] == [given for _, given in rows] == list(IMPORT_FORMATS)


def test_the_example_of_a_dry_run_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PICOMEM_DB", str(tmp_path / "memory.db"))
    memories = ["Anna prefers black coffee from Kenya", "The staging database listens on port 5433", "ok thanks"]
    Path("mem0.json").write_text(json.dumps([{"id": text, "memory": text} for text in memories]))
    command, printed = re.findall(r"```console\n\$ picomem (.*?)\n(.*?)```", PAGE, re.DOTALL)[0]
    assert main(command.split()) == 0
    assert capsys.readouterr().out.startswith(printed)


def test_the_page_describes_the_lines_of_an_export(tmp_path: Path) -> None:
    with picomem.open(tmp_path / "memory.db", embedder="none") as memory:
        memory.remember("The crane is yellow", key="crane")
        session = memory.sessions().create("tui")
        memory.sessions().append(session.id, NewMessage(role=Role.USER, content="Which crane?"))
        records = [json.loads(line) for line in export_lines(memory, "picomem")]
    rows = PAGE.partition("| `type` | fields |\n|---|---|\n")[2].partition("\n\n")[0]
    described = re.findall(r"(?m)^\| `(\w+)` \| (.*) \|$", rows)
    assert [name for name, _ in described] == [record["type"] for record in records]
    for (_, fields), record in zip(described, records, strict=True):
        assert "…" in fields or set(re.findall(r"`(\w+)`", fields)) - {"picomem"} == record.keys() - {"type"}
    version = re.findall(r"`(\w+)`", PAGE.partition("A version has ")[2].partition(", the ids of changes")[0])
    assert set(version) == records[-2]["versions"][0].keys()
