"""Inserts and removes single entries of a JSON document as text, so that every other byte stays the same. Pure.

The settings files of editors and agents hold comments, trailing commas and their owner's layout (JSONC, and JSON5 for
OpenClaw). Loading and dumping such a file loses some of that, so the text itself is edited: a parse says where each
value begins and ends, and an edit inserts or cuts a piece of text. `remove` undoes `put` and `append` to the byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from itertools import count
from json import JSONDecoder
from typing import Any, Literal

from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass

# JSON; with comments; with comments and trailing commas; all of JSON5.
Syntax = Literal["json", "commented", "jsonc", "json5"]
Path = tuple[str | int, ...]  # keys of objects and numbers of elements, from the root

_DEEPEST = 200
_MOST_TRIES = 50  # Python's parser counts lines from the beginning at each failure
_SPACE = re.compile(r"\ufeff?[ \t\r\n]*")
_TRIVIA = re.compile(r"(?:[\s\ufeff]+|//[^\n\r\u2028\u2029]*|/\*.*?\*/)*", re.DOTALL)
_BESIDE = re.compile(r"(?:[^\S\n\r]*(?://[^\n\r\u2028\u2029]*|/\*.*?\*/))*", re.DOTALL)  # comments on the same line
_COMMENT = re.compile(r"//[^\n\r\u2028\u2029]*|/\*.*?\*/", re.DOTALL)
_QUOTED = re.compile(r'"[^"\\\n\r]*(?:\\(?:\r\n|.)[^"\\\n\r]*)*"', re.DOTALL)
_SINGLE_QUOTED = re.compile(r"'[^'\\\n\r]*(?:\\(?:\r\n|.)[^'\\\n\r]*)*'", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.$])")
_NUMBER_5 = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F]+|(?:(?:0|[1-9]\d*)\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|Infinity|NaN)(?![\w.$])"
)
_NAME = re.compile(r"[^\W\d][\w$\u200c\u200d]*|\$[\w$\u200c\u200d]*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_ESCAPED |= dict.fromkeys(("\r\n", "\n", "\r", "\u2028", "\u2029"), "")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_WORDS = {"true": True, "false": False, "null": None}


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

    __slots__ = ("_items", "_read_items", "end", "start", "value")

    def __init__(
        self, start: int, end: int, value: Any, read_items: Callable[[], tuple[JsonItem, ...]] = tuple
    ) -> None:
        self.start, self.end, self.value = start, end, value
        self._read_items = read_items
        self._items: tuple[JsonItem, ...] | None = None

    @property
    def items(self) -> tuple[JsonItem, ...]:
        """The members of an object, or the elements of an array."""
        if self._items is None:
            self._items = self._read_items()
        return self._items

    def child(self, step: str | int) -> JsonNode | None:
        """The value under this key or number; None where there is none. The last of two equal keys counts."""
        if isinstance(step, int):
            return self.items[step].node if isinstance(self.value, list) and step < len(self.items) else None
        return next((item.node for item in reversed(self.items) if item.key == step), None)


def parse(text: str, syntax: Syntax) -> JsonNode:
    """The root object of a document. Raises InvalidInput, whose message is the end of a sentence about the file."""
    return _Parser(text, syntax).document()


def at(root: JsonNode, path: Path) -> JsonNode | None:
    """The value at a path; None where there is none."""
    node: JsonNode | None = root
    for step in path:
        node = node.child(step) if node else None
    return node


def edit_members(text: str, syntax: Syntax, keys: Collection[str], edit: Callable[[str], str]) -> str:
    """The text after an edit of nothing but these members of the root. The edit gets a document in which the others are
    shortened: it may have many steps, and each of them parses what it gets."""
    items = parse(text, syntax).items
    mark = next(mark for number in count() if (mark := f"\ue000{number}-") not in text)
    pieces: list[str] = []
    hidden: list[str] = []
    place = first = 0
    for number, item in enumerate(items):
        if item.key in keys:
            first = number + 1
        elif number + 2 >= len(items) or items[number + 1].key in keys:  # the last one shows how the next one is put
            start = items[first].node.start
            pieces += [text[place:start], f'"{mark}{len(hidden)}"']
            hidden.append(text[start : item.node.end])
            place, first = item.node.end, number + 1
    edited = edit("".join([*pieces, text[place:]]))
    return re.sub(f'"{mark}(\\d+)"', lambda match: hidden[int(match.group(1))], edited)


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
    comments = _COMMENT.findall(trivia)
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


class _Parser:
    """A recursive descent over the text; a place is an index into it. What is plain JSON, which is nearly everything in
    every file, Python's parser reads 20 times as fast; it is not asked again after some values that are not."""

    def __init__(self, text: str, syntax: Syntax) -> None:
        self.text = text
        self.is_strict = syntax == "json"
        self.ends_without_comma = syntax in ("json", "commented")
        self.is_json5 = syntax == "json5"
        self.plain = JSONDecoder(parse_constant=_refuse)
        self.tries = _MOST_TRIES

    def document(self) -> JsonNode:
        root = self.value(self.after_trivia(0), 0)
        place = self.after_trivia(root.end)
        if place != len(self.text):
            raise self.error(place)
        if not isinstance(root.value, dict):
            raise InvalidInput("it does not hold an object")
        return root

    def after_trivia(self, place: int) -> int:
        match = (_SPACE if self.is_strict else _TRIVIA).match(self.text, place)
        assert match is not None
        return match.end()

    def value(self, place: int, depth: int) -> JsonNode:
        if depth > _DEEPEST:
            raise InvalidInput("it is nested too deeply")
        begins = self.text[place : place + 1]
        if begins and begins in "{[":
            closing = "}" if begins == "{" else "]"
            return self.plain_container(place, depth, closing) or self.container(place, depth, closing)
        if begins and begins in "\"'":
            return self.string(place)
        if match := (_NUMBER_5 if self.is_json5 else _NUMBER).match(self.text, place):
            return JsonNode(place, match.end(), _number_of(match.group()))
        word = _NAME.match(self.text, place)
        if word and word.group() in _WORDS:
            return JsonNode(place, word.end(), _WORDS[word.group()])
        raise self.error(place)

    def plain_container(self, start: int, depth: int, closing: str) -> JsonNode | None:
        """An object or an array of plain JSON; None where it is none, or is none that Python's parser reads."""
        if not self.tries:
            return None
        try:
            value, end = self.plain.raw_decode(self.text, start)
        except (ValueError, RecursionError):
            self.tries -= 1
            return None
        return JsonNode(start, end, value, lambda: self.container(start, depth, closing).items)

    def container(self, start: int, depth: int, closing: str) -> JsonNode:
        items: list[JsonItem] = []
        place = self.after_trivia(start + 1)
        while not self.text.startswith(closing, place):
            if items and items[-1].comma < 0:
                raise self.error(place)
            key, value_place = self.key(place) if closing == "}" else (None, place)
            node = self.value(value_place, depth + 1)
            after = self.after_trivia(node.end)
            comma = after if self.text.startswith(",", after) else -1
            items.append(JsonItem(key, place, node, comma))
            place = self.after_trivia(comma + 1) if comma >= 0 else after
            if self.ends_without_comma and comma >= 0 and self.text.startswith(closing, place):
                raise self.error(comma)
        if closing == "}":
            value: Any = {item.key: item.node.value for item in items}
        else:
            value = [item.node.value for item in items]
        return JsonNode(start, place + 1, value, lambda: tuple(items))

    def key(self, place: int) -> tuple[str, int]:
        """The key that begins here, and where its value begins."""
        name = _NAME.match(self.text, place) if self.is_json5 else None
        key, end = (name.group(), name.end()) if name else self.quoted(place)
        colon = self.after_trivia(end)
        if not self.text.startswith(":", colon):
            raise self.error(colon)
        return key, self.after_trivia(colon + 1)

    def string(self, place: int) -> JsonNode:
        text, end = self.quoted(place)
        return JsonNode(place, end, text)

    def quoted(self, place: int) -> tuple[str, int]:
        match = _QUOTED.match(self.text, place)
        if match:
            try:
                return json.loads(match.group()), match.end()
            except ValueError:
                if not self.is_json5:
                    raise self.error(place) from None
        elif self.is_json5:
            match = _SINGLE_QUOTED.match(self.text, place)
        if not match:
            raise self.error(place)
        return _ESCAPE.sub(_unescaped, match.group()[1:-1]), match.end()

    def error(self, place: int) -> InvalidInput:
        kind = "JSON" if self.is_strict else "JSON5" if self.is_json5 else "JSON with comments"
        return InvalidInput(f"line {self.text.count(chr(10), 0, place) + 1} is not valid {kind}")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _number_of(text: str) -> int | float:
    unsigned = text.lstrip("+-")
    if unsigned[:2] in ("0x", "0X"):
        number: int | float = int(unsigned, 16)
    elif unsigned in ("Infinity", "NaN"):
        number = float(unsigned)
    elif unsigned.isdecimal():
        # Python reads no whole number of thousands of digits; hosts read such a one as a float too.
        number = int(unsigned) if len(unsigned) < 400 else float(unsigned)
    else:
        number = float(unsigned)
    return -number if text.startswith("-") else number


def _unescaped(escape: re.Match[str]) -> str:
    if code := escape.group(1) or escape.group(2):
        return chr(int(code, 16))
    character = escape.group(3)
    return _ESCAPED.get(character, character)
