"""A database is a file, or named by an address of a known kind; nothing else becomes a folder of that name."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Picomem

import picomem as library
from picomem.errors import InvalidInput

UNKNOWN = ("postgres:", "postgres://team@server/memory", "mysql://root:secret@server/memory", "sqlite:///memory.db")


def _is_one_sentence_about(text: str, address: str) -> bool:
    return (
        f"“{address.partition(':')[0]}:”" in text
        and "name a file" in text
        and "secret" not in text
        and len(text.strip().splitlines()) == 1
    )


@pytest.mark.requirement("X11")
@pytest.mark.parametrize("address", UNKNOWN)
def test_an_address_of_an_unknown_kind_is_an_error_and_makes_no_folder(
    picomem: Picomem, home: Path, address: str
) -> None:
    assert picomem("remember", "We meet on Tuesdays", "--db", "memory.db").code == 0
    for named in (
        picomem("remember", "We meet on Tuesdays", "--db", address),
        picomem("recall", "When do we meet?", env={"PICOMEM_DB": address}),
        picomem("doctor", env={"PICOMEM_DB": address}),
        picomem("backup", address, "--db", "memory.db"),
        picomem("install", "codex", "--dry-run", "--db", address),
    ):
        assert named.code == 2, (named.out, named.err)
        assert _is_one_sentence_about(named.err, address), named.err
    assert [path.name for path in home.iterdir() if ":" in path.name] == []


@pytest.mark.parametrize("address", UNKNOWN)
def test_the_library_refuses_an_address_of_an_unknown_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for named in (address, Path(address)):
        with pytest.raises(InvalidInput) as refused:
            library.open(named, embedder="none")
        assert _is_one_sentence_about(str(refused.value), address)
    assert list(tmp_path.iterdir()) == []


def test_a_file_whose_name_begins_like_an_address_is_named_with_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with library.open("./mysql:notes.db", embedder="none") as memory:
        memory.remember("We meet on Tuesdays")
    assert (tmp_path / "mysql:notes.db").is_file()
