"""R14: a backup that is made while others write is a snapshot, and a restore loses nothing in silence.

The real operations on real files: writers are processes of their own, which acknowledge each key on a pipe.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.amounts import amount
from tests.engine_parts import connector_of
from tests.programs import start
from tests.sealed_stores import stored_bytes

from picomem.app import open_engine as open_app_engine
from picomem.clock import HOUR, iso
from picomem.engine.channel_contacts import accept, ask_to_pair, pairings, person_of
from picomem.engine.channel_contacts import revoke as revoke_sender
from picomem.engine.channel_log import Incoming
from picomem.engine.engine import Engine
from picomem.errors import Conflict, Corrupt, FilesMoved, InvalidInput, NotADatabase, NotFound, PicomemError, StoreError
from picomem.light_dataclass import asdict, replace
from picomem.operations.backups import BackupResult, RestoreResult
from picomem.operations.table import operation
from picomem.records.caller import PERMISSIONS
from picomem.records.session import NewMessage, Role
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings

pytestmark = [
    pytest.mark.reliability("R14"),
    pytest.mark.sqlite_file("copies the file, damages copies, and puts another in its place"),
]

CYCLES = amount(3, 200)
DAMAGED = amount(10, 200)
WRITERS = 2
SETTINGS = Settings(recall=RecallSettings(embedder="none", timezone="UTC"))
HARBOUR = "The amber harbour keeps its ledgers in a dry cellar"


def opened(path: Path, *, late: bool = False, user: str = "local") -> Engine:
    return open_app_engine(path, user=user, settings=SETTINGS, permissions=PERMISSIONS, late=late)


def back_up(path: Path, target: Path) -> BackupResult:
    with opened(path) as engine:
        verb = operation("backup")
        return verb.call(engine, verb.request(target=str(target)))


def restore(path: Path, backup: Path | str, **options: Any) -> RestoreResult:
    with opened(path, late=True) as engine:
        verb = operation("restore")
        return verb.call(engine, verb.request(backup=str(backup), **options))


def held(path: Path) -> dict[str, str]:
    """The memories of a store, by key; it has to be healthy."""
    with opened(path) as engine:
        assert engine.doctor().findings == []
        return {memory.key: memory.content for memory in engine.memories()}


def filled(path: Path) -> None:
    with opened(path) as engine:
        engine.remember(HARBOUR, key="harbour")
        engine.remember("Walnut orchards prefer quiet tractors and long winters", key="orchard", tags=["trees"])
        talk = path.with_name(f"{path.stem}-talk.jsonl")
        talk.write_text(json.dumps({"role": "user", "content": "Which of the seventeen violins was tuned?"}) + "\n")
        engine.ingest([talk])
        session = engine.sessions().create(title="Tuesday")
        engine.sessions().append(session.id, NewMessage(role=Role.USER, content="The velvet curtain hides the door"))


def everything(path: Path) -> object:
    """All that the verbs say of a store."""
    with opened(path) as engine:
        return (
            [asdict(memory) for memory in engine.memories(archived=True)],
            [asdict(hit) for hit in engine.timeline()],
            [asdict(change) for change, _ in engine.changes()],
            [asdict(engine.sessions().load(session.id)) for session, _ in engine.sessions().page().sessions],
            [asdict(hit) for hit in engine.recall("seventeen violins").hits],
            engine.index().text,
        )


def sentence(key: str) -> str:
    rng = random.Random(key)
    words = ["".join(rng.choices([f + s for f in "bdfgklmnprst" for s in "aeiou"], k=4)) for _ in range(5)]
    return f"{key} means that {words[0]} {words[1]} and {words[2]} {words[3]} make {words[4]}"


def acknowledge(said: dict[str, str]) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


def write() -> None:
    """The other process: in each store that a line names, remember without end and acknowledge each key, until that
    fails; the end of a store is why."""
    for line in sys.stdin:
        path, prefix = json.loads(line)
        with opened(Path(path)) as engine:
            for number in count():
                key = f"{prefix}n{number}"
                try:
                    engine.remember(sentence(key), key=key)
                except StoreError as error:
                    acknowledge({"ended": error.code})
                    break
                acknowledge({"key": key})


class Writer:
    """A process that writes, to one store after the other."""

    def __init__(self, number: int) -> None:
        self.prefix = f"w{number}"
        self._process = start(__file__)
        self.acknowledged: list[str] = []
        self.ended = ""

    def begin(self, store: Path) -> None:
        self.acknowledged, self.ended = [], ""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([str(store), self.prefix]) + "\n")
        self._process.stdin.flush()

    def read(self, keys: int) -> None:
        """Read so many acknowledgements, fewer at the end; -1 reads to the end."""
        assert self._process.stdout is not None
        while keys and not self.ended:
            said = json.loads(self._process.stdout.readline())
            self.ended = said.get("ended", "")
            self.acknowledged += [said["key"]] if "key" in said else []
            keys -= 1

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture
def writers() -> Iterator[list[Writer]]:
    started = [Writer(number) for number in range(WRITERS)]
    yield started
    for writer in started:
        writer.close()


@pytest.mark.timeout(amount(120, 7_200))
@pytest.mark.requirement("X10")
def test_a_backup_made_while_others_write_is_a_snapshot_and_a_restore_among_them_loses_nothing_in_silence(
    tmp_path: Path, writers: list[Writer]
) -> None:
    rng = random.Random(14)
    for cycle in range(CYCLES):
        folder = tmp_path / str(cycle)
        folder.mkdir()
        store = folder / "memory.db"
        with opened(store) as engine:
            engine.remember("The sentinel stands at the gate", key="sentinel")
        for writer in writers:
            writer.begin(store)
        for writer in writers:
            writer.read(rng.randint(1, 12))
        before = [key for writer in writers for key in writer.acknowledged]
        backup = Path(back_up(store, folder).path)
        with opened(store) as engine:
            engine.remember("The second sentinel came after the backup", key="afterwards")
        for writer in writers:
            writer.read(rng.randint(0, 6))
        done = restore(store, backup)
        for writer in writers:
            writer.read(-1)
        assert [writer.ended for writer in writers] == [FilesMoved.code] * WRITERS

        restored, kept = held(store), held(Path(done.kept))
        assert restored.pop("sentinel")
        assert "afterwards" not in restored
        assert set(before) <= restored.keys(), f"cycle {cycle}: acknowledged before the backup, and not in it"
        for number in range(WRITERS):
            own = {key for key in restored if key.startswith(f"w{number}n")}
            assert own == {f"w{number}n{place}" for place in range(len(own))}, f"cycle {cycle}: the backup has a gap"
        assert all(text == sentence(key) for key, text in restored.items())
        acknowledged = {key for writer in writers for key in writer.acknowledged}
        assert acknowledged | {"afterwards", "sentinel"} <= kept.keys(), f"cycle {cycle}: acknowledged, and in neither"
        shutil.rmtree(folder)


@pytest.mark.timeout(amount(120, 7_200))
def test_a_damaged_backup_is_refused_or_restores_what_it_held(tmp_path: Path) -> None:
    rng = random.Random(15)
    source, store, damaged = tmp_path / "source.db", tmp_path / "memory.db", tmp_path / "damaged.db"
    filled(source)
    backup = Path(back_up(source, tmp_path / "backup.db").path)
    content, expected = backup.read_bytes(), everything(source)
    outcomes = {"refused": 0, "restored": 0}
    for case in range(DAMAGED):
        with opened(store) as engine:
            engine.remember("A bronze lighthouse warns the herring fleet", key="lighthouse")
        before = everything(store)
        if case % 5 == 4:
            damaged.write_bytes(content[: rng.randrange(len(content))])
        else:
            flipped = bytearray(content)
            for _ in range(1 << rng.randrange(8)):  # much of a small file is free space, where nothing is harmed
                flipped[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
            damaged.write_bytes(flipped)
        try:
            restore(store, damaged, keep_purged=True)
        except PicomemError:
            outcomes["refused"] += 1
            assert everything(store) == before, f"case {case}: refused, and the store is another"
        else:
            outcomes["restored"] += 1
            assert everything(store) == expected, f"case {case}: a damaged backup was restored in silence"
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == [], f"case {case}"
        for path in tmp_path.glob("memory.db*"):
            path.unlink()
    assert outcomes["refused"] > DAMAGED // 4, outcomes


def test_verify_says_what_is_wrong_and_changes_nothing(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    filled(store)
    backup = Path(back_up(store, tmp_path / "backup.db").path)
    done = restore(store, backup, verify=True)
    assert (done.state, done.problems, done.checked["memories"]) == ("verified", [], 2)
    with opened(backup) as engine:  # a row that was edited by hand, in a file that is whole
        from tests.sqlite_file import connection_of

        connection_of(engine).execute(
            "UPDATE memories SET content = 'Walnut orchards prefer noise' WHERE key = 'orchard'"
        )
    before = everything(store)
    done = restore(store, backup, verify=True)
    assert done.state == "damaged"
    assert any("orchard" in problem and "does not match its hash" in problem for problem in done.problems)
    with pytest.raises(Corrupt, match="nothing was restored"):
        restore(store, backup)
    assert everything(store) == before
    assert restore(store, backup, despite_damage=True).state == "restored"


@pytest.mark.parametrize(
    ("content", "error"),
    [(None, NotFound), (b"", NotADatabase), (b"not a database, " * 100, NotADatabase)],
    ids=["missing", "empty", "another file"],
)
def test_what_is_no_backup_is_refused(content, error, tmp_path: Path) -> None:
    store, backup = tmp_path / "memory.db", tmp_path / "backup.db"
    filled(store)
    if content is not None:
        backup.write_bytes(content)
    for options in ({}, {"verify": True}, {"dry_run": True}):
        with pytest.raises(error):
            restore(store, backup, **options)
    assert held(store).keys() == {"harbour", "orchard"}


def test_a_store_is_no_backup_of_itself(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    filled(store)
    with pytest.raises(InvalidInput, match="is the store itself"):
        restore(store, store)


def test_a_backup_overwrites_no_file_and_is_private(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    filled(store)
    before = os.umask(0)
    try:
        backup = Path(back_up(store, tmp_path).path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    content = backup.read_bytes()
    for taken in (backup, store):
        with pytest.raises(InvalidInput, match="exists already"):
            back_up(store, taken)
    assert backup.read_bytes() == content
    with pytest.raises(InvalidInput, match="cannot be written"):
        back_up(store, tmp_path / "missing" / "backup.db")


@pytest.mark.parametrize("old", ["none", "damaged", "another file"])
def test_a_restore_needs_no_store_that_can_be_opened(old: str, tmp_path: Path) -> None:
    store = tmp_path / "data" / "memory.db"
    source = tmp_path / "source.db"
    filled(source)
    backup = Path(back_up(source, tmp_path / "backup.db").path)
    if old != "none":
        filled(store)
    if old == "damaged":
        with open(store, "r+b") as file:
            file.seek(30)
            file.write(b"\xff" * 5_000)
    elif old == "another file":
        store.write_bytes(b"nothing of ours " * 100)
    content = store.read_bytes() if store.exists() else b""
    done = restore(store, backup)
    assert done.state == "restored"
    assert "is not known" in done.warnings[0]
    assert everything(store) == everything(source)
    if content:
        assert Path(done.kept).read_bytes() == content
    assert bool(done.kept) == (old != "none")


def test_a_second_restore_keeps_both_stores(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    filled(store)
    backup = Path(back_up(store, tmp_path / "backup.db").path)
    with opened(store) as engine:
        engine.remember("A bronze lighthouse warns the herring fleet", key="lighthouse")
    kept = [Path(restore(store, backup).kept) for _ in range(3)]
    assert len(set(kept)) == 3
    assert [("lighthouse" in held(path)) for path in kept] == [True, False, False]


def test_a_store_behind_a_link_stays_behind_it(tmp_path: Path) -> None:
    store = tmp_path / "disk" / "memory.db"
    filled(store)
    link = tmp_path / "memory.db"
    link.symlink_to(store)
    backup = Path(back_up(link, tmp_path / "backup.db").path)
    done = restore(link, backup)
    assert link.is_symlink()
    assert Path(done.kept).parent == store.parent
    assert held(link) == held(store)


def test_what_was_purged_since_comes_back_only_when_asked_for(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    filled(store)
    secret = "The zwyxquorvalp is kept under the pier"
    talk = tmp_path / "secret.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": f"{secret}. Remember that {secret.lower()}"}) + "\n")
    with opened(store) as engine:
        engine.ingest([talk])
    backup = Path(back_up(store, tmp_path / "backup.db").path)
    with opened(store) as engine:
        assert engine.purge(session="secret").finished
    before = everything(store)

    assert [purge.user for purge in restore(store, backup, dry_run=True).purges] == ["local"]
    with pytest.raises(Conflict, match=r"--purge-again .* --keep-purged"):
        restore(store, backup)
    assert everything(store) == before

    done = restore(store, backup, purge_again=True)
    assert done.erased["episodes"] == 1
    assert b"zwyxquorvalp" not in stored_bytes(store)
    assert held(store).keys() == {"harbour", "orchard"}
    with opened(store) as engine:
        assert engine.ingest([talk]).skipped == {"purged session": 1}  # the tombstone is there as well

    restore(store, backup, keep_purged=True)
    assert b"zwyxquorvalp" in stored_bytes(store)
    with pytest.raises(InvalidInput, match="either"):
        restore(store, backup, keep_purged=True, purge_again=True)


@pytest.mark.parametrize("choice", [{"everything": True}, {"older_than": 1}], ids=["everything", "an age"])
def test_every_kind_of_purge_is_done_again(choice: dict[str, Any], tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    with opened(store, user="mia") as engine:
        engine.remember("The southern ferry rusts beside the quay", key="ferry")
    filled(store)
    talk = tmp_path / "old.jsonl"
    line = {"role": "user", "content": "The zwyxquorvalp is kept under the pier", "timestamp": 1_700_000_000}
    talk.write_text(json.dumps(line) + "\n")
    with opened(store) as engine:
        engine.ingest([talk])
    backup = Path(back_up(store, tmp_path / "backup.db").path)
    with opened(store) as engine:
        assert engine.purge(**choice).finished
    restore(store, backup, purge_again=True)
    assert b"zwyxquorvalp" not in stored_bytes(store)
    assert held(store).keys() == (set() if "everything" in choice else {"harbour", "orchard"})
    with opened(store, user="mia") as engine:
        assert [memory.key for memory in engine.memories()] == ["ferry"]


def test_what_was_ingested_and_purged_since_stays_out(tmp_path: Path) -> None:
    """The backup never held it, and its transcript still lies there."""
    store = tmp_path / "memory.db"
    filled(store)
    backup = Path(back_up(store, tmp_path / "backup.db").path)
    talk = tmp_path / "later.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": "The zwyxquorvalp is kept under the pier"}) + "\n")
    with opened(store) as engine:
        engine.ingest([talk])
        engine.purge(session="later")
    restore(store, backup, purge_again=True)
    with opened(store) as engine:
        assert engine.ingest([talk]).skipped == {"purged session": 1}


def test_a_token_that_was_revoked_since_opens_nothing_after_a_restore(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    filled(store)
    make, revoke, listed, grant = (operation(name) for name in ("token-make", "token-revoke", "token-list", "grant"))
    with opened(store) as engine:
        grant.call(engine, grant.request(permission=("memory:read:global",)))
        kept, revoked = (make.call(engine, make.request(expires=iso(engine.now() + HOUR))) for _ in range(2))
    backup = Path(back_up(store, tmp_path / "backup.db").path)
    with opened(store) as engine:
        revoke.call(engine, revoke.request(id=revoked.id))
        grant.call(engine, grant.request(permission=("memory:read:global",), withdraw=True))
    assert restore(store, backup).access_taken_back == 2
    with opened(store) as engine:
        states = {token.id: token.state for token in listed.call(engine, listed.request()).tokens}
        assert states == {kept.id: "valid", revoked.id: "revoked"}
        assert grant.call(engine, grant.request()).granted == []


def test_a_sender_who_was_revoked_since_is_unknown_after_a_restore(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    filled(store)
    hello = Incoming(
        channel="whatsapp",
        account="main",
        conversation="direct",
        native_id="wamid.1",
        native_ids=(),
        address="",
        text="Hello",
        said_at=0,
    )
    people = {"ann": ("phone:1", "id:PT.A"), "bob": ("phone:2",), "cid": ("phone:3",)}
    with opened(store) as engine:
        for person, native_ids in people.items():
            ask_to_pair(engine, replace(hello, native_ids=native_ids))
            accept(engine, pairings(engine)[0].code, person)
    backup = Path(back_up(store, tmp_path / "backup.db").path)
    with opened(store) as engine:
        revoke_sender(engine, "ann", "phone:1")
        revoke_sender(engine, "bob")
    assert restore(store, backup).access_taken_back == 2
    with opened(store) as engine:
        known = [person_of(engine, replace(hello, native_ids=(one,))) for ids in people.values() for one in ids]
        assert known == ["", "ann", "", "cid"]


def test_a_purge_while_the_backup_is_made_ready_stops_the_restore(tmp_path: Path, monkeypatch) -> None:
    store = tmp_path / "memory.db"
    filled(store)
    backup = Path(back_up(store, tmp_path / "backup.db").path)
    from picomem.engine import backup_files

    replace = backup_files.replace_store

    def late_purge(*arguments: Any) -> Any:
        program = f"from picomem import open\nopen({str(store)!r}, embedder='none').purge(everything=True)"
        subprocess.run([sys.executable, "-c", program], check=True)
        return replace(*arguments)

    monkeypatch.setattr(backup_files, "replace_store", late_purge)
    with pytest.raises(Conflict, match="purged meanwhile"):
        restore(store, backup)
    assert held(store) == {}


STEPS = 5  # the index and the log aside, a second name, the new file, the folder


@pytest.mark.parametrize("step", range(STEPS + 1))
def test_a_restore_that_is_killed_leaves_the_old_store_or_the_new_one(step: int, tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    filled(store)
    backup = Path(back_up(store, tmp_path / "backup.db").path)
    with opened(store) as reader:  # so that there is a log to put aside
        reader.remember("A bronze lighthouse warns the herring fleet", key="lighthouse")
        child = os.fork()
        if child == 0:
            _restore_until(step, store, backup)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == (9 if step < STEPS else 0)
    if step == STEPS - 2:
        with pytest.raises(StoreError, match="has a second name"):
            held(store)
    else:
        assert ("lighthouse" in held(store)) == (step < STEPS - 1)
    kept = Path(restore(store, backup).kept)
    assert ("lighthouse" in held(kept)) == (step < STEPS - 1)
    assert "lighthouse" not in held(store)


def _restore_until(step: int, store: Path, backup: Path) -> None:
    """Restore, and end the process where the files' step of that number would come."""
    from picomem.store.files import replacing

    steps = iter(range(STEPS))

    def counted(function: Any) -> Any:
        def run(*arguments: Any) -> Any:
            if next(steps) == step:
                os._exit(9)
            return function(*arguments)

        return run

    try:
        os.link = counted(os.link)
        Path.rename = counted(Path.rename)
        Path.replace = counted(Path.replace)
        replacing.sync_folder = counted(replacing.sync_folder)
        restore(store, backup)
        os._exit(0)
    finally:
        os._exit(1)


