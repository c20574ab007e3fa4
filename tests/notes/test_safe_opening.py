"""Nothing outside a folder is read through it (S9).

Outside lies one word. Whatever is built inside (links, hard links, FIFOs, sockets, folders of such) and whatever path
is asked for, the word never comes back; and what is honestly inside does.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.amounts import amount
from tests.cases import each_case

from picomem.errors import InvalidInput, NotFound, PicomemError
from picomem.notes import safe_opening
from picomem.notes.safe_opening import LARGEST, listing, parts_of, read

pytestmark = pytest.mark.reliability("S9")

WORD = b"zqsecretzq"
PATHS = amount(150, 5_000)
RACES = amount(300, 10_000)

needs_openat = pytest.mark.skipif(not safe_opening.RELATIVE, reason="no openat here")

_NAMES = st.sampled_from(["a", "b", "c.md", "d.md", "memory"])
_KINDS = st.sampled_from(
    ["file", "folder", "link to file", "link to folder", "link to sibling", "hard link", "fifo", "socket", "loop"]
)
_PIECES = st.one_of(
    _NAMES,
    st.sampled_from(["..", ".", "", "\0", "outside", "secret.md", "C:", "\\\\host\\share", "..\\..", "x" * 300, "~"]),
    st.text(max_size=6),
)


def _build(top: Path, plan: list[tuple[list[str], str]], secret: Path) -> None:
    """Make what the plan says under `top`; what cannot be made is left out."""
    for names, kind in plan:
        path = top.joinpath(*names)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _MAKERS[kind](path, secret)
        except OSError:
            continue


def _make_file(path: Path, _secret: Path) -> None:
    with path.open("xb") as made:  # into nothing that is there already: a FIFO would wait for a reader
        made.write(b"inside\n")


def _make_socket(path: Path, _secret: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


_MAKERS: dict[str, Callable[[Path, Path], None]] = {
    "file": _make_file,
    "folder": lambda path, _: path.mkdir(),
    "link to file": lambda path, secret: path.symlink_to(secret),
    "link to folder": lambda path, secret: path.symlink_to(secret.parent),
    "link to sibling": lambda path, secret: path.symlink_to(Path("..") / secret.parent.name),
    "hard link": lambda path, secret: path.hardlink_to(secret),
    "fifo": lambda path, _: os.mkfifo(path),
    "socket": _make_socket,
    "loop": lambda path, _: path.symlink_to(path.name),
}


def _read(folder: Path, name: str) -> bytes:
    try:
        return read(folder, parts_of(name))[0]
    except PicomemError:
        return b""


@needs_openat
@pytest.mark.requirement("O11")
@settings(max_examples=PATHS, suppress_health_check=list(HealthCheck))  # pyright: ignore[reportArgumentType]
@given(
    plan=st.lists(st.tuples(st.lists(_NAMES, min_size=1, max_size=3), _KINDS), max_size=8),
    asked=st.lists(_PIECES, min_size=1, max_size=6),
    absolute=st.booleans(),
)
@example(plan=[(["a"], "link to folder")], asked=["a", "secret.md"], absolute=False)
@example(plan=[(["c.md"], "hard link")], asked=["c.md"], absolute=False)
@example(plan=[(["c.md"], "fifo")], asked=["c.md"], absolute=False)
@example(plan=[], asked=["..", "outside", "secret.md"], absolute=False)
def test_no_path_leaves_the_folder(plan, asked, absolute):
    with tempfile.TemporaryDirectory() as name:
        top, secret = Path(name, "inside"), Path(name, "outside", "secret.md")
        top.mkdir()
        secret.parent.mkdir()
        secret.write_bytes(WORD)
        _build(top, plan, secret)
        wanted = str(secret) if absolute else "/".join(asked)
        for relative in (True, False):
            safe_opening.RELATIVE = relative
            try:
                assert WORD not in _read(top, wanted)
                for listed in listing(top, lambda _: True, lambda _: True):
                    assert WORD not in _read(top, "/".join(listed.parts))
                    assert not any(top.joinpath(*listed.parts[:end]).is_symlink() for end in range(1, 9))
            finally:
                safe_opening.RELATIVE = True


@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.requirement("O11")
def test_what_lies_inside_is_listed_and_read(relative, tmp_path, monkeypatch):
    monkeypatch.setattr(safe_opening, "RELATIVE", relative)
    (tmp_path / "memory" / "deep").mkdir(parents=True)
    (tmp_path / "memory" / "deep" / "日记 day.md").write_text("said")
    (tmp_path / "memory" / ".git").mkdir()
    (tmp_path / "memory" / ".git" / "hidden.md").write_text("hidden")
    (tmp_path / "memory" / "two\nlines.md").write_text("named so that it reads as two lines")
    files = list(listing(tmp_path, lambda _: True, lambda parts: parts[-1].endswith(".md")))
    assert [file.parts for file in files] == [("memory", "deep", "日记 day.md")]
    data, listed = read(tmp_path, files[0].parts)
    assert (data, listed) == (b"said", files[0])


@each_case(
    "name",
    (
        *("", "/etc/passwd", "../x.md", "a/../../x.md", "a//b.md", "./a.md", "a\0.md", "a\\b.md", ".hidden.md"),
        *("a/" * 30, "x" * 5_000, "a\n.md", "memory/"),
    ),
)
def test_what_is_no_name_of_ours_is_refused_with_a_sentence(name):
    with pytest.raises(InvalidInput, match="not the path of a note"):
        parts_of(name)


@needs_openat
@pytest.mark.parametrize("kind", ("link to file", "hard link", "fifo", "socket", "folder", "loop"))
def test_what_is_no_plain_file_is_refused_without_waiting(kind, tmp_path):
    secret = tmp_path / "outside" / "secret.md"
    secret.parent.mkdir()
    secret.write_bytes(WORD)
    _build(tmp_path / "inside", [(["c.md"], kind)], secret)
    with pytest.raises(InvalidInput):
        read(tmp_path / "inside", ("c.md",))


def test_a_file_that_is_too_large_or_missing_is_said(tmp_path):
    with (tmp_path / "a.md").open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(InvalidInput, match="larger than 4 MiB"):
        read(tmp_path, ("a.md",))
    with pytest.raises(NotFound):
        read(tmp_path, ("b.md",))
    with pytest.raises(NotFound):
        read(tmp_path / "nowhere", ("b.md",))
    assert list(listing(tmp_path / "nowhere", lambda _: True, lambda _: True)) == []


_SWAPPER = """
import os, sys
top, outside = sys.argv[1:]
here, away, link = (os.path.join(top, name) for name in ("memory", "away", "link"))
os.symlink(outside, link)
print("swapping", flush=True)
while True:
    os.rename(here, away)    # the folder goes,
    os.rename(link, here)    # a link to the outside takes its name,
    os.rename(here, link)
    os.rename(away, here)    # and all is as it was
    file, other = os.path.join(here, "secret.md"), os.path.join(here, "kept.md")
    os.rename(file, other)
    os.symlink(os.path.join(outside, "secret.md"), file)
    os.unlink(file)
    os.link(os.path.join(outside, "secret.md"), file)
    os.unlink(file)
    os.rename(other, file)
"""


@needs_openat
@pytest.mark.requirement("O11")
def test_swapping_the_folder_or_the_file_while_it_is_opened_gains_nothing(tmp_path):
    top, outside = tmp_path / "inside", tmp_path / "outside"
    (top / "memory").mkdir(parents=True)
    (top / "memory" / "secret.md").write_bytes(b"inside")
    outside.mkdir()
    (outside / "secret.md").write_bytes(WORD)
    assert _read(top, "memory/secret.md") == b"inside"
    with subprocess.Popen([sys.executable, "-c", _SWAPPER, top, outside], stdout=subprocess.PIPE) as swapper:
        try:
            assert swapper.stdout is not None
            swapper.stdout.readline()
            answers = [_read(top, "memory/secret.md") for _ in range(RACES)]
        finally:
            swapper.kill()
    assert set(answers) <= {b"", b"inside"}  # how often it is whole depends on who of the two is run
