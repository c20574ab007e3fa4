"""Recognises transcripts in an encoding that is not supported, and names the remedy.

The beginning of the file is converted to lines of UTF-8, and the formats are asked whether they recognise those. So a
file of numbers in UTF-16 is not a transcript, and a conversation in UTF-16 is one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from picomem.ingest.format import format_of

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_MOST_ITEMS = 20


def other_form(path: Path, head: bytes) -> str:
    """Describe what is unusual about the transcript that begins with `head` (see `reader.sample`), and how to change
    it; empty where it is no transcript in a form that we know of."""
    for as_lines, reason in _FORMS:
        lines = as_lines(head)
        if lines and format_of(path, lines):
            return reason
    return ""


def _from_utf16(head: bytes) -> bytes:
    """JSON in UTF-16 without its NULs: what is left of other characters than ASCII does not matter to a format."""
    return head[2:].replace(b"\0", b"") if head.startswith(_UTF16) else b""


def _from_carriage_returns(head: bytes) -> bytes:
    return head.replace(b"\r", b"\n") if b"\r" in head else b""


def _from_array(head: bytes) -> bytes:
    """The first items of an array, a line each."""
    text = head.decode("utf-8-sig", "replace").lstrip()
    if not text.startswith("["):
        return b""
    decoder = json.JSONDecoder(strict=False)
    items: list[str] = []
    at = 1
    while len(items) < _MOST_ITEMS:
        at += len(text[at:]) - len(text[at:].lstrip(", \t\r\n"))
        try:
            item, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        items.append(json.dumps(item))
    return "\n".join(items).encode()


_FORMS: tuple[tuple[Callable[[bytes], bytes], str], ...] = (
    (_from_utf16, "it is in UTF-16; change it to UTF-8 (`iconv -f UTF-16 -t UTF-8`)"),
    (_from_carriage_returns, "its lines end in a carriage return alone; change those (`tr '\\r' '\\n'`)"),
    (_from_array, "it is one JSON array; write a line for each of its items (`jq -c '.[]'`)"),
)
