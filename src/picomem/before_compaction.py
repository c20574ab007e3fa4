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

import errno
import os
import re
import stat
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from anyio.to_thread import run_sync

from picomem.clock import to_datetime
from picomem.engine.audience import safe_text
from picomem.engine.engine import Engine
from picomem.engine.stored_memories import reach
from picomem.errors import GeneratorFailed, InvalidInput, StoreError
from picomem.light_dataclass import dataclass
from picomem.notes.safe_opening import RELATIVE

# The daily note, `memory/YYYY-MM-DD.md` of a workspace: it receives what should be kept while the store is down.
#
# Others may write in that folder too, so the file is opened as `safe_opening.py` does it: one path component at a time,
# from the folder's own descriptor, never through a link. It must be a regular file with no other name. Text is only
# ever appended, in one write, so that two processes do not mix their lines.

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_APPEND = (
    os.O_WRONLY
    | os.O_APPEND
    | os.O_CREAT
    | _NO_LINK
    | getattr(os, "O_NONBLOCK", 0)  # a FIFO would let us wait for its reader
    | getattr(os, "O_CLOEXEC", 0)
)


def append(workspace: Path, day: str, text: str) -> str:
    """Append a text, which is redacted already, to the note of a day; its path in the workspace.

    Raises InvalidInput where that cannot be done, or a link stands on the way.
    """
    name = f"memory/{day}.md"
    try:
        if RELATIVE:
            _append_relative(workspace, f"{day}.md", text)
        else:
            _append_by_path(workspace, f"{day}.md", text)
    except OSError as error:
        why = "a link is on the way to it" if error.errno in (errno.ELOOP, errno.ENOTDIR) else error.strerror
        raise InvalidInput(f"{name} in {workspace} cannot be written: {why}.") from error
    return name


def is_writable(workspace: Path) -> bool:
    """Return whether anything can be stored in a workspace. A folder that is not there is no workspace."""
    return workspace.is_dir() and os.access(workspace, os.W_OK | os.X_OK)


def _append_relative(workspace: Path, name: str, text: str) -> None:
    top = os.open(workspace, _FOLDER)
    try:
        with suppress(FileExistsError):  # or something else of that name, which is refused below
            os.mkdir("memory", 0o700, dir_fd=top)
        at = os.open("memory", _FOLDER | _NO_LINK, dir_fd=top)
    finally:
        os.close(top)
    try:
        descriptor = os.open(name, _APPEND, 0o600, dir_fd=at)
    finally:
        os.close(at)
    _write(descriptor, text)


def _append_by_path(workspace: Path, name: str, text: str) -> None:
    folder = workspace / "memory"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / name
    if folder.is_symlink() or path.is_symlink():
        raise OSError(errno.ELOOP, "a link is on the way to it")
    _write(os.open(path, _APPEND, 0o600), text)


def _write(descriptor: int, text: str) -> None:
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        if status.st_nlink != 1:
            raise OSError(errno.EMLINK, "it has another name elsewhere (a hard link)")
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
