"""What Citus 14 cannot do with a message to its coordinator, each rule from an error that it gave.

`offences` reads a message as it is sent, or a statement as it stands in the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_QUIET = re.compile(r"--[^\n]*|\bE'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'", re.DOTALL)
_TABLE_OF_ALL = "meta"  # of no user: the one table that is the same on every machine


def offences(message: str) -> list[str]:
    """What Citus would refuse in a message, or do wrong with it."""
    text = _QUIET.sub("''", message).strip().rstrip(";")
    return [reason for reason, is_broken in _rules(text) if is_broken]


def _rules(text: str) -> Iterator[tuple[str, bool]]:
    yield "several statements in a message are passed on as a whole", ";" in text
    yield "what set_config sets does not reach the shards", "set_config" in text
    sources = [source for column, source in _assignments(text)]
    yield "a subscript as the whole source of SET crashes the coordinator", any(map(_is_subscript, sources))
    yield "the user of a row cannot be changed", "user_id" in [column for column, _ in _assignments(text)]
    yield "a policy takes no subquery", bool(re.search(r"(?is)CREATE POLICY.*\bSELECT\b", text))
    yield "a forced fence keeps a shard from being moved", bool(re.search(r"(?<!NO )FORCE ROW LEVEL", text))
    yield "DROP takes one object", bool(re.search(r"(?is)^DROP (TABLE|INDEX)\b.*,", text))
    written = re.match(r"(?is)INSERT INTO (?:\w+\.)?(\w+)", text)
    is_of_user = written is not None and written[1] != _TABLE_OF_ALL
    targets = re.findall(r"(?is)ON CONFLICT\s*\(([^)]*)\)", text)
    yield (
        "a conflict is found by a key of the user",
        is_of_user and any("user_id" not in target.split(",")[0] for target in targets),
    )
    selected = re.match(r"(?is)INSERT INTO [^;]*?\)\s*SELECT .*?\bFROM\s+(\w+)", text)
    yield (
        "an INSERT of a SELECT without a table of the user is gathered at the coordinator",
        is_of_user and selected is not None and selected[1].lower() in ("unnest", "json_array_elements_text"),
    )


def _is_subscript(source: str) -> bool:
    """Whether an expression is a value and a subscript, and nothing around them."""
    return source.endswith("]") and not re.match(r"(?i)ARRAY\s*\[", source)


def _assignments(text: str) -> Iterator[tuple[str, str]]:
    """The columns that a statement sets, each with what it is set to."""
    for match in re.finditer(r"(?is)\b(?:UPDATE\s+(?:[\w.]+(?:\s+AS\s+\w+)?\s+)?)SET\s+(.*)", text):
        for part in _parts(match[1]):
            column, equals, source = part.partition("=")
            if equals:
                yield column.strip(), source.strip()


def _parts(text: str) -> Iterator[str]:
    """The assignments of a SET up to what follows them: commas, and words at the depth of the statement alone."""
    depth, part = 0, ""
    for piece in re.split(r"([()\[\],]|\b(?:WHERE|FROM|RETURNING)\b)", text, flags=re.IGNORECASE):
        if depth == 0 and (piece == "," or piece.upper() in ("WHERE", "FROM", "RETURNING")):
            yield part
            part = ""
            if piece != ",":
                return
            continue
        depth += (piece in ("(", "[")) - (piece in (")", "]"))
        part += piece
    yield part
