"""Reading a transcript in any slices gives what reading it at once gives."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from picomem.errors import InvalidInput
from picomem.ingest import reader
from picomem.ingest.format import DocumentFormat, LineFormat, State, format_named, format_of
from picomem.light_dataclass import replace
from picomem.records.transcript import Turn

_WORDS = st.sampled_from(["hello", "yes", "yes", "<private>x", "<system-reminder>r</system-reminder>", "é 日本"])
_IDS = st.sampled_from(["u1", "u2", "u3", "u4"])
_KINDS = st.sampled_from(["user", "assistant", "progress", "system", "new"])
_TIMES = st.sampled_from(["2026-05-03T10:00:00Z", "2026-05-03T10:00:01Z", "never"])


@st.composite
def _claude(draw: st.DrawFn) -> dict:
    role = draw(st.sampled_from(["user", "assistant"]))
    block = draw(st.sampled_from(["text", "tool_result", "thinking"]))
    return {
        "isSidechain": draw(st.booleans()),
        "cwd": "/p",
        "sessionId": draw(_IDS),
        "type": draw(_KINDS),
        "message": {"id": draw(_IDS), "role": role, "content": [{"type": block, "text": draw(_WORDS)}]},
        "uuid": draw(_IDS),
        "timestamp": draw(_TIMES),
    }


@st.composite
def _codex(draw: st.DrawFn) -> dict:
    role, text = draw(st.sampled_from(["user", "assistant", "developer"])), draw(_WORDS)
    kind = draw(st.sampled_from(["response_item", "event_msg", "session_meta", "turn_context", "new"]))
    payload = {
        "response_item": {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]},
        "event_msg": {"type": draw(st.sampled_from(["user_message", "agent_message"])), "message": text},
    }.get(kind, {"id": draw(_IDS), "cwd": "/p"})
    return {"timestamp": draw(_TIMES), "type": kind, "payload": payload}


@st.composite
def _openclaw(draw: st.DrawFn) -> dict:
    kind = draw(st.sampled_from(["message", "session", "compaction", "session_info", "new"]))
    role = draw(st.sampled_from(["user", "assistant", "toolResult"]))
    message = {"role": role, "content": draw(_WORDS)}
    return {"type": kind, "id": draw(_IDS), "parentId": draw(_IDS), "name": draw(_WORDS), "message": message}


@st.composite
def _plain(draw: st.DrawFn) -> dict:
    role = draw(st.sampled_from(["user", "assistant", "tool", "Ann"]))
    return {"role": role, "content": draw(_WORDS), "timestamp": draw(_TIMES)}


def _is_plain(junk: bytes) -> bool:
    """Not the beginning of a zstd frame or a gzip stream: such a file is read as compressed, and junk in it is an
    error."""
    return junk[:2] != b"\x1f\x8b" and junk[:4] != b"\x28\xb5\x2f\xfd" and junk[1:4] != b"\x2a\x4d\x18"


_RECORDS = {"claude-code": _claude(), "codex": _codex(), "openclaw": _openclaw(), "plain": _plain()}


@st.composite
def _files(draw: st.DrawFn, name: str) -> bytes:
    lines = draw(
        st.lists(st.one_of(_RECORDS[name].map(_encoded), st.binary(max_size=20).filter(_is_plain)), max_size=25)
    )
    ends = st.sampled_from([b"\n", b"\r\n", b"\n\n"])
    return b"".join(line + draw(ends) for line in lines) + draw(st.sampled_from([b"", b'{"half":']))


def _encoded(record: dict) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode()


def _line_format(name: str) -> LineFormat:
    form = format_named(name)
    assert not isinstance(form, DocumentFormat)
    return form


def _read(form: LineFormat, path: Path, state: State, offset: int) -> tuple[list[Turn], int]:
    turns: list[Turn] = []
    for line in reader.lines(path, offset):
        turns += form.feed(state, line)
        offset = line.end
    return turns, offset


def _past_newline(content: bytes, end: int) -> int:
    """A record that is whole without its newline is read before that is written; the newline is passed over later."""
    left = re.match(rb"[ \t\r\0]*\n", content[end:])
    return end + left.end() if left and content[end - 1 : end] != b"\n" else end


@pytest.mark.parametrize("name", list(_RECORDS))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_slices_of_a_growing_file_give_the_same_turns_and_state(tmp_path, name, data):
    form, path, content = _line_format(name), tmp_path / "a.jsonl", data.draw(_files(name))
    path.write_bytes(content)
    whole_state = form.start(path)
    whole, whole_end = _read(form, path, whole_state, 0)

    cuts = data.draw(st.lists(st.integers(0, len(content)), max_size=5))
    stored, offset, turns = json.dumps(form.start(path).to_json()), 0, []
    for cut in [*sorted(cuts), len(content)]:
        path.write_bytes(content[:cut])
        state = State.from_json(json.loads(stored))
        more, offset = _read(form, path, state, offset)
        turns += more
        stored = json.dumps(state.to_json())
    assert [replace(turn, end=_past_newline(content, turn.end)) for turn in turns] == whole
    assert _past_newline(content, offset) == _past_newline(content, whole_end)
    assert json.loads(stored) == json.loads(json.dumps(whole_state.to_json()))
    assert [turn.index for turn in turns] == list(range(len(turns)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.one_of(
        st.binary(max_size=300).filter(_is_plain),
        st.recursive(
            st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), _WORDS),
            lambda inner: st.one_of(
                st.lists(inner),
                st.dictionaries(
                    st.sampled_from(
                        [
                            "type",
                            "message",
                            "content",
                            "payload",
                            "role",
                            "text",
                            "sessionId",
                            "uuid",
                            "timestamp",
                            "id",
                            "source",
                            "attachment",
                            "origin",
                            "forkedFrom",
                            "cwd",
                            "git",
                            "isSidechain",
                            "agentId",
                            "aiTitle",
                            "provenance",
                        ]
                    ),
                    inner,
                ),
            ),
            max_leaves=30,
        ).map(lambda value: json.dumps(value).encode()),
    )
)
def test_no_content_makes_a_parser_fail(tmp_path, content):
    assume(not content.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")))  # which says that it is compressed
    path = tmp_path / "a.jsonl"
    path.write_bytes(content + b"\n")
    format_of(path, content)
    for name in _RECORDS:
        form = _line_format(name)
        state = form.start(path)
        _read(form, path, state, 0)
        assert State.from_json(json.loads(json.dumps(state.to_json()))).to_json() == state.to_json()


def test_a_long_transcripts_state_stays_small(tmp_path):
    form = _line_format("claude-code")
    state = form.start(tmp_path / "a.jsonl")
    for number in range(10_000):
        record = {
            "type": "user",
            "sessionId": "s",
            "uuid": f"u{number}",
            "message": {"content": f"n{number}"},
        }
        form.feed(state, reader.Line(number, number + 1, _encoded(record)))
        form.feed(state, reader.Line(number, number + 1, b'{"type":"t%d","sessionId":"s"}' % number))
    assert state.turns == 10_000
    assert len(json.dumps(state.to_json())) < 40_000


def test_a_state_that_is_not_ours_is_refused():
    for stored in ({}, {"info": {}, "skipped": {}, "turns": "x", "seen": "", "marks": {}}):
        with pytest.raises(InvalidInput):
            State.from_json(stored)
