"""X12: a store is sealed, opened for good and given another key; no plaintext is left, and a kill leaves a store.

The real operations on real files. A process is killed before every change that it makes to a file or a name, and before
every statement.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import apsw
import pytest
from tests.amounts import amount
from tests.programs import forking
from tests.sqlite_file import connection_of

from picomem.app import open_engine as open_app_engine
from picomem.clock import DAY, system_clock
from picomem.engine.engine import Engine
from picomem.engine.store_sealing import Sealing
from picomem.engine.transcripts import keep_transcripts
from picomem.errors import Corrupt, InvalidInput, Sealed, StoreError, Unsupported
from picomem.operations.table import operation
from picomem.records.caller import PERMISSIONS
from picomem.settings import Settings
from picomem.settings_tables import IngestSettings, RecallSettings, StoreSettings
from picomem.store.files import daily_copies
from picomem.store.files.sealed_files import is_sealed

pytestmark = [
    pytest.mark.requirement("X12"),
    pytest.mark.sqlite_file("a server encrypts its disks itself"),
    pytest.mark.skipif(sys.platform == "win32", reason="it needs modes of files and SIGKILL"),
]

HARBOUR = "The amber harbour keeps its ledgers in a dry cellar"
ORCHARD = "Walnut orchards prefer quiet tractors and long winters"
KEY, OTHER_KEY = "ab" * 32, "cd" * 32
_CHANGES = ("os.rename", "os.remove", "os.link", "os.truncate", "os.mkdir", "os.chmod")


@pytest.fixture(autouse=True)
def _no_other_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PICOMEM_STORE_KEY", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    (tmp_path / "runtime").mkdir(mode=0o700)


def opened(path: Path, late: bool = False, /, **store: str) -> Engine:
    """A store, by default with the key file beside the test's folder."""
    settings = Settings(
        recall=RecallSettings(embedder="none", timezone="UTC"),
        store=StoreSettings(**(store or {"key_file": str(path.parent / "keys" / "store.key")})),
    )
    return open_app_engine(path, settings=settings, permissions=PERMISSIONS, late=late)


def run(name: str, path: Path, *, store: dict[str, str] | None = None, **options: Any) -> Sealing:
    with opened(path, True, **store or {}) as engine:
        verb = operation(name)
        return verb.call(engine, verb.request(**options))


def filled(path: Path, **store: str) -> None:
    with opened(path, **store) as engine:
        engine.remember(HARBOUR, key="harbour")
        engine.remember(ORCHARD, key="orchard", tags=["trees"])


def held(path: Path, **store: str) -> set[str]:
    """The memories of a store, which has to be healthy."""
    with opened(path, **store) as engine:
        assert engine.doctor().findings == []
        return {memory.content for memory in engine.memories()}


