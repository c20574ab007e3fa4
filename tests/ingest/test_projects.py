"""Projects: a linked worktree belongs to its repository, and a `.git` file leads nowhere else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from tests.cases import each_case

from picomem.engine.engine import Engine
from picomem.engine.past_sessions import project_meant_in, project_of_folder
from picomem.errors import Conflict
from picomem.ingest.projects import (
    project_and_repository,
    project_of,
    remote_of,
    repository_of_pointer,
    stored_name,
)
from picomem.light_dataclass import replace
from picomem.operations.table import operation
from picomem.records.episode import KnownFolder
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


def test_a_submodule_and_its_worktrees_are_the_project_of_its_remote(repository: Path) -> None:
    """37 §1.1."""
    remote = "git@git.example.org:acme/harbor.git"
    git("remote", "add", "origin", remote, cwd=repository)
    quay = repository.parent / "quay"
    git("init", "-q", str(quay), cwd=repository)
    git("-c", "protocol.file.allow=always", "submodule", "add", str(repository), "libs/harbor", cwd=quay)
    submodule = quay / "libs" / "harbor"
    git("remote", "set-url", "origin", remote, cwd=submodule)
    git("worktree", "add", "../../fix", cwd=submodule)
    identities = {project_and_repository(str(folder)) for folder in (repository, submodule, quay / "fix")}
    assert identities == {("harbor", "git.example.org/acme/harbor")}
    forged = repository.parent / "forged"
    forged.mkdir()
    shutil.copy(submodule / ".git", forged / ".git")
    (forged / ".git").write_text(f"gitdir: {quay}/.git/modules/libs/harbor\n")
    assert project_and_repository(str(forged)) == ("forged", "")


def test_a_repository_that_lies_within_its_folder_is_the_folder_s(repository: Path) -> None:
    """37 §1.1."""
    inside = repository.parent / "inside"
    git("clone", "-q", "--bare", str(repository), str(inside / ".bare"), cwd=repository)
    git("remote", "set-url", "origin", "git@git.example.org:acme/inside.git", cwd=inside / ".bare")
    (inside / ".git").write_text("gitdir: ./.bare\n")
    git("worktree", "add", "main", cwd=inside)
    identities = {project_and_repository(str(folder)) for folder in (inside, inside / "main")}
    assert identities == {("inside", "git.example.org/acme/inside")}


def test_a_worktree_that_is_gone_is_named_by_its_path(repository: Path) -> None:
    git("worktree", "add", "../fix-queue", cwd=repository)
    shutil.rmtree(repository.parent / "fix-queue")
    assert project_of(str(repository.parent / "fix-queue")) == "fix-queue"


@each_case(
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
    assert repository_of_pointer(cwd, content)[0] == name


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


@each_case("cwd", ["//server/share", "\\\\server\\data\\share", "relative/share", "/nowhere/share", "/a\x00b/share"])
def test_other_machines_and_names_of_no_file_are_not_opened(cwd: str) -> None:
    assert project_of(cwd) == "share"


def test_a_hit_says_in_which_worktree_it_was_said(open_engine: Callable[..., Engine], tmp_path: Path) -> None:
    from picomem.engine.past_sessions import hit_sessions

    worktree = tmp_path / "fix-queue"
    worktree.mkdir()
    own = tmp_path / "harbor" / ".git" / "worktrees" / "fix-queue"
    own.mkdir(parents=True)
    (worktree / ".git").write_text(f"gitdir: {own}\n")
    (own / "gitdir").write_text(f"{worktree}/.git\n")
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


def test_a_subfolder_belongs_to_the_repository(repository: Path) -> None:
    git("worktree", "add", "../fix-queue", cwd=repository)
    for folder in (repository / "api" / "src", repository.parent / "fix-queue" / "api"):
        folder.mkdir(parents=True)
        assert project_of(str(folder)) == "harbor"
    assert project_of(str(repository / "gone" / "long ago")) == "harbor"


def test_a_home_folder_that_is_a_repository_has_no_other_folders(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(repository))
    (repository / "notes").mkdir()
    assert project_of(str(repository / "notes")) == "notes"
    assert project_of(str(repository)) == "harbor"


def test_clones_and_worktrees_of_one_remote_have_one_identity(repository: Path) -> None:
    git("clone", ".", "../harbor-two", cwd=repository)
    for folder, url in ((repository, "https://mia:s3cret@git.example.org/mia/harbor.git"),):
        git("remote", "add", "origin", url, cwd=folder)
    git("remote", "set-url", "origin", "git@git.example.org:mia/harbor", cwd=repository.parent / "harbor-two")
    git("worktree", "add", "../fix-queue", cwd=repository)
    for name in ("harbor", "harbor-two", "fix-queue"):
        assert project_and_repository(str(repository.parent / name))[1] == "git.example.org/mia/harbor"


@each_case(
    ("config", "expected"),
    [
        (
            '[remote "origin"]\n\turl = https://token@git.example.org:443/mia/harbor.git\n',
            "git.example.org/mia/harbor",
        ),
        ('[remote "origin"]\n\turl = ssh://git@Git.Example.org:22/mia/harbor/\n', "git.example.org/mia/harbor"),
        ('[remote "up"]\nurl=git@a.example:x/y.git\n[remote "origin"]\nurl=git@b.example:x/y.git\n', "b.example/x/y"),
        ('[remote "up"]\nurl=git@a.example:x/y.git\n', "a.example/x/y"),
        ('[remote "origin"]\nurl = /srv/git/harbor.git\n', "/srv/git/harbor"),
        ('[remote "origin"]\nurl = ../harbor\n', ""),
        ('[remote "origin"]\nurl = "/srv/my boats\n[remote "up"]\nurl=git@a.example:x/y.git\n', ""),
        ('[remote "origin"]\nurl = /srv/"my boats"/harbor\n', "/srv/my boats/harbor"),
        ('[remote "origin"]\nurl = "/srv/my boats/harbor.git" # the dock\n', "/srv/my boats/harbor"),
        ('[branch "main"]\nurl = git@a.example:x/y.git\n', ""),
        ("", ""),
    ],
)
def test_a_remote_is_known_by_host_and_path_alone(config: str, expected: str) -> None:
    assert remote_of(config) == expected


@each_case(
    "urls",
    [
        ("http://localhost:8001/team/px.git", "http://localhost:8002/team/px.git", "http://localhost/team/px.git"),
        ("ssh://git@host.example:2201/px", "ssh://git@host.example:2202/px", "git@host.example:px"),
        ("ann@host.example:proj.git", "bob@host.example:proj.git", "git@host.example:proj.git"),
        ("ssh://ann@host.example/~/proj", "ssh://bob@host.example/~/proj", "ssh://ann@host.example/proj"),
        ("https://host.example/?p=one.git", "https://host.example/?p=two.git", "https://host.example/"),
        tuple(f"https://host.example/{'a' * 500}/{name}" for name in ("one", "two")),
        ('"/srv/px \\"a\\" one"', '"/srv/px \\"a\\" two"', "/srv/px"),
        ("/srv/my\u2028tools/one", "/srv/my\u2028tools/two", "/srv/my"),
        ("/srv/my\\ttools/one", "/srv/my\\ttools/two", "/srv/my"),
    ],
)
def test_remotes_that_lead_to_other_repositories_are_told_apart(urls: tuple[str, ...]) -> None:
    assert len({remote_of(f'[remote "origin"]\nurl = {url}\n') for url in urls}) == len(urls)


@each_case(
    "urls",
    [
        ("https://host.example/mia/px.git", "git@host.example:mia/px", "ssh://git@HOST.example:22/mia/px/"),
        ("ann@host.example:proj.git", "ssh://ann@host.example/~/proj", "ssh://ann@host.example:/~ann/proj"),
        ("ann@host.example:/srv/px", "ssh://bob:s3cret@host.example/srv/px", "https://host.example:/srv/px"),
    ],
)
def test_remotes_of_one_repository_are_one(urls: tuple[str, ...]) -> None:
    assert len({remote_of(f'[remote "origin"]\nurl = {url}\n') for url in urls}) == 1


def test_a_password_in_a_remote_is_not_kept() -> None:
    for url in ("https://ann:s3cret@host.example:8443/~/px", "https://host.example/px?token=s3cret#s3cret"):
        assert "s3cret" not in remote_of(f'[remote "origin"]\nurl = {url}\n')


def test_a_folder_with_a_name_longer_than_the_system_takes_is_its_own_project() -> None:
    assert project_of("/srv/" + "a" * 5_000).startswith("aaaa")


def test_a_link_to_the_git_folder_of_another_repository_does_not_join_its_project(
    repository: Path, tmp_path: Path
) -> None:
    git("remote", "add", "origin", "git@git.example.org:mia/harbor", cwd=repository)
    visitor = tmp_path / "visitor"
    visitor.mkdir()
    (visitor / ".git").symlink_to(repository / ".git")
    assert project_and_repository(str(visitor)) == ("visitor", "")


def test_a_pointer_into_a_repository_that_does_not_point_back_reads_nothing_there(repository: Path) -> None:
    git("remote", "add", "origin", "git@git.example.org:mia/harbor", cwd=repository)
    git("worktree", "add", "../fix-queue", cwd=repository)
    forged = repository.parent / "forged"
    forged.mkdir()
    (forged / ".git").write_text(f"gitdir: {repository}/.git/worktrees/fix-queue\n")
    assert project_and_repository(str(forged)) == ("forged", "")


def _session(folder: Path, transcripts: Path, name: str, said: str) -> None:
    row = {
        "type": "user", "uuid": f"u{name}", "parentUuid": None, "cwd": str(folder), "sessionId": name,
        "timestamp": "2026-04-07T09:00:00Z", "gitBranch": "fix", "isSidechain": False, "userType": "external",
        "message": {"role": "user", "content": said},
    }  # fmt: skip
    (transcripts / f"{name}.jsonl").write_text(json.dumps(row) + "\n")


def _projects(engine: Engine) -> dict[str, str]:
    return {hit.session: hit.project for hit in engine.timeline()}


def test_a_worktree_that_was_deleted_later_keeps_its_project(engine: Engine, repository: Path, tmp_path: Path) -> None:
    git("worktree", "add", "../fix-queue", cwd=repository)
    worktree, transcripts = repository.parent / "fix-queue", tmp_path / "transcripts"
    transcripts.mkdir()
    _session(worktree, transcripts, "s1", "The first session.")
    engine.ingest(transcripts)
    shutil.rmtree(worktree)
    _session(worktree / "api", transcripts, "s2", "The second session.")
    engine.ingest(transcripts)
    assert _projects(engine) == {"s1": "harbor", "s2": "harbor"}


def test_a_second_clone_joins_the_project_of_the_first(engine: Engine, repository: Path, tmp_path: Path) -> None:
    git("remote", "add", "origin", "git@git.example.org:mia/harbor", cwd=repository)
    git("clone", ".", "../harbor-two", cwd=repository)
    clone, transcripts = repository.parent / "harbor-two", tmp_path / "transcripts"
    git("remote", "set-url", "origin", "https://git.example.org/mia/harbor.git", cwd=clone)
    transcripts.mkdir()
    _session(repository, transcripts, "s1", "The first session.")
    _session(clone, transcripts, "s2", "The second session.")
    engine.ingest(transcripts)
    assert _projects(engine) == {"s1": "harbor", "s2": "harbor"}


def _workdirs(tmp_path: Path, *remotes: str) -> list[Path]:
    """Folders of one name under other owners; with a remote they are repositories."""
    folders = [tmp_path / owner / "workdir" for owner in ("alpha", "beta")]
    for folder, remote in zip(folders, remotes or ("", ""), strict=True):
        folder.mkdir(parents=True)
        if remote:
            (folder / ".git").mkdir()
            (folder / ".git" / "config").write_text(
                f'[remote "origin"]\n\turl = https://git.example.org/{remote}.git\n'
            )
    return folders


@pytest.mark.parametrize(
    ("remotes", "second"),
    [
        ((), "workdir (beta/workdir)"),
        (("mia/alpha", "acme/beta"), "workdir (acme/beta)"),
        (("mia/workdir", "fork/workdir"), "workdir (fork/workdir)"),
    ],
)
def test_two_folders_of_one_name_are_two_projects(
    engine: Engine, tmp_path: Path, remotes: tuple[str, ...], second: str
) -> None:
    transcripts = tmp_path / "transcripts"
    transcripts.mkdir()
    alpha, beta = _workdirs(tmp_path, *remotes)
    _session(alpha, transcripts, "s1", "Please remember that the port of the scheduler is 7411.")
    _session(beta, transcripts, "s2", "Please remember that the port of the scheduler is 9022.")
    engine.ingest(transcripts)
    assert _projects(engine) == {"s1": "workdir", "s2": second}
    for project, own, other in (("workdir", "7411", "9022"), (second, "9022", "7411")):
        page = engine.index(scope=Scope("local", project=project)).text
        assert own in page and other not in page


def test_a_folder_is_one_project_before_it_is_a_repository_with_a_remote_and_after(
    engine: Engine, tmp_path: Path
) -> None:
    transcripts = tmp_path / "transcripts"
    transcripts.mkdir()
    alpha, clone = _workdirs(tmp_path)
    config = '[remote "origin"]\n\turl = https://git.example.org/mia/alpha.git\n'
    for name, folder, text in (
        ("s1", alpha, ""),
        ("s2", alpha, "[core]\n"),
        ("s3", alpha, config),
        ("s4", clone, config),
    ):
        if text:
            (folder / ".git").mkdir(exist_ok=True)
            (folder / ".git" / "config").write_text(text)
        _session(folder, transcripts, name, f"What is said in {name}?")
        engine.ingest(transcripts)
    assert set(_projects(engine).values()) == {"workdir"}


def test_a_link_to_a_folder_is_the_folder_s_project(engine: Engine, tmp_path: Path) -> None:
    transcripts = tmp_path / "transcripts"
    transcripts.mkdir()
    alpha, _ = _workdirs(tmp_path)
    (tmp_path / "here").symlink_to(alpha)
    for name, folder in (("s1", tmp_path / "here"), ("s2", alpha)):
        _session(folder, transcripts, name, f"What is said in {name}?")
        engine.ingest(transcripts)
    assert _projects(engine) == {"s1": "workdir", "s2": "workdir"}


def test_memories_of_a_folder_that_had_its_own_project_are_read_in_the_repository_s(
    engine: Engine, tmp_path: Path
) -> None:
    transcripts, api, other = tmp_path / "transcripts", tmp_path / "harbor" / "api", tmp_path / "quay" / "web"
    for folder in (transcripts, api, other):
        folder.mkdir(parents=True)
    _session(api, transcripts, "s1", "Where does the quayside scheduler keep its calendar?")
    _session(tmp_path / "harbor" / "web", transcripts, "s2", "Which colours has the page?")
    _session(other, transcripts, "s3", "Which colours has the other page?")
    engine.ingest(transcripts)
    local = Scope("local")
    engine.remember("The api listens on port 7411.", key="api_port", scope=replace(local, project="api"))
    engine.remember("The web page is blue.", key="page_colour", scope=replace(local, project="web"))
    (tmp_path / "harbor" / ".git").mkdir()
    (tmp_path / "harbor" / ".git" / "config").write_text("[core]\n")
    harbor = replace(local, project="harbor")
    assert not engine.recall("which port does the api listen on", scope=harbor).hits
    _session(api, transcripts, "s4", "And where does the crane keep its own?")
    _session(tmp_path / "harbor" / "web", transcripts, "s5", "And which shapes?")
    engine.ingest(transcripts)

    answer = engine.recall("which port does the api listen on", scope=harbor)
    assert [hit.key for hit in answer.hits if hit.source == "memory"] == ["api_port"]
    assert "port 7411" in engine.index(scope=harbor).text
    assert "blue" in engine.index(scope=harbor).text, "the other folder of that name is another project"
    assert {hit.session for hit in engine.timeline(scope=harbor)} == {"s1", "s2", "s4", "s5"}
    listed = operation("memories")
    keys = {memory.key for memory in listed.call(engine, listed.request(project="harbor")).memories}
    assert keys == {"api_port", "page_colour"}
    revised = engine.revise("api_port", content="The api listens on port 7412.", scope=harbor)
    assert revised.scope.project == "api"
    assert "port 7411" not in engine.index(scope=harbor).text
    assert not engine.index(scope=replace(local, project="quay")).entries


def test_a_name_that_fits_several_projects_is_told_with_all_of_them() -> None:
    known = [
        KnownFolder("/a", "workdir (acme/alpha)", "git.example.org/acme/alpha"),
        KnownFolder("/b", "workdir (acme/beta)", "git.example.org/acme/beta"),
    ]
    for folder in known:
        assert stored_name("workdir", [folder]) == folder.project
    with pytest.raises(Conflict, match=r"workdir \(acme/alpha\), workdir \(acme/beta\); give one of these names"):
        stored_name("workdir", known)


@pytest.mark.parametrize("is_repository", [False, True])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_folder_is_the_same_project_for_ingest_and_for_the_hook_in_either_form_of_its_name(
    form: Literal["NFC", "NFD"], is_repository: bool, open_engine: Callable[..., Engine], db: Path, tmp_path: Path
) -> None:
    folder, transcripts = tmp_path / unicodedata.normalize("NFD", "café"), tmp_path / "transcripts"
    folder.mkdir()
    transcripts.mkdir()
    if is_repository:
        git("init", "-q", cwd=folder)
        git("remote", "add", "origin", "git@git.example.org:mia/bistro", cwd=folder)
    _session(Path(unicodedata.normalize(form, str(folder))), transcripts, "s1", "The oven is lit at six.")
    engine = open_engine(db)
    engine.ingest(transcripts)
    expected = unicodedata.normalize("NFC", "café")
    assert _projects(engine) == {"s1": expected}
    assert project_of_folder(engine, str(folder)) == expected
    assert project_of_folder(engine, unicodedata.normalize("NFC", str(folder))) == expected


def test_two_folders_whose_names_differ_in_form_alone_are_two_projects(tmp_path: Path) -> None:
    composed, decomposed = (tmp_path / unicodedata.normalize(form, "café") for form in ("NFC", "NFD"))
    composed.mkdir()
    if decomposed.exists():
        pytest.skip("the file system knows one of them")
    decomposed.mkdir()
    first = KnownFolder(str(composed), *project_and_repository(str(composed)))
    second = KnownFolder(str(decomposed), *project_and_repository(str(decomposed), [first]))
    assert first.identity != second.identity
    assert first.project != second.project


def test_an_alias_of_a_remote_is_what_it_stands_for_in_this_repository(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    git("remote", "add", "origin", "work:harbor.git", cwd=repository)
    git("clone", "-q", ".", "../other", cwd=repository)
    other = repository.parent / "other"
    git("remote", "set-url", "origin", "work:harbor.git", cwd=other)
    git("config", "url.https://git.example.org/mia/boats/.insteadOf", "work:h", cwd=repository)
    (home / ".gitconfig").write_text('[url "git@git.example.org:olga/"]\n\tinsteadOf = work:\n')
    assert project_and_repository(str(repository))[1] == "git.example.org/mia/boats/arbor"
    assert project_and_repository(str(other))[1] == "git.example.org/olga/harbor"


def test_a_remote_that_may_lead_anywhere_or_has_a_blank_joins_nothing() -> None:
    urls = (
        "ext::ssh -i key git@a.example %S /one",
        "ext::ssh -i key git@a.example %S /two",
        "/srv/my boats/one",
        "/srv/my boats/two",
    )
    assert [remote_of(f'[remote "origin"]\n\turl = {url}\n') for url in urls] == ["", "", *urls[2:]]


def _become_repository(folder: Path, remote: str = "") -> None:
    """Put a new repository in a folder, in the place of one that is there."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / ".git", ignore_errors=True)
    (folder / ".git").mkdir()
    url = f'[remote "origin"]\n\turl = https://git.example.org/{remote}.git\n' if remote else "[core]\n"
    (folder / ".git" / "config").write_text(url)


