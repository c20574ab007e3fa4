"""Before compaction: lets the agent store what should be kept before its messages are cut from the prompt.

The agent loop calls `flush` when a conversation is about to be summarised for its size. It passes `ask`, which gives
the agent one silent turn with its memory tools and returns its final text. Nothing depends on the outcome: every
failure is reported in the result, and the conversation continues.

`ask` must let a StoreError of a memory tool through (tools that turn it into text for the model hide it from us), and
raise GeneratorFailed if its model fails. Only after a StoreError, the agent is asked once more, for the text itself;
it goes, redacted, to the note of the day in the workspace, which note search finds and `picomem migrate` imports
later. In a read-only workspace all of this is skipped, because its owner wants nothing written.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from picomem.clock import to_datetime
from picomem.engine.audience import safe_text
from picomem.engine.stored_memories import reach
from picomem.errors import GeneratorFailed, InvalidInput, StoreError
from picomem.light_dataclass import dataclass
from picomem.notes.daily import append, is_writable

if TYPE_CHECKING:
    from picomem.engine.engine import Engine

Ask = Callable[[str], Awaitable[str]]

NOTHING = "NOTHING"
STORE = f"""\
The conversation is about to be shortened: earlier messages will leave your sight, and only a summary stays. If \
anything in it should last and is not in memory yet (decisions, preferences, facts about the user or their projects), \
store it now with memory_store, one statement each. Do not repeat what is stored, do not store secrets, and ask the \
user nothing. When there is nothing left to store, answer {NOTHING}."""
WRITE = f"""\
The memory store cannot be written now. Write what should last as a list instead, one line that begins with "- " for \
each statement, without calling any tool; the lines are kept in a note. If there is nothing, answer {NOTHING}."""
_MOST_LINES = 20
_LONGEST_LINE = 500  # characters


@dataclass(frozen=True, slots=True)
class Flushed:
    """The outcome: "stored" (the agent had its turn), "skipped" (the workspace is read-only, or memory is off),
    "noted" (the store failed, and `note` in the workspace has it), "nothing", or "failed", with the reason."""

    state: str
    note: str = ""
    lines: int = 0
    reason: str = ""


async def flush(engine: Engine, ask: Ask, workspace: Path | None, *, read_only: bool = False) -> Flushed:
    """Let the agent store what should last. `read_only` says that the workspace is, whatever its rights are.

    Without a workspace the agent has its turn, and there is no note to fall back on.
    """
    if not engine.settings.memory.enabled:
        return Flushed("skipped", reason="memory.enabled is off")
    if read_only or (workspace is not None and not await run_sync(is_writable, workspace)):
        return Flushed("skipped", reason="the workspace is read-only")
    try:
        await run_sync(reach, engine)  # a store that is down says so before the agent has its turn
        if not engine.read_only:
            await ask(STORE)
            return Flushed("stored")
        reason = "the store is read-only"
    except StoreError as error:
        reason = str(error)
    except GeneratorFailed as error:
        return Flushed("failed", reason=str(error))
    if workspace is None:
        return Flushed("failed", reason=reason)
    try:
        return await run_sync(_noted, engine, workspace, await ask(WRITE), reason)
    except (StoreError, GeneratorFailed, InvalidInput) as error:
        return Flushed("failed", reason=f"{reason} {error}")


def statements(answer: str) -> list[str]:
    """The lines of an answer that state something: those that begin with a list mark, or all where none does. Pure."""
    if NOTHING in answer.split():
        return []
    lines = [" ".join(line.split()) for line in answer.splitlines() if any(char.isalnum() for char in line)]
    marked = [line for line in lines if re.match(r"[-*•] ", line)]
    return [line.lstrip("-*• ")[:_LONGEST_LINE] for line in marked or lines][:_MOST_LINES]


def _noted(engine: Engine, workspace: Path, answer: str, reason: str) -> Flushed:
    """Append what the agent wrote to the note of the day."""
    lines = statements(safe_text(engine, answer))
    if not lines:
        return Flushed("nothing", reason=reason)
    now = to_datetime(engine.now(), engine.zone)
    text = f"\n## {now:%H:%M} Before the conversation was shortened\n\n" + "".join(f"- {line}\n" for line in lines)
    return Flushed("noted", append(workspace, f"{now:%Y-%m-%d}", text), len(lines), reason)
