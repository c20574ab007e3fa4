"""The tests that `make test` leaves to CI, because each takes so long: slow_tests.txt names them.

A hundred and fifty take more than half of the time. `make test SLOW=1` runs them too, as CI does. The list is made of what a
run printed:

    pytest -n 2 --durations 0 --durations-min 0.1 | python -m tests.slow_tests > tests/slow_tests.txt
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

LIST = Path(__file__).with_suffix(".txt")
_LONGEST = (
    1.5  # seconds, of a test with its fixtures; one with several parameters is listed if one of them takes longer
)
_DURATION = r"\s*(?P<seconds>[\d.]+)s (?:call|setup|teardown)\s+(?P<test>\S+?::.*)"


def listed() -> frozenset[str]:
    """The tests of the list, without parameters: `tests/store/test_kill.py::test_a_killed_writer_…`."""
    return frozenset(LIST.read_text("utf-8").split())


def without_parameters(test: str) -> str:
    return test.partition("[")[0].strip()


def slow(lines: Iterable[str]) -> list[str]:
    """The tests that took too long, by the durations that pytest printed."""
    seconds: dict[str, float] = {}
    for line in lines:
        if match := re.fullmatch(_DURATION, line.rstrip()):
            seconds[match["test"]] = seconds.get(match["test"], 0.0) + float(match["seconds"])
    return sorted({without_parameters(test) for test, taken in seconds.items() if taken >= _LONGEST})


if __name__ == "__main__":
    sys.stdout.write("\n".join([*slow(sys.stdin), ""]))
