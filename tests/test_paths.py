"""Files that a user or a setting names are read through one function, which neither waits nor reads without end."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from picomem.errors import InvalidInput, NotFound
from picomem.paths import (
    hold_database,
    named_path,
    read_regular,
    release_database,
    status_of,
    write_whole,
    written_whole,
)
from tests.cases import each_case

DEVICES = [path for path in ("/dev/zero", "/dev/null", "/dev/full") if os.path.exists(path)]


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_bytes(b"abc")
    (tmp_path / "link.md").symlink_to(file)
    assert read_regular(file, most=3) == b"abc"
    assert read_regular(tmp_path / "link.md", most=3) == b"abc"


@each_case("device", DEVICES)
def test_a_device_is_refused(device: str) -> None:
    with pytest.raises(InvalidInput, match="not a regular file"):
        read_regular(Path(device), most=100)


def test_a_pipe_without_a_writer_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="not a regular file"):
        read_regular(tmp_path / "pipe", most=100)


def test_a_folder_and_a_missing_file_are_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    with pytest.raises(InvalidInput, match="is a folder"):
        read_regular(tmp_path, most=100)
    for name in ("none", "dangling"):
        with pytest.raises(NotFound, match="There is no file"):
            read_regular(tmp_path / name, most=100)


def test_a_file_of_four_gigabytes_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(4 << 30)
    with pytest.raises(InvalidInput, match="larger than 1 MiB"):
        read_regular(tmp_path / "sparse", most=1 << 20)


@pytest.mark.parametrize("name", ["a" * 300, "a" * 300 + "/b", "nul\0byte", "lone\ud800surrogate", "x/" * 3000])
def test_a_name_that_no_file_can_have_is_an_error_of_ours(tmp_path: Path, name: str) -> None:
    with pytest.raises((InvalidInput, NotFound)):
        read_regular(tmp_path / name, most=100)
    with pytest.raises(InvalidInput):
        write_whole(tmp_path / name, "text")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_is_closed_to_us_is_named(tmp_path: Path) -> None:
    (tmp_path / "closed").touch(0o000)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_regular(tmp_path / "closed", most=100)


def test_a_home_that_does_not_exist_and_a_nul_are_errors_of_ours() -> None:
    assert named_path("~/notes") == Path.home() / "notes"
    with pytest.raises(InvalidInput, match="home"):
        named_path("~nobody-of-this-name/notes")
    with pytest.raises(InvalidInput, match="NUL"):
        named_path("a\0b")


def test_the_status_of_what_is_not_there_is_none(tmp_path: Path) -> None:
    assert status_of(tmp_path / "none") is None
    (tmp_path / "file").touch()
    assert status_of(tmp_path / "file" / "below") is None
    with pytest.raises(InvalidInput, match="too long"):
        status_of(tmp_path / ("a" * 300))


def test_an_open_database_is_neither_read_nor_replaced(tmp_path: Path) -> None:
    database = tmp_path / "memory.db"
    database.write_bytes(b"rows")
    (tmp_path / "memory.db-shm").write_bytes(b"locks")
    (tmp_path / "link").symlink_to(database)
    os.link(database, tmp_path / "other-name")
    hold_database(database, ("", "-shm"))
    hold_database(database, ("", "-shm"))
    release_database(database)  # held twice, released once
    try:
        for name in ("memory.db", "memory.db-shm", "link", "other-name"):
            with pytest.raises(InvalidInput, match="database"):
                read_regular(tmp_path / name, most=100)
        with pytest.raises(InvalidInput, match="database"):
            write_whole(database, "page")
        assert database.read_bytes() == b"rows"
    finally:
        release_database(database)
    assert read_regular(database, most=100) == b"rows"


def test_only_a_regular_file_is_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(InvalidInput):
            write_whole(tmp_path / name, "page")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "pipe"]


@pytest.mark.parametrize("kind", ["link", "second name", "loose link", "file"])
def test_what_lies_under_the_name_of_the_spare_is_neither_followed_nor_kept(tmp_path: Path, kind: str) -> None:
    victim, spare = tmp_path / "victim", tmp_path / f".page.md.{os.getpid()}"
    victim.write_text("mine")
    if kind == "link":
        spare.symlink_to(victim)
    elif kind == "second name":
        spare.hardlink_to(victim)
    elif kind == "loose link":
        spare.symlink_to(tmp_path / "elsewhere")
    else:
        spare.write_text("left by a process that was killed, and longer than the page")
    write_whole(tmp_path / "page.md", "page")
    assert (tmp_path / "page.md").read_text() == "page"
    assert not (tmp_path / "page.md").is_symlink()
    assert victim.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.md", "victim"]


def test_a_folder_under_the_name_of_the_spare_is_left_and_told_of(tmp_path: Path) -> None:
    spare = tmp_path / f".page.md.{os.getpid()}"
    spare.mkdir()
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_whole(tmp_path / "page.md", "page")
    assert [path.name for path in tmp_path.iterdir()] == [spare.name]


def test_a_private_file_is_private_from_its_beginning(tmp_path: Path) -> None:
    (tmp_path / f".page.md.{os.getpid()}").touch(0o666)
    before = os.umask(0)
    try:
        with written_whole(tmp_path / "page.md", private=True) as file:
            assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600
        assert stat.S_IMODE((tmp_path / "page.md").stat().st_mode) == 0o600
        write_whole(tmp_path / "public.md", "page")
        assert stat.S_IMODE((tmp_path / "public.md").stat().st_mode) == 0o666
    finally:
        os.umask(before)
