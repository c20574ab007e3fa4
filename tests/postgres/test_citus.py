"""A store that Citus divides among machines, on a stand-in that records and refuses what Citus does (issue 43)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.cli.conftest import Picomem
from tests.databases import chosen
from tests.postgres_server import (
    address_of,
    as_administrator,
    as_plain_role,
    empty_database,
    files_of,
    rows_of,
)
from tests.store import later_step

import picomem as library
from picomem.engine.authorization import has_tokens
from picomem.engine.engine import Engine
from picomem.engine.job_store import job_store
from picomem.errors import Conflict, Unreachable, Unsupported
from picomem.records.scope import Scope
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.connector import CitusChoice
from picomem.store.postgres.connector import PostgresConnector
from picomem.store.tables import due_work, users

pytestmark = [
    pytest.mark.requirement("X11"),
    pytest.mark.skipif(chosen().name == "citus", reason="asks the stand-in what it recorded"),
]
SECRET = "zwyxquorvalpuntigam"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The path that stands for a store of the stand-in."""
    return tmp_path / "divided"


@pytest.fixture
def plain(place: Path) -> str:
    """The address of that store, for a role that owns nothing."""
    return as_plain_role(address_of(place, is_citus=True))


@pytest.fixture
def engine_of_user(plain: str) -> Iterator[Callable[[str], Engine]]:
    opened: list[Engine] = []

    def _open(user: str) -> Engine:
        opened.append(library.open(plain, user=user, embedder="none"))
        return opened[-1]

    yield _open
    for engine in opened:
        engine.close()


def _calls(address: str) -> list[str]:
    with psycopg.connect(as_administrator(address)) as connection:
        return [call for (call,) in connection.execute("SELECT call FROM fake_citus.calls ORDER BY n")]


def test_init_divides_every_table_by_its_user_beside_the_first_and_copies_the_table_of_nobody(picomem: Picomem) -> None:
    address = empty_database(is_citus=True)
    made = picomem("postgres", "init", "--citus", "--shards", "4", "--db", address)
    assert made.code == 0 and "in 4 shards on 2 machines" in made.out
    calls = _calls(address)
    assert calls[0] == "create_reference_table(meta)"
    assert calls[1] == "create_distributed_table(user_marks, user_id, colocate_with => none)"
    assert all(call.endswith(", user_id, colocate_with => user_marks)") for call in calls[2:])
    again = picomem("postgres", "init", "--citus", "--db", address, "--json")
    assert json.loads(again.out)["shards"] == 4 and _calls(address) == calls
    other = picomem("postgres", "init", "--citus", "--shards", "8", "--db", address)
    assert other.code == Conflict.exit_code and "have 4 shards already" in other.err


def test_the_commands_work_on_a_store_that_citus_divides_as_on_a_server(picomem: Picomem, plain: str) -> None:
    assert picomem("remember", "We meet on Tuesdays", "--db", plain).code == 0
    assert "We meet on Tuesdays" in picomem("recall", "When do we meet?", "--db", plain).out
    assert picomem("doctor", "--db", plain).code == 0
    assert picomem("purge", "--everything", "--yes", "--db", plain).code == 0
    assert "We meet" not in picomem("recall", "When do we meet?", "--db", plain).out


def test_init_without_citus_makes_a_store_of_one_server(picomem: Picomem) -> None:
    address = empty_database()
    made = picomem("postgres", "init", "--db", address)
    assert made.code == 0 and made.out.endswith("the store is ready.\n")
    refused = picomem("postgres", "init", "--citus", "--db", address)
    assert refused.code == Unsupported.exit_code and "has no Citus" in refused.err
    assert picomem("postgres", "init", "--shards", "4", "--db", address).code == 2
    assert picomem("postgres", "init", "--db", "/tmp/a/file.db").code == 2


def test_a_store_that_citus_does_not_divide_is_not_taken_for_one_that_it_does() -> None:
    address = empty_database(is_citus=True)
    PostgresConnector(address).close()
    with pytest.raises(Conflict, match="that Citus does not divide"):
        PostgresConnector(address, citus=CitusChoice())


def test_tables_are_made_and_changed_at_the_coordinator_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    address = empty_database(is_citus=True)
    worker = make_conninfo(address, options="-c fake_citus.is_worker=on")
    with pytest.raises(Unsupported, match=r"is a worker of Citus, .* run it at the coordinator"):
        PostgresConnector(worker, citus=CitusChoice())
    PostgresConnector(address, citus=CitusChoice()).close()
    PostgresConnector(worker).close()  # all else works there
    later_step.learn(monkeypatch)
    with pytest.raises(Unsupported, match="run it at the coordinator"):
        PostgresConnector(worker)
    PostgresConnector(address).close()
    assert "create_distributed_table(parcels, user_id, colocate_with => user_marks)" in _calls(address)


def test_a_role_that_owns_the_tables_is_told_that_nothing_fences_it(plain: str, place: Path) -> None:
    with library.open(address_of(place), embedder="none") as memory:
        (finding,) = memory.doctor().findings
        assert "owns no table of the store" in finding.problem
    with library.open(plain, embedder="none") as memory:
        assert memory.doctor().findings == []


