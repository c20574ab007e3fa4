"""A line of memory that names a file which is gone says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from picomem.injection.project_tree import ProjectTree

LINES = ["## What holds", "- Tokens are made in src/auth/token.ts.", "- Lunch is at noon", "", "- Dates are UTC"]


@pytest.fixture
def tree(tmp_path: Path) -> ProjectTree:
    (tmp_path / "src/auth").mkdir(parents=True)
    return ProjectTree(str(tmp_path))


def test_a_line_that_names_a_file_which_is_gone_says_so_and_goes_behind_its_list(tree: ProjectTree) -> None:
    assert tree.checked(LINES) == [
        "## What holds",
        "- Lunch is at noon",
        "- Tokens are made in src/auth/token.ts. [no longer there: src/auth/token.ts]",
        "",
        "- Dates are UTC",
    ]


def test_a_line_that_names_a_file_which_is_there_stays_as_it_is(tree: ProjectTree, tmp_path: Path) -> None:
    (tmp_path / "src/auth/token.ts").touch()
    assert tree.checked(LINES) == LINES


@pytest.mark.parametrize(
    "text", ["either/or", "https://src/auth/x", "~/src/auth/x", "/src/auth/x", "src/../../etc/x", "lib/auth.ts", "a.ts"]
)
def test_of_a_path_that_does_not_begin_in_the_folder_nothing_is_said(tree: ProjectTree, text: str) -> None:
    assert tree.gone_from(text) == []


def test_a_link_is_not_followed(tree: ProjectTree, tmp_path: Path) -> None:
    (tmp_path / "src/out").symlink_to("/")
    assert tree.gone_from("see src/out/no/such/file") == []


def test_a_file_in_the_place_of_a_folder_says_nothing(tree: ProjectTree, tmp_path: Path) -> None:
    (tmp_path / "src/auth/old").touch()
    assert tree.gone_from("src/auth/old/token.ts") == []


def test_the_number_of_lookups_is_bounded(tree: ProjectTree) -> None:
    gone = tree.gone_from(" ".join(f"src/auth/file{number}.ts" for number in range(10_000)))
    assert 0 < len(gone) < 32
