from __future__ import annotations

import json

import pytest

from picomem.errors import InvalidInput
from picomem.ingest import reader
from picomem.ingest.format import DocumentFormat, format_of
from picomem.ingest.formats.picobot import FORMAT
from picomem.records.kinds import Origin

_SESSION = {
    "id": "ws-1",
    "channel_type": "Websocket",
    "user_id": "ann",
    "conversation": [
        {"System": {"content": "rules"}},
        {"User": {"content": "grüß dich"}},
        {"Assistant": {"content": "hallo"}},
        {"Tool": {"tool_call_id": "1", "content": "SECRET"}},
        {"User": {"content": "tschüß"}},
    ],
    "created_at": "2026-02-03T10:00:00.123456789Z",
    "state": "Idle",
}


@pytest.mark.parametrize("indent", [None, 2])
def test_each_session_is_given_with_pointers_to_its_entries(tmp_path, indent):
    path = tmp_path / "sessions.json"
    document = {"sessions": [_SESSION, {**_SESSION, "id": "ws-2", "conversation": []}]}
    path.write_text(json.dumps(document, indent=indent, ensure_ascii=False), encoding="utf-8")
    form = format_of(path, reader.head(path))
    assert isinstance(form, DocumentFormat)
    (info, turns, skipped), (second, none, _) = form.sessions(path)
    assert (info.session, second.session, none) == ("ws-1", "ws-2", [])
    assert info.started_at == 1_770_112_800_123_456
    assert [(turn.text, turn.origin) for turn in turns] == [
        ("grüß dich", Origin.USER),
        ("hallo", Origin.AGENT),
        ("tschüß", Origin.USER),
    ]
    assert skipped.counts == {"system": 1, "tool": 1}
    whole = path.read_bytes()
    for turn, entry in zip(turns, [1, 2, 4]):
        assert json.loads(whole[turn.start : turn.end]) == _SESSION["conversation"][entry]


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"[]",
        b'{"sessions":',
        b'{"sessions":[{"id":"a"}',
        b'{"sessions":[{"id":"a","conversation":7}]}',
        b'{"sessions":[]} x',
        b'{"sessions":' + b"[" * 100_000,
        b'{"sessions":[{"id":"\xff"}]}',
    ],
    ids=range(8),
)
def test_a_broken_file_is_one_sentence_and_gives_nothing(tmp_path, broken):
    path = tmp_path / "sessions.json"
    path.write_bytes(broken)
    with pytest.raises(InvalidInput, match=r"sessions\.json is not .*\.$"):
        next(FORMAT.sessions(path))


def test_another_programs_sessions_json_is_not_claimed(tmp_path):
    path = tmp_path / "sessions.json"
    assert format_of(path, b'{"agent:main:main":{"sessionId":"x"}}') is None


def test_a_store_gets_its_own_users_sessions_and_their_dates(tmp_path, open_engine):
    mine = {**_SESSION, "id": "t-1", "user_id": "tui:local", "conversation": [{"User": {"content": "at my desk"}}]}
    path = tmp_path / "sessions.json"
    path.write_text(json.dumps({"sessions": [_SESSION, mine]}), encoding="utf-8")
    local, ann = open_engine(), open_engine(user="ann")
    report = local.ingest([path])
    assert report.skipped["session of another user"] == 1
    assert [hit.text for hit in local.timeline()] == ["at my desk"]
    ann.ingest([path])
    assert [hit.text for hit in ann.timeline()] == ["tschüß", "hallo", "grüß dich"]
    assert [hit.at - 1_770_112_800_123_456 for hit in ann.timeline()] == [2, 1, 0]
    assert local.ingest([path]).unchanged == 1