def test_a_purge_is_unfinished_while_citus_keeps_the_copy_of_a_shard_that_it_moved(
    engine_of_user: Callable[[str], Engine], place: Path
) -> None:
    engine = engine_of_user("mia")
    engine.remember(f"The gate code of the harbour is {SECRET}", key="gate")
    rows_of(place, "INSERT INTO pg_dist_cleanup VALUES (1, 1, 1, 'picomem.memories_102099', 1, 0)")
    purged = engine.purge(everything=True, wait_seconds=0)
    assert not purged.finished and "has moved parts of" in purged.unfinished
    assert engine.status().purge_unfinished
    with library.open(address_of(place), user="mia", embedder="none") as owners:
        assert owners.purge().finished  # who may let Citus drop the copy
    assert not [path for path in files_of(place) if SECRET.encode() in path.read_bytes()]
    assert not engine.status().purge_unfinished


def test_a_purge_names_the_log_of_every_machine(engine_of_user: Callable[[str], Engine]) -> None:
    engine = engine_of_user("mia")
    engine.remember("The harbour opens at seven", key="harbour")
    said = engine.purge(everything=True).out_of_reach
    assert all(f"{machine}:5432 0000" in said for machine in ("db0", "db1", "db2"))


def test_a_purge_is_unfinished_where_a_shard_was_not_written_anew_though_citus_tells_of_no_error(
    engine_of_user: Callable[[str], Engine], place: Path
) -> None:
    engine = engine_of_user("mia")
    engine.remember(f"The gate code of the harbour is {SECRET}", key="gate")
    (shard,) = rows_of(
        place,
        "SELECT shard_name('picomem.index_pages', get_shard_id_for_distribution_column('picomem.index_pages', 'mia'))",
    )[0]
    with psycopg.connect(as_administrator(address_of(place))) as other:
        other.execute(f"LOCK TABLE {shard} IN ACCESS SHARE MODE".encode())
        purged = engine.purge(everything=True, wait_seconds=0.2)
    assert not purged.finished and f"{shard} was not written anew" in purged.unfinished
    assert engine.purge().finished
    assert not [path for path in files_of(place) if SECRET.encode() in path.read_bytes()]


@pytest.fixture
def one_down(engine_of_user: Callable[[str], Engine], place: Path) -> tuple[str, str]:
    """A user whose machine answers, and one whose machine does not, each with a memory."""
    names = [f"user{number}" for number in range(12)]
    machine = (
        "SELECT groupid FROM pg_dist_placement "
        "WHERE shardid = get_shard_id_for_distribution_column('picomem.memories', '{}')"
    )
    homes = {name: rows_of(place, machine.format(name))[0][0] for name in names}
    up, down = (next(name for name in names if homes[name] == group) for group in (1, 2))
    for name in (up, down):
        engine_of_user(name).remember("The harbour opens at seven", key="harbour")
    rows_of(place, "SELECT fake_citus.take_down(2)")
    return up, down


def test_the_users_of_a_machine_that_is_down_get_a_sentence_and_the_others_go_on(
    one_down: tuple[str, str], engine_of_user: Callable[[str], Engine]
) -> None:
    up, down = one_down
    for call in (lambda: engine_of_user(down).memories(), lambda: engine_of_user(down).remember("Lunch is at noon")):
        with pytest.raises(Unreachable, match=r"A machine of .* does not answer") as refused:
            call()
        assert "\n" not in str(refused.value)
    engine_of_user(up).remember("Lunch is at noon", key="lunch")
    assert engine_of_user(up).recall("When is lunch?").hits


def test_status_says_which_machine_is_down(
    one_down: tuple[str, str], plain: str, picomem: Picomem, engine_of_user: Callable[[str], Engine]
) -> None:
    up, _ = one_down
    assert engine_of_user(up).status().silent_machines == ["db2:5432"]
    shown = picomem("status", "--db", plain, "--user", up)
    assert shown.code == 0 and "do not answer (db2:5432)" in shown.out + shown.err


def test_what_is_asked_of_all_users_is_asked_of_those_whose_machine_answers(
    one_down: tuple[str, str], plain: str
) -> None:
    up, _ = one_down
    with closing(PostgresConnector(plain)) as connector:
        runtime = Runtime(connector, Settings(recall=RecallSettings(embedder="none")))
        assert has_tokens(runtime.resources)  # for all that is known
        with connector.read() as tx:
            assert [scope.user for scope in users.scopes(tx)] == [up]
        search = partial(due_work.to_embed, model="static")
        due = job_store(runtime.engine(scope=Scope(up))).find("embed", "", search)
        assert [reach.user for reach in due] == [up]


def test_a_purge_of_a_user_whose_machine_answers_is_done_and_says_what_was_not_asked(
    one_down: tuple[str, str], engine_of_user: Callable[[str], Engine], place: Path
) -> None:
    up, down = one_down
    engine = engine_of_user(up)
    engine.remember(f"The gate code of the harbour is {SECRET}", key="gate")
    purged = engine.purge(everything=True)
    assert purged.finished and purged.scan is not None and purged.scan.clean
    assert any("do not answer (db2:5432)" in sentence for sentence in purged.left)
    assert "db2:5432 (does not answer)" in purged.out_of_reach
    assert not [path for path in files_of(place) if SECRET.encode() in path.read_bytes()]
    assert engine.scrub().unfinished == ""
    with pytest.raises(Unreachable, match=r"A machine of .* does not answer") as refused:
        engine_of_user(down).purge(everything=True)
    assert "\n" not in str(refused.value)
