"""Transcripts of each host, damaged over and over while they are read (R18).

Another FUZZ_SEED makes other cases.

A file grows, and between two readings it is cut, glued, rotated, rewritten, padded with NULs, has lines repeated, bits
flipped, or bytes in it that are no UTF-8. Every turn holds a word of its own, so that what became of it can be counted:

- Whatever a plain reading of the file as it lies there now finds, is in some episode, and is shown by an open pointer.
- A turn whose line was never damaged is shown by one open pointer, and reading again changes nothing. (An agent's
  scraps are packed together up to a person's turn. Where that turn is destroyed afterwards, they are packed otherwise,
  and the old episodes stay beside the new one: so of an agent's turns this holds in files whose lines stayed whole.)
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.amounts import amount

from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.ingest import reader
from picomem.ingest.format import DocumentFormat, format_of

pytestmark = [
    pytest.mark.reliability("R18"),
    pytest.mark.sqlite_file("reads the rows in the file"),
]

_FILES = amount(24, 500)
_SEED = os.environ.get("FUZZ_SEED", "")
_HOSTS = ("claude-code", "codex", "openclaw", "plain", "picobot", "nanobot", "gemini-cli", "cursor")
# The folder of Pi makes the sessions of OpenClaw's format the user's own, and that of Cursor tells its format.
_FOLDERS = {"openclaw": ".pi/agent/sessions", "cursor": "w/agent-transcripts"}
_WORD = re.compile(r"zq\d{5}x\d{3}zq")  # of one width: a lost digit does not make it the word of another
_GROWTH = 64 << 20


def _line(host: str, case: int, number: int, role: str, text: str) -> bytes:
    """Turn `number` as the host writes it, its header before the first."""
    at = f"2026-04-03T{number // 60 % 24:02}:{number % 60:02}:{case % 60:02}.{case // 60:03}Z"
    session = f"c{case}"
    message = {"role": role, "content": text}
    if host == "claude-code":
        uuid = f"{case:08}-{number:04}-4000-8000-000000000000"
        record = {"type": role, "sessionId": session, "uuid": uuid, "timestamp": at, "cwd": "/w", "message": message}
    elif host == "codex":
        content = [{"type": "input_text" if role == "user" else "output_text", "text": text}]
        payload = {"type": "message", "role": role, "content": content}
        record = {"timestamp": at, "type": "response_item", "payload": payload}
    elif host == "openclaw":
        record = {"type": "message", "id": f"{number:08x}", "parentId": "p", "timestamp": at, "message": message}
    elif host == "cursor":
        record = {
            "role": role,
            "message": {"content": [{"type": "text", "text": _typed(text) if role == "user" else text}]},
        }
    elif host == "gemini-cli":
        uuid = f"{case:08}-{number:04}-4000-8000-000000000000"
        speaker = "user" if role == "user" else "gemini"
        record = {"id": uuid, "timestamp": at, "type": speaker, "content": [{"text": text}]}
    else:
        record = {**message, "timestamp": at}
    line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
    return (_header(host, session) if number == 0 else b"") + line


def _typed(text: str) -> str:
    return f"<timestamp>Friday, Apr 3, 2026, 10:00 AM (UTC)</timestamp>\n<user_query>\n{text}\n</user_query>"


def _header(host: str, session: str) -> bytes:
    if host == "codex":
        return b'{"timestamp":"2026-04-03T00:00:00Z","type":"session_meta","payload":{"id":"%s"}}\n' % session.encode()
    if host == "openclaw":
        return b'{"type":"session","version":3,"id":"%s","cwd":"/w"}\n' % session.encode()
    if host == "gemini-cli":
        return b'{"sessionId":"%s","projectHash":"06","kind":"main"}\n' % session.encode()
    if host == "nanobot":
        return b'{"_type": "metadata", "key": "cli:%s", "updated_at": "2026-04-03T00:00:00"}\n' % session.encode()
    return b""


class _File:
    """A transcript under attack. `hurt` are the words whose lines were damaged, so that they may count as others."""

    def __init__(self, folder: Path, host: str, case: int, seeded: random.Random) -> None:
        self.random = seeded
        self.case, self.host = case, host
        self.path = folder / ("sessions.json" if host == "picobot" else f"{case}.jsonl")
        self.hurt: set[str] = set()
        self.agents: set[str] = set()
        self.renamed = False
        self.number = 0
        self.rotated = 0
        self.append()

    def append(self) -> None:
        """The next turns, the last of them perhaps half written."""
        fresh = b"".join(self._turn() for _ in range(self.random.randrange(2, 7)))
        if self.random.random() < 0.3:
            fresh += self._half(self._turn())
        self._put(self._data() + fresh)

    def truncate(self) -> None:
        data = self._data()
        at = self.random.randrange(len(data))
        self._hurt_lines(data, at, len(data))
        self._put(data[:at])

    def repeat(self) -> None:
        """Lines that were there already are appended again."""
        lines = self._data().splitlines(keepends=True)
        start = self.random.randrange(len(lines))
        again = b"".join(line for line in lines[start : start + 8] if line.endswith(b"\n"))
        if self.host == "cursor":  # its agents' turns have no id and no time: here they were said again
            self.hurt |= self.agents.intersection(_WORD.findall(again.decode("utf-8", "replace")))
        self._put(self._data() + again)

    def flip(self) -> None:
        data = bytearray(self._data())
        for _ in range(self.random.randrange(1, 4)):
            at = self.random.randrange(len(data))
            self._hurt_lines(bytes(data), at, at + 1)
            data[at] ^= 1 << self.random.randrange(8)
            self._hurt_lines(bytes(data), at, at + 1)  # it may read like the word of another turn now
        self._put(bytes(data))

    def garble(self) -> None:
        """Bytes in the middle of a line are no UTF-8 any more."""
        data = self._data()
        at = self.random.randrange(len(data))
        self._hurt_lines(data, at, at + 1)
        self._put(data[:at] + self.random.choice((b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88")) + data[at:])

    def splice(self) -> None:
        """A stretch of the file, from anywhere, lies in the middle of another line."""
        data = self._data()
        start, at = self.random.randrange(len(data)), self.random.randrange(len(data))
        chunk = data[start : start + self.random.randrange(600)]
        self._hurt_lines(data, at, at + 1)
        self._hurt_lines(data, start, start + len(chunk))
        spliced = data[:at] + chunk + data[at:]
        self._hurt_lines(spliced, at, at + len(chunk))
        self._put(spliced)

    def drop(self) -> None:
        """The file is rewritten without one of its lines."""
        lines = self._data().splitlines(keepends=True)
        gone = lines.pop(self.random.randrange(len(lines)))
        self._hurt(gone)
        self._put(b"".join(lines))

    def pad(self) -> None:
        self._put(self._data() + b"\0" * self.random.randrange(1, 5000))

    def rotate(self) -> None:
        self.rotated += 1
        self.renamed |= self.host == "cursor"  # its sessions are named by their files
        if self.path.exists():
            self.path.rename(self.path.with_name(f"{self.case}-{self.rotated}.jsonl"))
        self.number = max(self.number, 1)
        self._put(_header(self.host, f"c{self.case}") + self._turn())

    def damage(self) -> None:
        acts = (self.truncate, self.repeat, self.flip, self.garble, self.splice, self.drop, self.pad, self.rotate)
        act = self.random.choice(acts)
        if self._data():
            act()

    def _turn(self) -> bytes:
        role = "user" if self.random.random() < 0.5 else "assistant"
        word = f"zq{self.case:05}x{self.number:03}zq"
        self.agents |= {word} if role == "assistant" else set()
        line = _line(
            self.host, self.case, self.number, role, f"{word} the loader é {'and its cache ' * (self.number % 9)}"
        )
        self.number += 1
        return line

    def _half(self, line: bytes) -> bytes:
        self.hurt |= set(_WORD.findall(line.decode()))  # what comes next is glued to it
        return line[: self.random.randrange(1, len(line))]

    def _hurt_lines(self, data: bytes, start: int, end: int) -> None:
        first, last = data.rfind(b"\n", 0, start) + 1, data.find(b"\n", end)
        self._hurt(data[first : last if last >= 0 else None])

    def _hurt(self, lines: bytes) -> None:
        self.hurt |= set(_WORD.findall(lines.decode("utf-8", "replace")))
        # Hosts whose turns have no id of their own world-wide: with its name, the session is another one. Without its
        # first line, a file of nanobot is a plain log.
        named = ("openclaw", "picobot", "nanobot")
        self.renamed |= self.host in named and f'c{self.case}"'.encode() in lines

    def _data(self) -> bytes:
        return self.path.read_bytes() if self.path.exists() else b""

    def _put(self, data: bytes) -> None:
        self.path.write_bytes(data)


class _Document(_File):
    """PicoBot's snapshot, which is written anew each time; its turns are the lines that a `_File` would have."""

    def append(self) -> None:
        entries = [
            {self.random.choice(("User", "Assistant")): {"content": f"zq{self.case:05}x{number:03}zq and more"}}
            for number in range(self.number, self.number + self.random.randrange(2, 7))
        ]
        self.number += len(entries)
        self.entries = [*getattr(self, "entries", []), *entries]
        session = {"id": f"c{self.case}", "conversation": self.entries}
        twice = [session] * self.random.choice((1, 1, 2))
        self._put(json.dumps({"sessions": twice}, indent=self.random.choice((None, 1))).encode())

    def damage(self) -> None:
        self.random.choice((self.truncate, self.flip, self.garble, self.splice, self.pad, self.append))()


