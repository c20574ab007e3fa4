"""The diff of a file is right line by line, and stays small and quick for files that are neither."""

from __future__ import annotations

import re
from pathlib import Path
from time import process_time

from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from picomem.cli.install import file_diff

_PATH = Path("/home/ann/settings.json")
_LINES = st.lists(st.sampled_from(["{\n", "}\n", "a\n", "@@ -1 +1 @@\n", "\u2028\n", "\n"]), max_size=30)
_TEXTS = st.builds(lambda lines, end: "".join(lines) + end, _LINES, st.sampled_from(["", "}", "x"]))


def _patched(before: str, diff: str) -> str:
    """A text with the diff applied, by its line numbers."""
    old = before.split("\n")
    old = [f"{line}\n" for line in old[:-1]] + [line for line in old[-1:] if line]
    new: list[str] = []
    at = 0
    lines = diff.split("\n")[2:-1]
    for number, line in enumerate(lines):
        text = line[1:] + ("" if lines[number + 1 : number + 2] == ["\\ No newline at end of file"] else "\n")
        if ranges := re.fullmatch(r"@@ -(\d+)(,0)?(?:,\d+)? \+\d+(?:,\d+)? @@", line):
            start = int(ranges.group(1)) - (not ranges.group(2))
            new += old[at:start]
            at = start
        elif line[0] == "+":
            new.append(text)
        elif line[0] in " -":
            assert old[at] == text
            new += [text] if line[0] == " " else []
            at += 1
    return "".join(new + old[at:])


@given(_TEXTS, _TEXTS, _TEXTS, _TEXTS)
def test_a_diff_applied_gives_the_text_after_the_change(head: str, old: str, new: str, tail: str) -> None:
    before, after = head + old + tail, head + new + tail
    assert _patched(before, file_diff(_PATH, before, after)) == after


def test_a_change_far_down_is_shown_with_its_place() -> None:
    lines = [f"{number}\n" for number in range(1, 1001)]
    after = [*lines[:500], "new\n", *lines[500:]]
    assert file_diff(_PATH, "".join(lines), "".join(after)) == (
        f"--- a{_PATH}\n+++ b{_PATH}\n@@ -498,6 +498,7 @@\n 498\n 499\n 500\n+new\n 501\n 502\n 503\n"
    )


# Of the lines of each of these, a hundred and more are equal without being so many that the matcher leaves them out.
@each_case("change", ["in one place", "all over"])
def test_the_time_for_a_diff_grows_with_the_file_and_not_with_its_square(change: str) -> None:
    lines = [f"{number % 150}\n" for number in range(300_000)]
    after = [*lines[:150_000], "new\n", *lines[150_000:]]
    if change == "all over":
        after = ["new\n", *lines, "new\n"]
    started = process_time()
    diff = file_diff(_PATH, "".join(lines), "".join(after))
    assert process_time() - started < 20
    assert ("\n+new\n" in diff) == (change == "in one place")


def test_a_change_of_a_line_of_many_megabytes_is_not_shown() -> None:
    line = "x" * 5_000_000
    diff = file_diff(_PATH, line, line + "y")
    assert len(diff) < 300
    assert "too long ones, to be shown" in diff
