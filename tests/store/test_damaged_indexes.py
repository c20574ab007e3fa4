"""R10 for indexes: whatever bit of one of them flips, a list that leaves something out does not pass unnoticed.

A row has a hash, and its entry in an index has none. Each case copies a store, flips a bit of one index, and runs the
verbs that read it. All that they answer is as before, or they warn of damage, or they raise one of our errors, or the
doctor finds the index damaged, as the daily check does.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.amounts import amount
from tests.memory.test_doubts import NEW, OLD

from picomem.clock import DAY, HOUR
from picomem.engine.engine import Engine
from picomem.errors import PicomemError
from picomem.models.static_embedder import StaticEmbedder
from picomem.operations.index_page import IndexResult
from picomem.operations.table import operation
from picomem.records.session import NewMessage, Role
from picomem.store.row_hash import COLUMNS

pytestmark = [
    pytest.mark.reliability("R10"),
    pytest.mark.sqlite_file("flips bits of the file"),
    pytest.mark.plain_file("flips bits of rows; the cipher of a sealed file finds every one"),
]

FLIPS = amount(20, 3_000)  # of each index
# The indexes from which each verb takes what it lists.
READS = {
    "memories_listed": ("memories",),
    "memories_undecided": ("review", "index"),
    "memories_entries": ("review", "index"),
    "sqlite_autoindex_memories_1": ("review", "changes", "history"),
    "sqlite_autoindex_transcripts_1": ("timeline", "recall"),
}
FIELDS = {"review": {"untrusted": True}, "recall": {"query": OLD}, "history": {"name": "harbour"}}
LISTS = {"review": "waiting", "timeline": "episodes", "recall": "hits", "history": "versions"}


def _fill(engine: Engine, folder: Path) -> None:
    for number, (key, said) in enumerate(
        {
            "harbour": "The amber harbour keeps its ledgers in a dry cellar",
            "lighthouse": "A bronze lighthouse warns the herring fleet at dusk",
            "orchard": "Walnut orchards prefer quiet tractors and long winters",
            "granary": "Ilse keeps the keys of the granary",
        }.items()
    ):
        engine.remember(said, key=key, importance=0.2 * number + 0.1, kind="decision" if number % 2 else "fact")
    engine.revise("harbour", "The amber harbour keeps its ledgers in a dry attic")
    engine.remember("The ferry sails at seven", key="ferry", origin="web")
    engine.remember("The quay closes on Mondays", key="quay", origin="tool")
    engine.remember("The crane is on loan", key="crane", expires="2026-05-02")
    engine.remember("Ilse will move to Ghent", key="move", since="2030-01-02")
    talks = folder / "talks"
    talks.mkdir()
    for number, said in enumerate((OLD, NEW)):
        record = {"role": "user", "content": said, "timestamp": f"2026-04-0{number + 1}T09:00:00Z"}
        (talks / f"talk{number}.jsonl").write_text(json.dumps(record) + "\n", "utf-8")
        engine.ingest([talks / f"talk{number}.jsonl"])


def _answer(engine: Engine, verb: str) -> tuple[object, bool]:
    """What a verb answers, in no order, and whether it says that something is damaged."""
    called = operation(verb)
    result = called.call(engine, called.request(**FIELDS.get(verb, {})))
    if isinstance(result, IndexResult):
        return sorted(result.page.splitlines()), "damaged" in result.page
    listed = getattr(result, LISTS.get(verb, verb))
    if verb == "changes":  # the numbers by which people count versions are known to differ
        listed = [(view.change.id, view.change.key) for view in listed]
    return sorted(map(repr, listed)), bool(getattr(result, "warnings", ()))


def _pages(path: Path, index: str) -> list[int]:
    """Where each byte of an index is, without the empty ones: it has one page."""
    with closing(sqlite3.connect(path)) as connection:
        ((size,),) = connection.execute("PRAGMA page_size").fetchall()
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (index,)).fetchall()
    data = path.read_bytes()
    return [place for place in range((root - 1) * size, root * size) if data[place]]


@pytest.mark.requirement("X2")
@pytest.mark.timeout(100 + FLIPS)
@pytest.mark.parametrize("index", READS)
def test_a_list_whose_index_is_damaged_leaves_nothing_out_unnoticed(index, tmp_path, open_engine, clock):
    whole, case = tmp_path / "whole.db", tmp_path / "case.db"
    engine = open_engine(whole)
    _fill(engine, tmp_path)
    engine.close()
    start = clock.now
    engine = open_engine(whole)
    expected = {verb: _answer(engine, verb)[0] for verb in READS[index]}
    engine.close()
    rng, data, places, silent = random.Random(index), whole.read_bytes(), _pages(whole, index), []
    for _ in range(FLIPS):
        place, bit, clock.now = rng.choice(places), rng.randrange(8), start
        damaged = bytearray(data)
        damaged[place] ^= 1 << bit
        for old in tmp_path.glob("case.db*"):
            old.unlink()
        case.write_bytes(damaged)
        try:
            engine = open_engine(case)
        except PicomemError:
            continue
        for verb, before in expected.items():
            try:
                answer, told = _answer(engine, verb)
            except PicomemError:
                continue
            if answer != before and not told and engine.doctor().healthy:
                silent.append(f"{verb}: bit {bit} of byte {place} of {index}")
        engine.close()
    assert silent == []


def test_ingest_ends_where_a_transcript_is_found_by_its_path_and_not_by_its_id(tmp_path, open_engine):
    whole = tmp_path / "whole.db"
    engine = open_engine(whole)
    _fill(engine, tmp_path)
    engine.close()
    with closing(sqlite3.connect(whole)) as connection:
        ((id_,),) = connection.execute("SELECT id FROM transcripts LIMIT 1").fetchall()
    data = bytearray(whole.read_bytes())
    place = data.index(id_.encode(), _pages(whole, "sqlite_autoindex_transcripts_1")[0])
    data[place] ^= 1
    whole.write_bytes(data)
    engine = open_engine(whole)
    talks = sorted((tmp_path / "talks").iterdir())
    for talk in talks:
        with talk.open("a") as file:
            file.write('{"role": "user", "content": "The mast is tall"}\n')
    report = engine.ingest(talks)
    assert report.problems
    assert all("doctor --repair" in problem for problem in report.problems)
    assert engine.doctor(repair=True).healthy
    assert report.turns + engine.ingest(talks).turns == len(talks)


def _export(engine: Engine, path: Path) -> None:
    export = operation("export")
    export.call(engine, export.request(path=str(path)))


@pytest.mark.timeout(100 + FLIPS)
@pytest.mark.parametrize("index", ["sqlite_autoindex_memories_1", "vectors"])
def test_what_is_read_page_by_page_ends_where_its_order_is_damaged(index, tmp_path, open_engine):
    whole, case = tmp_path / "whole.db", tmp_path / "case.db"
    engine = open_engine(whole, embedder=StaticEmbedder())
    _fill(engine, tmp_path)
    engine.close()
    rng, data, places = random.Random(index), whole.read_bytes(), _pages(whole, index)
    for number in range(FLIPS):
        damaged = bytearray(data)
        damaged[rng.choice(places)] ^= 1 << rng.randrange(8)
        for old in tmp_path.glob("case.db*"):
            old.unlink()
        case.write_bytes(damaged)
        with suppress(PicomemError):
            engine = open_engine(case, embedder=StaticEmbedder())
            for call in (
                lambda engine=engine: engine.recall(OLD),
                lambda engine=engine, number=number: _export(engine, tmp_path / f"{number}.jsonl"),
                lambda engine=engine: engine.embed(),
            ):
                with suppress(PicomemError):
                    call()
            engine.close()


@pytest.mark.requirement("X5")
@pytest.mark.timeout(100 + FLIPS)
@pytest.mark.parametrize("table", ["memories", "messages", "transcripts", "sessions"])
def test_a_purge_of_everything_that_misses_rows_says_so(table, tmp_path, open_engine):
    whole, case, index = tmp_path / "whole.db", tmp_path / "case.db", f"sqlite_autoindex_{table}_1"
    engine = open_engine(whole)
    _fill(engine, tmp_path)
    session = engine.sessions().create(title="Tuesday")
    for number in range(4):
        engine.sessions().append(session.id, NewMessage(role=Role.USER, content=f"Message {number} about the quay"))
    engine.close()
    rng, data, places, silent, told = random.Random(table), whole.read_bytes(), _pages(whole, index), [], 0
    for _ in range(FLIPS):
        place, bit = rng.choice(places), rng.randrange(8)
        damaged = bytearray(data)
        damaged[place] ^= 1 << bit
        for old in tmp_path.glob("case.db*"):
            old.unlink()
        case.write_bytes(damaged)
        with suppress(PicomemError):
            engine = open_engine(case)
            purged = engine.purge(everything=True, wait_seconds=0.1)
            engine.close()
            with closing(sqlite3.connect(case)) as connection:
                ((left,),) = connection.execute(f"SELECT count(*) FROM {table} NOT INDEXED").fetchall()
            told += purged.may_remain
            if left and not purged.may_remain:
                silent.append(f"{left} rows: bit {bit} of byte {place}")
    assert silent == []
    assert told


_ID, _VECTOR = b"\x55", b"\x84\x0c"  # how SQLite notes a text of 36 bytes, and a blob of 256


def _of_another_type(path: Path, index: str, noted: bytes) -> Iterator[bytes]:
    """The file with each of an index's texts in turn noted as a blob of the same bytes, or a blob as a text."""
    data = path.read_bytes()
    for place in _pages(path, index):
        if data[place - len(noted) + 1 : place + 1] == noted:
            yield data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def test_what_an_index_holds_as_bytes_is_listed_or_found_by_the_doctor(tmp_path, open_engine):
    whole, case = tmp_path / "whole.db", tmp_path / "case.db"
    engine = open_engine(whole)
    _fill(engine, tmp_path)
    expected, _ = _answer(engine, "review")
    engine.close()
    cases = list(_of_another_type(whole, "memories_undecided", _ID))
    assert len(cases) == 2
    for damaged in cases:
        case.write_bytes(damaged)
        engine = open_engine(case)
        answer, told = _answer(engine, "review")
        assert told or answer == expected or not engine.doctor().healthy
        engine.close()


