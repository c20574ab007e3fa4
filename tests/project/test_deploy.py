"""The files in deploy/ name commands, options, folders and addresses that there are."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.cases import each_case

from picomem.cli.main import command_of, in_one_word, parser_for
from picomem.gateway.guard import OPEN
from picomem.settings import Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))
CONTAINER = (DEPLOY / "Containerfile").read_text("utf-8")


def unit(path: Path) -> dict[str, list[tuple[str, str]]]:
    """The settings of a unit, by section; a name may come again."""
    sections: dict[str, list[tuple[str, str]]] = {}
    section: list[tuple[str, str]] = []
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            section.append((name, value))
    return sections


def commands() -> list[list[str]]:
    """Every command of picomem in the files, in their comments too."""
    lines = []
    for path in DEPLOY.iterdir():
        text = path.read_text("utf-8").replace("\\\n#", "")
        for line in re.findall(r"(?:/bin/picomem|picomem picomem) ((?!&&).+)$", text, re.MULTILINE):
            lines.append(shlex.split(line, comments=True))
    entry, start = (json.loads(value) for value in re.findall(r"^(?:ENTRYPOINT|CMD) (.+)$", CONTAINER, re.MULTILINE))
    assert entry == ["picomem"]
    return [*lines, start]


@each_case("words", commands(), ids=" ".join)
def test_a_command_is_one_that_the_program_takes(words: list[str]) -> None:
    words = in_one_word(words)
    assert parser_for(command_of(words)).parse_args(words)


def test_there_are_as_many_commands_as_files_start() -> None:
    assert {words[0] for words in commands()} == {"serve", "backup", "token", "open"}


@each_case("path", UNITS, ids=lambda path: path.name)
def test_a_unit_writes_where_it_may_and_has_no_rights_besides(path: Path) -> None:
    service = unit(path)["Service"]
    settings = dict(service)
    folders = {f"/var/lib/{name}" for name in settings["StateDirectory"].split()}
    data = dict(part.split("=") for part in [settings["Environment"]])["PICOMEM_DATA_DIR"]
    assert data in folders
    words = shlex.split(settings["ExecStart"])
    assert {word for word in words[1:] if word.startswith("/")} <= folders
    for name, value in {
        "DynamicUser": "yes",
        "ProtectSystem": "strict",
        "ProtectHome": "yes",
        "NoNewPrivileges": "yes",
        "CapabilityBoundingSet": "",
        "UMask": "0077",
        "StateDirectoryMode": "0700",
    }.items():
        assert settings[name] == value


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("picomem")
    for path in DEPLOY.glob("picomem*.*"):
        text = path.read_text("utf-8").replace("/opt/picomem/bin/picomem", str(program))
        (tmp_path / path.name).write_text(text, "utf-8")
    names = [str(path) for path in sorted(tmp_path.iterdir())]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *names], capture_output=True, text=True, timeout=60, check=False
    )
    about_ours = [line for line in done.stderr.splitlines() if "picomem" in line]
    assert about_ours == []


def test_the_container_takes_the_wheel_and_the_extra_and_asks_an_address_that_needs_no_token() -> None:
    assert "\nCOPY picomem-*.whl " in CONTAINER
    assert "make wheel && podman build --file deploy/Containerfile --tag picomem .envs/dist\n" in CONTAINER
    assert "--out-dir .envs/dist" in (ROOT / "Makefile").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [name for line in re.findall(r"\bEXTRAS=([\w,]+)", CONTAINER) for name in line.split(",")]
    assert {"server", "agent"} == set(extras) <= set(project["optional-dependencies"])
    assert '"${wheel}[${EXTRAS}]"' in CONTAINER
    assert "USER picomem" in CONTAINER
    (check,) = re.findall(r"^HEALTHCHECK CMD (.+)$", CONTAINER, re.MULTILINE)
    program = json.loads(check)[2]
    ast.parse(program)
    (port, path) = re.findall(r"127\.0\.0\.1:(\d+)(/\w+)", program)[0]
    assert path in OPEN
    assert int(port) == Settings().server.port
    assert f"EXPOSE {port}" in CONTAINER
