"""The outcome of a command that an agent ran: what a test run counted, and how an error begins. Pure.

    tests failed: 12 passed, 1 failed (pytest)
    KeyError: 'tide'
    command failed: fatal: not a git repository

A test runner is recognised by the line in which it sums up. Of a command that failed the first lines that name an error
are kept, or else the first lines; the rest of the output is left out. Everything here is text of a tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from picomem.records.episode import COMMAND_FAILED, TESTS_FAILED, TESTS_PASSED
from picomem.text.inert_text import one_line
from picomem.text.late_pattern import late_pattern

# The actions of an agent, one short line for each call of a tool. Pure.
#
#     ran mix test --failed (Run the failed tests)
#     edited lib/spotter/renderer.ex
#     wrote assets/test/highlight.test.js
#     read lib/spotter/parser.ex
#     searched agentId in test/fixtures
#     fetched https://example.org/issues/1343
#
# Every host names its tools differently, so the arguments of a call decide its kind. Of a command the line holds the
# first 200 characters, of a patch the names of the files. Other arguments, and the output of the tool, are left out.

LONGEST_ACTION = 200  # characters of a command, a path or a pattern
_MOST_FILES = 20  # of one patch
_PATHS = ("file_path", "notebook_path", "path", "filePath", "file")
_COMMANDS = ("command", "cmd")
_READS = re.compile(r"(?i)read|view|open|cat")
_WRITES = re.compile(r"(?i)write|create")
_EDITS = re.compile(r"(?i)edit|patch|replace|insert")
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_VERBS = {"Add": "wrote", "Update": "edited", "Delete": "deleted"}


def actions_of(tool: str, given: Mapping[str, Any], cwd: str = "") -> tuple[str, ...]:
    """The actions of a call of `tool`; empty if it touched no file and ran nothing."""
    return tuple(dict.fromkeys(_actions(tool, given, cwd)))


def _actions(tool: str, given: Mapping[str, Any], cwd: str) -> Iterator[str]:
    command = command_of(given)
    patched = _PATCHED.findall(command or _text(given, ("input", "patch")))
    if patched:
        for what, path in patched[:_MOST_FILES]:
            yield f"{_VERBS[what]} {_path(path, cwd)}"
    elif command:
        said = _short(_text(given, ("description",)))
        yield f"ran {_short(command)}" + (f" ({said})" if said else "")
    elif pattern := _text(given, ("pattern",)):
        place = _text(given, _PATHS)
        yield f"searched {_short(pattern)}" + (f" in {_path(place, cwd)}" if place else "")
    elif path := _text(given, _PATHS):
        if verb := _verb(tool):
            yield f"{verb} {_path(path, cwd)}"
    elif query := _text(given, ("query",)):
        yield f"searched {_short(query)}"
    elif url := _text(given, ("url",)):
        yield f"fetched {_short(url)}"


def _verb(tool: str) -> str:
    for verb, shape in (("edited", _EDITS), ("wrote", _WRITES), ("read", _READS)):
        if shape.search(tool):
            return verb
    return ""


def command_of(given: Mapping[str, Any]) -> str:
    """The command of a call, as for a shell; empty where the call runs none. Hosts write a command as a text, or as a
    list of which a shell may be the first."""
    value = next((given[name] for name in _COMMANDS if given.get(name)), "")
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        is_script = len(value) > 2 and value[1] in ("-c", "-lc", "-ic", "/c", "-Command")
        return value[2] if is_script else " ".join(value)
    return value if isinstance(value, str) else ""


def _text(given: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := given.get(name), str) and value.strip()), "")


def _path(path: str, cwd: str) -> str:
    return _short(path.removeprefix(f"{cwd.rstrip('/')}/") if cwd else path)


def _short(text: str) -> str:
    return " ".join(text[: 4 * LONGEST_ACTION].split())[:LONGEST_ACTION]


_RUNNERS = Path(__file__).with_name("test_runner_shapes.txt")
MOST_ERROR_LINES = 3
LONGEST_ERROR = 300  # characters of all lines of an error together
_LONGEST_OUTPUT = 40_000  # characters; of a longer output the beginning and the end are read
_LONGEST_LINE = 2_000

_TESTS = late_pattern(
    r"(?i)(?<![\w-])(?:(?:py)?tests?|unittest|check|specs?|tox|nox|jest|vitest|mocha|ava|cypress|playwright|nextest|"
    r"rspec|rake|mvnw?|maven|gradlew?|(?:php)?unit|ctest|bats|ginkgo|gotestsum|npm|pnpm|yarn|bun|make|just)(?![a-z])"
)
_COLOUR = late_pattern(r"\x1b\[[0-9;?]*[A-Za-z]")
_EXIT = late_pattern(r"(?im)^(?:process )?exit(?:ed)?(?: with)?[ -](?:code|status)?[: ]*(-?\d+)\b")
# Lines that a host writes around an output, and those that say only that something failed.
_FRAME = late_pattern(
    r"(?i)\A(?:(?:process )?exit(?:ed)?(?: with)?[ -](?:code|status)\b.*|error: exit code \d+|wall time: .*|"
    r"chunk id: .*|output:|stdout:|stderr:|total output lines: .*|original token count: .*|command: .*|directory: .*|"
    r"traceback \(most recent call last\):|[-=_*~#. ]*)\Z"
)
# What a host says in place of an output where a person or a rule kept the command from running.
_NOT_RUN = late_pattern(
    r"(?i)\A\s{0,9}(?:the user doesn['’]t want|user rejected|\[request interrupted|<tool_use_error>|permission to use |"
    r"this command requires approval|claude requested permissions|aborted by user|.{0,200}rejected by user)"
)
_ERROR = late_pattern(
    r"(?:Error|Exception|Panic)\b|(?i:\b(?:fatal|panic(?:ked)?|error(?:\[\w+\])?)\b[^\n]{0,40}:)|"
    r"\A(?i:error|failed)\b|\*\* \(|\bAssertion|(?i:permission denied|not found|no such file|cannot|could not)"
)


class _Runner(NamedTuple):
    """A test runner. The patterns find its counts by name; a count that stands several times is added up if `adds`."""

    name: str
    summary: re.Pattern[str]
    counts: Mapping[str, re.Pattern[str]]
    adds: bool = False


@cache
def _runners() -> list[_Runner]:
    """The test runners, read from `test_runner_shapes.txt`, whose head explains the format."""
    runners: list[_Runner] = []
    for block in _RUNNERS.read_text("utf-8").split("\n[")[1:]:
        name, _, lines = block.partition("]\n")
        values = dict(line.split(" ", 1) for line in lines.splitlines() if line)
        adds = bool(values.pop("adds", ""))
        summary, *counts = (late_pattern(pattern, re.MULTILINE) for pattern in values.values())
        runners.append(_Runner(name, summary, dict(zip(list(values)[1:], counts, strict=True)), adds))
    return runners


def runs_tests(command: str) -> bool:
    """Return whether a command may be a run of tests."""
    return bool(_TESTS.search(command[:_LONGEST_LINE]))


def exit_code(output: str) -> int | None:
    """The exit code that a host wrote into the output of a command; None where there is none."""
    codes = _EXIT.findall(f"{output[:_LONGEST_LINE]}\n{output[-_LONGEST_LINE:]}")
    return int(codes[-1]) if codes and len(codes[-1]) < 10 else None


def outcome_of(output: str, *, failed: bool, may_be_tests: bool) -> tuple[str, ...]:
    """The outcome in the output of a command; empty where it counted no tests and did not fail, or failed without a
    word."""
    if _NOT_RUN.match(output):
        return ()
    if len(output) > _LONGEST_OUTPUT:
        half = _LONGEST_OUTPUT // 2
        output = f"{output[:half]}\n{output[-half:]}"
    output = _COLOUR.sub("", output).replace("\r", "")
    counted = _counted(output) if may_be_tests else None
    if counted is None:
        lines = _error_lines(output) if failed else ()
        return (f"{COMMAND_FAILED}{lines[0]}", *lines[1:]) if lines else ()
    failed, counts = counted
    return (
        (f"{TESTS_FAILED}{counts}", *_error_lines(output, only_errors=True)) if failed else (f"{TESTS_PASSED}{counts}",)
    )


def outcome_of_call(given: Mapping[str, Any], output: str, *, failed: bool | None) -> tuple[str, ...]:
    """The outcome of a call with these arguments; empty where it runs no command. `failed` is None where only an exit
    code in the output says so."""
    command = command_of(given)
    if not command:
        return ()
    failed = bool(exit_code(output)) if failed is None else failed
    return outcome_of(output, failed=failed, may_be_tests=runs_tests(command))


def _counted(output: str) -> tuple[bool, str] | None:
    """Whether a test failed, and the counts of a test run; None where none is summed up."""
    for runner in _runners():
        summaries = [match[0] for match in runner.summary.finditer(output)]
        if not summaries:
            continue
        summed = summaries if runner.adds else summaries[-1:]
        counts = {
            name: sum(map(_count, (match for text in summed for match in pattern.findall(text))))
            for name, pattern in runner.counts.items()
        }
        failed = counts.get("failed", 0) + counts.get("errors", 0)
        skipped = counts.get("skipped", 0)
        passed = counts.get("passed", max(0, counts.get("total", 0) - failed - skipped))
        unit = " packages" if runner.name == "go" else ""
        told = [f"{passed}{unit} passed"]
        told += [f"{failed} failed"] if failed else []
        told += [f"{skipped} skipped"] if skipped else []
        return failed > 0, f"{', '.join(told)} ({runner.name})"
    return None


def _count(digits: str) -> int:
    return min(int(digits), 10**9) if digits.isdigit() else 1


def _error_lines(output: str, *, only_errors: bool = False) -> tuple[str, ...]:
    """The first lines that name an error, or else the first lines unless `only_errors` are wanted."""
    lines = list(dict.fromkeys(_lines(output)))
    errors = [line for line in lines if _ERROR.search(line)]
    kept: list[str] = []
    left = LONGEST_ERROR
    for line in (errors or ([] if only_errors else lines))[:MOST_ERROR_LINES]:
        # Not within a word: half of a secret would not be recognised as one.
        text = line if len(line) <= left else line[:left].rpartition(" ")[0]
        if not text:
            break
        kept.append(one_line(text))
        left -= len(line)
    return tuple(kept)


def _lines(output: str) -> Iterator[str]:
    for line in output.splitlines():
        text = " ".join(line[:_LONGEST_LINE].split()).removeprefix("E ").strip()
        if text and not _FRAME.match(text):
            yield text
