"""A line of memory that names a file which is gone says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from picomem.injection.prompt_context import ProjectTree

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
    assert tree.contradicted(text) == ""


def test_a_link_is_not_followed(tree: ProjectTree, tmp_path: Path) -> None:
    (tmp_path / "src/out").symlink_to("/")
    assert tree.contradicted("see src/out/no/such/file") == ""


def test_a_file_in_the_place_of_a_folder_says_nothing(tree: ProjectTree, tmp_path: Path) -> None:
    (tmp_path / "src/auth/old").touch()
    assert tree.contradicted("src/auth/old/token.ts") == ""


def test_the_number_of_lookups_is_bounded(tree: ProjectTree) -> None:
    said = tree.contradicted(" ".join(f"src/auth/file{number}.ts" for number in range(10_000)))
    assert 0 < said.count(".ts") < 32


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Run the suite with npm run e2e", "no longer there: npm run e2e; here: bun.lock"),
        ("Run the suite with bun run test.", ""),
        ("Deploy with `make ship` on Thursdays", "no longer there: make ship"),
        ("Deploy with `make deploy`, and make sure it is green", ""),
        ("We use pnpm here", "here: bun.lock"),
        ("npm messes up the lock file, so bun", ""),
        ("Poetry locks the tool", ""),
    ],
)
@pytest.mark.requirement("X18")
def test_a_command_or_a_package_manager_that_the_folder_does_not_have_is_told(
    tree: ProjectTree, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "package.json").write_text('{"scripts": {"test": "vitest"}}')
    (tmp_path / "Makefile").write_text("NAME := x\n.PHONY: deploy\ndeploy: build\n\tship --all\nbuild:\n\tcc\n")
    (tmp_path / "bun.lock").touch()
    assert tree.contradicted(text) == said


@pytest.mark.parametrize("package", ["", "[]", '{"scripts": []', '{"name": "x"}', "[" * 100_000])
@pytest.mark.requirement("X18")
def test_a_file_that_cannot_be_read_contradicts_nothing(tree: ProjectTree, tmp_path: Path, package: str) -> None:
    (tmp_path / "package.json").write_text(package)
    (tmp_path / "Makefile").symlink_to("/etc/hostname")
    assert tree.contradicted("npm run e2e, then `make ship`") == ""
