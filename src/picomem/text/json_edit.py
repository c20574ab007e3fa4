"""Inserts and removes single entries of a JSON document as text, so that every other byte stays the same. Pure.

The settings files of editors and agents hold comments, trailing commas and their owner's layout (JSONC, and JSON5 for
OpenClaw). Loading and dumping such a file loses some of that, so the text itself is edited: a parse says where each
value begins and ends, and an edit inserts or cuts a piece of text. `remove` undoes `put` and `append` to the byte.

Python's parser reads every document. What is not plain JSON is written as plain JSON for it: with blanks for comments.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from json import JSONDecodeError, JSONDecoder
from typing import Any, Literal

from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass

Syntax = Literal["json", "json5"]  # plain; with comments, trailing commas and the rest of JSON5
Path = tuple[str | int, ...]  # keys of objects and numbers of elements, from the root

_COMMENT = r"//[^\n\r\u2028\u2029]*|/\*.*?\*/"
_TRIVIA = rf"(?:[\s\ufeff]|{_COMMENT})*+"
_NAME = r"(?:[^\W\d]|\$)[\w$\u200c\u200d]*+"
_STRING = r""""(?:[^"\\\n\r]|\\(?:\r\n|.))*+"|'(?:[^'\\\n\r]|\\(?:\r\n|.))*+'"""
_TOKEN = re.compile(
    rf"(?P<blank>[\s\ufeff]+|{_COMMENT}|,(?={_TRIVIA}[\]}}]))|(?P<string>{_STRING})"
    rf"|(?P<name>{_NAME})(?={_TRIVIA}:)|(?P<number>[+-]?[.\d][\w.+-]*|\+Infinity)",
    re.DOTALL,
)
_ALL_TRIVIA = re.compile(_TRIVIA, re.DOTALL)
_ALL_COMMENTS = re.compile(_COMMENT, re.DOTALL)
_BESIDE = re.compile(rf"(?:[^\S\n\r]*(?:{_COMMENT}))*", re.DOTALL)  # comments on the same line
_SPACE = re.compile(r"\ufeff?[ \t\r\n]*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_ESCAPED |= dict.fromkeys(("\r\n", "\n", "\r", "\u2028", "\u2029"), "")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# Python reads no whole number of thousands of digits; hosts read such a one as a float too.
_DECODER = JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) < 400 else float(digits))


@dataclass(frozen=True, slots=True)
class JsonItem:
    """A member of an object, or an element of an array (`key` is None). `start` is where its key or value begins;
    `comma` is where the comma after it stands, -1 where there is none."""

    key: str | None
    start: int
    node: JsonNode
    comma: int


class JsonNode:
    """A value of the document, and where it stands: [start, end). The places of what an object or an array holds are
    only read where they are asked for: an edit needs those of a few."""

    def __init__(self, document: _Document, place: int) -> None:
        self._document, self._place = document, place
        self.value, self.plain_end = _DECODER.raw_decode(document.plain, place)
        self.start, self.end = document.origin(place), document.origin(self.plain_end)

    @cached_property
    def items(self) -> tuple[JsonItem, ...]:
        """The members of an object, or the elements of an array."""
        return self._document.items(self._place) if isinstance(self.value, dict | list) else ()

    def child(self, step: str | int) -> JsonNode | None:
        """The value under this key or number; None where there is none. The last of two equal keys counts."""
        if isinstance(step, int):
            return self.items[step].node if isinstance(self.value, list) and step < len(self.items) else None
        return next((item.node for item in reversed(self.items) if item.key == step), None)


def parse(text: str, syntax: Syntax) -> JsonNode:
    """The root object of a document. Raises InvalidInput, whose message is the end of a sentence about the file."""
    document = _Document(text)
    try:
        try:
            root = document.root()
        except JSONDecodeError:
            if syntax == "json":
                raise
            document.write_plain()
            root = document.root()
    except JSONDecodeError as error:
        line = text.count("\n", 0, document.origin(error.pos)) + 1
        raise InvalidInput(f"line {line} is not valid JSON{'' if syntax == 'json' else ' with comments'}") from error
    except RecursionError as error:
        raise InvalidInput("it is nested too deeply") from error
    if not isinstance(root.value, dict):
        raise InvalidInput("it does not hold an object")
    return root


def at(root: JsonNode, path: Path) -> JsonNode | None:
    """The value at a path; None where there is none."""
    node: JsonNode | None = root
    for step in path:
        node = node.child(step) if node else None
    return node


def put(text: str, syntax: Syntax, path: Path, value: Any) -> str:
    """The text with `value` at `path`: in the place of the value that stands there, or as a new last member.

    Objects that are missing on the way are made. Raises InvalidInput where something else than an object is on the way.
    """
    root = parse(text, syntax)
    existing = at(root, path)
    if existing:
        return _replaced(text, root, existing, value)
    *parents, key = path
    return _added(text, root, tuple(parents), str(key), value)


