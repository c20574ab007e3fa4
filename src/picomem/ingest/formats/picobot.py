"""PicoBot's snapshot `sessions.json`: one JSON document with all sessions.

    {"sessions": [{"id", "channel_type", "user_id", "conversation": [{"User": {"content"}}, …],
    "created_at", …}]}

Facts from the program's phase 2 (Rust, serde's outer tags). An entry is one of User, Assistant, System,
Tool; the last two are not turns. Entries have no time of their own.

The file holds every user's sessions. A store is one user's, so ingest reads those whose `user_id` is that user's
(`picomem --user ID ingest …`), and of the user `local`, who sits at this machine, those of the terminal (`tui:local`)
and those that name nobody. The others are passed over and counted.

A turn's `start` and `end` are the byte range of its entry in the file: the document is walked value by
value down to the entries, with the standard library's scanner for what is inside, which costs about as much
as parsing it. Nothing is given before the whole document was read, so a broken file gives nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from picomem.errors import InvalidInput
from picomem.ingest.format import DocumentFormat, State
from picomem.ingest.reader import Line
from picomem.ingest.record_fields import Record, inner, moment
from picomem.ingest.speakers import doubted, of_chat
from picomem.paths import read_regular
from picomem.provenance.context_origins import ContextOrigins
from picomem.records.kinds import Origin, worst
from picomem.records.transcript import Skipped, TranscriptInfo, Turn

_LARGEST = 256 * 1024 * 1024
_SPEAKERS = {"User": ("user", Origin.USER), "Assistant": ("assistant", Origin.AGENT)}
_SILENT = {"System": "system", "Tool": "tool", "AssistantToolCalls": "tool"}
_START = re.compile(rb'\s*\{\s*"sessions"\s*:\s*\[\s*(?:\]|\{)')
_SPACE = re.compile(r"[ \t\r\n]*")
Entry = tuple[int, int, Any]  # where it starts and ends, in characters, and what it is
_DECODER = json.JSONDecoder(strict=False)


class PicoBotFormat(DocumentFormat):
    name = "picobot"
    file_names = ("sessions.json",)

    def claims(self, _path: Path, head: bytes, /) -> bool:
        return bool(_START.match(head))

    def sessions(self, path: Path) -> Iterator[tuple[TranscriptInfo, list[Turn], Skipped]]:
        """Each session with its turns, and what was passed over. Raises InvalidInput for a broken file."""
        text = _text(path)
        try:
            records = _document(_Cursor(text))
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{path} is not a complete PicoBot sessions.json; export it again.") from error
        places = _Places(text)
        for session, entries in records:
            yield _session(session, entries, places)


FORMAT = PicoBotFormat()


class _Cursor:
    """Walks JSON from value to value. Who iterates `members` or `elements` reads each value before the next
    step.

    Raises ValueError where the text is not JSON of the expected shape.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 1 if text.startswith("\ufeff") else 0

    def value(self) -> Any:
        value, self.at = _DECODER.raw_decode(self._text, self._next())
        return value

    def members(self) -> Iterator[str]:
        """The names of an object, the cursor before each name's value."""
        self._expect("{")
        while not self._taken("}"):
            name = self.value()
            if not isinstance(name, str):
                raise ValueError("a member without a name")
            self._expect(":")
            yield name
            if not self._taken(","):
                self._expect("}")
                return

    def elements(self) -> Iterator[int]:
        """The positions of an array's values, the cursor at each."""
        self._expect("[")
        while not self._taken("]"):
            yield self._next()
            if not self._taken(","):
                self._expect("]")
                return

    def end(self) -> None:
        if self._next() != len(self._text):
            raise ValueError("text after the document")

    def _next(self) -> int:
        space = _SPACE.match(self._text, self.at)
        self.at = space.end() if space else self.at
        return self.at

    def _taken(self, sign: str) -> bool:
        taken = self._text.startswith(sign, self._next())
        self.at += taken
        return taken

    def _expect(self, sign: str) -> None:
        if not self._taken(sign):
            raise ValueError(f"no {sign} at {self.at}")


class _Places:
    """Character positions as byte offsets; asked for in ascending order, so that the text is measured
    once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._plain = text.isascii()
        self._character = 0
        self._byte = 0

    def byte(self, character: int) -> int:
        if self._plain:
            return character
        self._byte += len(self._text[self._character : character].encode())
        self._character = character
        return self._byte


def _text(path: Path) -> str:
    try:
        return read_regular(path, most=_LARGEST).decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text; export it again.") from error


def _document(cursor: _Cursor) -> list[tuple[Record, list[Entry]]]:
    """Every session's fields, and its conversation's entries."""
    sessions = []
    for name in cursor.members():
        if name == "sessions":
            sessions += [_fields(cursor) for _ in cursor.elements()]
        else:
            cursor.value()
    cursor.end()
    return sessions


def _fields(cursor: _Cursor) -> tuple[Record, list[Entry]]:
    fields: Record = {}
    entries: list[Entry] = []
    for name in cursor.members():
        if name == "conversation":
            for start in cursor.elements():
                entry = cursor.value()
                entries.append((start, cursor.at, entry))
        else:
            fields[name] = cursor.value()
    return fields, entries


def _session(fields: Record, entries: list[Entry], places: _Places) -> tuple[TranscriptInfo, list[Turn], Skipped]:
    state = State()
    state.note(session=fields.get("id"), started_at=moment(fields.get("created_at")), user=fields.get("user_id"))
    turns: list[Turn] = []
    origins = ContextOrigins()
    chat = _of_chat(fields)
    for start, end, entry in entries:
        line = Line(places.byte(start), places.byte(end), b"")
        name = next(iter(entry), "") if isinstance(entry, dict) and len(entry) == 1 else ""
        content = inner(entry, name).get("content") if name else None
        if name in _SPEAKERS and isinstance(content, str):
            role, origin = _SPEAKERS[name]
            if role == "user":
                doubt = worst((chat, doubted(inner(entry, name)) or chat))
                if doubt is Origin.USER:
                    origins.person(content)
                else:
                    origin = doubt
                    origins.text(doubt)
            else:
                origin = origins.origin_of(content)
                origins.text(origin)
            turns += state.say(line, content, role=role, origin=origin)
        elif name in _SILENT:
            if name == "Tool":
                origins.text(Origin.TOOL)
            state.skipped.add(_SILENT[name])
        else:
            state.unknown(name)
    return state.info, turns, state.skipped


def _of_chat(fields: Record) -> Origin:
    """Return whose words stand in a user's place in a session: a group's and a scheduled job's are not the user's."""
    names = [name for name in ("id", "channel_id", "user_id") if isinstance(fields.get(name), str)]
    keys = [*(fields[name] for name in names), f"{fields.get('channel_type')}:{fields.get('channel_id')}"]
    return Origin.OTHER if any(of_chat(key) is Origin.OTHER for key in keys) else Origin.USER
