"""A store on a server is named by its address, wherever a store is named."""

from __future__ import annotations

import sys
from pathlib import Path

import psycopg
import pytest
from tests.cases import each_case
from tests.cli.conftest import Picomem
from tests.postgres_server import address_of, empty_database

import picomem as library
from picomem.errors import InvalidInput, NoStore, StoreError
from picomem.paths import check_address, without_password
from picomem.settings import Settings
from picomem.settings_tables import DataSettings


@pytest.mark.requirement("X11")
def test_the_commands_work_on_a_server_however_it_is_named(picomem: Picomem, home: Path, fenced: str) -> None:
    assert picomem("remember", "We meet on Tuesdays", "--db", fenced).code == 0
    asked = picomem("recall", "When do we meet?", env={"PICOMEM_DB": fenced})
    assert "We meet on Tuesdays" in asked.out
    settings = home / "config.toml"
    settings.write_text(f'[data]\ndatabase = "{fenced}"\n')
    shown = picomem("status", env={"PICOMEM_CONFIG": str(settings)})
    assert shown.code == 0 and "picomem@" not in shown.out + shown.err
    assert picomem("doctor", "--db", fenced).code == 0
    assert not [path for path in home.rglob("*") if "postgres" in path.name or path.suffix == ".db"]


@pytest.mark.requirement("X11")
def test_the_library_opens_an_address_and_makes_the_tables_that_are_missing() -> None:
    address = empty_database()
    with pytest.raises(NoStore, match="There is no store in postgresql:"):
        library.open(address, embedder="none", create=False)
    settings = Settings(data=DataSettings(database=address))
    with library.open(settings=settings, embedder="none") as memory:
        memory.remember("We meet on Tuesdays")
    with library.open(address, embedder="none", create=False) as memory:
        assert [hit.text for hit in memory.recall("When do we meet?").hits] == ["We meet on Tuesdays"]


@each_case("create", [True, False])
def test_a_schema_of_another_program_is_left_alone(create: bool) -> None:
    address = empty_database()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA picomem")
        connection.execute("CREATE TABLE picomem.memories (id integer)")
    with pytest.raises(StoreError, match="holds tables that are not picomem's; make a database for picomem alone"):
        library.open(address, embedder="none", create=create)


def test_what_needs_a_file_refuses_an_address_and_shows_no_password(picomem: Picomem) -> None:
    address = "postgresql://team:secret@server/memory"
    for arguments in (
        ("bench", "quality", "--questions", "questions.jsonl", "--db", address),
        ("install", "codex", "--dry-run", "--db", address),
    ):
        refused = picomem(*arguments)
        assert refused.code == 2 and "secret" not in refused.out + refused.err, refused.err


def test_a_backup_of_a_server_is_refused_with_a_sentence(picomem: Picomem, address: str) -> None:
    assert picomem("remember", "We meet on Tuesdays", "--db", address).code == 0
    refused = picomem("backup", "copy.db", "--db", address)
    assert (refused.code, refused.out) == (10, "")
    assert "pg_dump" in refused.err and len(refused.err.splitlines()) == 1


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("psycopg", "picomem.store.postgres.connector"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setitem(sys.modules, "psycopg_pool", None)
    with pytest.raises(InvalidInput, match=r"pip install 'picomem\[postgres\]'"):
        library.open("postgresql://server/memory", embedder="none")


def test_a_server_that_does_not_answer_is_one_sentence_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as refused:
        library.open(f"postgresql://team:secret@/memory?host={tmp_path}", embedder="none")
    said = str(refused.value)
    assert "cannot be reached" in said and "secret" not in said and "\n" not in said


def test_an_address_that_cannot_be_read_is_one_sentence() -> None:
    with pytest.raises(InvalidInput, match="cannot be read; write postgresql://"):
        library.open("postgresql://server:port:5432/memory?nothing", embedder="none")


def test_opening_a_store_makes_nothing_anew(tmp_path: Path, address: str) -> None:
    with library.open(address, embedder="none") as memory:
        memory.remember("We meet on Tuesdays")
    with library.open(address_of(tmp_path), embedder="none") as memory:
        assert [kept.content for kept in memory.memories()] == ["We meet on Tuesdays"]


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://team:sec/ret@127.0.0.1:1/memory",
        "postgresql://team:1/secret@127.0.0.1:1/memory",
        "postgresql://team:p@secret@127.0.0.1:1/memory",
        "postgresql://team:sec?ret@127.0.0.1:1/memory",
        "postgresql://team:secret@127.0.0.1:1:2/memory",
        "host=127.0.0.1 port=1 user=team password=secret dbname=memory",
    ],
)
def test_a_password_with_a_special_character_is_shown_nowhere(picomem: Picomem, home: Path, address: str) -> None:
    for arguments in (("remember", "We meet on Tuesdays"), ("recall", "meet"), ("install", "codex", "--dry-run")):
        refused = picomem(*arguments, "--db", address)
        said = refused.out + refused.err
        assert refused.code == 2 and len(refused.err.splitlines()) == 1, said
        assert not any(part in said for part in ("secret", "sec/", "sec?", "sec:", "ret@"))
    assert not [path for path in home.rglob("*") if "password" in path.name]


@each_case(
    ("address", "shown"),
    [
        (
            "postgresql://team:a#b%40c@one.example:5432,two.example:5433/memory?sslmode=require",
            "//one.example:5432,two.example:5433/memory",
        ),
        ("postgresql://team:x@[::1]:5432/memory", "//[::1]:5432/memory"),
        ("postgresql://team@/memory?host=/run/postgresql&user=a@b", "///memory"),
        ("postgresql://", "//"),
        ("postgresql://%2Frun%2Fpostgresql/memory", "//%2Frun%2Fpostgresql/memory"),
    ],
)
def test_addresses_of_libpq_are_readable(address: str, shown: str) -> None:
    check_address(address)
    assert without_password(address) == f"postgresql:{shown}"
