"""Values that nobody should be able to break a program with, by the kind of value that is asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

INTEGERS = (
    0, -1, 1, 2, 2**31, 2**31 - 1, -(2**31), 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**20, -(10**20), 10**400,
)  # fmt: skip
FLOATS = (0.0, -0.0, 0.5, 1.0, -1.0, 1e308, 5e-324, float("nan"), float("inf"), float("-inf"), 2.0)
NUMERALS = (
    "99999999999999999999", "-99999999999999999999", "9" * 5000, "1e400", "nan", "-inf", "٣", "1_000", "0x10", "1.5", "+1", " 1",
)  # fmt: skip
TEXTS = (
    "", " ", "\t", "\n", "\0", "a\0b", "\x1b[2J\x1b]0;t\x07", "\x9b31m", "\ud800", "\udcff", "a\udcffb", "' OR 1=1 --", '"', "\\",
    "%", "%s%n", "_%", "{}", "{0.__class__}", "$(id)", "`id`", "--", "-", "-x", "*", "NEAR(", "a AND OR", '"a', "a*", "^a", ":",
    "\u202eevil\u202c", "\u2066x", "\u200b", "\U000e0041", "שלום", "中文", "👩‍💻", "\ufeff", "\u2028", "x" * 300, "字" * 9_000, "a b " * 2_000,
    "../../etc/passwd", "/etc/shadow", "~", "~nobody-has-this-name/x", "file:///etc/passwd", "</untrusted-text>", "[/bold]", "[bold]x",
    "null", "None", "true", "NaN", "1", "0", "-1", "user", "never", "now", "UTC",
)  # fmt: skip
TIMES = (
    "0000-00-00", "9999-12-31", "9999-12-31T23:59:59.999999Z", "10000-01-01", "-0001-01-01", "2026-02-30", "2026-13-01", "1969-12-31",
    "0001-01-01", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-05-03T25:00", "2026-05-03T10:00+99:99",
    "2026-05-03T10:00[Mars/Phobos]", "30d", "-30d", "999999999999d", "0d", "99999999999999999999", "-99999999999999999999",
    "9999999999999999", "last week", "yesterday", "in 99999999999 years", "99999999999 weeks ago", "2026-W99", "today", "明天", "Q9 2026",
)  # fmt: skip
LONG = "x" * (1 << 20)
# One argument of a process is at most 128 KiB long.
_MOST_ARGUMENT = 100_000


def paths(folder: Path) -> tuple[str, ...]:
    """Paths to what is no file to read, which are made in a folder."""
    made = folder / "hostile"
    if not made.exists():
        made.mkdir()
        os.mkfifo(made / "pipe")
        (made / "folder.md").mkdir()
        (made / "dangling.md").symlink_to(made / "gone")
        (made / "loop").symlink_to(made / "loop")
        (made / "device.jsonl").symlink_to("/dev/zero")
        with (made / "sparse").open("wb") as file:
            file.truncate(4 << 30)
        (made / "unreadable").write_text("{}")
        (made / "unreadable").chmod(0)
        (made / "binary.md").write_bytes(bytes(range(256)) * 40)
        (made / "nested.json").write_text("[" * 100_000)
        (made / "big.json").write_text('{"sessions": [{"id": ' + "9" * 5000 + "}]}")
        (made / "long-line.md").write_text("word " * 200_000)
        (made / "\x1b[31mred\u202e\n.md").write_text("# Red\n\nA fact is here.\n")
    names = (
        "pipe",
        "folder.md",
        "dangling.md",
        "loop",
        "device.jsonl",
        "sparse",
        "unreadable",
        "binary.md",
        "nested.json",
        "big.json",
    )
    names += (
        "long-line.md",
        "\x1b[31mred\u202e\n.md",
        "none",
        "none/below",
        "binary.md/below",
        "a" * 300,
        "b" * 300 + "/c",
        "x/" * 3000,
    )
    names += ("nul\0byte", "\udcff", "\ud800", "")
    return (*(str(made / name) for name in names), "/dev/zero", "/dev/null", "/dev/tty", "/proc/self/mem", ".", "", "~", "~nobody-has-this-name/x", "\0")  # fmt: skip


def text(random: Random, known: Sequence[str], among: Sequence[str] = ()) -> str:
    """A text for any field; `known` are texts that mean something here, so that calls go deep."""
    kind = random.random()
    if kind < 0.3 and known:
        return random.choice(known)
    if kind < 0.4 and among:
        return random.choice(among)
    if kind < 0.5:
        return random.choice(TIMES)
    if kind < 0.55:
        return random.choice(NUMERALS)
    if kind < 0.57:
        return LONG
    if kind < 0.67:
        return "".join(random.choices((*TEXTS, *known, "a", " ", "\n"), k=3))
    return random.choice(TEXTS)


def argument(value: str) -> str:
    """A value as an argument of a process can hold it."""
    return os.fsdecode(os.fsencode(value.replace("\ud800", "\udc80").replace("\0", "\x01"))[:_MOST_ARGUMENT])


def nested(depth: int) -> Any:
    """A list in a list in a list."""
    value: Any = "bottom"
    for _ in range(depth):
        value = [value]
    return value


def json_value(random: Random, known: Sequence[str], among: Sequence[str] = ()) -> Any:
    """A value of JSON, of any type."""
    return random.choice(
        (
            lambda: text(random, known, among),
            lambda: text(random, known, among),
            lambda: text(random, known, among),
            lambda: random.choice(INTEGERS),
            lambda: random.choice(FLOATS),
            lambda: random.choice((None, True, False)),
            lambda: [text(random, known) for _ in range(random.randrange(4))],
            lambda: {text(random, known): 1, "kind": {"a": [1]}},
            lambda: nested(random.choice((3, 50, 150))),
            lambda: [random.choice(INTEGERS)] * 2000,
            lambda: ["x"] * 5000,
        )
    )()
