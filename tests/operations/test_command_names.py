"""What an agent or a caller over a network is told where a person would be told a command."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import picomem
from picomem.app import operations
from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt, NotFound
from picomem.light_dataclass import dataclass
from picomem.operations.command_names import (
    ASK_OPERATOR,
    error_data,
    for_agents,
    for_remote_callers,
    result_for_agents,
    result_for_remote_callers,
)
from picomem.operations.operation import options

PACKAGE = Path(picomem.__file__).parent
OFFERED = {
    operation.name: operation.request
    for operation in operations()
    if not (operation.operator or operation.reads_local_files)
}
TOOLS = {"recall": "memory_recall", "history": "memory_history"}


def damaged(command: Command) -> CodedText:
    return CodedText("failure.damaged_vector", command=command)


@dataclass(frozen=True, slots=True)
class Found:
    text: str
    explanation: str = ""


def test_a_command_with_a_tool_is_named_as_the_tool() -> None:
    remedy = CodedText("failure.searched_by_words", command=Command("recall"))
    said = for_agents(CodedText("failure.no_memory", name="x", remedy=remedy), TOOLS)
    assert said == "There is no memory “x”; `memory_recall` searches by words."
    said = for_agents(CodedText("failure.archived_name", name="x", command=Command("history", "x")), TOOLS)
    assert said.startswith("“x” is archived; `memory_history x` shows it")


@pytest.mark.parametrize("command", [Command("doctor", repair=True), Command("recall", limit="3")])
def test_a_command_without_a_tool_or_with_options_is_for_the_person(command: Command) -> None:
    said = for_agents(damaged(command), TOOLS)
    assert command in said
    assert "tell them" in said


def test_a_sentence_without_a_command_stays_as_it_is() -> None:
    for text in ("The importance is 7; it lies between 0 and 1.", "Somebody wrote `picomem recall` here."):
        assert for_agents(text, TOOLS) == for_remote_callers(text, OFFERED) == text


def test_an_explanation_is_changed_and_what_was_stored_is_not() -> None:
    told = CodedText("failure.searched_by_words", command=Command("recall"))
    assert result_for_agents(Found(str(told), told), TOOLS) == Found(str(told), "`memory_recall` searches by words.")


def test_a_caller_over_a_network_is_told_of_operations_and_who_can_run_the_other_commands() -> None:
    told = for_remote_callers(damaged(Command("doctor")), OFFERED)
    assert told == "A vector is damaged; run the operation `doctor`."
    told = for_remote_callers(CodedText("warning.nothing_read", command=Command("ingest")), OFFERED)
    assert told.startswith("No past session has been read yet; run `picomem ingest`. (")
    assert "on the server's machine: ask its operator" in told


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (Command("history", "billing_db"), 'the operation `history` with `{"name": "billing_db"}`'),
        (Command("doctor", repair=True), 'the operation `doctor` with `{"repair": true}`'),
        (Command("purge", session="ID"), 'the operation `purge` with `{"session": "ID"}`'),
        (Command("timeline", json=True), "the operation `timeline`"),
        (Command("withhold", help=True), "the operation `withhold`"),
        (Command("purge", user="ann"), None),
        (Command("token", "make", user="ann"), None),
    ],
)
def test_a_command_becomes_the_operation_and_the_fields_of_its_request(command: Command, told: str | None) -> None:
    said = for_remote_callers(damaged(command), OFFERED)
    if told is None:  # the request has no such field
        assert said.startswith(f"A vector is damaged; run {command}. (")
    else:
        assert said == f"A vector is damaged; run {told}."


def test_a_command_is_typed_as_a_shell_reads_it() -> None:
    command = Command("token", "make", user="ann lee", scope=("memory:read:user", "memory:write:user"))
    assert command == "`picomem token make --user 'ann lee' --scope memory:read:user --scope memory:write:user`"


def test_a_coded_text_names_the_operation_the_tool_or_who_can_run_the_command() -> None:
    text = CodedText("warning.believed_again", key="gate", command=Command("revise", "gate", expires_at="never"))
    fields = '`{"name": "gate", "expires_at": "never"}`'
    assert for_remote_callers(text, OFFERED).endswith(f"; the operation `revise` with {fields} keeps it.")
    repair = CodedText("warning.damaged_rows", count=2, command=Command("doctor"))
    assert for_agents(repair, {"doctor": "check"}) == "2 rows are damaged and were left out; run `check`."
    told = for_remote_callers(repair, {})
    assert told == for_remote_callers(told, {}) == f"{repair} {ASK_OPERATOR}"


def test_an_error_has_the_code_and_the_values_of_its_sentence_on_every_surface() -> None:
    """Issue 40, point 3."""
    error = Corrupt(CodedText("failure.damaged_entry", name="berth", command=Command("doctor", repair=True)))
    codes = error_data(error)
    assert (codes["code"], codes["reason"]) == ("corrupt", "failure.damaged_entry")
    assert codes["values"] == {"name": "berth", "command": {"command": ["doctor"], "options": {"repair": True}}}
    assert error_data(Corrupt(for_remote_callers(error.message, {})))["reason"] == "failure.damaged_entry"
    assert error_data(NotFound("There is no such page.")) == {"code": "not_found"}


@dataclass(frozen=True, slots=True)
class Listed:
    jobs: list[Job]
    job_errors: dict[str, str]


@dataclass(frozen=True, slots=True)
class Job:
    last_error: str


def test_the_advice_of_listed_views_is_changed_too() -> None:
    told = damaged(Command("doctor"))
    expected = "A vector is damaged; run the operation `doctor`."
    listed = result_for_remote_callers(Listed([Job(told)], {"embed": told}), OFFERED)
    assert listed == Listed([Job(expected)], {"embed": expected})


def test_every_command_that_a_text_of_the_package_names_has_an_operation_with_these_fields() -> None:
    """A misspelt field, or more words than the request takes, would leave the command to the operator."""
    named = {
        ast.unparse(call): call for path in PACKAGE.rglob("*.py") for call in _commands(ast.parse(path.read_text()))
    }
    assert len(named) > 30
    left = []
    for text, call in named.items():
        name, *words = [part.value if isinstance(part, ast.Constant) else "x1" for part in call.args]
        options = {option.arg: getattr(option.value, "value", "x1") for option in call.keywords if option.arg}
        if name in OFFERED and "user" not in options:
            command = Command(str(name), *map(str, words), **options)
            left += [text] if command in for_remote_callers(damaged(command), OFFERED) else []
    assert left == []


def _commands(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) == "Command"
            and isinstance(node.args[0], ast.Constant)
        ):
            yield node


def test_what_surfaces_share_is_documented_without_the_command_line() -> None:
    """The description of an operation is the same over HTTP, where nobody has a terminal."""
    for operation in operations():
        if operation.name in OFFERED:
            texts = [*operation.paragraphs, *(about["help"] for _, _, about in options(operation.request))]
            assert not [text for text in texts if re.search(r"`picomem |(?<![\w-])--[a-z]", text)], operation.name
