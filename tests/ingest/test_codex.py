from __future__ import annotations

import pytest
from tests.cases import each_case

from picomem.records.kinds import Origin

_AT = "2026-05-03T10:00:{:02d}.000Z"


def _line(kind: str, payload: dict, second: int = 0) -> dict:
    return {"timestamp": _AT.format(second), "type": kind, "payload": payload}


def _meta(**more) -> dict:
    return _line("session_meta", {"id": "s1", "cwd": "/p", "source": "cli", "git": {"branch": "dev"}, **more})


def _item(role: str, *texts: str, second: int = 0) -> dict:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return _line("response_item", {"type": "message", "role": role, "content": content}, second)


def _event(kind: str, text: str, second: int = 0) -> dict:
    return _line("event_msg", {"type": kind, "message": text}, second)


def test_items_and_events_of_the_same_words_are_one_turn(read):
    turns, state = read(
        [
            _meta(base_instructions={"text": "x" * 60_000}),
            _item("developer", "rules"),
            _item(
                "user",
                "# AGENTS.md instructions for /p\nrules",
                "<environment_context>x</environment_context>",
            ),
            _item("user", "fix the bug", second=1),
            _event("user_message", "fix the bug", 1),
            _line("turn_context", {"cwd": "/p", "model": "m"}),
            _line("response_item", {"type": "reasoning", "summary": [], "encrypted_content": "x"}),
            _line("response_item", {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}),
            _line("response_item", {"type": "function_call_output", "call_id": "c", "output": "SECRET"}),
            _event("agent_message", "done", 2),
            _item("assistant", "done", second=2),
            _line("compacted", {"message": "", "replacement_history": [_item("user", "fix the bug")["payload"]]}),
            _item("user", "<turn_aborted>\n</turn_aborted>", second=3),
            _line("brand_new", {}),
        ],
        expected="codex",
    )
    assert [(turn.role, turn.text, turn.origin) for turn in turns] == [
        ("user", "fix the bug", Origin.USER),
        ("assistant", "done", Origin.AGENT),
    ]
    assert (state.info.session, state.info.cwd, state.info.branch) == ("s1", "/p", "dev")
    assert state.skipped.counts["unknown:brand_new"] == 1
    assert state.skipped.counts["event"] == 2


def test_an_event_before_its_item_is_one_turn_too(read):
    turns, _ = read(
        [
            _meta(),
            _event("user_message", "hello", 1),
            _item("user", "hello", second=1),
            _item("assistant", "hi", second=2),
            _item("user", "hello", second=3),
        ]
    )
    assert [turn.text for turn in turns] == ["hello", "hi", "hello"]


def test_a_file_of_events_alone_is_read(read):
    turns, _ = read([_meta(), _event("user_message", "hello", 1), _event("agent_message", "hi", 2)])
    assert [(turn.role, turn.text) for turn in turns] == [("user", "hello"), ("assistant", "hi")]


def test_the_oldest_files_have_no_envelope(read):
    turns, state = read(
        [
            {
                "id": "old",
                "timestamp": "2025-06-01T10:00:00Z",
                "instructions": None,
                "git": {"branch": "main"},
            },
            {"record_type": "state"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
            {"type": "reasoning", "summary": []},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]},
        ],
        expected="codex",
    )
    assert [turn.text for turn in turns] == ["hello", "hi"]
    assert (state.info.session, state.info.branch) == ("old", "main")


def test_what_a_sub_agent_is_asked_was_written_by_an_agent(read):
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "s0", "depth": 1}}}
    turns, state = read([_meta(source=spawned, agent_nickname="Ada"), _item("user", "look", second=1)])
    assert turns[0].origin is Origin.AGENT
    assert (state.info.parent_session, state.info.agent) == ("s0", "Ada")


@pytest.mark.requirement("X7")
def test_what_a_sub_agent_reports_is_a_tools_when_it_is_retold(read):
    call = {"type": "function_call", "name": "spawn_agent", "arguments": "{}", "call_id": "c1"}
    report = '<subagent_notification>\n{"status": {"completed": "Port 9000"}}\n</subagent_notification>'
    turns, _ = read(
        [
            _meta(),
            _item("user", "Which port?", second=1),
            _line("response_item", call, 2),
            _item("assistant", "It is 9000", second=3),
            _item("user", "And the host?", second=4),
            _item("assistant", "I do not know yet", second=5),
            _item("user", report, second=6),
            _item("assistant", "It is localhost", second=7),
        ]
    )
    agents = [turn.origin for turn in turns if turn.role == "assistant"]
    assert agents == [Origin.TOOL, Origin.AGENT, Origin.TOOL]


@pytest.mark.requirement("X7")
@each_case("told", [{"source": "mcp"}, {"parent_thread_id": "s0"}, {"agent_role": "explorer"}])
def test_what_another_agent_asks_is_not_the_users(read, told: dict):
    turns, _ = read([_meta(**told), _item("user", "look", second=1)])
    assert turns[0].origin is Origin.AGENT


def test_a_forks_copied_header_does_not_rename_it(read):
    _, state = read([_meta(forked_from_id="s0"), _line("session_meta", {"id": "s0", "cwd": "/other"})])
    assert (state.info.session, state.info.cwd, state.info.parent_session) == ("s1", "/p", "")


def test_an_editors_context_is_cut_off(read):
    text = "# Context from my IDE setup:\n## Open tabs\n- a.py\n\n## My request for Codex:\nfix it"
    turns, _ = read([_meta(), _item("user", text, second=1)])
    assert turns[0].text == "fix it"


def test_an_appended_copy_is_not_told_twice(read):
    line = _item("user", "hello", second=1)
    turns, state = read([_meta(), line, line])
    assert len(turns) == 1
    assert state.skipped.counts["repeated"] == 1
