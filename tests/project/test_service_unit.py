"""The unit for systemd; `make unit` runs it under a real one."""

from __future__ import annotations

from pathlib import Path

UNIT = Path(__file__).parents[2] / "deploy" / "picomem.service"


def test_a_system_call_that_the_unit_forbids_is_refused_and_does_not_kill_the_server() -> None:
    settings = [line.partition("=")[::2] for line in UNIT.read_text("utf-8").splitlines() if "=" in line]
    assert any(name == "SystemCallFilter" and value.startswith("~") for name, value in settings)
    assert ("SystemCallErrorNumber", "EPERM") in settings
