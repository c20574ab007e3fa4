"""X12: an edit of the record of changes from outside is seen, and nothing that picomem does looks like one.

The rows are edited with plain SQL in a write transaction that is rolled back, so that one record serves for all edits.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.amounts import amount
from tests.conftest import OpenEngine, SteppingClock
from tests.databases import Database
from tests.distinct_texts import distinct_text
from tests.engine_parts import change_settings, connector_of, resources_of

from picomem.clock import DAY
from picomem.engine.audience import note_injected
from picomem.engine.backup_files import back_up, restore
from picomem.engine.engine import Engine
from picomem.engine.record_chain import record_head, verify_record
from picomem.engine.transfers import export_lines, import_from
from picomem.errors import InvalidInput, NotFound, PicomemError
from picomem.health import record_check
from picomem.health.record_check import RecordCheck
from picomem.light_dataclass import replace
from picomem.operations.recall_views import jsonable
from picomem.operations.table import operation
from picomem.records.scope import Scope
from picomem.settings_tables import AuditSettings
from picomem.store.chain_key import key_file
from picomem.store.connector import Transaction, rolled_back
from picomem.store.sql_access import table_rows
from picomem.store.tables import audit
from picomem.transfer.import_format import import_format_named
from picomem.transfer.moving import move, planned_move

pytestmark = pytest.mark.requirement("X12")

TAMPERINGS = amount(1_000, 10_000)
COLUMNS = [
    *("id", "run", "at", "actor", "verb", "decision", "reason", "memory_id", "before", "after", "candidate", "undoes"),
    *("content_hash", "idempotency_key", "request_hash", "seq", "salt", "sealed", "link"),
]
NUMBERS = ("at", "before", "after", "seq")
USER = {"user": "local"}


class Sql:
    """Plain SQL on the record of changes."""

    def __init__(self, tx: Transaction, rng: random.Random) -> None:
        self.tx, self.rng = tx, rng

    def rows(self) -> list[dict[str, Any]]:
        names = [*COLUMNS, "row_hash"]
        text = f"SELECT {', '.join(names)} FROM changes WHERE user_id = :user ORDER BY seq"
        return [dict(zip(names, row, strict=True)) for row in table_rows(self.tx).rows_of(text, USER)]

    def run(self, text: str, **values: Any) -> None:
        table_rows(self.tx).put_rows(text, [{**USER, **values}])

    def update(self, row: dict[str, Any], **values: Any) -> None:
        written = ", ".join(f"{name} = :{name}" for name in values)
        self.run(f"UPDATE changes SET {written} WHERE user_id = :user AND id = :was", was=row["id"], **values)

    def insert(self, row: dict[str, Any]) -> None:
        names = ", ".join(row)
        self.run(f"INSERT INTO changes (user_id, {names}) VALUES (:user, {', '.join(f':{n}' for n in row)})", **row)

    def shift(self, since: int, by: int) -> None:
        self.run("UPDATE changes SET seq = -seq WHERE user_id = :user AND seq >= :since", since=since)
        self.run("UPDATE changes SET seq = :by - seq WHERE user_id = :user AND seq < 0", by=by)


def edit(sql: Sql) -> None:
    row, name = sql.rng.choice(sql.rows()), sql.rng.choice(COLUMNS)
    value = row[name]
    if name in NUMBERS:
        new = 1 if value is None else sql.rng.choice([value + 1_000, -value - 1])
    else:
        others = [other[name] for other in sql.rows() if other[name] not in (value, None)]
        new = sql.rng.choice([f"{value}x", f" {value}", "", *others[:20]])
        new = f"{new}." if new == value or name in ("id",) else new
    sql.update(row, **{name: new})


def delete(sql: Sql) -> None:
    row = sql.rng.choice(sql.rows())
    sql.run("DELETE FROM changes WHERE user_id = :user AND id = :id", id=row["id"])
    if sql.rng.random() < 0.5:
        sql.shift(row["seq"], -1)


def insert(sql: Sql) -> None:
    rows = sql.rows()
    row, place = dict(sql.rng.choice(rows)), sql.rng.randrange(-1, len(rows) + 2)
    if sql.rng.random() < 0.7:
        sql.shift(place, 1)
    sql.insert({**row, "id": sql.rng.randbytes(16).hex(), "seq": place})


def swap(sql: Sql) -> None:
    one, other = sql.rng.sample(sql.rows(), 2)
    if sql.rng.random() < 0.5:
        sql.update(one, seq=-1)
        sql.update(other, seq=one["seq"])
        sql.update(one, seq=other["seq"])
        return
    names = [name for name in COLUMNS if name not in ("id", "seq") and one[name] != other[name]]
    sql.update(one, **{name: other[name] for name in names})
    sql.update(other, **{name: one[name] for name in names})


def truncate(sql: Sql) -> None:
    sql.run("DELETE FROM changes WHERE user_id = :user AND seq > :last", last=sql.rng.randrange(len(sql.rows())))


def blank(sql: Sql) -> None:
    """A purge that nobody made."""
    salt = sql.rng.choice(["", *(row["salt"] for row in sql.rows() if row["salt"].startswith("="))])
    row = sql.rng.choice([row for row in sql.rows() if row["salt"] != salt])
    sql.update(row, reason="purged", candidate="", salt=salt, memory_id="", before=None, after=None)


def forget_turns(sql: Sql) -> None:
    """Another beginning of the record."""
    last = sql.rng.choice(sql.rows())
    turns = {"mac": "0" * 32, "turns": [[last["seq"], last["link"], 1, sql.rng.choice(["erased", "moved", "key"])]]}
    name, value = "turns of the record", sql.rng.choice(["", "{}", json.dumps(turns)])
    sql.run("DELETE FROM user_marks WHERE user_id = :user AND name = :name", name=name)
    sql.run(
        "INSERT INTO user_marks (user_id, name, value, row_hash) VALUES (:user, :name, :value, '')",
        name=name,
        value=value,
    )


@pytest.fixture
def recorded(engine: Engine, tmp_path: Path) -> tuple[Engine, Path]:
    """A record with undone, refused, redacted and erased changes, and its head."""
    transcript = tmp_path / "talk.jsonl"
    transcript.write_text(
        json.dumps({"role": "user", "content": "The otter lives in the old mill by the river"}) + "\n"
    )
    engine.ingest([transcript])
    for number in range(12):
        engine.remember(distinct_text("a", number), key=f"note_{number}")
        engine.revise(f"note_{number}", distinct_text("b", number))
    engine.forget("note_3")
    engine.undo(engine.changes(1)[0][0].id)
    with suppress(PicomemError):
        engine.remember("ok")
    engine.purge(session="talk")
    engine.remember(distinct_text("c"), key="last")
    path = tmp_path / "heads"
    path.write_text(record_check.line_of(record_head(engine)))
    return engine, path


def test_no_edit_of_the_record_with_plain_sql_stays_unseen(recorded: tuple[Engine, Path]) -> None:
    engine, heads = recorded
    assert verify_record(engine, heads).whole
    rng = random.Random(12)
    kinds: list[Callable[[Sql], None]] = [edit, edit, delete, insert, swap, truncate, blank, forget_turns]
    unseen: list[str] = []
    for number in range(TAMPERINGS):
        tampering = rng.choice(kinds)
        with rolled_back(connector_of(engine), Scope()) as tx:
            tampering(Sql(tx, rng))
            check = verify_record(engine, heads)
            if check.whole is not False or check.broken is None:
                unseen.append(f"{number} {tampering.__name__} {check}")
    assert unseen == []
    assert verify_record(engine, heads).whole


class Usage:
    """Takes random steps with a store, each of which may change the record, and keeps the heads."""

    def __init__(self, engine: Engine, open_engine: OpenEngine, folder: Path, seed: int, *, is_file: bool) -> None:
        self.engine, self.open_engine, self.folder = engine, open_engine, folder
        self.rng, self.is_file = random.Random(seed), is_file
        self.heads = folder / "heads"
        self.count = 0
        self.backups: list[Path] = []

    def step(self) -> str:
        """Take a step; what it was."""
        self.count += 1
        steps = [self.remember] * 4 + [
            self.revise,
            self.ask,
            self.forget,
            self.refuse,
            self.undo,
            self.import_export,
            self.scrub,
        ]
        steps += [self.purge_session, self.purge_old, self.purge_everything, self.move]
        steps += [self.back_up, self.restore] if self.is_file else []
        step = self.rng.choice(steps)
        try:
            step()
        except (PicomemError, IndexError) as error:  # nothing there to do it with yet
            return f"{step.__name__}: {error}"
        return step.__name__

    def check(self) -> RecordCheck:
        with suppress(NotFound), self.heads.open("a") as file:
            file.write(record_check.line_of(record_head(self.engine)))
        return verify_record(self.engine, self.heads if self.heads.stat().st_size else None)

    def remember(self) -> None:
        self.engine.remember(distinct_text("r", self.count), key=f"note_{self.rng.randrange(6)}")

    def revise(self) -> None:
        self.engine.revise(f"note_{self.rng.randrange(6)}", distinct_text("v", self.count))

    def ask(self) -> None:
        change_settings(self.engine, replace(self.engine.settings, audit=READS))
        _asked(self.engine)

    def forget(self) -> None:
        self.engine.forget(f"note_{self.rng.randrange(6)}")

    def refuse(self) -> None:
        self.engine.remember("ok")

    def undo(self) -> None:
        self.engine.undo(self.rng.choice(self.engine.changes(5))[0].id)

    def import_export(self) -> None:
        path = self.folder / f"export{self.rng.randrange(4)}.jsonl"
        if not path.exists():
            path.write_text("".join(line for line in export_lines(self.engine, "picomem")), "utf-8", newline="")
        import_from(self.engine, path, import_format_named("picomem"))
        path = self.folder / "graph.jsonl"
        entity = {
            "type": "entity",
            "name": "Ann",
            "entityType": "person",
            "observations": [distinct_text("i", self.count)],
        }
        path.write_text(json.dumps(entity) + "\n")
        import_from(self.engine, path, import_format_named("mcp-memory"))

    def scrub(self) -> None:
        """What a scrub does where the rules of today find a secret in a change."""
        change = self.rng.choice(self.engine.changes(5))[0]
        with connector_of(self.engine).write(Scope()) as tx:
            audit.rewrite_text(tx, Scope(), replace(change, reason="«redacted»"))

    def purge_session(self) -> None:
        path = self.folder / f"talk{self.count}.jsonl"
        path.write_text(
            json.dumps({"role": "user", "content": f"Please remember: {distinct_text('s', self.count)}"}) + "\n"
        )
        self.engine.ingest([path])
        self.engine.purge(session=path.stem)

    def purge_old(self) -> None:
        self.engine.purge(older_than=0 if self.rng.random() < 0.3 else 1)

    def purge_everything(self) -> None:
        self.engine.purge(everything=True)

    def back_up(self) -> None:
        self.backups.append(back_up(self.engine, self.folder / f"backup{self.count}.db").path)

    def restore(self) -> None:
        path = Path(connector_of(self.engine).name)
        resources_of(self.engine).open_store = partial(type(connector_of(self.engine)), chain_key=key_file(path))
        restore(self.engine, self.rng.choice(self.backups), purged=self.rng.choice(["again", "kept"]))
        self.engine = self.open_engine(path)

    def move(self) -> None:
        target = self.open_engine(self.folder / f"moved{self.count}.db")
        source = connector_of(self.engine)
        moved = move(source, connector_of(target), planned_move(source, None), self.engine.now())
        assert moved.is_complete
        self.engine = target


@pytest.mark.parametrize("seed", range(amount(12, 200)))
def test_nothing_that_picomem_does_looks_like_an_edit_of_the_record(
    seed: int, engine: Engine, open_engine: OpenEngine, tmp_path: Path, database: Database
) -> None:
    usage = Usage(engine, open_engine, tmp_path, seed, is_file=database.name == "sqlite")
    steps = [(usage.step(), usage.check()) for _ in range(40)]
    alarms = [(step, check) for step, check in steps if not check.whole]
    assert alarms == [], [step for step, _ in steps]


def test_a_head_goes_where_the_settings_say(engine: Engine, tmp_path: Path) -> None:
    engine.remember(distinct_text("a"), key="note")
    copied, handed = tmp_path / "copied", tmp_path / "handed"
    (tmp_path / "take.py").write_text(f"import sys; open({str(handed)!r}, 'w').write(sys.stdin.read())")
    audited = AuditSettings(head_file=str(copied), head_command=f"{sys.executable} {tmp_path / 'take.py'}")
    change_settings(engine, replace(engine.settings, audit=audited))
    engine.tidy()
    assert copied.read_text() == handed.read_text()
    assert verify_record(engine, copied).heads == 1


def test_a_head_that_nobody_signed_is_refused(recorded: tuple[Engine, Path]) -> None:
    engine, heads = recorded
    head = json.loads(heads.read_text())
    heads.write_text(json.dumps({**head, "at": "2020-01-01"}))
    with pytest.raises(InvalidInput, match="not as it was signed"):
        verify_record(engine, heads)


def test_the_first_broken_change_is_named_with_how_it_is_broken(recorded: tuple[Engine, Path]) -> None:
    engine, heads = recorded
    for edit_of, expected in (
        ("UPDATE changes SET actor = 'nobody' WHERE user_id = :user AND seq = 5", (5, "changed")),
        ("DELETE FROM changes WHERE user_id = :user AND seq = 5", (5, "removed")),
        (
            "UPDATE changes SET seq = CASE seq WHEN 5 THEN 8 ELSE 5 END WHERE user_id = :user AND seq IN (5, 8)",
            (5, "reordered"),
        ),
        ("DELETE FROM changes WHERE user_id = :user AND seq > 20", (21, "cut off")),
    ):
        with rolled_back(connector_of(engine), Scope()) as tx:
            table_rows(tx).put_rows(edit_of, [USER])
            broken = verify_record(engine, heads).broken
            assert broken is not None
            assert (broken.seq, broken.kind) == expected
    with rolled_back(connector_of(engine), Scope()) as tx:
        sql = Sql(tx, random.Random(1))
        row = sql.rows()[4]
        sql.shift(5, 1)
        sql.insert({**row, "id": "0" * 32})
        broken = verify_record(engine, heads).broken
        assert broken is not None
        assert (broken.seq, broken.kind) == (5, "inserted")


def test_without_its_key_a_record_is_not_verified_and_the_next_change_begins_it_anew(
    recorded: tuple[Engine, Path],
) -> None:
    engine, heads = recorded
    connector_of(engine).chain_key.path.unlink()
    check = verify_record(engine)
    assert check.whole is None
    assert "the key of the record is not there" in check.problem
    engine.remember(distinct_text("d"), key="later")
    check = verify_record(engine, heads)
    assert (check.whole, check.changes, check.begins_because, check.older_heads) == (True, 1, "key", 1)


def test_a_purge_names_the_links_that_stay(engine: Engine, tmp_path: Path) -> None:
    engine.remember(distinct_text("a"), key="note")
    before = record_head(engine)["changes"]["link"]
    purged = engine.purge(everything=True)
    assert purged.links == (before, record_head(engine)["changes"]["link"])
    assert verify_record(engine).whole


READS = AuditSettings(reads=True)


def _asked(engine: Engine, question: str = "Which tide?") -> None:
    """Ask as an agent does."""
    verb = operation("recall")
    verb.call(engine.acting_as("claude", agent=True), verb.request(query=question))


def _handouts(engine: Engine) -> list[tuple[str, str, list[str]]]:
    with connector_of(engine).read() as tx:
        rows = table_rows(tx).rows_of("SELECT actor, verb, ids FROM handouts WHERE user_id = :user ORDER BY seq", USER)
    return [(actor, verb, json.loads(ids)) for actor, verb, ids in rows]


def test_what_is_handed_to_an_agent_is_in_the_record_where_a_setting_says_so(engine: Engine) -> None:
    memory = engine.remember("The tide table hangs in the amber harbour", key="tide").memory
    _asked(engine)
    assert _handouts(engine) == []
    change_settings(engine, replace(engine.settings, audit=READS))
    engine.recall("Which tide?")
    assert _handouts(engine) == [], "a person asked"
    _asked(engine)
    note_injected(engine, "s1", [f"{memory.id} 5f"])
    engine.context("Which tide?")
    assert _handouts(engine) == [
        ("claude", "recall", [memory.id]),
        ("user:local", "prompt-context", [memory.id]),
        ("user:local", "prompt", [memory.id]),
    ]
    assert verify_record(engine).handouts == 3


def test_an_edit_of_what_was_handed_out_is_seen_and_retention_is_none(
    engine: Engine, clock: SteppingClock, tmp_path: Path
) -> None:
    engine.remember("The tide table hangs in the amber harbour", key="tide")
    change_settings(engine, replace(engine.settings, audit=READS))
    heads = tmp_path / "heads"
    for _ in range(6):
        _asked(engine)
        clock.now += 40 * DAY
        engine.tidy()
        with heads.open("a") as file:
            file.write(record_check.line_of(record_head(engine)))
        check = verify_record(engine, heads)
        assert check.whole, check
    assert len(_handouts(engine)) == check.handouts == 2  # of the last 90 days
    for text in (
        "UPDATE handouts SET ids = '[]' WHERE user_id = :user AND seq = 6",
        "UPDATE handouts SET actor = 'nobody' WHERE user_id = :user AND seq = 6",
        "DELETE FROM handouts WHERE user_id = :user AND seq = 5",
        "DELETE FROM handouts WHERE user_id = :user",
    ):
        with rolled_back(connector_of(engine), Scope()) as tx:
            table_rows(tx).put_rows(text, [USER])
            broken = verify_record(engine, heads).broken
            assert broken is not None
            assert broken.record == "handouts"
    engine.purge(everything=True)
    assert _handouts(engine) == []
    assert verify_record(engine, heads).whole


def test_the_commands_say_in_words_and_by_their_exit_code_whether_the_record_is_whole(
    recorded: tuple[Engine, Path],
) -> None:
    engine, heads = recorded
    verify, head = operation("audit-verify"), operation("audit-head")
    result = verify.call(engine, verify.request(head=str(heads)))
    assert (verify.exit_code(result), result.whole, result.first_broken, result.head) == (0, True, None, "matched")
    assert "Whole:" in str(verify.presentation(result))
    heads.write_text(json.dumps(jsonable(head.call(engine, head.request())), indent=2))
    with rolled_back(connector_of(engine), Scope()) as tx:
        table_rows(tx).put_rows("DELETE FROM changes WHERE user_id = :user AND seq > 20", [USER])
        result = verify.call(engine, verify.request(head=str(heads)))
        assert (verify.exit_code(result), result.whole, result.head) == (1, False, "broken")
        assert (result.first_broken.seq, result.first_broken.kind) == (21, "cut off")
        assert "Not whole: change 21 is not the one of the signed head" in str(verify.presentation(result))
    connector_of(engine).chain_key.path.unlink()
    result = verify.call(engine, verify.request())
    assert (verify.exit_code(result), result.whole) == (1, None)
