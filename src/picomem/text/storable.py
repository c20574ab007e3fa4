"""Text that can be stored: valid Unicode without NUL."""

from __future__ import annotations

from picomem.text.visible_text import without_terminal_codes

# C0 and C1 (ECMA-48) but for tab and line feed: a terminal that prints them would obey them.
_CONTROLS = {code: " " for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"}


def plain(text: str) -> str:
    """The text with a replacement character for each unpaired surrogate, and a space for each control character.

    Python strings can hold both (JSON's `\\ud800`, a file name); databases and tokenizers cannot hold surrogates
    and NUL, and terminals obey escape sequences. Tabs and line feeds stay, CR LF becomes a line feed, and the codes of
    colours go as a whole, or what is left of them would stick to the words.
    """
    if not text.isprintable():
        text = without_terminal_codes(text).replace("\r\n", "\n").translate(_CONTROLS)
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
