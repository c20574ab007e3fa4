"""The block that a host puts around a person's words. Pure, and quick to load: a hook asks."""

from __future__ import annotations

import re

_OPENING_TAG = re.compile(r"\s*[<‹]([A-Za-z][\w-]{1,60})(?:\s[^<>‹›\n]{0,200})?[>›]")  # ingest writes ‹ for <
_CLOSING_TAG = re.compile(r"[<‹]/([A-Za-z][\w-]{1,60})[>›]\s*\Z")
_LONGEST_TAG = 100  # characters


def without_wrapping(text: str) -> str:
    """The text without the tagged block that a host put before or behind a person's words, to the last closing tag of
    its name. A text that is nothing but such a block stays."""
    if opening := _OPENING_TAG.match(text):
        *_, behind = re.split(rf"[<‹]/{re.escape(opening[1])}[>›]", text)
        text = behind if behind.strip() and len(behind) < len(text) else text
    if closing := _CLOSING_TAG.search(text, max(0, len(text) - _LONGEST_TAG)):
        begins = re.search(rf"(?m)^[ \t]*[<‹]{re.escape(closing[1])}[\s>›]", text)
        text = text[: begins.start()] if begins and text[: begins.start()].strip() else text
    return text.strip()