@pytest.mark.parametrize("table", ["memories", "sessions"])
def test_a_purge_of_everything_takes_what_an_index_holds_as_bytes(table, tmp_path, open_engine):
    whole, case = tmp_path / "whole.db", tmp_path / "case.db"
    engine = open_engine(whole)
    _fill(engine, tmp_path)
    engine.sessions().create(title="Tuesday")
    engine.close()
    cases = list(_of_another_type(whole, f"sqlite_autoindex_{table}_1", _ID))
    assert cases
    for damaged in cases:
        case.write_bytes(damaged)
        engine = open_engine(case)
        assert engine.purge(everything=True, wait_seconds=0.1).may_remain or not engine.memories()
        engine.close()


def test_a_vector_that_reads_as_a_text_is_a_leg_that_fails(tmp_path, open_engine):
    whole, case = tmp_path / "whole.db", tmp_path / "case.db"
    engine = open_engine(whole, embedder=StaticEmbedder())
    _fill(engine, tmp_path)
    engine.close()
    cases = list(_of_another_type(whole, "vectors", _VECTOR))
    assert cases
    for damaged in cases[:3]:
        case.write_bytes(damaged)
        engine = open_engine(case, embedder=StaticEmbedder())
        answer = engine.recall(OLD)
        assert answer.hits
        assert "failed: A vector is damaged" in " ".join(answer.legs.values())
        engine.close()