def update(text: str, syntax: Syntax, path: Path, value: Any) -> str:
    """The text with `value` at `path`. In an object that is there, only the members that differ are edited."""
    existing = at(parse(text, syntax), path)
    if not existing or not isinstance(existing.value, dict) or not isinstance(value, dict):
        return put(text, syntax, path, value)
    for key in existing.value:
        if key not in value:
            text = remove(text, syntax, (*path, key), lambda _: True)
    for key, inner in value.items():
        if key not in existing.value or existing.value[key] != inner:
            text = update(text, syntax, (*path, key), inner)
    return text


def append(text: str, syntax: Syntax, path: Path, value: Any) -> str:
    """The text with `value` as a new last element of the array at `path`, which is made where it is missing."""
    root = parse(text, syntax)
    array = at(root, path)
    if not array:
        *parents, key = path
        return _added(text, root, tuple(parents), str(key), [value])
    if not isinstance(array.value, list):
        raise InvalidInput(f"“{_shown(path)}” is not a list")
    return _with_item(text, root, array, None, value)


def remove(text: str, syntax: Syntax, path: Path, keeps: Callable[[Path], bool] = lambda _: True) -> str:
    """The text without the member or element at `path`, which must be there.

    An object or array that becomes empty goes too, unless `keeps(path)` says that it is to stay.
    """
    root = parse(text, syntax)
    *parents, step = path
    while (container := at(root, tuple(parents))) and len(container.items) == 1 and parents:
        if keeps(tuple(parents)):
            break
        step = parents.pop()
    assert container is not None
    number = _number(container, step)
    start, end = _span(text, container, number)
    pieces = text[:start], text[end:]
    comma = container.items[number - 1].comma
    if number and container.items[number].comma < 0:  # the last one, without a comma: the one before it loses its own
        return pieces[0][:comma] + pieces[0][comma + 1 :] + pieces[1]
    return "".join(pieces)


def _number(container: JsonNode, step: str | int) -> int:
    if isinstance(step, int):
        return step
    return max(number for number, item in enumerate(container.items) if item.key == step)


def _span(text: str, container: JsonNode, number: int) -> tuple[int, int]:
    """Return the span that is removed with an item: the line break and the white space before it, its comma, and in an
    object that it leaves empty the line break that `_with_item` added after it."""
    item = container.items[number]
    start = _before_spaces(text, item.start)
    end = item.comma + 1 if item.comma >= 0 else item.node.end
    before = text[container.items[number - 1].node.end if number else container.start + 1 : start]
    if _ends_in_line_comment(before) and text[end:].partition("\n")[0].strip():
        start = item.start  # what follows on this line must not become a part of the comment
    if len(container.items) == 1 and start == container.start + 1 and start < item.start:
        closing = re.compile(rf"\r?\n{_line_indent(text, container.start)}").match(text, end)
        end = closing.end() if closing else end
    return start, end


def _ends_in_line_comment(trivia: str) -> bool:
    """Return whether what comes next would belong to a comment."""
    comments = _ALL_COMMENTS.findall(trivia)
    return bool(comments) and comments[-1].startswith("//") and trivia.endswith(comments[-1])


def _before_spaces(text: str, place: int) -> int:
    """Return where the spaces before a place begin, and the line break before those."""
    start = len(text[:place].rstrip(" \t"))
    if text.endswith("\n", 0, start):
        start -= 2 if text.endswith("\r\n", 0, start) else 1
    return start


def _added(text: str, root: JsonNode, path: Path, key: str, value: Any) -> str:
    """The text with a new member of the object at `path`; the objects that are missing on the way are made with it."""
    node, depth = root, 0
    while depth < len(path) and (child := node.child(path[depth])) is not None:
        node, depth = child, depth + 1
        if not isinstance(node.value, dict):
            raise InvalidInput(f"“{_shown(path[:depth])}” is not an object")
    for step in reversed(path[depth:]):
        key, value = str(step), {key: value}
    return _with_item(text, root, node, key, value)


def _with_item(text: str, root: JsonNode, container: JsonNode, key: str | None, value: Any) -> str:
    """The text with a new last item of an object (or of an array, where there is no key)."""
    line_end, unit = _layout(text, root)
    name = "" if key is None else _dumped(key) + ": "
    outer = _line_indent(text, container.start)
    if not container.items:
        inner = outer + unit
        new = f"{line_end}{inner}{name}{_rendered(value, inner, unit, line_end)}{line_end}{outer}"
        return text[: container.start + 1] + new + text[container.start + 1 :]
    last = container.items[-1]
    inner = _line_indent(text, last.start)
    if "\n" in text[container.start : last.start] and text[: last.start].endswith("\n" + inner):
        new = f"{line_end}{inner}{name}{_rendered(value, inner, unit, line_end)}"
    else:
        new = f" {name}{_dumped(value)}"
    has_comma = last.comma >= 0
    after = last.comma + 1 if has_comma else last.node.end
    beside = _BESIDE.match(text, after)
    assert beside is not None
    comments = beside.group()
    if _ends_in_line_comment(comments) and not new.startswith(line_end):
        new = line_end + new  # what follows such a comment on its line would belong to it
    if has_comma:
        return text[: beside.end()] + new + "," + text[beside.end() :]
    return text[:after] + "," + comments + new + text[beside.end() :]


