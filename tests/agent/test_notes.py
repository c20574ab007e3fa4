"""PicoBot reads the person's notes where some are configured, and is told when to search them (O11)."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.agent.conftest import Script, contents
from tests.engine_parts import change_settings

from picomem.agent import PicoBot
from picomem.agent.events import Event
from picomem.engine.audience import in_group
from picomem.engine.engine import Engine
from picomem.light_dataclass import replace
from picomem.settings_tables import NotesSettings

TOOLS = {"memory_search", "memory_get"}


async def _unheard(_event: Event) -> None:
    """Nobody listens."""


def say(script: Script, engine: Engine) -> None:
    anyio.run(PicoBot(script.model, engine).turn, "Which port did I write down?", _unheard)


def offered(script: Script) -> set[str]:
    return {tool.name for tool in script.given[0][1].function_tools}


@pytest.fixture
def with_notes(engine: Engine, tmp_path: Path) -> Engine:
    (tmp_path / "MEMORY.md").write_text("# Ports\n\nStaging listens on port 6432.\n", "utf-8")
    change_settings(engine, replace(engine.settings, notes=NotesSettings(paths=(str(tmp_path),))))
    return engine


@pytest.mark.requirement("O11")
def test_picobot_searches_and_reads_configured_notes(with_notes: Engine) -> None:
    search, get = ("memory_search", {"query": "staging port"}), ("memory_get", {"path": "MEMORY.md", "from": 3})
    script = Script([search], [get], "Port 6432.")
    say(script, with_notes)
    assert offered(script) >= TOOLS
    assert "Call memory_search for what they" in script.stable()[0]
    texts = contents(script.given[-1][0])
    assert sum("Staging listens on port 6432." in text for text in texts) == 2
    assert any("MEMORY.md#L" in text for text in texts)


@pytest.mark.requirement("O11")
def test_without_notes_and_in_a_group_there_are_no_tools_for_them(engine: Engine, with_notes: Engine) -> None:
    grouped = Script("No idea.")
    say(grouped, in_group(with_notes))
    change_settings(with_notes, replace(engine.settings, notes=NotesSettings()))
    alone = Script("No idea.")
    say(alone, with_notes)
    for script in (grouped, alone):
        assert not offered(script) & TOOLS
        assert "memory_search" not in script.prompts()[0]
