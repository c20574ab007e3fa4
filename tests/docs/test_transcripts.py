"""The page on transcripts says what is so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import picomem
from picomem.ingest.formats.json_lines import _AGENTS, _PEOPLE, _SILENT

PAGE = (Path(__file__).parents[2] / "docs" / "transcripts.md").read_text("utf-8")


def test_the_example_of_the_plain_format_is_read_as_the_page_says(tmp_path: Path) -> None:
    (lines,) = re.findall(r"```jsonl\n(.*?)```", PAGE, re.DOTALL)
    (metadata,) = re.findall(r"`(\{\"_type\".*?\})`", PAGE)
    (tmp_path / "talk.jsonl").write_text(lines)
    (tmp_path / "named.jsonl").write_text(metadata + "\n" + lines)
    with picomem.open(tmp_path / "memory.db", embedder="none") as memory:
        report = memory.ingest(tmp_path / "talk.jsonl")
        assert (report.turns, report.problems, report.skipped) == (3, [], {})
        assert {hit.session for hit in memory.timeline()} == {"talk"}
        assert memory.recall("which berth is free").hits[0].text == "Berth 4 is free on Monday."
        assert "Ann" not in {hit.role for hit in memory.recall("blue boat").hits}
        assert memory.recall("blue boat", include_untrusted=True).hits[0].role == "Ann"
        (tmp_path / "copy").mkdir()
        (tmp_path / "copy" / "talk.jsonl").write_text(lines)
        assert memory.ingest(tmp_path / "copy" / "talk.jsonl").repeated >= 2  # the lines with an id
        memory.ingest(tmp_path / "named.jsonl")
        assert {hit.session for hit in memory.timeline()} == {"talk", "desk"}


def test_the_page_names_the_roles_that_there_are() -> None:
    named = set(re.findall(r"`(\w+)`", next(line for line in PAGE.splitlines() if line.startswith("| `role`"))))
    assert {*_PEOPLE, *_AGENTS} <= named
    assert named - {"role", *_PEOPLE, *_AGENTS} <= _SILENT.keys()


def test_the_fields_of_the_page_are_those_of_the_example() -> None:
    fields = re.findall(r"(?m)^\| `(\w+)` \|", PAGE)
    (lines,) = re.findall(r"```jsonl\n(.*?)```", PAGE, re.DOTALL)
    assert fields == ["role", "content", "timestamp", "id"] == list(json.loads(lines.splitlines()[0]))
