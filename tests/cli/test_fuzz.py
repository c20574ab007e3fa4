"""No input ends in a traceback: every command and every tool with hostile values, made from the table of operations and
from argparse's own tree, so that a new verb is fuzzed without another line.

`FUZZ_SEED` draws other values.
"""

from __future__ import annotations

import argparse
import io
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import anyio
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, TextResourceContents
from tests import hostile
from tests.amounts import amount
from tests.inert import assert_inert
from tests.sealed_stores import is_setting

from picomem import errors
from picomem import open as open_memory
from picomem.cli.main import main, parser_for
from picomem.engine.engine import Engine
from picomem.engine.transcripts import import_sessions
from picomem.gateway.mcp import INDEX_URI, Tool, UntrustedQuotes, build_server
from picomem.operations.operation import options
from picomem.operations.table import NAMES, operations

pytestmark = [
    pytest.mark.reliability("fuzz"),
    pytest.mark.sqlite_file("puts a copy of the file back before each call"),
]

PARTS = range(8)  # half of them commands, half tools, so that test processes share the work
CALLS = amount(4_000, 20_000) // len(PARTS)  # of a part
PROCESSES = amount(5, 100)
SEED = int(os.environ.get("FUZZ_SEED", "1"))
SECONDS = 20  # that a call may take at most; one takes milliseconds
OTHERS = ("chat", "demo", "mcp")
# What these do is work for minutes, or a conversation: only their arguments are tried, and an unknown one ends them.
LONG = {("demo",), ("mcp",)}
UNKNOWN = "--no-such-option"


def _every_error(kind: type = errors.PicomemError) -> Iterator[type]:
    yield kind
    for below in kind.__subclasses__():
        yield from _every_error(below)


EXIT_CODES = {0, *(kind.exit_code for kind in _every_error())}  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with a store, hostile files and notes; the process stands in it."""
    folder = tmp_path_factory.mktemp("fuzz")
    hostile.paths(folder)
    notes = folder / "notes"
    (notes / "memory").mkdir(parents=True)
    (notes / "MEMORY.md").write_text("# Ports\n\nThe \x1b[31mstaging\x1b[0m database listens on 5433.\n")
    (notes / "memory" / "2026-05-03.md").write_text("long " * 60_000)
    _fill(folder)
    shutil.copy(folder / "memory.db", folder / "filled.db")
    before, where = dict(os.environ), Path.cwd()
    for name in [name for name in os.environ if is_setting(name)]:
        del os.environ[name]
    os.environ |= {
        "HOME": str(folder),
        "LANGUAGE": "C",  # argparse looks for its texts in every other language anew
        "XDG_DATA_HOME": str(folder / "data"),
        "PICOMEM_RECALL_EMBEDDER": "none",
        "PICOMEM_NOTES_PATHS": str(notes),
    }
    os.chdir(folder)
    yield folder
    os.chdir(where)
    os.environ.clear()
    os.environ.update(before)


def _fill(folder: Path) -> None:
    logs = folder / "logs"
    logs.mkdir()
    rows = [
        {
            "role": "user",
            "content": "Remember that the \u202equeue never loses a job.",
            "timestamp": "2026-04-07T09:00:00Z",
        },
        {"role": "assistant", "content": "It polls [bold]Redis[/bold].\x1b[2J", "timestamp": "2026-04-07T09:01:00Z"},
    ]
    (logs / "talk\x1b[31m\n\u202e.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    snapshot = {
        "id": "s-1",
        "channel_type": "Tui",
        "channel_id": "x\x1b[1m",
        "user_id": "local",
        "created_at": "2026-02-03T10:00:00Z",
    }
    snapshot["conversation"] = [{"User": {"content": "Which \x1b[31mboats\u202e are moored?"}}]  # type: ignore[assignment]
    (folder / "snapshot.json").write_text(json.dumps({"sessions": [snapshot]}))
    with open_memory(folder / "memory.db", embedder="none") as engine:
        engine.remember(
            "The staging database listens on port 5433", key="port", tags=["t\u202e"], context="\x1b[31mred"
        )
        engine.ingest([logs])
        import_sessions(engine, folder / "snapshot.json")


def _known(folder: Path) -> list[str]:
    """Names that mean something to this store."""
    with open_memory(folder / "filled.db", embedder="none") as engine:
        episodes = [hit.id for hit in engine.timeline(limit=5)]
        changes = [change.id for change, _ in engine.changes(5)]
    notes = ["MEMORY.md", "memory/2026-05-03.md"]
    return [
        "port",
        "local",
        "s-1",
        "staging port",
        *episodes,
        *changes,
        *notes,
        str(folder / "logs"),
        str(folder / "snapshot.json"),
    ]


@contextmanager
def _bounded(what: object) -> Iterator[None]:
    def hang(_number: int, _frame: object) -> None:
        raise AssertionError(f"no end after {SECONDS} s: {_shown(what)}")

    before = signal.signal(signal.SIGALRM, hang)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _shown(what: object) -> str:
    return ascii(what) if len(ascii(what)) < 2_000 else ascii(what)[:2_000] + " …"


# The command line


def _leaves(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """The commands below a parser, each with its own arguments."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield path, [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]
    for action in below:
        for name, sub in action.choices.items():
            yield from _leaves(sub, (*path, name))


