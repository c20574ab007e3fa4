"""Markdown memory becomes typed entries."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from picomem.cli.main import main
from picomem.clock import iso
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, NotFound
from picomem.records.kinds import Kind, Source
from picomem.transfer.markdown_import import read_entries

UTC = ZoneInfo("UTC")
NOTES = """---
title: memory
---
# Memory

## Preferences
- I prefer pytest over unittest <!-- importance: 9 -->
- Short functions, one screen
  at most

## Decisions
1. [2026-04-20 10:30] We moved the booking queue to PostgreSQL
- Redis stays for rate limits <!-- observed: 2026-04-21 | status: superseded -->

Harbor's staging database listens on port 6432.

```sh
rm -rf everything
```
> quoted
| a | table |
"""


@pytest.mark.requirement("O18")
def test_items_and_paragraphs_become_entries_with_kind_tag_importance_and_time() -> None:
    entries = read_entries(NOTES, "MEMORY.md", UTC)
    assert [(entry.content, entry.kind) for entry in entries] == [
        ("I prefer pytest over unittest", Kind.PREFERENCE),
        ("Short functions, one screen at most", Kind.PREFERENCE),
        ("We moved the booking queue to PostgreSQL", Kind.DECISION),
        ("Harbor's staging database listens on port 6432.", Kind.DECISION),
    ]
    assert entries[0].importance == 0.9
    assert entries[1].tag == "preferences"
    assert entries[2].at is not None
    assert iso(entries[2].at) == "2026-04-20T10:30:00Z"


@pytest.mark.requirement("O18")
def test_a_migration_goes_through_the_gate_and_can_be_repeated(engine: Engine, tmp_path: Path) -> None:
    note = tmp_path / "2026-04-03.md"
    note.write_text("- The venue is called Atlantis\n- thanks!\n- key: ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n")
    first = engine.migrate([tmp_path])
    assert [result.decision for _, _, result in first] == ["add", "refuse", "refuse"]
    (memory,) = engine.memories()
    assert memory.source is Source.MIGRATION
    assert iso(memory.valid_from).startswith("2026-04-03")
    again = engine.migrate([tmp_path])
    assert [result.decision for _, _, result in again] == ["merge", "refuse", "refuse"]
    assert engine.memories() == [memory]


def test_a_note_of_a_day_to_come_is_believed_at_once(engine: Engine, tmp_path: Path) -> None:
    note = tmp_path / "2999-01-01.md"
    note.write_text("- The venue is called Atlantis\n")
    assert [result.decision for _, _, result in engine.migrate([note])] == ["add"]
    (memory,) = engine.memories()
    assert iso(memory.valid_from)[:10] == iso(engine.now())[:10]
    assert [result.decision for _, _, result in engine.migrate([note])] == ["merge"]


def test_what_is_no_markdown_is_refused(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InvalidInput, match="contains none"):
        engine.migrate([tmp_path / "nothing"])
    with pytest.raises(NotFound, match="no file or folder"):
        engine.migrate([tmp_path / "nowhere"])


@given(st.text(max_size=2_000) | st.text(alphabet="#-* \n`>|<!:0123456789[]abc", max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    for entry in read_entries(text, "x.md", UTC):
        assert entry.content.strip()


def test_files_that_are_left_out_of_a_folder_are_named_and_the_command_fails(tmp_path: Path, capsys) -> None:
    (tmp_path / "a.md").write_text("- The crane is painted yellow.\n")
    (tmp_path / "b.md").write_text("x" * (5 << 20))
    (tmp_path / "c.md").symlink_to(tmp_path / "a.md")
    assert main(["--db", str(tmp_path / "memory.db"), "migrate", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "1 file: 1 add." in told
    assert f"! {tmp_path / 'b.md'} is larger than 4 MiB" in told
    assert f"! {tmp_path / 'c.md'} is a link" in told