def _made(folder: Path, host: str, case: int, seeded: random.Random) -> _File:
    folder.mkdir(parents=True)
    return (_Document if host == "picobot" else _File)(folder, host, case, seeded)


def _found_in(path: Path) -> list[str]:
    """The texts of the turns that a reading from the start finds in a file, each of them once."""
    form = format_of(path, reader.head(path))
    if form is None:
        return []
    if isinstance(form, DocumentFormat):
        try:
            sessions = {info.session: turns for info, turns, _ in form.sessions(path)}  # of two copies, the last
            return [turn.text for turns in sessions.values() for turn in turns]
        except InvalidInput:
            return []
    state = form.start(path)
    turns = [turn for line in reader.lines(path) for turn in form.feed(state, line)]
    ids = Counter(turn.id for turn in turns)
    return [turn.text for turn in turns if not turn.id or ids[turn.id] == 1]  # one id, two texts: either may stand


def _stored(db: Path) -> list[tuple]:
    with closing(apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        return connection.execute("SELECT id, role, preview FROM episodes ORDER BY doc").fetchall()


def _attack(engine: Engine, folder: Path, host: str, case: int) -> _File:
    seeded = random.Random(f"{host} {case}{_SEED}")
    file = _made(folder, host, case, seeded)
    for _ in range(seeded.randrange(2, 6)):
        if seeded.random() < 0.7:
            engine.ingest([folder])
        file.damage() if seeded.random() < 0.6 else file.append()
    engine.ingest([folder])
    return file


@pytest.mark.parametrize("host", _HOSTS)
def test_damaged_files_lose_nothing_that_is_there_and_double_nothing(open_engine, tmp_path, disagreements, host):
    db = tmp_path / f"{host}.db"
    engine = open_engine(db)
    hurt: set[str] = set()
    for case in range(_FILES // len(_HOSTS)):
        folder = tmp_path / _FOLDERS.get(host, host) / str(case)
        file = _attack(engine, folder, host, case)
        hurt |= file.hurt | (file.agents if file.hurt else set())
        hurt |= {f"zq{case:05}x{number:03}zq" for number in range(file.number)} if file.renamed else set()
        before = _stored(db)
        again = engine.ingest([folder])
        assert (again.episodes, _stored(db)) == (0, before), f"case {case}: reading again changed something"
        words = " ".join(" ".join(preview.split()) for _, _, preview in before)
        for path in folder.iterdir():
            missing = [text for text in _found_in(path) if " ".join(text.split()) not in words]
            assert not missing, f"case {case}: {missing[:2]} of {path.name} is in no episode"

    shown: Counter[str] = Counter()
    for episode_id, _, preview in _stored(db):
        _, _, opened = engine.show(episode_id)
        if opened.state == "open":
            shown.update({word for turn in opened.turns for word in _WORD.findall(turn.text)})
            said = " ".join(turn.text for turn in opened.turns)
            assert preview.split() == said.split() or preview in said
    assert [word for word, count in shown.items() if count > 1 and word not in hurt] == []
    stored = Counter(word for _, role, text in _stored(db) if role == "user" for word in _WORD.findall(text))
    assert [word for word, count in stored.items() if count > 1 and word not in hurt] == []
    assert disagreements(db) == []


@pytest.mark.skipif(sys.platform != "linux", reason="it reads the peak of a child's memory as Linux counts it")
def test_a_folder_of_damaged_files_and_a_line_of_50_mb_needs_little_more_memory_than_a_small_one(tmp_path):
    small, large = tmp_path / "small", tmp_path / "large"
    _made(small, "claude-code", 0, random.Random(1))
    for case in range(_FILES // 4):
        file = _made(large / str(case), _HOSTS[case % len(_HOSTS)], case, random.Random(case))
        for _ in range(4):
            file.append()
            file.damage()
    with (large / "0" / "0.jsonl").open("ab") as out:
        out.write(b'\n{"type":"user","message":{"content":"')
        for _ in range(50):
            out.write(b"x" * (1 << 20))
        out.write(b'"}}\n')
    (large / "first.jsonl").write_bytes(b'{"role":"user","content":"%s"}\n' % (b"y" * (50 << 20)) + _line(*_TURN))
    grown = _peak(large, tmp_path / "large.db", unread=True) - _peak(small, tmp_path / "small.db")
    assert grown < _GROWTH, f"{grown / 2**20:.0f} MiB more"
    assert _TURN[-1] in [text for _, _, text in _stored(tmp_path / "large.db")]


_TURN = ("claude-code", 99_999, 1, "user", "zq99999x001zq after a first line of 50 MB")


def _peak(folder: Path, db: Path, *, unread: bool = False) -> int:
    """The most memory, in bytes, that a real `picomem ingest` of a folder held."""
    program = [sys.executable, "-m", "picomem.cli.main", "--db", str(db), "ingest", str(folder)]
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == unread
    return usage.ru_maxrss * 1024