def _become_link(folder: Path, target: Path) -> None:
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        folder.rename(folder.with_name("moved away"))
    folder.symlink_to(target)


def _become_worktree(folder: Path, repository: Path) -> None:
    own = repository / ".git" / "worktrees" / "fix"
    own.mkdir(parents=True)
    folder.mkdir(exist_ok=True)
    (folder / ".git").write_text(f"gitdir: {own}\n")
    (own / "gitdir").write_text(f"{folder}/.git\n")


@pytest.mark.parametrize("way", ["other remote", "no repository", "link", "worktree", "link to what was a folder"])
def test_a_folder_that_was_another_project_s_brings_nothing_of_it_along(
    engine: Engine, tmp_path: Path, way: str
) -> None:
    transcripts, folder = tmp_path / "transcripts", tmp_path / "place"
    alpha, beta = _workdirs(tmp_path, "mia/alpha", "acme/beta")
    transcripts.mkdir()
    stages: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "other remote": (
            lambda: _become_repository(folder, "mia/alpha"),
            lambda: _become_repository(folder, "acme/beta"),
        ),
        "no repository": (
            lambda: _become_repository(folder, "mia/alpha"),
            lambda: shutil.rmtree(folder / ".git"),
        ),
        "link": (lambda: _become_link(folder, alpha), lambda: _become_link(folder, beta)),
        "worktree": (lambda: _become_worktree(folder, alpha), lambda: _become_worktree(folder, beta)),
        "link to what was a folder": (folder.mkdir, lambda: _become_link(folder, beta)),
    }
    for become, name, port in zip(stages[way], ("s1", "s2"), ("7411", "9022"), strict=True):
        become()
        _session(folder, transcripts, name, f"Please remember that the port of the scheduler is {port}.")
        engine.ingest(transcripts)
    before, now = _projects(engine)["s1"], _projects(engine)["s2"]
    assert before != now == project_of_folder(engine, str(folder))
    for project, own, other in ((before, "7411", "9022"), (now, "9022", "7411")):
        scope = Scope("local", project=project)
        page = engine.index(scope=scope).text
        assert own in page and other not in page
        assert {hit.project for hit in engine.recall("the port of the scheduler", scope=scope).hits} == {project}