def _replaced(text: str, root: JsonNode, node: JsonNode, value: Any) -> str:
    line_end, unit = _layout(text, root)
    is_broken = "\n" in text[node.start : node.end]
    new = _rendered(value, _line_indent(text, node.start), unit, line_end)
    return text[: node.start] + (new if is_broken else _dumped(value)) + text[node.end :]


def _layout(text: str, root: JsonNode) -> tuple[str, str]:
    """The line end of a document and what its lines are indented by."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    first = _line_indent(text, root.items[0].start) if root.items else ""
    own = _line_indent(text, root.start)
    return line_end, first.removeprefix(own) if first.startswith(own) and first != own else "  "


def _line_indent(text: str, place: int) -> str:
    """The white space with which the line of a place begins."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _rendered(value: Any, indent: str, unit: str, line_end: str) -> str:
    lines = _dumped(value, unit).split("\n")
    return (line_end + indent).join(lines)


def _dumped(value: Any, unit: str | None = None) -> str:
    """The value as JSON. Half of a surrogate pair, which no UTF-8 file can hold, stays an escape."""
    text = json.dumps(value, ensure_ascii=False, indent=unit)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _shown(path: Path) -> str:
    return ".".join(map(str, path))


class _Document:
    """A text, the same as plain JSON, and which places of the two are the same."""

    def __init__(self, text: str) -> None:
        self.text = self.plain = text
        self._places, self._origins = [0], [0]

    def write_plain(self) -> None:
        """Write the text, which is JSON5, as plain JSON."""
        pieces: list[str] = []
        length = place = 0
        for token in _TOKEN.finditer(self.text):
            pieces += self.text[place : token.start()], _plain(token)
            length += len(pieces[-2]) + len(pieces[-1])
            place = token.end()
            if len(pieces[-1]) != len(token.group()):
                self._places.append(length)
                self._origins.append(place)
        self.plain = "".join([*pieces, self.text[place:]])

    def origin(self, place: int) -> int:
        """Where a place of the plain JSON is in the text."""
        number = bisect_right(self._places, place) - 1
        return self._origins[number] + place - self._places[number]

    def root(self) -> JsonNode:
        """The value of the whole document. Raises JSONDecodeError."""
        root = JsonNode(self, self._after_space(0))
        if (end := self._after_space(root.plain_end)) != len(self.plain):
            raise JSONDecodeError("Extra data", self.plain, end)
        return root

    def items(self, place: int) -> tuple[JsonItem, ...]:
        """What the object or the array that begins at a place of the plain JSON holds."""
        items: list[JsonItem] = []
        is_object = self.plain[place] == "{"
        place = self._after_space(place + 1)
        while self.plain[place] not in "]}":
            start, key = self.origin(place), None
            if is_object:
                key, end = _DECODER.raw_decode(self.plain, place)
                place = self._after_space(self._after_space(end) + 1)
            node = JsonNode(self, place)
            trivia = _ALL_TRIVIA.match(self.text, node.end)
            comma = trivia.end() if trivia and self.text.startswith(",", trivia.end()) else -1
            items.append(JsonItem(key, start, node, comma))
            place = self._after_space(node.plain_end)
            if self.plain[place] == ",":
                place = self._after_space(place + 1)
        return tuple(items)

    def _after_space(self, place: int) -> int:
        space = _SPACE.match(self.plain, place)
        return space.end() if space else place


def _plain(token: re.Match[str]) -> str:
    """A token of JSON5 as plain JSON; what is no token stays, and is no JSON either."""
    text = token.group()
    if token.lastgroup == "blank":
        return re.sub(r"[^\n]", " ", text)
    if token.lastgroup == "name":
        return json.dumps(text)
    if token.lastgroup == "string":
        return json.dumps(_ESCAPE.sub(_unescaped, text[1:-1]))
    digits = text.lstrip("+-")
    try:
        if digits[:2] in ("0x", "0X"):
            digits = str(int(digits, 16))
        elif not digits.isdecimal():
            digits = json.dumps(float(digits))
    except ValueError:
        return text
    return "-" + digits if text.startswith("-") else digits


def _unescaped(escape: re.Match[str]) -> str:
    if code := escape.group(1) or escape.group(2):
        return chr(int(code, 16))
    character = escape.group(3)
    return _ESCAPED.get(character, character)