def _commands() -> list[tuple[tuple[str, ...], list[Any]]]:
    return [leaf for name in (*NAMES, *OTHERS) for leaf in _leaves(parser_for(name))]


class Arguments:
    """Draws arguments of commands."""

    def __init__(self, random: Random, folder: Path) -> None:
        self._random = random
        self._paths = hostile.paths(folder)
        self._known = _known(folder)

    def of(self, path: tuple[str, ...], actions: list[Any]) -> list[str]:
        random = self._random
        drawn = [*path]
        for action in actions:
            if "--watch" in action.option_strings or (action.option_strings and random.random() < 0.7):
                continue
            if not action.option_strings and random.random() < 0.05:
                continue
            values = [self._value(action) for _ in range(random.choice((1, 1, 2)) if action.nargs in ("*", "+") else 1)]
            if not action.option_strings:
                drawn += values
            elif action.nargs == 0:
                drawn.append(action.option_strings[0])
            else:
                drawn += (
                    [f"{action.option_strings[0]}={values[0]}"]
                    if random.random() < 0.8
                    else [action.option_strings[0], values[0]]
                )
        if random.random() < 0.7:
            drawn += ["--db", "memory.db"]
        if path in LONG:
            drawn.insert(len(path), UNKNOWN)
        elif random.random() < 0.03:
            drawn.insert(random.randrange(len(drawn) + 1), hostile.text(random, self._known))
        return [hostile.argument(piece) for piece in drawn]

    def _value(self, action: Any) -> str:
        random = self._random
        if action.choices and random.random() < 0.8:
            return str(random.choice(list(action.choices)))
        if action.type in (int, float) and random.random() < 0.7:
            return str(random.choice(hostile.INTEGERS if action.type is int else hostile.FLOATS))
        return hostile.text(random, self._known, self._paths)


def _run(arguments: list[str]) -> tuple[int, str, str]:
    out, err = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace", write_through=True) for _ in range(2)
    )
    stdin = sys.stdin
    sys.stdin = io.StringIO("")
    try:
        with redirect_stdout(out), redirect_stderr(err), _bounded(arguments):
            try:
                code = main(arguments)
            except SystemExit as exit_:
                code = int(exit_.code or 0)
    finally:
        sys.stdin = stdin
    return code, _written(out), _written(err)


def _written(stream: io.TextIOWrapper) -> str:
    return stream.buffer.getvalue().decode()  # type: ignore[attr-defined]


def _check(arguments: list[str], code: int, out: str, err: str) -> None:
    assert code in EXIT_CODES, (code, _shown(arguments), err[-2000:])
    assert "Traceback" not in err, (_shown(arguments), err[-2000:])
    assert_inert(out)
    assert_inert(err)
    if code and code != 1 and err:
        said = err.strip().split("\n")
        assert said[-1].startswith("picomem: ") and len(said[-1]) < 3_000, (_shown(arguments), err[:2000])
        assert len(said) <= 2, (_shown(arguments), err[:2000])
    if code == 0 and "--json" in arguments and "--help" not in arguments:
        json.loads(out)


