"""Projects: a linked worktree belongs to its repository, and a `.git` file leads nowhere else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from picomem.engine.engine import Engine
from picomem.ingest.projects import project_of, repository_name
from picomem.records.scope import Scope


def git(*arguments: str, cwd: Path) -> None:
    who = ("-c", "user.name=Mia", "-c", "user.email=mia@example.org")
    subprocess.run(["git", *who, *arguments], cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path / "harbor"
    folder.mkdir()
    git("init", cwd=folder)
    git("commit", "--allow-empty", "-m", "Begin", cwd=folder)
    return folder


def test_a_worktree_and_its_repository_are_one_project(repository: Path) -> None:
    git("worktree", "add", "../fix-queue", cwd=repository)
    assert project_of(str(repository)) == "harbor"
    assert project_of(str(repository.parent / "fix-queue")) == "harbor"


def test_a_worktree_of_a_bare_repository_has_its_name(repository: Path) -> None:
    git("clone", "--bare", ".", "../quay.git", cwd=repository)
    git("worktree", "add", "../main-tree", cwd=repository.parent / "quay.git")
    assert project_of(str(repository.parent / "main-tree")) == "quay"


def test_a_worktree_that_is_gone_is_named_by_its_path(repository: Path) -> None:
    git("worktree", "add", "../fix-queue", cwd=repository)
    shutil.rmtree(repository.parent / "fix-queue")
    assert project_of(str(repository.parent / "fix-queue")) == "fix-queue"


@pytest.mark.parametrize(
    ("cwd", "content", "name"),
    [
        ("/home/mia/fix", b"gitdir: /home/mia/harbor/.git/worktrees/fix\n", "harbor"),
        ("/home/mia/fix", b"gitdir: ../harbor/.git/worktrees/fix\n", "harbor"),
        ("/home/mia/proj/main", b"gitdir: /home/mia/proj/.bare/worktrees/main\n", "proj"),
        ("/home/mia/harbor/lib", b"gitdir: ../.git/modules/lib\n", ""),
        ("/home/mia/fix", b"gitdir: /worktrees/fix\n", ""),
        ("/home/mia/fix", b"gitdir: " + b"../" * 5_000 + b"worktrees/fix\n", ""),
        ("/home/mia/fix", b"\x00\xff\xfe", ""),
        ("/home/mia/fix", b"", ""),
    ],
)
def test_the_name_is_told_from_the_pointer(cwd: str, content: bytes, name: str) -> None:
    assert repository_name(cwd, content) == name


def test_a_git_file_that_is_a_link_or_no_file_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"gitdir: /home/mia/harbor/.git/worktrees/fix\n")
    for name, make in {
        "link": lambda path: path.symlink_to(secret),
        "fifo": os.mkfifo,
        "folder": Path.mkdir,
    }.items():
        (tmp_path / name).mkdir()
        make(tmp_path / name / ".git")
        assert project_of(str(tmp_path / name)) == name


@pytest.mark.parametrize(
    "cwd", ["//server/share", "\\\\server\\data\\share", "relative/share", "/nowhere/share", "/a\x00b/share"]
)
def test_other_machines_and_names_of_no_file_are_not_opened(cwd: str) -> None:
    assert project_of(cwd) == "share"


def test_a_hit_says_in_which_worktree_it_was_said(open_engine: Callable[..., Engine], tmp_path: Path) -> None:
    from picomem.engine.upkeep import hit_sessions

    worktree = tmp_path / "fix-queue"
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {tmp_path}/harbor/.git/worktrees/fix-queue\n")
    row = {
        "type": "user", "uuid": "u1", "parentUuid": None, "cwd": str(worktree), "sessionId": "s1", "version": "2.1.330",
        "timestamp": "2026-04-07T09:00:00Z", "gitBranch": "fix", "isSidechain": False, "userType": "external",
        "message": {"role": "user", "content": "Where is the booking calendar?"},
    }  # fmt: skip
    (tmp_path / "s1.jsonl").write_text(json.dumps(row) + "\n")
    with open_engine() as engine:
        engine.ingest(tmp_path / "s1.jsonl")
        hits = engine.recall("booking calendar", scope=Scope("local", project="harbor")).hits
        assert [hit.project for hit in hits] == ["harbor"]
        assert [session.folder for session in hit_sessions(engine, hits)] == ["fix-queue"]