def test_a_folder_that_is_again_what_it_was_shares_nothing_with_what_it_linked_to(
    engine: Engine, tmp_path: Path
) -> None:
    transcripts, folder, other = tmp_path / "transcripts", tmp_path / "place", tmp_path / "other"
    for needed in (transcripts, folder, other):
        needed.mkdir()
    _session(folder, transcripts, "s1", "Please remember that the port of the scheduler is 7411.")
    engine.ingest(transcripts)
    _become_link(folder, other)
    _session(folder, transcripts, "s2", "Please remember that the crane is painted green.")
    engine.ingest(transcripts)
    folder.unlink()
    folder.mkdir()
    _session(folder, transcripts, "s3", "Please remember that the crane is painted blue.")
    engine.ingest(transcripts)
    assert _projects(engine) == {"s1": "place", "s2": "other", "s3": "place"}
    assert "7411" not in engine.index(scope=Scope("local", project="other")).text


def test_only_the_first_remote_of_a_folder_takes_over_what_was_said_before_it(engine: Engine, tmp_path: Path) -> None:
    transcripts, folder = tmp_path / "transcripts", tmp_path / "workdir"
    transcripts.mkdir()
    for name, remote, boat in (("s1", "", "ferry"), ("s2", "mia/alpha", "tug"), ("s3", "acme/beta", "barge")):
        _become_repository(folder, remote)
        _session(folder, transcripts, name, f"Please remember that the {boat} is painted green.")
        engine.ingest(transcripts)
    assert _projects(engine) == {"s1": "workdir", "s2": "workdir", "s3": "workdir (acme/beta)"}
    for remote, boats in (("mia/alpha", {"ferry", "tug"}), ("acme/beta", {"barge"})):
        _become_repository(tmp_path / remote, remote)
        page = engine.index(scope=Scope("local", project=project_of_folder(engine, str(tmp_path / remote)))).text
        assert {boat for boat in ("ferry", "tug", "barge") if f"The {boat} is painted" in page} == boats


