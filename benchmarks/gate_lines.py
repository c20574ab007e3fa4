"""Lines for the write gate and for explicit requests, labelled by hand; `data/README.md` says how to use each set."""

from __future__ import annotations

from typing import Any, NamedTuple

from benchmarks.data_files import read_rows
from picomem.records.kinds import Kind, Origin


class Keep(NamedTuple):
    """Worth keeping, with the kind that a proposer would give it."""

    text: str
    kind: Kind
    origin: Origin


class Junk(NamedTuple):
    """Not worth keeping, with the refusals that would be a fair reason; the first is the best."""

    text: str
    refusals: tuple[str, ...]
    origin: Origin
    kind: Kind


class Request(NamedTuple):
    """What a user said, the content that they ask to remember, and its kind."""

    text: str
    content: str
    kind: Kind


class Lines(NamedTuple):
    """One set; `silent` is what a user said that asks for nothing to be remembered."""

    keep: tuple[Keep, ...]
    junk: tuple[Junk, ...]
    requests: tuple[Request, ...]
    silent: tuple[str, ...]


def read_lines(name: str) -> Lines:
    """The set of this name: tuned, held_out, fresh or offered."""
    rows: dict[str, list[dict[str, Any]]] = {"keep": [], "junk": [], "request": [], "silent": []}
    for row in read_rows(f"gate_lines/{name}"):
        rows[row["label"]].append(row)
    return Lines(
        keep=tuple(Keep(row["text"], Kind(row["kind"]), Origin(row["origin"])) for row in rows["keep"]),
        junk=tuple(
            Junk(row["text"], tuple(row["refusals"]), Origin(row["origin"]), Kind(row["kind"])) for row in rows["junk"]
        ),
        requests=tuple(Request(row["text"], row["content"], Kind(row["kind"])) for row in rows["request"]),
        silent=tuple(row["text"] for row in rows["silent"]),
    )


TUNED, HELD_OUT, FRESH, OFFERED = (read_lines(name) for name in ("tuned", "held_out", "fresh", "offered"))
