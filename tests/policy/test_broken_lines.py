"""Redaction of tokens that a layout has broken over lines (S4), and what it leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import pytest
from tests.amounts import amount
from tests.cases import each_case
from tests.cost import cost

from benchmarks.redaction import ENOUGH, share_caught
from benchmarks.secret_shapes import TUNED as SHAPES
from picomem.policy.redact import Redactor, joined_lines
from picomem.policy.secret_scanner import Scanner

pytestmark = [pytest.mark.reliability("S4"), pytest.mark.requirement("O7")]

TOKEN = "ghp_" + "aB3dE5gH7jK9" * 3
KEPT = [
    "commit 3f2a9c1d4e5b6a7f8091a2b3c4d5e6f708192a3b\nthe next line is prose",
    "DB_HOST=db1.example.org\nDB_PORT=5432\nAPP_MODE=Production2",
    "3f2a9c1d4e5b6a7f8091a2b3c4d5e6f7\n08192a3b4c5d6e7f8091a2b3c4d5e6f7\n",
    "the module handles version2Upgrade\nand then version3Rollback",
]


def wrapped(columns: int, indent: str) -> Callable[[str], str]:
    """Each line broken at a width, as a terminal or a mail does."""

    def wrap(text: str) -> str:
        lines = ([line[at : at + columns] for at in range(0, len(line), columns)] or [""] for line in text.split("\n"))
        return "\n".join(f"\n{indent}".join(pieces) for pieces in lines)

    return wrap


@each_case(
    "gap",
    ["\n", "\n    ", "\r\n\t", "\n> ", " │\n│ ", "   \n  "],
    ids=["bare", "list", "tab", "quote", "box", "padded"],
)
@each_case("at", [2, 6, 20, 38])
def test_a_broken_token_goes_whole(gap: str, at: int) -> None:
    text = f"it says {TOKEN[:at]}{gap}{TOKEN[at:]} and goes on"
    assert TOKEN[-8:] not in (redacted := Redactor(bytes(32)).redact(text)).text
    assert redacted.text.startswith("it says [redacted:") and redacted.text.endswith(" and goes on")
    assert Redactor(bytes(32)).redact(redacted.text).findings == ()


@each_case(("columns", "indent", "least"), [(80, "  ", 265), (60, "> ", 230)])
def test_most_known_shapes_are_caught_in_a_text_that_is_wrapped(columns: int, indent: str, least: int) -> None:
    redactor, wrap = Redactor(bytes(32)), wrapped(columns, indent)
    caught = [shape.name for shape in SHAPES if share_caught(redactor, shape, amount(3, 40), wrap) >= ENOUGH]
    assert len(caught) >= least


@each_case("text", KEPT)
def test_words_names_and_hashes_below_each_other_stay(text: str) -> None:
    assert Redactor(bytes(32)).redact(text).text == text


def test_a_secret_does_not_take_the_next_line_with_it() -> None:
    redacted = Redactor(bytes(32)).redact(f"token: {TOKEN}\nDB_HOST=db1\n{TOKEN}\nversion2 of the plan").text
    assert "DB_HOST=db1" in redacted and redacted.endswith("\nversion2 of the plan")


@each_case("re2", [True, False])
def test_a_broken_token_is_found_among_thousands_of_hashes(re2: bool) -> None:
    lines = [f"{sha256(b'%d' % at).hexdigest()}  src/file{at}.py" for at in range(1_000)]
    token = f"it says {TOKEN[:20]}\n{TOKEN[20:]} and goes on"
    password = 'the password = "Summer2024\nBeach77'  # a quotation without its end
    text = "\n".join((*lines[:300], token, *lines[300:700], password, *lines[700:]))
    redacted = Redactor(bytes(32), scanner=Scanner(re2=re2)).redact(text).text
    assert TOKEN[-8:] not in redacted and "Beach77" not in redacted
    assert all(line in redacted for line in lines[:299] + lines[301:699] + lines[701:])


@each_case(
    "piece", ["a1B2c3D4e5F6g7H8\n", "a\n", " \n", "│\n", "a1B2c3D4e5F6g7H8" * 50 + "\n  ", "3f2a9c1d" * 8 + "  a.py\n"]
)
def test_half_a_megabyte_of_broken_lines_is_read_in_a_moment(piece: str) -> None:
    text = piece * (500_000 // len(piece))
    assert cost(lambda: list(joined_lines(text))) < 2.0
