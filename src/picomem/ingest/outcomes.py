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
from typing import Any, NamedTuple

from picomem.ingest.actions import command_of
from picomem.records.episode import COMMAND_FAILED, TESTS_FAILED, TESTS_PASSED
from picomem.text.inert_text import one_line
from picomem.text.late_pattern import late_pattern

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


def _runner(name: str, summary: str, *, adds: bool = False, **counts: str) -> _Runner:
    patterns = {count: late_pattern(pattern, re.MULTILINE) for count, pattern in counts.items()}
    return _Runner(name, late_pattern(summary, re.MULTILINE), patterns, adds)


# Of each runner the line that sums up, and in it the numbers. `total` stands for those that passed, with the others.
_RUNNERS = (
    _runner(
        "pytest",
        r"^(?:=+ )?(?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|warnings?|deselected|rerun)(?:, )?){1,9} in "
        r"[\d.]+m?s\b.*$",
        passed=r"(\d+) passed",
        failed=r"(\d+) failed",
        errors=r"(\d+) errors?",
        skipped=r"(\d+) skipped",
    ),
    _runner(
        "cargo",
        r"^test result: .*$",
        adds=True,
        passed=r"(\d+) passed",
        failed=r"(\d+) failed",
        skipped=r"(\d+) ignored",
    ),
    _runner(
        "cargo nextest",
        r"^ {0,20}Summary \[.*\] .*$",
        passed=r"(\d+) passed",
        failed=r"(\d+) failed",
        skipped=r"(\d+) skipped",
    ),
    _runner(
        "jest",
        r"^Tests: +(?=.*\d+ total).*$",
        passed=r"(\d+) passed",
        failed=r"(\d+) failed",
        skipped=r"(\d+) (?:skipped|todo)",
    ),
    _runner(
        "vitest",
        r"^ {0,20}Tests +(?=\d).*\(\d+\) {0,20}$",
        passed=r"(\d+) passed",
        failed=r"(\d+) failed",
        skipped=r"(\d+) (?:skipped|todo)",
    ),
    _runner(
        "mocha",
        r"^ {1,20}\d+ passing\b.*(?:\n {1,20}\d+ (?:failing|pending).*){0,2}$",
        passed=r"(\d+) passing",
        failed=r"(\d+) failing",
        skipped=r"(\d+) pending",
    ),
    _runner(
        "mvn",
        r"^(?:\[\w+\] )?Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+ *$",
        total=r"run: (\d+)",
        failed=r"Failures: (\d+)",
        errors=r"Errors: (\d+)",
        skipped=r"Skipped: (\d+)",
    ),
    _runner(
        "gradle",
        r"^\d+ tests? completed(?:, \d+ \w+){0,3}$",
        total=r"(\d+) tests? completed",
        failed=r"(\d+) failed",
        skipped=r"(\d+) skipped",
    ),
    _runner(
        "rspec",
        r"^\d+ examples?, \d+ failures?.*$",
        total=r"(\d+) examples?",
        failed=r"(\d+) failures?",
        errors=r"(\d+) errors? occurred",
        skipped=r"(\d+) pending",
    ),
    _runner(
        "minitest",
        r"^\d+ runs, \d+ assertions, .*$",
        total=r"(\d+) runs",
        failed=r"(\d+) failures",
        errors=r"(\d+) errors",
        skipped=r"(\d+) skips",
    ),
    _runner(
        "mix",
        r"^(?:Result: |Finished in .*\n)?(?:\d+ (?:doctests?|propert(?:y|ies)), )*\d+ tests?, \d+ failures?.*$",
        total=r"(\d+) tests?\b",
        failed=r"(\d+) failures?",
        errors=r"(\d+) invalid",
        skipped=r"(\d+) (?:skipped|excluded)",
    ),
    _runner(
        "dotnet",
        r"^ {0,20}(?:Passed|Failed)! +- +Failed:.*$",
        adds=True,
        passed=r"Passed:\s+(\d+)",
        failed=r"- Failed:\s+(\d+)",
        skipped=r"Skipped:\s+(\d+)",
    ),
    _runner(
        "phpunit",
        r"^(?:OK \(\d+ tests?, .*\)|Tests: \d+, Assertions: \d+.*)$",
        total=r"(?:OK \(|Tests: )(\d+)",
        failed=r"Failures: (\d+)",
        errors=r"Errors: (\d+)",
        skipped=r"Skipped: (\d+)",
    ),
    _runner(
        "unittest",
        r"^Ran \d+ tests? in [\d.]+s\n{1,3}(?:OK|FAILED).*$",
        total=r"Ran (\d+) tests?",
        failed=r"failures=(\d+)",
        errors=r"errors=(\d+)",
        skipped=r"skipped=(\d+)",
    ),
    _runner(
        "xctest",
        r"^ {0,20}Executed \d+ tests?, with .*$",
        total=r"Executed (\d+)",
        failed=r"(\d+) failures?",
        skipped=r"(\d+) tests? skipped",
    ),
    _runner(
        "ctest",
        r"^\d+% tests passed, \d+ tests? failed out of \d+$",
        total=r"out of (\d+)",
        failed=r"(\d+) tests? failed",
    ),
    _runner(
        "node",
        r"^[#ℹ] tests \d+(?:\n[#ℹ] \w+ \d+){1,9}",
        passed=r"pass (\d+)",
        failed=r"fail (\d+)",
        skipped=r"skipped (\d+)",
    ),
    _runner(
        "playwright",
        r"^ {2}\d+ failed$(?:\n.*){0,60}?\n {2}\d+ passed \(.*\)$|^ {2}\d+ passed \(.*\)$",
        passed=r"(\d+) passed \(",
        failed=r"^ {2}(\d+) failed$",
        skipped=r"^ {2}(\d+) skipped$",
    ),
    _runner(
        "go",
        r"^(?:ok|FAIL)[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\)|\[.*\]).*$",
        adds=True,
        passed=r"^(ok)\s",
        failed=r"^(FAIL)\s",
    ),
)


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
    for runner in _RUNNERS:
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