def plain_in(folder: Path) -> list[str]:
    """The files that hold a memory in plain."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return [file.name for file in files if any(text.encode() in file.read_bytes() for text in (HARBOUR, ORCHARD))]


@pytest.fixture
def plain(db: Path) -> Path:
    """A plain store, made before there was a key."""
    filled(db, key="")
    assert not is_sealed(db)
    return db


def test_a_store_is_sealed_and_no_file_holds_its_text_any_more(plain: Path) -> None:
    assert plain_in(plain.parent)
    result = run("encrypt", plain)
    assert (result.state, result.changed) == ("sealed", True)
    assert plain_in(plain.parent) == []
    assert held(plain) == {HARBOUR, ORCHARD}
    with opened(plain) as engine:
        engine.remember("Basalt columns were counted twice", key="basalt")
        backup = operation("backup").run(engine, operation("backup").request(target=str(plain.parent / "copy.db")))
        assert is_sealed(Path(backup.path))
        engine.recall("harbour")
        assert (Path(f"{plain}-wal")).stat().st_size > 0
        assert plain_in(plain.parent) == []  # nor its log


def test_daily_copies_are_removed_and_the_next_one_is_sealed(plain: Path) -> None:
    now = system_clock()
    daily_copies.make(plain, now)
    assert run("encrypt", plain).daily_copies_removed
    assert plain_in(plain.parent) == []
    with opened(plain) as engine:
        assert daily_copies.make(plain, now + DAY) is daily_copies.Damage.NONE
        newest = daily_copies.newest(plain)
        assert newest is not None
        assert is_sealed(newest)
        assert engine.doctor().findings == []


def test_a_store_that_a_restore_kept_is_sealed_with_it(plain: Path) -> None:
    with opened(plain, key="") as engine:
        operation("backup").run(engine, operation("backup").request(target=str(plain.parent / "copy.db")))
    run("restore", plain, store={"key": ""}, backup=str(plain.parent / "copy.db"))
    (plain.parent / "copy.db").unlink()
    result = run("encrypt", plain)
    assert len(result.others) == 1
    assert plain_in(plain.parent) == []
    rekeyed = run("rekey", plain)
    assert rekeyed.others == result.others
    assert held(Path(result.others[0])) == {HARBOUR, ORCHARD}


def test_files_that_hold_its_text_elsewhere_are_named(plain: Path) -> None:
    page = plain.parent / "MEMORY-INDEX.md"
    with opened(plain, key="") as engine:
        verb = operation("index")
        verb.call(engine, verb.request(export=str(page)))
    assert run("encrypt", plain).plain == [str(page)]


def test_a_key_is_in_no_message(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from picomem.store.files import copying

    monkeypatch.setattr(copying.Path, "as_uri", lambda path: f"file://{path}/nowhere")
    with pytest.raises(StoreError) as raised:
        run("encrypt", plain, store={"key": KEY})
    assert KEY not in "".join(traceback.format_exception(raised.value))
    monkeypatch.undo()
    assert held(plain, key="") == {HARBOUR, ORCHARD}


def test_a_plain_backup_does_not_open_a_sealed_store_for_good(plain: Path) -> None:
    with opened(plain, key="") as engine:
        operation("backup").run(engine, operation("backup").request(target=str(plain.parent / "copy.db")))
    run("encrypt", plain)
    run("restore", plain, backup=str(plain.parent / "copy.db"))
    assert is_sealed(plain)
    assert held(plain) == {HARBOUR, ORCHARD}


def test_a_decrypted_store_is_plain_and_its_key_is_kept(plain: Path) -> None:
    run("encrypt", plain)
    result = run("decrypt", plain)
    assert (result.state, result.changed) == ("plain", True)
    assert not is_sealed(plain)
    assert held(plain, key="") == {HARBOUR, ORCHARD}
    assert (plain.parent / "keys" / "store.key").exists()
    assert not run("decrypt", plain).changed


def test_after_a_rekey_the_old_key_opens_nothing(plain: Path) -> None:
    run("encrypt", plain)
    old = (plain.parent / "keys" / "store.key").read_text()
    run("rekey", plain)
    new = (plain.parent / "keys" / "store.key").read_text()
    assert len(new.split()) == 1
    assert new != old
    with pytest.raises(Sealed):
        opened(plain, key=old.strip())
    assert held(plain) == {HARBOUR, ORCHARD}


def test_a_key_that_picomem_cannot_change_is_replaced_by_one_in_a_file(db: Path) -> None:
    filled(db, key=KEY)
    with pytest.raises(Unsupported):
        run("rekey", db, store={"key": KEY})
    new = db.parent / "new.key"
    new.write_text(OTHER_KEY)
    new.chmod(0o600)
    run("rekey", db, store={"key": KEY}, new_key_file=str(new))
    assert held(db, key=OTHER_KEY) == {HARBOUR, ORCHARD}


@pytest.mark.parametrize("store", [{"key": OTHER_KEY}, {"key": ""}], ids=["wrong", "missing"])
def test_a_wrong_or_missing_key_is_one_sentence_and_no_damage(store: dict[str, str], db: Path) -> None:
    filled(db, key=KEY)
    before = db.read_bytes()
    with pytest.raises(Sealed, match=r"is sealed, and .*key.*\.$"):
        opened(db, **store)
    with opened(db, True, **store) as engine, pytest.raises(Sealed):
        engine.doctor(repair=True)
    for name in ("encrypt", "decrypt", "rekey"):
        with pytest.raises(Sealed):
            run(name, db, store=store)
    assert db.read_bytes() == before
    files = sorted(file.name for file in db.parent.iterdir() if file.is_file())
    assert files == [db.name, f"{db.name}-ballast", f"{db.name}.chain-key"]
    assert held(db, key=KEY) == {HARBOUR, ORCHARD}


def test_a_damaged_first_page_is_told_from_a_wrong_key_by_the_copies(db: Path) -> None:
    filled(db, key=KEY)
    daily_copies_of(db)
    content = bytearray(db.read_bytes())
    content[2_000] ^= 1
    db.write_bytes(content)
    with pytest.raises(Corrupt, match="picomem restore"):
        opened(db, key=KEY)
    with pytest.raises(Sealed):
        opened(db, key=OTHER_KEY)


def daily_copies_of(db: Path) -> None:
    with opened(db, key=KEY):
        assert daily_copies.make(db, system_clock()) is daily_copies.Damage.NONE


def test_a_running_program_stores_nothing_in_the_old_file(plain: Path) -> None:
    from picomem.errors import FilesMoved

    with opened(plain, key="") as engine:
        run("encrypt", plain)
        with pytest.raises(FilesMoved):
            engine.remember("Basalt columns were counted twice", key="basalt")
    assert held(plain) == {HARBOUR, ORCHARD}


def test_another_store_that_is_copied_over_an_open_sealed_one_is_noticed(db: Path, tmp_path: Path) -> None:
    from picomem.errors import FilesMoved

    other = tmp_path / "other" / "memory.db"
    filled(other, key=KEY)
    filled(db, key=KEY)
    with opened(db, key=KEY) as engine:
        with db.open("rb+") as file:
            file.write(other.read_bytes())
        with pytest.raises(FilesMoved):
            engine.remember("Basalt columns were counted twice", key="basalt")


# Erasing


def purge(path: Path, **options: Any) -> Any:
    with opened(path) as engine:
        verb = operation("purge")
        return verb.call(engine, verb.request(everything=True, yes=True, **options))


def test_a_purge_is_proved_on_the_decrypted_pages(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from picomem.store.sqlite.maintenance import SqliteMaintenance

    run("encrypt", plain)
    whole = purge(plain)
    assert (whole.scan.found, whole.scan.unread) == ({}, [])
    assert whole.scan.bytes > plain.stat().st_size * 0.9
    filled(plain)
    kept = SqliteMaintenance.leave_no_trace
    monkeypatch.setattr(SqliteMaintenance, "leave_no_trace", lambda *_: None)
    with opened(plain) as engine:  # and what is left in free pages is found there
        connection_of(engine).pragma("secure_delete", False)
        verb = operation("purge")
        assert list(verb.call(engine, verb.request(everything=True, yes=True)).scan.found) == [str(plain)]
        monkeypatch.setattr(SqliteMaintenance, "leave_no_trace", kept)


def test_a_purge_of_the_last_user_destroys_the_key(plain: Path) -> None:
    run("encrypt", plain)
    with opened(plain) as engine:
        backup = operation("backup").run(engine, operation("backup").request(target=str(plain.parent / "copy.db")))
    first = (plain.parent / "keys" / "store.key").read_text()
    result = purge(plain, destroy_key=True)
    assert "The key was destroyed" in result.key
    assert first not in (plain.parent / "keys" / "store.key").read_text()
    assert held(plain) == set()
    with pytest.raises(Sealed):
        opened(Path(backup.path))


def test_a_key_stays_while_others_have_memory_or_only_a_person_can_destroy_it(db: Path, plain: Path) -> None:
    run("encrypt", plain)
    with open_app_engine(
        plain, user="ann", settings=Settings(store=StoreSettings(key_file=str(db.parent / "keys" / "store.key")))
    ) as ann:
        ann.remember(HARBOUR, key="harbour")
    assert "others still have memory" in purge(plain, destroy_key=True).key
    given = db.with_name("given") / "memory.db"
    filled(given, key=KEY)
    with opened(given, key=KEY) as engine:
        verb = operation("purge")
        assert "cannot change" in verb.call(engine, verb.request(everything=True, yes=True, destroy_key=True)).key


# Where keys are kept


def test_a_key_file_that_others_can_read_is_refused(plain: Path) -> None:
    run("encrypt", plain)
    (plain.parent / "keys" / "store.key").chmod(0o640)
    with pytest.raises(Sealed, match="chmod 600"):
        opened(plain)


def test_a_key_comes_from_a_command_and_its_failure_is_said(db: Path) -> None:
    vault = db.parent / "vault"
    vault.write_text(KEY)
    filled(db, key_command=f"cat {vault}")
    assert held(db, key=KEY) == {HARBOUR, ORCHARD}
    with pytest.raises(Sealed, match="exit code"):
        opened(db, key_command=f"cat {vault}-gone")
    with pytest.raises(Sealed, match="no key: a key is 64"):
        opened(db, key_command="echo open sesame")


def test_a_key_in_the_keyring_is_made_and_changed(plain: Path) -> None:
    keyring = pytest.importorskip("keyring", reason="an extra")
    from keyring.backend import KeyringBackend

    class Dictionary(KeyringBackend):
        priority = 1  # type: ignore[assignment]
        kept: ClassVar[dict[tuple[str, str], str]] = {}

        def get_password(self, service: str, username: str) -> str | None:
            return self.kept.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            self.kept[service, username] = password

        def delete_password(self, service: str, username: str) -> None:
            del self.kept[service, username]

    before = keyring.get_keyring()
    keyring.set_keyring(Dictionary())
    try:
        run("encrypt", plain, store={"keyring": "memory"})
        first = dict(Dictionary.kept)
        assert held(plain, keyring="memory") == {HARBOUR, ORCHARD}
        run("rekey", plain, store={"keyring": "memory"})
        assert Dictionary.kept.keys() == first.keys()
        assert Dictionary.kept != first
        assert held(plain, keyring="memory") == {HARBOUR, ORCHARD}
    finally:
        keyring.set_keyring(before)


def test_another_file_whose_name_ends_so_is_no_wrapped_key(db: Path) -> None:
    db.parent.joinpath("ssh-key").write_text("none of ours")
    filled(db, key=KEY)
    assert held(db, key=KEY) == {HARBOUR, ORCHARD}


def test_no_copies_of_transcripts_are_made_of_a_sealed_store_for_they_would_be_plain(db: Path) -> None:
    settings = Settings(
        recall=RecallSettings(embedder="none"), ingest=IngestSettings(keep="all"), store=StoreSettings(key=KEY)
    )
    with open_app_engine(db, settings=settings) as engine:
        assert keep_transcripts(engine) is None


def test_nobody_said_where_the_key_is_to_be_kept(plain: Path) -> None:
    with pytest.raises(InvalidInput, match="key_file"):
        run("encrypt", plain, store={"key": ""})
    assert held(plain, key="") == {HARBOUR, ORCHARD}


@pytest.fixture
def picomem(db: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    environment = {**os.environ, "PICOMEM_DATA_DIR": str(tmp_path / "data"), "PICOMEM_RECALL_EMBEDDER": "none"}

    def call(*arguments: str, said: str = "", module: str = "picomem") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", module, *arguments]
        where = {} if module == "picomem" else {"PICOMEM_DB": str(db)}
        command += ["--db", str(db)] if module == "picomem" else []
        return subprocess.run(
            command, input=said, capture_output=True, text=True, env={**environment, **where}, check=False
        )

    return call


def test_a_pass_phrase_is_asked_for_once_and_a_hook_never_waits_for_it(
    picomem: Callable[..., subprocess.CompletedProcess[str]], plain: Path
) -> None:
    phrase = "four tall red horses\n"
    assert picomem("unlock", "--new", said=phrase).returncode == 0
    assert picomem("encrypt").returncode == 0
    assert plain_in(plain.parent) == []
    assert HARBOUR in picomem("recall", "harbour").stdout  # unlocked
    assert picomem("lock").returncode == 0
    locked = picomem("recall", "harbour")
    assert locked.returncode == Sealed.exit_code
    assert re.search("`picomem unlock --db .*` asks for the pass phrase", locked.stderr)
    event = '{"hook_event_name": "UserPromptSubmit", "prompt": "Where is the harbour?", "session_id": "a", "cwd": "/"}'
    hook = picomem(module="picomem.hooks.hook", said=event)
    assert (hook.returncode, hook.stdout.strip()) == (0, "{}")
    wrong = picomem("unlock", said="five tall red horses\n")
    assert wrong.returncode == Sealed.exit_code
    assert "not the pass phrase" in wrong.stderr
    assert picomem("unlock", said=phrase).returncode == 0
    assert "is locked" in picomem("status").stdout  # what the hook met
    assert picomem("rekey").returncode == 0
    assert picomem("lock").returncode == 0
    assert picomem("unlock", said=phrase).returncode == 0
    assert HARBOUR in picomem("recall", "harbour").stdout


# A kill at every step


def program(path: str, name: str, step: int) -> int:
    """Run an operation until that step, and kill this process there; the number of steps."""
    steps = 0

    def count(*_: object) -> bool:
        nonlocal steps
        steps += 1
        if steps == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def audit(event: str, arguments: tuple) -> None:
        is_made = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if event in _CHANGES or is_made:
            count()

    apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", count))
    sys.addaudithook(audit)
    run(name, Path(path))
    return steps


@pytest.fixture
def killed() -> Iterator[Callable[..., Any]]:
    with forking(__file__) as call:
        yield call


@pytest.mark.parametrize("name", ["encrypt", "decrypt", "rekey"])
def test_a_kill_at_any_step_leaves_the_old_store_or_the_new_one(
    name: str, killed: Callable[..., Any], tmp_path: Path
) -> None:
    def made(folder: str) -> Path:
        path = tmp_path / folder / "memory.db"
        filled(path, key="")
        if name != "encrypt":
            run("encrypt", path)
        return path

    steps = killed(str(made("calm")), name, 0)
    assert steps > 20
    for step in range(1, steps + 1, max(1, steps // amount(25, steps))):
        path = made(f"step-{step}")
        assert killed(str(path), name, step) is None, "it was not killed"
        assert held(path) == {HARBOUR, ORCHARD}, f"killed at step {step}"
        run(name, path)
        assert held(path) == {HARBOUR, ORCHARD}, f"killed at step {step}, and run again"
        assert is_sealed(path) is (name != "decrypt")
        if name != "decrypt":
            assert plain_in(path.parent) == []
            assert len((path.parent / "keys" / "store.key").read_text().split()) == 1
        assert [file.name for file in path.parent.iterdir() if file.name.startswith(".")] == []
