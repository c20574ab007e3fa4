"""`picomem move` at the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.databases import Database

pytestmark = pytest.mark.requirement("X11")


@pytest.fixture
def names(tmp_path: Path, database: Database) -> tuple[str, str]:
    """Two stores: one with memories of two users, and the file of one that is not there yet."""
    source = database.named(tmp_path / "source.db")
    return source, str(tmp_path / "target.db")


def test_all_users_are_moved_and_found_at_the_target(picomem, names: tuple[str, str]) -> None:
    source, target = names
    for user in ("mia", "ben"):
        picomem("--db", source, "--user", user, "remember", f"The harbour of {user} opens at seven", "--key", "harbour")
    dry = picomem("move", source, target, "--dry-run")
    assert (dry.code, "2 users can be moved: 12 rows" in dry.out, Path(target).exists()) == (0, True, False)
    ran = picomem("move", source, target)
    assert (ran.code, ran.err) == (0, "")
    assert "2 users moved, every row compared: 12 rows" in ran.out
    again = json.loads(picomem("move", source, target, "--json").out)
    assert {user["user"]: user["state"] for user in again["users"]} == dict.fromkeys(("mia", "ben"), "moved before")
    assert "The harbour of ben" in picomem("--db", target, "--user", "ben", "recall", "harbour").out


def test_one_user_is_moved_and_another_remark_says_what_stays(picomem, names: tuple[str, str]) -> None:
    source, target = names
    for user in ("mia", "ben"):
        picomem("--db", source, "--user", user, "remember", "The harbour opens at seven")
    ran = picomem("move", source, target, "--user", "ben")
    assert "1 user moved" in ran.out and "accept their senders again" in ran.out
    picomem("--db", target, "--user", "ben", "remember", "The harbour closes at nine")
    refused = picomem("move", source, target, "--user", "ben")
    assert refused.code == 5
    assert "has changed since" in refused.err and refused.err.count("\n") == 1
    both = picomem("move", source, target)
    assert (both.code, "1 user moved, every row compared" in both.out) == (5, True)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("source.db", "source.db"), 2, "are the same store"),
        (("nowhere.db", "target.db"), 3, "There is no store at"),
        (("source.db", "target.db", "--user", "zoe"), 3, "no rows of user zoe"),
        (("source.db", "target.db", "--db", "source.db"), 2, "leave out --db"),
        (("source.db", "mysql://here"), 2, "of a kind that picomem does not know"),
    ],
)
@pytest.mark.sqlite_file("the names of two files")
def test_what_cannot_be_moved_is_said_in_a_sentence(
    picomem, home: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    picomem("--db", "source.db", "remember", "The harbour opens at seven")
    ran = picomem("move", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err and ran.err.count("\n") == 1
    assert not home.joinpath("target.db").exists()
