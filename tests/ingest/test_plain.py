from __future__ import annotations

import pytest

from picomem.records.kinds import Origin


def test_anyones_log_is_read(read):
    turns, state = read(
        [
            {"role": "system", "content": "rules"},
            {"role": "user", "content": "hello", "timestamp": "2026-05-03T10:00:00Z"},
            {"role": "assistant", "text": "hi", "timestamp": 1_777_802_401},
            {"role": "Ann", "content": [{"type": "text", "text": "me too"}, {"type": "image"}]},
            {"role": "tool", "content": "SECRET"},
            {"role": "assistant", "message": {"content": [{"type": "text", "text": "bye"}]}},
            {"note": "nothing"},
        ],
        name="talk.jsonl",
        expected="plain",
    )
    assert [(turn.role, turn.text, turn.origin) for turn in turns] == [
        ("user", "hello", Origin.USER),
        ("assistant", "hi", Origin.AGENT),
        ("Ann", "me too", Origin.OTHER),
        ("assistant", "bye", Origin.AGENT),
    ]
    assert [turn.at for turn in turns] == [1_777_802_400_000_000, 1_777_802_401_000_000, None, None]
    assert state.info.session == "talk"
    assert state.skipped.counts == {"system": 1, "attachment": 1, "tool": 1, "unknown:": 1}


@pytest.mark.requirement("X7")
def test_in_a_log_of_names_alone_all_are_people(read):
    turns, _ = read([{"role": "Ann", "content": "hello"}, {"role": "Bob", "content": "hi"}], expected="plain")
    assert [(turn.role, turn.origin) for turn in turns] == [("Ann", Origin.USER), ("Bob", Origin.USER)]


def test_a_first_line_names_the_session(read):
    _, state = read(
        [
            {"_type": "metadata", "key": "cli:direct", "created_at": "2026-05-03T10:00:00"},
            {"role": "user", "content": "hello", "timestamp": "2026-05-03T10:00:01"},
        ]
    )
    assert state.info.session == "cli:direct"


def test_a_line_that_is_not_json_and_bytes_that_are_not_text_are_met(read):
    turns, state = read(
        b'{"role":"user","content":"a\xffb"}\nnot json\n[1]\n'
        b'{"role":"user","content":"c\0d"}\n{"role":"user","co\n' + b"[" * 100_000 + b"\n"
    )
    assert [turn.text for turn in turns] == ["a\ufffdb", "cd"]
    assert state.skipped.counts == {"invalid line": 4}
