"""`make test` names its steps in order, and the one that fails."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _make(*arguments: str) -> subprocess.CompletedProcess[str]:
    # A make above this one hands its own settings down.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "SLOW"))}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    command = ["make", "test", "--old-file=.venv/ready", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_steps_are_named_in_order():
    done = _make("STEPS=.venv/ready Makefile")
    assert done.returncode == 0
    steps = [line for line in done.stdout.splitlines() if line.startswith("make test: ") and "passed" not in line]
    assert steps == ["make test: .venv/ready", "make test: Makefile"]


def test_joined_steps_all_run_and_one_that_fails_is_the_last():
    done = _make("STEPS=.venv/ready+Makefile")
    assert done.returncode == 0
    assert "make test: all steps passed: .venv/ready+Makefile" in done.stdout
    failed = _make("STEPS=Makefile+no-such-step .venv/ready")
    assert failed.returncode != 0
    assert "no-such-step" in failed.stderr
    assert "make test: .venv/ready" not in failed.stdout


def test_a_step_that_fails_names_itself_and_is_the_last():
    done = _make("STEPS=Makefile no-such-step .venv/ready")
    assert done.returncode != 0
    assert "make test: the step 'no-such-step' failed" in done.stderr
    assert "make test: .venv/ready" not in done.stdout


def test_steps_keep_bytecode_whatever_the_environment_says():
    done = _make("STEPS=bytecode", "--eval", 'bytecode:; @echo "forbidden: $${PYTHONDONTWRITEBYTECODE-no}"')
    assert "forbidden: no" in done.stdout, done.stderr


def test_the_commands_of_the_readme_are_targets_and_ci_runs_its_test_command():
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "    make test " in readme
    assert "make test SLOW=1" in readme
    assert (ROOT / ".ci/run").read_text("utf-8").rstrip().endswith("exec make test SLOW=1")


def test_the_slow_tests_are_left_out_in_one_place_and_said_to_be():
    quick, whole = _make("--dry-run", "check"), _make("--dry-run", "check", "SLOW=1")
    assert "pytest -n 2 --dist worksteal --without-slow" in quick.stdout
    assert "--without-slow" not in whole.stdout
    said = "make test: left out the slow tests, which CI runs; with them: make test SLOW=1"
    assert said in quick.stdout
    assert said not in whole.stdout
