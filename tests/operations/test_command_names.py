"""What an agent is told where a person would be told a command."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import picomem
from picomem.app import operations
from picomem.coded_text import CodedText, Command
from picomem.light_dataclass import dataclass
from picomem.operations.command_rewriting import (
    ASK_OPERATOR,
    for_agents,
    for_remote_callers,
    result_for_agents,
    result_for_remote_callers,
)

PACKAGE = Path(picomem.__file__).parent
OF_THE_TERMINAL = {"cli", "tui", "evaluation", "demo", "hosts", "hooks", "page"}
COMMAND = re.compile(r"`picomem ([a-z-]+)")
OFFERED = {
    operation.name: operation.request
    for operation in operations()
    if not (operation.operator or operation.reads_local_files)
}
TOOLS = {"recall": "memory_recall", "show": "memory_show"}


@dataclass(frozen=True, slots=True)
class Found:
    text: str
    explanation: str = ""


def test_a_command_with_a_tool_is_named_as_the_tool() -> None:
    said = for_agents("There is no memory “x”; `picomem recall` finds by words, `picomem show 01a2` opens it.", TOOLS)
    assert said == "There is no memory “x”; `memory_recall` finds by words, `memory_show 01a2` opens it."


def test_a_command_without_a_tool_or_with_options_is_for_the_person() -> None:
    for command in ("`picomem doctor --repair`", "`picomem recall --help`"):
        said = for_agents(f"The file is damaged; run {command}.", TOOLS)
        assert command in said
        assert "tell them" in said


def test_a_sentence_without_a_command_stays_as_it_is() -> None:
    assert for_agents("The importance is 7; it lies between 0 and 1.", TOOLS).endswith("between 0 and 1.")


def test_an_explanation_is_changed_and_what_was_stored_is_not() -> None:
    told = "run `picomem recall`"
    assert result_for_agents(Found(told, told), TOOLS) == Found(told, "run `memory_recall`")


def test_a_caller_over_a_network_is_told_of_operations_and_who_can_run_the_other_commands() -> None:
    told = for_remote_callers("A row is damaged; run `picomem doctor`.", OFFERED)
    assert told == "A row is damaged; run the operation `doctor`."
    told = for_remote_callers("No past session has been read yet; run `picomem ingest`.", OFFERED)
    assert told.startswith("No past session has been read yet; run `picomem ingest`. (")
    assert "on the server's machine: ask its operator" in told
    assert for_remote_callers("Nothing is known.", OFFERED) == "Nothing is known."


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("history billing_db", 'the operation `history` with `{"name": "billing_db"}`'),
        ("doctor --repair", 'the operation `doctor` with `{"repair": true}`'),
        ("purge --session ID", 'the operation `purge` with `{"session": "ID"}`'),
        (
            "revise berth It is 12 --since 2026-05-01",
            'the operation `revise` with `{"name": "berth", "content": "It is 12", "since": "2026-05-01"}`',
        ),
        ("remember The berth is 12", 'the operation `remember` with `{"content": "The berth is 12"}`'),
        ("remember dry --tag boat", 'the operation `remember` with `{"content": "dry", "tags": ["boat"]}`'),
        ("timeline --json", "the operation `timeline`"),
        ("purge --help", "the description of `purge` in /api/v1/openapi.json"),
        ("purge --user ann", None),
        ("history 'a key", None),
        ("token make --user ann", None),
    ],
)
def test_a_command_becomes_the_operation_and_the_fields_of_its_request(command: str, told: str | None) -> None:
    said = for_remote_callers(f"See `picomem {command}`.", OFFERED)
    if told is None:  # the request has no such field
        assert said.startswith(f"See `picomem {command}`. (")
    else:
        assert said == f"See {told}."


def test_a_coded_text_names_the_operation_the_tool_or_who_can_run_the_command() -> None:
    text = CodedText("warning.believed_again", key="gate", command=Command("revise", "gate", expires_at="never"))
    fields = '`{"name": "gate", "expires_at": "never"}`'
    assert for_remote_callers(text, OFFERED).endswith(f"; the operation `revise` with {fields} keeps it.")
    repair = CodedText("warning.damaged_rows", count=2, command=Command("doctor"))
    assert for_agents(repair, {"doctor": "check"}) == "2 rows are damaged and were left out; run `check`."
    told = for_remote_callers(repair, {})
    assert told == for_remote_callers(told, {}) == f"{repair} {ASK_OPERATOR}"


def test_an_option_in_a_sentence_becomes_the_field_and_what_a_person_wrote_stays() -> None:
    told = for_remote_callers("Several are called “x --project”; give the id, or --project.", OFFERED)
    assert told == "Several are called “x --project”; give the id, or `project`."
    assert for_remote_callers("Add --unknown, or `tar --project`.", OFFERED) == "Add --unknown, or `tar --project`."


@dataclass(frozen=True, slots=True)
class Listed:
    jobs: list[Job]
    job_errors: dict[str, str]


@dataclass(frozen=True, slots=True)
class Job:
    last_error: str


def test_the_advice_of_listed_views_is_changed_too() -> None:
    told = "run `picomem doctor`"
    listed = Listed([Job(told)], {"embed": told})
    expected = "run the operation `doctor`"
    assert result_for_remote_callers(listed, OFFERED) == Listed([Job(expected)], {"embed": expected})


def test_every_command_that_a_text_of_the_package_names_can_be_told_to_a_caller_over_a_network() -> None:
    left = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] not in OF_THE_TERMINAL:
            for text in _texts(ast.parse(path.read_text())):
                told = for_remote_callers(text, OFFERED)
                left += [told for name in COMMAND.findall(told) if name in OFFERED]
    assert not [text for text in left if "--user" not in text and "--watch" not in text]


def _texts(tree: ast.AST) -> Iterator[str]:
    """The texts of a module, with something in the place of what is filled in."""
    filled = {part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "x1" for part in node.values)  # type: ignore[misc]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in filled:
            yield node.value
