from __future__ import annotations

import sys

import pytest

from benchmarks import page_speed
from picomem.errors import InvalidInput


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_every_view_is_measured_with_many_memories_and_with_few():
    report = page_speed.run(80, small=60, rounds=1)
    views = {page.view for page in report.pages}
    assert views >= {
        "search",
        "memories",
        "one memory",
        "timeline",
        "episode",
        "review",
        "agent view",
        "history",
        "health",
    }
    assert all(page.first_ms > 0 and page.p50_ms > 0 and page.small_p50_ms > 0 for page in report.pages)
    shown = page_speed.render(report)
    assert "80 memories and episodes of one user, beside 60" in shown
    assert f"of {len(report.pages)} pages take at most 100 ms of the processor" in shown
    table = page_speed.render(report, as_markdown=True).splitlines()
    assert len(table) == len(report.pages) + 2
    assert {line.count("|") for line in table} == {9}


def test_a_store_is_no_smaller_than_the_one_beside_it():
    with pytest.raises(InvalidInput, match="at least 1,000"):
        page_speed.run(999)