def test_a_repository_whose_worktrees_alone_are_used_stays_one_project_when_it_gets_a_remote(
    engine: Engine, tmp_path: Path
) -> None:
    transcripts, folder = tmp_path / "transcripts", tmp_path / "fix-queue"
    transcripts.mkdir()
    for name, remote in (("s1", ""), ("s2", "mia/harbor"), ("s3", "mia/harbor")):
        _become_repository(tmp_path / "harbor", remote)
        _become_worktree(folder, tmp_path / "harbor")
        _session(folder, transcripts, name, f"What is said in {name}?")
        engine.ingest(transcripts)
    assert set(_projects(engine).values()) == {"harbor"}


def test_a_home_folder_that_is_reached_by_a_link_has_no_other_folders(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.symlink_to(repository)
    monkeypatch.setenv("HOME", str(home))
    (home / "notes").mkdir()
    assert project_of(str(home / "notes")) == project_of(str(repository / "notes")) == "notes"


def test_remotes_that_differ_in_bytes_that_are_no_utf_8_are_two(tmp_path: Path) -> None:
    folders = _workdirs(tmp_path, "alpha", "beta")
    for folder, end in zip(folders, (b"\xe8", b"\xe9"), strict=True):
        (folder / ".git" / "config").write_bytes(b'[remote "origin"]\nurl = /srv/caf' + end + b"\n")
    assert len({project_and_repository(str(folder))[1] for folder in folders}) == 2


def test_brackets_in_the_name_of_a_folder_are_part_of_the_name(engine: Engine, tmp_path: Path) -> None:
    transcripts, old, notes = tmp_path / "transcripts", tmp_path / "notes (old)", tmp_path / "x" / "notes"
    for folder in (transcripts, old, notes):
        folder.mkdir(parents=True)
    _session(old, transcripts, "s1", "Please remember that the port of the scheduler is 7411.")
    engine.ingest(transcripts)
    recall = operation("recall")
    for folder in (notes, tmp_path):
        named = project_meant_in(engine, str(folder), "notes")
        assert not recall.call(engine, recall.request(query="the port of the scheduler", project=named)).hits
    _session(notes, transcripts, "s2", "Please remember that the port of the scheduler is 9022.")
    engine.ingest(transcripts)
    assert _projects(engine) == {"s1": "notes (old)", "s2": "notes"}
    assert project_meant_in(engine, str(old), "notes") == "notes"


def test_a_folder_gets_no_name_by_which_the_project_of_another_is_meant(tmp_path: Path) -> None:
    known = [KnownFolder("/x/notes", "notes (x/notes)", "")]
    assert stored_name("notes", known) == "notes (x/notes)"
    assert project_of("/y/notes", known) == "notes (y/notes)"


@pytest.mark.parametrize(
    ("known", "place", "project"),
    [
        (("dock-a",), "dock-a", "dock-a"),
        (("dock-a",), "dock-b", ""),
        (("dock-a", "dock_a"), "dock-a", ""),
        ((), "dock-a", ""),
    ],
)
def test_a_session_of_claude_code_that_says_no_folder_belongs_to_the_one_that_its_place_tells(
    engine: Engine, tmp_path: Path, known: tuple[str, ...], place: str, project: str
) -> None:
    transcripts = tmp_path / ".claude" / "projects"
    for number, name in enumerate(known):
        (tmp_path / name).mkdir()
        own = transcripts / f"{number}"
        own.mkdir(parents=True)
        _session(tmp_path / name, own, f"k{number}", "What is said in the folder itself?")
    engine.ingest(transcripts)
    own = transcripts / re.sub(r"[^A-Za-z0-9]", "-", str(tmp_path / place))
    own.mkdir(parents=True)
    _session(Path(), own, "s1", "Please remember that the crane is painted green.")
    line = json.loads((own / "s1.jsonl").read_text())
    del line["cwd"]
    (own / "s1.jsonl").write_text(json.dumps(line) + "\n")
    engine.ingest(transcripts)
    assert _projects(engine)["s1"] == project
    assert [memory.scope.project for memory in engine.memories()] == [project]
