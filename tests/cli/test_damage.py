"""What somebody at the terminal is told of a damaged store."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.conftest import Picomem

import picomem as library
from picomem.clock import parse_iso

pytestmark = [
    pytest.mark.reliability("R10"),
    pytest.mark.sqlite_file("flips a bit of the file"),
    pytest.mark.plain_file("flips a bit of a row"),
]

WARNING = "run `picomem doctor --repair`"


@pytest.mark.requirement("X2")
def test_a_damaged_index_is_told_by_every_command_after_the_first_write_of_a_day(picomem: Picomem, home: Path) -> None:
    path = home / "memory.db"
    with library.open(path, clock=lambda: parse_iso("2026-05-01")) as memory:
        memory.remember("The ferry sails at seven", key="ferry")
        memory.tidy()
    with closing(sqlite3.connect(path)) as connection:
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'changes_time'").fetchall()
    data = bytearray(path.read_bytes())
    data[data.index(b"local", (root - 1) * 4096)] ^= 1
    path.write_bytes(data)

    assert WARNING not in picomem("memories", "--db", str(path)).err
    assert WARNING in picomem("remember", "The crane is on loan", "--db", str(path)).err
    listed = picomem("memories", "--db", str(path), "--json")
    assert listed.code == 0
    assert WARNING in listed.err
    assert picomem("doctor", "--repair", "--db", str(path)).code == 0
    assert WARNING not in picomem("memories", "--db", str(path)).err