def test_a_process_that_reads_for_long_keeps_a_store_from_being_replaced(tmp_path: Path, monkeypatch) -> None:
    from picomem.store.files import replacing

    store = tmp_path / "memory.db"
    filled(store)
    backup = Path(back_up(store, tmp_path / "backup.db").path)
    monkeypatch.setattr(replacing, "BUSY_MILLISECONDS", 50)
    with opened(store) as reader, connector_of(reader).read() as tx:
        from picomem.store import row_counts

        row_counts.episodes(tx, reader.scope)  # a snapshot from before the next change
        with opened(store) as engine:
            engine.remember("A bronze lighthouse warns the herring fleet", key="lighthouse")
        with pytest.raises(StoreError, match="being read by another process"):
            restore(store, backup)
    assert "lighthouse" in held(store)
    assert restore(store, backup).state == "restored"


if __name__ == "__main__":
    write()


@pytest.mark.parametrize("name", ["backups", "backups/", "copies.db/"])
def test_a_folder_that_is_not_there_is_no_name_of_a_file(tmp_path: Path, name: str) -> None:
    store, verb = tmp_path / "memory.db", operation("backup")
    filled(store)
    with (
        opened(store) as engine,
        pytest.raises(InvalidInput, match=r"There is no folder .*; make it with mkdir, or write .* such as \w+\.db\."),
    ):
        verb.call(engine, verb.request(target=f"{tmp_path}/{name}"))
    assert not (tmp_path / name.strip("/")).exists()
