"""What every output must be: nothing in it that a terminal obeys, and nothing that hides."""

from __future__ import annotations

import re

# Colours and weights of our own, as rich writes them.
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202d\u202e\ud800-\udfff]")
_HIDDEN = re.compile(
    "[\u200b\u2060-\u2064\ufeff\U000e0001]|(?<!\U0001f3f4)(?<![\U000e0020-\U000e007f])[\U000e0020-\U000e007f]"
)


def assert_inert(output: str, styled: bool = False) -> None:
    """Fail where an output holds a control character but the line feed, a bidi override, or hidden characters."""
    plain = _STYLE.sub("", output) if styled else output
    for wrong in (_OBEYED, _HIDDEN):
        match = wrong.search(plain)
        assert match is None, f"{match.group()!r} in {plain[max(0, match.start() - 60) : match.end() + 60]!r}"
    for line in plain.split("\n"):
        _assert_directions_end(line)


def _assert_directions_end(line: str) -> None:
    open_: list[str] = []
    for char in line:
        if char in "\u202a\u202b":
            open_.append("\u202c")
        elif char in "\u2066\u2067\u2068":
            open_.append("\u2069")
        elif char in "\u202c\u2069":
            assert open_ and open_.pop() == char, f"{char!r} ends nothing in {line!r}"
    assert not open_, f"a change of direction does not end in {line!r}"
