"""`python -m benchmarks curves`: a picture of how recall's time and memory grow with what is stored.

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
    found = panels(reports)
    sizes = {size for panel in found for curve in panel.curves for size, _ in curve.points}
    if not sizes:
        raise InvalidInput("These reports hold no figure of recall; make one with python -m benchmarks speed --json.")
    write_whole(
        out, drawn(found, "episodes in the store", "; ".join(dict.fromkeys(each["machine"] for each in reports)))
    )
    return len(sizes)


def panels(reports: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """What the picture shows: the median of a recall for one user who has everything and for one among many, and the
    memory of a process. Pure."""
    recalls = [each for report in reports for each in report["recalls"]]
    alone = [each for each in recalls if each["users"] == 1 and each["episodes"] == each["own"]]
    shared = [each for each in recalls if each["users"] > 1]
    # What one of many users has is measured alone too: with few episodes, that size is not one of the run's.
    sizes = {each["episodes"] for each in shared} or {each["episodes"] for each in alone}
    users = max((each["users"] for each in shared), default=0)
    found = [
        Panel(
            "Recall (p50), one user has all", "ms", tuple(_recall(each for each in alone if each["episodes"] in sizes))
        ),
        Panel(f"Recall (p50), one user of {users:,}", "ms", tuple(_recall(shared))),
        Panel("Resident memory, one user has all", "MB", tuple(_memory(reports))),
    ]
    return [each for each in found if each.curves]


def _recall(recalls: Iterator[Mapping[str, Any]] | Sequence[Mapping[str, Any]]) -> Iterator[Curve]:
    points: dict[str, dict[int, float]] = {}
    for each in recalls:
        points.setdefault(_NAMES[each["embedder"]], {})[each["episodes"]] = each["recall"]["p50_ms"]
        if each["embedder"] == "none":
            points.setdefault(BARE, {})[each["episodes"]] = each["bare"]["p50_ms"]
    yield from _curves(points, (WITH, WITHOUT, BARE))


def _memory(reports: Sequence[Mapping[str, Any]]) -> Iterator[Curve]:
    points: dict[str, dict[int, float]] = {}
    for each in (each for report in reports for each in report["memory"]):
        points.setdefault(_NAMES[each["embedder"]], {})[each["episodes"]] = each["mb"]
        points.setdefault(_INTERPRETER, {})[each["episodes"]] = each["bare_mb"]
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
