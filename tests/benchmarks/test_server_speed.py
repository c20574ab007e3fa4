from __future__ import annotations

import sys

import pytest

from benchmarks import server_speed
from picomem.errors import InvalidInput

LITTLE = server_speed.Effort(users=3, own=10, clients=2, seconds=0.5, requests=16, sockets=3)


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_a_server_is_measured_beside_the_engine_and_no_acknowledged_write_is_lost_when_it_is_killed():
    report = server_speed.run(LITTLE)
    (load,) = report.loads
    assert (load.errors, load.first_error, load.lost) == (0, "", 0)
    assert load.written > 0
    assert 0 < load.ask_p50_ms <= load.ask_p99_ms
    assert 0 < load.write_p50_ms <= load.write_p99_ms
    assert 0 < report.alone.engine_p50_ms <= report.alone.engine_p99_ms
    assert len(report.growth_mb) == 4
    assert report.sockets.before_mb > 0
    shown = server_speed.render(report)
    assert "3 users with 10 episodes each" in shown
    assert f"0/{load.written}" in shown


def test_an_effort_below_one_is_refused():
    with pytest.raises(InvalidInput, match="more than none"):
        server_speed.run(server_speed.Effort(users=0))
