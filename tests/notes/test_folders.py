"""The settings say where notes lie, and every note has one name."""

from __future__ import annotations

from pathlib import Path

import pytest

from picomem.errors import InvalidInput, NotFound
from picomem.notes.sections import place_of, places
from picomem.settings import load


def test_paths_come_from_the_file_as_a_list_and_from_the_environment_with_commas(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('[notes]\npaths = ["/a", "~/b"]\nextra_paths = ["/c.md"]\n')
    assert load({}, file).notes.paths == ("/a", "~/b")
    env = {"PICOMEM_NOTES_PATHS": "/d, /e"}
    notes = load(env, file).notes
    assert (notes.paths, notes.extra_paths) == (("/d", "/e"), ("/c.md",))
    assert load({"PICOMEM_NOTES_PATHS": ""}, file).notes.paths == ()


@pytest.mark.parametrize("value", ['"/a"', "[1]", "true", '["a"]'])
def test_what_is_no_list_of_absolute_paths_is_refused(value, tmp_path):
    file = tmp_path / "config.toml"
    file.write_text(f"[notes]\nextra_paths = {value}\n")
    with pytest.raises(InvalidInput):
        load({}, file)


@pytest.mark.requirement("O11")
def test_every_note_has_one_name_and_every_name_one_note(tmp_path):
    names = ["memory", "memory", "MEMORY.md", ".openclaw", "a\\b"]
    extra = [tmp_path / str(number) / name for number, name in enumerate(names)]
    for folder in extra:
        folder.mkdir(parents=True)
    known = places([str(tmp_path / "one"), str(tmp_path / "two" / "memory")], [str(folder) for folder in extra])
    labels = [place.label for place in known]
    assert len(set(labels)) == len(labels)
    assert labels[0] == ""
    for place in known:
        parts = ("memory", "x.md") if place.workspace else ("x.md",)
        assert place_of(place.name(parts), known) == (place, parts)


def test_of_a_workspace_only_its_memory_is_notes():
    known = places(["/w"], [])
    assert place_of("MEMORY.md", known)[1] == ("MEMORY.md",)
    assert place_of("memory/a/b.MD", known)[1] == ("memory", "a", "b.MD")
    for name in ("README.md", "memory.md", "docs/memory/a.md", "memory/a.txt", "memory", "MEMORY.md/x.md"):
        with pytest.raises(NotFound):
            place_of(name, known)


def test_an_extra_file_may_be_a_link_of_the_persons_own(tmp_path):
    real = tmp_path / "dotfiles" / "notes.md"
    real.parent.mkdir()
    real.write_text("x")
    (tmp_path / "NOTES.md").symlink_to(real)
    (tmp_path / "EVIL.md").symlink_to("/etc/passwd")
    link, other = places([], [str(tmp_path / "NOTES.md"), str(tmp_path / "EVIL.md")])
    assert (link.folder, link.only) == (real.parent, frozenset({"notes.md"}))
    assert not any(other.holds(parts) for parts in (("passwd",), ("EVIL.md",)))
    assert other.folder == Path("/etc")
