"""The locks agree with pyproject.toml and with one another; `make lock` makes them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
BASE = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
TEST = [Requirement(line) for line in PROJECT["dependency-groups"]["test"]]


def pins(lock: str) -> dict[str, set[str]]:
    """The versions of each package; there may be several, for different Pythons."""
    text = (ROOT / "requirements" / f"{lock}.txt").read_text("utf-8")
    versions: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE):
        versions.setdefault(name, set()).add(version)
    return versions


def test_what_the_wheel_needs_is_locked_to_the_versions_of_the_development():
    development = pins("dev")
    assert {name: versions for name, versions in pins("base").items() if development.get(name) != versions} == {}
    assert {requirement.name.lower() for requirement in BASE} <= pins("base").keys()


def test_the_oldest_versions_that_are_tested_are_the_bounds():
    tested = {name: {Version(version) for version in versions} for name, versions in pins("lowest").items()}
    for requirement in (*BASE, *TEST):
        (bound,) = (Version(part.version) for part in requirement.specifier if part.operator == ">=")
        assert tested[requirement.name.lower()] == {bound}, requirement.name


def test_every_lock_has_hashes():
    for lock in ("base", "dev", "lowest"):
        text = (ROOT / "requirements" / f"{lock}.txt").read_text("utf-8")
        entries = re.findall(r"^[\w.-]+==.*(?:\n .*)*", text, re.MULTILINE)
        assert entries
        assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