def _flip_user_in(path: Path, index: str) -> None:
    """Flip a bit of the user's id in the first entry of an index: its row is then nobody's."""
    data = bytearray(path.read_bytes())
    data[data.index(b"local", _pages(path, index)[0])] ^= 1
    path.write_bytes(data)


@pytest.mark.requirement("X2")
def test_once_a_day_a_write_checks_the_file_and_whoever_opens_the_store_is_warned_until_a_repair(
    tmp_path, open_engine, clock, caplog
):
    whole, case = tmp_path / "whole.db", tmp_path / "case.db"
    engine = open_engine(whole)
    _fill(engine, tmp_path)
    engine.tidy()
    checked_at = clock.now
    engine.close()
    with closing(sqlite3.connect(whole)) as connection:
        listed = connection.execute("SELECT name, tbl_name FROM sqlite_master WHERE type = 'index'").fetchall()
    data = whole.read_bytes()
    places = {
        index: data.find(b"local", page, page + 4096)
        for index, table in listed
        if table in COLUMNS and (page := min(_pages(whole, index)))
    }
    assert sum(place > 0 for place in places.values()) > 20
    for index, place in places.items():
        if place < 0:
            continue  # its table has no row here
        damaged = bytearray(data)
        damaged[place] ^= 1
        case.write_bytes(damaged)
        caplog.clear()

        clock.now = checked_at + HOUR
        engine = open_engine(case)
        engine.tidy()
        assert not caplog.records, "the last check was an hour ago"
        clock.now = checked_at + DAY
        for _ in range(2):
            with suppress(PicomemError):  # what has expired is archived, which needs the damaged index
                engine.tidy()
        engine.close()
        (said,) = caplog.messages
        assert "doctor --repair" in said, index

        caplog.clear()
        engine = open_engine(case)
        assert caplog.messages == [said]
        assert engine.doctor(repair=True).healthy
        engine.close()
        caplog.clear()
        engine = open_engine(case)
        engine.tidy()
        assert not caplog.records
        engine.close()
        for old in tmp_path.glob("case.db*"):
            old.unlink()
