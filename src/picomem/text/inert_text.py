"""Text made inert for the reader at hand: a terminal, a line of Markdown, a prompt. Pure.

Stored text is kept as it was written; it is made safe where it is shown. A terminal obeys escape sequences, bidi
overrides show a text in another order than it has, tag and zero-width characters hide words from a person that a model
reads, and a line feed in a name begins a line that looks like the program's own.

What a reader would obey is shown as an escape (`\\x1b`, `\\u202e`), what nobody can see is left out. Right-to-left
text, joined emoji, flags, Chinese, and marks and joiners where a script needs them stay as they are.
"""

from __future__ import annotations

import re
from functools import cache

from picomem.text.visible_text import CLOSING, INVISIBLE, JOINERS, OPENING, OVERRIDES, SELECTORS

# The flags of England, Scotland and the like: a black flag, a few tag characters, and the tag that ends them.
_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f"
_OBEYED = f"\x00-\x08\x0b-\x1f\x7f-\x9f{OVERRIDES}\ud800-\udfff"
# Hidden characters that Python counts as printable, so that a text without them and otherwise printable is safe.
_PRINTABLE_HIDDEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
_DIRECTIONS = {ord(char): f"\\u{ord(char):04x}" for char in OPENING + CLOSING}
_PLAIN_NAME = r"[\w .@+/-]+"
_MARKUP = r"<(?=[A-Za-z/!?])"


def for_terminal(text: str) -> str:
    """A text of one or several lines that a terminal shows and does not obey."""
    lines = _visible(text).expandtabs().split("\n")
    return "\n".join(map(_balanced, lines))


def streamed_for_terminal(piece: str) -> str:
    """A piece of a text that comes in pieces. Whether a change of direction ends is not known yet, so none is kept."""
    return _visible(piece.replace("\r", "")).expandtabs().translate(_DIRECTIONS)


def for_prompt(text: str) -> str:
    """A text of one or several lines in which a model reads what a person would see."""
    return "\n".join(map(_balanced, _visible(text).split("\n")))


def one_line(text: str, most: int = 0) -> str:
    """A text that stands in one line, such as a name or an error, for a terminal as for a prompt; with `most`, at most
    so many characters of it."""
    short = text[:most] + "…" if 0 < most < len(text) else text
    return _balanced(_visible(short).replace("\n", "\\n").replace("\t", "\\t"))


def for_markdown_line(text: str) -> str:
    """A text that stands in one line of Markdown: it begins no other line, and no HTML."""
    return re.sub(_MARKUP, r"\\<", _balanced(_visible(" ".join(text.split()))))


def markdown_name(name: str) -> str:
    """A name as it stands in a line of Markdown: an unusual one as code, so that it ends where it should."""
    shown = one_line(name)
    return shown if re.fullmatch(_PLAIN_NAME, shown) else "`" + shown.replace("`", "'") + "`"


def escaped_json(document: str) -> str:
    """A JSON document with the characters that a reader might obey, or cannot see, as escapes: the data are the same.

    Only strings hold such characters, and `json.dumps` has escaped those below U+0020 already.
    """
    return document if _is_safe(document) else _unsafe_in_json().sub(_json_escape, document)


@cache
def _unsafe() -> re.Pattern[str]:
    """Compiled when a text needs it: a hook waits for `picomem recall`."""
    return re.compile(
        f"(?P<flag>{_FLAG})"
        f"|(?P<hidden>[{INVISIBLE}]+"
        f'|(?<=[{SELECTORS}])[{SELECTORS}]+|(?<=[\x00-"$-)+-/:-\x7f])[{SELECTORS}]+'  # digits, # and * make keycaps
        f"|(?<=[\x00-\x7f{JOINERS}])[{JOINERS}]+|[{JOINERS}]+(?=[\x00-\x7f]))"
        f"|(?P<obeyed>[{_OBEYED}])"
    )


@cache
def _unsafe_in_json() -> re.Pattern[str]:
    return re.compile(f"[\x7f-\x9f\u2028\u2029{OPENING}{CLOSING}{OVERRIDES}{INVISIBLE}\ud800-\udfff]")


def _is_safe(text: str) -> bool:
    """Return whether nothing in a text needs to be looked at closely."""
    plain = text.replace("\n", "").replace("\t", "")
    return plain.isprintable() and _PRINTABLE_HIDDEN.isdisjoint(plain)


def _visible(text: str) -> str:
    """A text without what cannot be seen, and with an escape for what a reader would obey but for directions."""
    if _is_safe(text):
        return text
    return _unsafe().sub(_replacement, text.replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n"))


def _replacement(unsafe: re.Match[str]) -> str:
    if unsafe.lastgroup == "obeyed":
        return _escape(unsafe)
    return unsafe.group() if unsafe.lastgroup == "flag" else ""


def _balanced(line: str) -> str:
    """A line whose changes of direction end in it; otherwise they are shown as escapes."""
    changes = [] if line.isprintable() else [char for char in line if ord(char) in _DIRECTIONS]
    if not changes:
        return line
    open_ = []
    for change in changes:
        if change in OPENING:
            open_.append("\u2069" if change >= "\u2066" else "\u202c")
        elif not open_ or open_.pop() != change:
            return line.translate(_DIRECTIONS)
    return line.translate(_DIRECTIONS) if open_ else line


def _escape(character: re.Match[str]) -> str:
    code = ord(character.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _json_escape(character: re.Match[str]) -> str:
    units = character.group().encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
