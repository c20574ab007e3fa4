"""A disk that is really full: nothing that was stored is lost, and what is to be erased can be (R6).

The disk is a tmpfs of its own, which only root can mount.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.amounts import amount
from tests.sealed_stores import stored_bytes
from tests.sqlite_file import connection_of

from picomem.engine.engine import Engine
from picomem.errors import DiskFull
from picomem.store.files import ballast

pytestmark = [
    pytest.mark.reliability("R6"),
    pytest.mark.sqlite_file("fills the disk that the file is on"),
]

ROUNDS = amount(1, 100)
MEBIBYTE = 1 << 20

MakeDisk = Callable[[str], Path]


@pytest.fixture
def make_disk(tmp_path: Path) -> Iterator[MakeDisk]:
    """Mount a disk of that size ("8m") and give its folder."""
    mounted: list[Path] = []

    def _mount(size: str) -> Path:
        folder = tmp_path / f"disk{len(mounted)}"
        folder.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
            pytest.skip("a small disk can only be mounted by root")
        mounted.append(folder)
        return folder

    yield _mount
    for folder in mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _text(rng: random.Random) -> str:
    return " ".join("".join(rng.choices("bdfgklmnprstvzaeiou", k=9)) for _ in range(12))


def _fill(folder: Path) -> None:
    """Take every byte that is left."""
    with (folder / "filler").open("ab", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while file.write(bytes(size)):
                    pass
            except OSError:
                continue


def _grow(engine: Engine, folder: Path, rng: random.Random, size: int) -> None:
    """Read conversations until the database has so many bytes, one at least."""
    number = 0
    while not number or connection_of(engine).pragma("page_count") * 4096 < size:  # type: ignore[operator]
        number += 1
        lines = (json.dumps({"role": "user", "content": f"s{number} {_text(rng)}"}) + "\n" for _ in range(40))
        (folder / f"s{number}.jsonl").write_text("".join(lines))
        engine.ingest([folder / f"s{number}.jsonl"])


@pytest.mark.requirement("X5")
@pytest.mark.parametrize("seed", range(ROUNDS))
@pytest.mark.parametrize("mebibytes", [2, 8, 32])
def test_on_a_full_disk_nothing_is_lost_and_forgetting_and_purging_succeed(
    make_disk: MakeDisk, open_engine, tmp_path: Path, disagreements, mebibytes: int, seed: int
) -> None:
    rng = random.Random(f"{mebibytes} {seed}")
    disk = make_disk(f"{mebibytes}m")
    path = disk / "memory.db"
    engine = open_engine(path)
    _grow(engine, tmp_path, rng, min(mebibytes // 4 * MEBIBYTE, MEBIBYTE))
    engine.close()
    engine = open_engine(path)
    assert Path(f"{path}{ballast.SUFFIX}").stat().st_size > 0
    kept: dict[str, str] = {}
    _fill(disk)
    while True:
        key, text = f"k{len(kept)}", _text(rng)
        try:
            engine.remember(text, key=key)
        except DiskFull:
            break
        kept[key] = text
    engine.close()
    _fill(disk)

    engine = open_engine(path)
    assert {memory.key: memory.content for memory in engine.memories()} == kept
    secret = engine.timeline(limit=1)[0].text.split()[1]
    if kept:
        engine.forget("k0")
    purged = engine.purge(session=engine.timeline(limit=1)[0].session)
    assert purged.scan is not None
    assert (purged.unfinished, purged.scan.found, purged.scan.postings, purged.scan.unread) == ("", {}, 0, [])
    assert {memory.key for memory in engine.memories()} == kept.keys() - {"k0"}
    assert engine.doctor().findings == []
    engine.close()
    assert not any(secret.encode() in stored_bytes(file) for file in disk.glob("memory.db*"))
    assert disagreements(path) == []


@pytest.mark.requirement("X5")
def test_the_ballast_is_made_again_when_there_is_room(make_disk: MakeDisk, open_engine, tmp_path: Path) -> None:
    disk = make_disk("32m")
    path = disk / "memory.db"
    engine = open_engine(path)
    kept = Path(f"{path}{ballast.SUFFIX}")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert MEBIBYTE <= kept.stat().st_size < 2 * MEBIBYTE  # twice a new store, and at least that
    _grow(engine, tmp_path, random.Random(1), 2 * MEBIBYTE)
    engine.close()
    for _ in range(2):
        open_engine(path).close()
        assert kept.stat().st_size == 4 * MEBIBYTE
        assert ballast.give_up(path)


def test_a_store_that_there_was_no_room_to_make_is_not_called_damaged(make_disk: MakeDisk, open_engine) -> None:
    disk = make_disk("200k")
    for _ in range(2):
        with pytest.raises(DiskFull):
            open_engine(disk / "memory.db")
    subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)
    assert open_engine(disk / "memory.db").remember("The harbour crane is painted in May").memory.version == 1


@pytest.mark.requirement("X5")
def test_a_store_that_grew_since_it_was_opened_can_be_purged_on_a_full_disk(
    make_disk: MakeDisk, open_engine, tmp_path: Path
) -> None:
    disk = make_disk("16m")
    engine = open_engine(disk / "memory.db")
    _grow(engine, tmp_path, random.Random(1), 2 * MEBIBYTE)
    _fill(disk)
    secret = engine.timeline(limit=1)[0].text.split()[1]
    purged = engine.purge(session=engine.timeline(limit=1)[0].session)
    assert (purged.unfinished, purged.scan is not None and purged.scan.clean) == ("", True)
    assert not any(secret.encode() in stored_bytes(path) for path in disk.iterdir())
    assert engine.doctor().findings == []


@pytest.mark.requirement("X5")
def test_a_purge_that_there_is_no_room_to_finish_says_so_and_the_next_one_finishes_it(
    make_disk: MakeDisk, open_engine, tmp_path: Path
) -> None:
    disk = make_disk("6m")
    engine = open_engine(disk / "memory.db")
    _grow(engine, tmp_path, random.Random(1), MEBIBYTE)
    os.truncate(
        disk / f"memory.db{ballast.SUFFIX}", MEBIBYTE // 2
    )  # enough to delete, too little to write the file anew
    _fill(disk)
    purged = engine.purge(session=engine.timeline(limit=1)[0].session)
    assert "again" in purged.unfinished and not purged.finished
    (disk / "filler").unlink()
    assert engine.purge().finished
