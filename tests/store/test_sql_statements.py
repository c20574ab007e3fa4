"""The SQL statements that there are are those that the program runs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import picomem
from picomem.store import sql_statements

SOURCES = Path(picomem.__file__).parent


def named_statements() -> list[re.Pattern[str]]:
    """What stands in texts of the program: each name as it is, and of an f-string every name that it can make."""
    patterns = set()
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                patterns.add(re.escape(node.value))
            if isinstance(node, ast.JoinedStr):
                pieces = [
                    re.escape(str(piece.value)) if isinstance(piece, ast.Constant) else "(?:memory|episode|note)"
                    for piece in node.values
                ]
                if len(pieces) > 1:
                    patterns.add("".join(pieces))
    return [re.compile(pattern) for pattern in patterns]


def test_every_statement_is_named_by_the_program() -> None:
    patterns = named_statements()
    unused = [name for name in sql_statements.load() if not any(pattern.fullmatch(name) for pattern in patterns)]
    assert unused == []
