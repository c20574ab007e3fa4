"""The acceptance of a memory that talks: a conversation over three days, killed wherever it may be, ends with the same
memory as an undisturbed one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.programs import ROOT
from tests.sealed_stores import is_setting

STRIDE = int(os.environ.get("PICOMEM_KILL_STRIDE", "29"))  # every so many-th step is a trial; 1: every step


@pytest.mark.requirement("A5", "A7", "A9", "A11", "P14", "X7")
def test_a_conversation_that_is_killed_at_any_step_ends_with_the_same_memory(tmp_path: Path) -> None:
    script = Path(__file__).with_name("three_days.py")
    kept = {name: value for name, value in os.environ.items() if not is_setting(name)}
    kept["PYTHONPATH"] = os.pathsep.join([str(ROOT), *sys.path])
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), str(STRIDE)], capture_output=True, text=True, env=kept, check=False
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    whole = report["whole"]
    assert whole["memories"] == [
        ["decided_deploy_tuesdays_harbour_quiet", "We decided to deploy on Tuesdays, because the harbour is quiet then", "decision", "user"],
        ["staging_database_listens_port", "The staging database listens on port 5433", "fact", "user"],
        ["staging_port", "The staging database listens on port 6432", "fact", "agent"],
    ]  # fmt: skip
    assert whole["archived"] == [["drink", "Ann likes green tea"]]
    assert (whole["orphans"], whole["twice"], whole["numbered"], whole["taken_up"]) == (0, 0, True, True)
    assert "swordfish" not in json.dumps(whole)
    assert min(report["steps"]) > 30
    assert len(report["trials"]) == sum(report["steps"]) // STRIDE
    for trial in report["trials"]:
        assert trial["killed"], trial
        assert trial["outcome"] == whole, (trial["day"], trial["step"])
