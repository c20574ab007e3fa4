"""`python -m benchmarks curves`: a picture of how the time and the memory of recall grow with the store.

It is drawn from the JSON of runs of `python -m benchmarks speed`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.drawing import Curve, Panel, drawn
from picomem.errors import InvalidInput
from picomem.paths import read_regular, write_whole

WITH, WITHOUT, BARE = "with vectors", "without vectors", "bare FTS5"
_NAMES = {"static": WITH, "none": WITHOUT}
_LARGEST = 16 << 20  # bytes of a report
_INTERPRETER = "bare Python"


def draw(files: Sequence[Path], out: Path) -> int:
    """Write the picture to `out`; how many sizes it shows. Of a size that several files have, the last file's figures
    are shown. Raises NotFound or InvalidInput for what is no report of `speed --json`."""
    reports = [_report(file) for file in files]
    shown = panels(reports)
    sizes = {size for panel in shown for curve in panel.curves for size, _ in curve.points}
    if not sizes:
        raise InvalidInput("These reports hold no figure of recall; make one with python -m benchmarks speed --json.")
    write_whole(
        out, drawn(shown, "episodes in the store", "; ".join(dict.fromkeys(report["machine"] for report in reports)))
    )
    return len(sizes)


def panels(reports: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """What the picture shows: the median of a recall for one user who has everything and for one among many, and the
    memory of a process. Pure."""
    recalls = [recall for report in reports for recall in report["recalls"]]
    alone = [recall for recall in recalls if recall["users"] == 1 and recall["episodes"] == recall["own"]]
    shared = [recall for recall in recalls if recall["users"] > 1]
    # What one of many users has is measured alone too: with few episodes, that size is not one of the run's.
    sizes = {recall["episodes"] for recall in shared} or {recall["episodes"] for recall in alone}
    users = max((recall["users"] for recall in shared), default=0)
    candidates = [
        Panel(
            "Recall (p50), one user has all",
            "ms",
            tuple(_recall(recall for recall in alone if recall["episodes"] in sizes)),
        ),
        Panel(f"Recall (p50), one user of {users:,}", "ms", tuple(_recall(shared))),
        Panel("Resident memory, one user has all", "MB", tuple(_memory(reports))),
    ]
    return [panel for panel in candidates if panel.curves]


def _recall(recalls: Iterator[Mapping[str, Any]] | Sequence[Mapping[str, Any]]) -> Iterator[Curve]:
    points: dict[str, dict[int, float]] = {}
    for recall in recalls:
        points.setdefault(_NAMES[recall["embedder"]], {})[recall["episodes"]] = recall["recall"]["p50_ms"]
        if recall["embedder"] == "none":
            points.setdefault(BARE, {})[recall["episodes"]] = recall["bare"]["p50_ms"]
    yield from _curves(points, (WITH, WITHOUT, BARE))


def _memory(reports: Sequence[Mapping[str, Any]]) -> Iterator[Curve]:
    points: dict[str, dict[int, float]] = {}
    for memory in (memory for report in reports for memory in report["memory"]):
        points.setdefault(_NAMES[memory["embedder"]], {})[memory["episodes"]] = memory["mb"]
        points.setdefault(_INTERPRETER, {})[memory["episodes"]] = memory["bare_mb"]
    yield from _curves(points, (WITH, WITHOUT, _INTERPRETER))


def _curves(points: Mapping[str, Mapping[int, float]], names: Sequence[str]) -> Iterator[Curve]:
    for kind, name in enumerate(names):
        if name in points:
            yield Curve(name, kind, tuple(sorted(points[name].items())))


def _report(file: Path) -> Mapping[str, Any]:
    try:
        report = json.loads(read_regular(file, most=_LARGEST))
        panels([report])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"{file} is no report of python -m benchmarks speed --json.") from error
    return report
