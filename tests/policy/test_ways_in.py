"""Every way by which text comes into the store, with a secret that hides behind characters that nobody sees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from picomem.app import open_engine
from picomem.engine.transfers import import_from
from picomem.errors import InvalidInput
from picomem.records.session import NewMessage, Role, ToolCall
from picomem.settings import Settings
from picomem.settings_tables import NotesSettings, RecallSettings
from picomem.text.visible_text import VisibleText, spelled_in_tags
from picomem.transfer.import_format import import_format_named

FIRST, LAST = "aB3xK9mQ2zaB3xK9mQ", "Zt7Lw4Rn1cZt7Lw4Rn"
KEEPS = "👩\u200d💻 می\u200cخواهم cafe\u0301"
HIDERS = {
    "zero-width space": "\u200b",
    "soft hyphen": "\u00ad",
    "joiner": "\u200d",
    "right-to-left override": "\u202e",
    "isolate": "\u2066",
    "variation selector": "\ufe0f",
    "supplementary variation selector": "\U000e0101",
    "grapheme joiner": "\u034f",
    "Hangul filler": "\u3164",
    "tag": "\U000e0061",
    "byte order mark": "\ufeff",
    "colour": "\x1b[0m\x1b[31m",
}


def _readings(folder: Path, database: str) -> list[str]:
    """What can be read in the files of the database, hidden characters or not."""
    written = [path.read_bytes().decode("utf-8", "ignore") for path in folder.glob(f"{database}*")]
    spelled = [letters for text in written for _, _, letters in spelled_in_tags(text)]
    return [VisibleText(text).text for text in written] + spelled


@pytest.mark.requirement("O7")
@pytest.mark.parametrize("hider", HIDERS.values(), ids=HIDERS)
def test_no_way_in_lets_a_secret_pass_that_hides_characters(tmp_path: Path, hider: str) -> None:
    said = f"The deploy token of the harbor service is ghp_{FIRST}{hider}{LAST} and it works, {KEEPS}"
    notes = tmp_path / "notes"
    (notes / "memory").mkdir(parents=True)
    (notes / "MEMORY.md").write_text(f"# Harbor\n\n{said}\n", "utf-8")
    talk = tmp_path / "talk.jsonl"
    rows = [{"role": role, "content": said, "timestamp": "2026-05-03T10:00:00Z"} for role in ("user", "assistant")]
    talk.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    settings = Settings(recall=RecallSettings(embedder="none"), notes=NotesSettings((str(notes),)))
    with open_engine(tmp_path / "memory.db", settings=settings) as engine:
        engine.remember(said, key="harbor_token", tags=[f"ghp_{FIRST}{hider}{LAST}"])
        log = engine.sessions()
        session = log.create(title=f"about ghp_{FIRST}{hider}{LAST}").id
        call = ToolCall(
            "c1", "shell", json.dumps({"command": f"curl -H 'Authorization: token ghp_{FIRST}{hider}{LAST}'"})
        )
        answer = NewMessage(role=Role.ASSISTANT, content=said, tool_calls=(call,))
        log.append(
            session,
            NewMessage(role=Role.USER, content=said),
            answer,
            NewMessage(role=Role.TOOL, content=said, tool_call_id="c1"),
        )
        engine.ingest([talk])
        (tmp_path / "mem0.json").write_text(
            json.dumps([{"id": "1", "memory": said.replace("harbor", "quay")}]), "utf-8"
        )
        import_from(engine, tmp_path / "mem0.json", import_format_named("mem0"))
        engine.recall("harbor service")
        assert KEEPS in engine.memories()[0].content
        assert KEEPS in log.load(session).messages[0].content
        readings = _readings(tmp_path, "memory.db")
        assert sum("The deploy token of the harbor" in reading for reading in readings) >= 1
        assert [half for half in (FIRST, LAST) for reading in readings if half in reading] == []


@pytest.mark.requirement("O7")
@pytest.mark.parametrize("part", ["user", "agent", "project", "session", "actor"])
def test_a_memory_is_not_opened_under_an_id_that_looks_like_a_secret(tmp_path: Path, part: str) -> None:
    secret = "sk-ant-api03-" + FIRST * 5
    ids: dict[str, Any] = {part: secret}
    with pytest.raises(InvalidInput, match=f"The {part} id looks like a secret") as refused:
        open_engine(tmp_path / "memory.db", **ids)
    assert FIRST not in str(refused.value)
    assert not (tmp_path / "memory.db").exists()
