"""What an agent is told where a person would be told a command."""

from __future__ import annotations

from picomem.light_dataclass import dataclass
from picomem.operations.command_rewriting import for_agents, for_remote_callers, result_for_agents

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
    offered = {"doctor", "recall"}
    told = for_remote_callers("A row is damaged; run `picomem doctor`.", offered)
    assert told == "A row is damaged; run the operation `doctor`."
    told = for_remote_callers("No past session has been read yet; run `picomem ingest`.", offered)
    assert told.startswith("No past session has been read yet; run `picomem ingest`. (")
    assert "on the server's machine: ask its operator" in told
    assert for_remote_callers("Nothing is known.", offered) == "Nothing is known."