@pytest.mark.parametrize("part", PARTS[::2])
def test_every_command_answers_hostile_arguments_with_a_result_or_a_sentence(world: Path, part: int) -> None:
    random = Random(f"{SEED} {part}")
    commands, drawing = _commands(), Arguments(random, world)
    assert {path[0] for path, _ in commands} == {*NAMES, *OTHERS}
    for number in range(CALLS):
        if number % 100 == 0:
            _anew(world)
        path, actions = commands[number % len(commands)]
        arguments = drawing.of(path, actions)
        try:
            done = _run(arguments)
        except Exception as error:
            raise AssertionError(f"{error!r} of {_shown(arguments)}") from error
        _check(arguments, *done)


def _anew(world: Path) -> None:
    for name in ("memory.db", "memory.db-wal", "memory.db-shm"):
        (world / name).unlink(missing_ok=True)
    shutil.copy(world / "filled.db", world / "memory.db")


def test_real_processes_take_the_same_without_a_traceback(world: Path) -> None:
    random = Random(f"{SEED} processes")
    commands, drawing = _commands(), Arguments(random, world)
    _anew(world)
    for _ in range(PROCESSES):
        arguments = drawing.of(*random.choice(commands))
        done = subprocess.run([sys.executable, "-m", "picomem.cli.main", *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)  # fmt: skip
        _check(arguments, done.returncode, done.stdout.decode(), done.stderr.decode())


HOMES = ("~nouser", "", "~", ".", "/dev/null", "none", "a" * 300, "x/" * 3000, "\udcff", "binary.md/below", "loop")
SETTINGS = (
    "x = " + "9" * 5000, "[recall]\nlimit = " + "9" * 5000, "[recall]\nlimit = -1", "x = " + "[" * 50_000, "[recall]\nembedder = 1e400",
    '[data]\ndir = "~nobody-has-this-name"', '[data]\nuser = "\\u0000"', "[recall]\ntimezone = '../../etc'", "\0", "x = 9999-99-99",
    "[a]\n" * 3, '"" = 1', "[recall]\nembedder = 'onnx:~nobody-has-this-name/x'",
)  # fmt: skip


@pytest.fixture
def surroundings(world: Path, tmp_path: Path) -> Iterator[list[dict[str, str]]]:
    """Variables of the environment that no program can work with; the old ones are back after the test."""
    paths = hostile.paths(world)
    files = [tmp_path / f"{number}.toml" for number in range(len(SETTINGS))]
    for file, content in zip(files, SETTINGS, strict=True):
        file.write_text(content)
    changes = [{"HOME": home, "XDG_DATA_HOME": "", "PICOMEM_NOTES_PATHS": ""} for home in (*HOMES, *paths)]
    for name in ("PICOMEM_CONFIG", "PICOMEM_DATA_DIR", "PICOMEM_DB", "XDG_DATA_HOME", "PICOMEM_NOTES_PATHS"):
        changes += [{name: path} for path in (*HOMES, *paths)]
    changes += [{"PICOMEM_CONFIG": str(file)} for file in files]
    before = dict(os.environ)
    yield [{name: hostile.argument(value) for name, value in change.items()} for change in changes]
    os.environ.clear()
    os.environ.update(before)


def test_a_hostile_environment_ends_in_a_result_or_a_sentence(
    surroundings: list[dict[str, str]], tmp_path: Path
) -> None:
    """Each variable is tried with a part of the commands that read it; none of them has an argument."""
    before, random = dict(os.environ), Random(f"{SEED} environment")
    commands = [
        ["status"],
        ["ingest"],
        ["doctor"],
        ["memories"],
        ["recall", "port"],
        ["remember", "A b c d e"],
        ["index"],
    ]
    for change in surroundings:
        os.environ.update(before)
        os.environ.update(change)
        for arguments in (commands[0], commands[1], random.choice(commands[2:])):
            try:
                done = _run(arguments)
            except Exception as error:
                raise AssertionError(f"{error!r} of {_shown((change, arguments))}") from error
            _check([*arguments, _shown(change)], *done)


def test_the_demo_in_a_folder_that_cannot_be_one_ends_in_a_sentence(world: Path) -> None:
    """The fuzz of commands does not play the demo, which would take minutes where the folder is a good one."""
    for path in hostile.paths(world):
        folder = hostile.argument(path)
        with suppress(OSError, RuntimeError):
            if not folder or Path(folder).expanduser().is_dir() or not Path(folder).expanduser().parent.is_dir():
                continue
            if not os.path.lexists(folder) and len(folder) < 200:
                continue  # the demo would make it
        arguments = ["demo", f"--keep={folder}"]
        done = _run(arguments)
        _check(arguments, *done)
        assert done[0], _shown(folder)


@pytest.mark.skipif(os.name != "posix", reason="only POSIX limits how many files a process opens")
def test_a_process_that_may_open_few_files_ends_in_a_result_or_a_sentence(world: Path) -> None:
    _anew(world)
    for limit in range(7, 13):
        for arguments in (["status"], ["recall", "port"]):
            run = f"import resource, sys; from picomem.cli.main import main; resource.setrlimit(resource.RLIMIT_NOFILE, ({limit},) * 2); sys.exit(main({[*arguments, '--db', 'memory.db']}))"
            done = subprocess.run([sys.executable, "-c", run], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)  # fmt: skip
            _check([*arguments, str(limit)], done.returncode, done.stdout.decode(), done.stderr.decode())
            assert "check the rights" not in done.stderr.decode()


# The tools


def _called(random: Random, operation: Any, known: list[str], files: tuple[str, ...]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for name, _, about in options(operation.request):
        if about["tool"] is None or random.random() < 0.4:
            continue
        fits = random.random() < 0.5
        value = (
            random.choice(about["choices"]) if about["choices"] and fits else hostile.json_value(random, known, files)
        )
        arguments[about["tool"] or name] = value
    if random.random() < 0.05:
        arguments[hostile.text(random, known)] = hostile.json_value(random, known)
    return arguments


async def _answered(client: Client, engine: Engine, operation: Any, arguments: dict[str, Any]) -> Any:
    """The answer to a call; without the client where it holds what a Python client cannot put into JSON."""
    try:
        json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return Tool(operation, {}).answer(engine, arguments, lambda *_: None, UntrustedQuotes())
    return await client.call_tool(operation.tool, arguments)


@pytest.mark.parametrize("part", PARTS[1::2])
def test_every_tool_answers_hostile_arguments_with_a_result_or_a_sentence(
    world: Path, caplog: pytest.LogCaptureFixture, part: int
) -> None:
    random = Random(f"{SEED} {part}")
    tools = [verb for verb in operations() if verb.tool]
    known, files = _known(world), hostile.paths(world)
    caplog.set_level(logging.ERROR)

    async def conversation(engine: Engine, calls: int) -> None:
        async with Client(build_server(engine)) as client:
            for number in range(calls):
                operation = tools[number % len(tools)]
                arguments = _called(random, operation, known, files)
                try:
                    with anyio.fail_after(SECONDS):
                        result = await _answered(client, engine, operation, arguments)
                except MCPError as error:
                    assert error.error.code == INVALID_PARAMS, (error, operation.tool, _shown(arguments))
                    continue
                except Exception as error:
                    raise AssertionError(f"{error!r} of {operation.tool} {_shown(arguments)}") from error
                words = result.content[0].text
                assert_inert(words.replace("\t", " "))
                if result.is_error:
                    assert "\n" not in words and len(words) < 3_000, (operation.tool, _shown(arguments), words[:2000])
                assert not caplog.records, (operation.tool, _shown(arguments), caplog.text[-3000:])
            for text in (*hostile.TEXTS, hostile.LONG):
                try:
                    read = await client.read_resource(f"{INDEX_URI}/{quote(text, errors='surrogatepass')}")
                except MCPError as error:
                    assert error.error.code == INVALID_PARAMS, (error, _shown(text))
                else:
                    (page,) = read.contents
                    assert isinstance(page, TextResourceContents)
                    assert_inert(page.text)

    for _ in range(0, CALLS, 200):
        _anew(world)
        with open_memory(world / "memory.db") as engine:
            anyio.run(conversation, engine, 200)
