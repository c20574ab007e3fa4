"""Made-up transcripts for measuring ingest: the same bytes from the same seed.

`write_claude_code` writes sessions as Claude Code does, with the proportions of real sessions of some megabytes: half
of the bytes are results of tools (each is there twice, as a block and as the program's own record), a third progress
records, a tenth tool calls; one byte in a hundred is text of a person or the agent. `write_plain` writes talk alone,
a record a line: the most work for its size that a transcript can be. One turn in a hundred contains a secret-like
text, so that redaction has work to do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from benchmarks.prose import Prose
from picomem.clock import SECOND, iso, parse_iso

_START = parse_iso("2026-01-05T09:00")
_CODE = 200_000  # characters of made-up code, of which a tool's result is a piece
_SESSION = 1_000_000  # bytes after which another file is begun
_CALLS = 12  # of tools, between two turns of a person
_PROGRESS = 6  # records, for each call


def write_claude_code(folder: Path, size: int, seed: int = 1) -> list[Path]:
    """Sessions of about `size` bytes in all, a megabyte a file at most, in the format of Claude Code."""
    prose = Prose(seed)
    code = _made_up_code(prose)
    return _write(folder, size, lambda: _Session(prose, code).lines())


def write_plain(folder: Path, size: int, seed: int = 2) -> list[Path]:
    """Talk of about `size` bytes in all, a megabyte a file at most, in the `plain` format."""
    prose = Prose(seed)
    return _write(folder, size, lambda: _talk(prose))


def write_small(folder: Path, files: int, seed: int = 3) -> int:
    """So many short sessions in the format of Claude Code, five hundred to a folder, a question and an answer each; how
    many bytes they have."""
    prose = Prose(seed)
    size, topic = 0, prose.topic()
    for number in range(files):
        if number % 50 == 0:
            topic = prose.topic()
        path = folder / f"project-{number // 500:03}" / f"{UUID(int=number)}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [_short_record(number, role, prose.text(topic, 20)) for role in ("user", "assistant")]
        size += path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines), "ascii")
    return size


def _short_record(number: int, role: str, text: str) -> dict[str, Any]:
    at = _START + number * 60 * SECOND + (role == "assistant") * SECOND
    return {
        "cwd": f"/home/ann/project-{number // 500:03}",
        "sessionId": str(UUID(int=number)),
        "type": role,
        "message": {"role": role, "content": text},
        "uuid": str(UUID(int=number * 2 + (role == "assistant") + (1 << 100))),
        "timestamp": iso(at),
    }


def _write(folder: Path, size: int, session: Any) -> list[Path]:
    """Files of endless sessions, each cut after a megabyte, until there are `size` bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    left = size
    while left > 0:
        path = folder / f"{len(paths):06}.jsonl"
        room = min(left, _SESSION)
        with path.open("w", encoding="ascii") as file:
            for record in session():
                room -= file.write(json.dumps(record, separators=(",", ":")) + "\n")
                if room <= 0:
                    break
        left -= path.stat().st_size
        paths.append(path)
    return paths


def _talk(prose: Prose) -> Iterator[dict[str, Any]]:
    topic = prose.topic()
    at = _START
    while True:
        for role in ("user", "assistant"):
            at += prose.random.randint(5, 300) * SECOND
            yield {"role": role, "content": _turn(prose, topic), "timestamp": iso(at)}


class _Session:
    """One session of Claude Code, as the records that the program would write."""

    def __init__(self, prose: Prose, code: str) -> None:
        self._prose = prose
        self._random = prose.random
        self._code = code
        self._topic = prose.topic()
        self._id = _uuid(self._random)
        self._parent: str | None = None
        self._at = _START

    def lines(self) -> Iterator[dict[str, Any]]:
        snapshot = {"messageId": _uuid(self._random), "trackedFileBackups": {}, "timestamp": iso(self._at)}
        yield {"type": "file-history-snapshot", "messageId": snapshot["messageId"], "snapshot": snapshot}
        while True:
            yield self._record("user", message={"role": "user", "content": _turn(self._prose, self._topic)})
            yield self._says({"type": "thinking", "thinking": self._text(200), "signature": self._piece(800)})
            for _ in range(self._random.randint(1, 2 * _CALLS)):
                yield from self._call()
                if self._random.random() < 0.3:
                    yield self._says({"type": "text", "text": self._text(20)})
            yield self._says({"type": "text", "text": _turn(self._prose, self._topic)})

    def _call(self) -> Iterator[dict[str, Any]]:
        """A tool is called, reports its progress, and gives a result."""
        call = f"toolu_{self._random.getrandbits(96):024x}"
        command = {"command": f"grep -rn {self._random.choice(self._topic)} src", "description": self._text(6)}
        yield self._says({"type": "tool_use", "id": call, "name": "Bash", "input": command | {"old": self._piece(900)}})
        for _ in range(self._random.randint(0, 2 * _PROGRESS)):
            data = {"type": "hook_progress", "hookEvent": "PreToolUse", "command": self._piece(300)}
            yield self._record("progress", data=data, toolUseID=call, parentToolUseID=call)
        result = self._piece(int(self._random.lognormvariate(7.2, 1)))
        block = {"tool_use_id": call, "type": "tool_result", "content": result, "is_error": False}
        own = {"stdout": result, "stderr": "", "interrupted": False, "isImage": False}
        yield self._record("user", message={"role": "user", "content": [block]}, toolUseResult=own)

    def _says(self, block: dict[str, Any]) -> dict[str, Any]:
        usage = {"input_tokens": 9, "cache_read_input_tokens": self._random.randint(0, 99_999), "output_tokens": 140}
        message = {"model": "made-up", "id": f"msg_{self._random.getrandbits(96):024x}", "type": "message"}
        message |= {"role": "assistant", "content": [block], "stop_reason": None, "usage": usage}
        return self._record("assistant", message=message, requestId=f"req_{self._random.getrandbits(96):024x}")

    def _record(self, kind: str, **fields: Any) -> dict[str, Any]:
        self._at += self._random.randint(1, 20) * SECOND
        head = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/mia/code/made-up",
        }
        head |= {"sessionId": self._id, "version": "2.1.39", "gitBranch": "main", "type": kind}
        self._parent = _uuid(self._random)
        return {**head, **fields, "uuid": self._parent, "timestamp": iso(self._at)}

    def _text(self, words: int) -> str:
        return self._prose.text(self._topic, words)

    def _piece(self, length: int) -> str:
        at = self._random.randrange(max(1, len(self._code) - length))
        return self._code[at : at + length]


def _turn(prose: Prose, topic: list[str]) -> str:
    text = prose.text(topic)
    if prose.random.random() < 0.01:
        text += f"\n\nexport {prose.random.choice(topic).upper()}_TOKEN={prose.random.getrandbits(160):040x}"
    return text


def _made_up_code(prose: Prose) -> str:
    """Something with the letters, quotes and line breaks of a program."""
    topic = prose.topic()
    lines: list[str] = []
    length = 0
    while length < _CODE:
        name, other, *said = prose.text(topic, prose.random.randint(4, 12)).split()
        line = (
            f'{"    " * prose.random.randint(0, 3)}{name}.{other}("{" ".join(said)}", {prose.random.randint(0, 999)})'
        )
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)


def _uuid(random: Random) -> str:
    return str(UUID(int=random.getrandbits(128), version=4))
