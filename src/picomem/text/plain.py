"""Text that can be stored: valid Unicode without NUL."""

from __future__ import annotations


def plain(text: str) -> str:
    """The text with a replacement character for each unpaired surrogate, and a space for each NUL.

    Python strings can hold both (JSON's `\\ud800`, a file name), databases and tokenizers cannot.
    """
    if "\x00" in text:
        text = text.replace("\x00", " ")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
