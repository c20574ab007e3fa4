"""Edits of JSON, JSONC and JSON5 as text: what is inserted can be removed again, and nothing else changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import amount
from tests.cases import each_case
from tests.hosts.documents import KEYS, VALUES, json_documents

from picomem.errors import InvalidInput
from picomem.text.json_edit import append, at, parse, put, remove, update


def _without(value: Any, path: tuple[str, ...]) -> Any:
    return {
        key: _without(inner, path[1:]) if key == path[0] and isinstance(inner, dict) and path[1:] else inner
        for key, inner in value.items()
        if not (key == path[0] and len(path) == 1)
    }


@settings(max_examples=amount(40, 20_000))
@given(json_documents(relaxed=False))
def test_strict_json_is_read_as_python_reads_it(document: tuple[str, dict[str, Any]]) -> None:
    text, value = document
    assert parse(text, "json").value == parse(text, "json5").value == json.loads(text) == value


@settings(max_examples=amount(40, 20_000))
@given(json_documents(relaxed=True))
def test_comments_and_trailing_commas_change_no_value(document: tuple[str, dict[str, Any]]) -> None:
    text, value = document
    assert parse(text, "json5").value == value


@settings(max_examples=amount(40, 20_000))
@given(
    st.booleans().flatmap(lambda relaxed: json_documents(relaxed=relaxed)),
    st.lists(KEYS, min_size=1, max_size=3),
    st.dictionaries(st.text("abc", min_size=1), VALUES, max_size=2),
)
def test_what_is_inserted_is_there_and_removed_again_to_the_byte(
    document: tuple[str, dict[str, Any]], folders: list[str], value: Any
) -> None:
    text, before = document
    path = (*folders, "picomem")
    root = parse(text, "json5")
    try:
        edited = put(text, "json5", path, value)
    except InvalidInput:
        assert any(at(root, path[:n]) and not isinstance(at(root, path[:n]).value, dict) for n in range(1, len(path)))
        return
    after = parse(edited, "json5").value
    assert at(parse(edited, "json5"), path).value == value
    assert _pruned(_without(after, path), before) == before
    assert remove(edited, "json5", path, lambda parent: at(root, parent) is not None) == text
    assert put(edited, "json5", path, value) == edited


@settings(max_examples=amount(40, 20_000))
@given(json_documents(relaxed=True), KEYS, st.dictionaries(KEYS, VALUES, max_size=3))
def test_an_update_edits_only_the_members_that_differ(
    document: tuple[str, dict[str, Any]], key: str, value: dict[str, Any]
) -> None:
    text, before = document
    edited = update(text, "json5", (key,), value)
    assert parse(edited, "json5").value == before | {key: value}
    assert update(edited, "json5", (key,), value) == edited


def test_an_update_leaves_comments_and_the_order_of_members() -> None:
    text = '{"mine": {\n  // first\n  "b": [1], // one\n  "a": {"x": 1, /* two */ "y": 2}, "gone": 3\n}}'
    assert update(text, "json5", ("mine",), {"a": {"x": 1, "y": 5}, "b": [1], "new": 4}) == (
        '{"mine": {\n  // first\n  "b": [1], // one\n  "a": {"x": 1, /* two */ "y": 5},\n  "new": 4\n}}'
    )


def _pruned(value: Any, like: Any) -> Any:
    """Without the objects that are empty and not in `like`."""
    if not isinstance(value, dict):
        return value
    return {
        key: _pruned(inner, like.get(key, {}) if isinstance(like, dict) else {})
        for key, inner in value.items()
        if (isinstance(like, dict) and key in like) or _pruned(inner, {}) != {}
    }


@settings(max_examples=amount(40, 20_000))
@given(
    json_documents(relaxed=True),
    st.lists(st.tuples(KEYS, st.booleans()), min_size=1, max_size=4, unique_by=lambda p: p[0]),
)
def test_elements_of_several_lists_come_and_go_in_any_order(
    document: tuple[str, dict[str, Any]], events: list[tuple[str, bool]]
) -> None:
    text, _ = document
    group = {"hooks": [{"type": "command", "command": "picomem-hook"}]}
    edited = text
    try:
        for event, _ in events:
            edited = append(edited, "json5", ("hooks", event), group)
    except InvalidInput:
        return
    root = parse(text, "json5")
    for event, _ in sorted(events, key=lambda pair: pair[1]):
        lists = at(parse(edited, "json5"), ("hooks", event)).value
        assert lists[-1] == group
        path = ("hooks", event, len(lists) - 1)
        edited = remove(edited, "json5", path, lambda parent: at(root, parent) is not None)
    assert edited == text


def test_what_follows_on_the_line_of_a_removed_entry_does_not_become_a_comment() -> None:
    text = put('{ "theirs": 1, // one\n}', "json5", ("picomem",), 2)
    text = text.replace("2,", '2, "added": 3')
    assert parse(text, "json5").value == {"theirs": 1, "picomem": 2, "added": 3}
    assert parse(remove(text, "json5", ("picomem",)), "json5").value == {"theirs": 1, "added": 3}


def test_json5_of_openclaw_is_read() -> None:
    text = """// mine
{
  mcp: { servers: { 'other': { command: "x", args: ['a\\'b', "c\\
d"], }, }, },  // unquoted
  $odd_1: [0x1F, +.5, -Infinity, 5., 1e3,],
}
"""
    assert parse(text, "json5").value == {
        "mcp": {"servers": {"other": {"command": "x", "args": ["a'b", "cd"]}}},
        "$odd_1": [31, 0.5, float("-inf"), 5.0, 1000.0],
    }
    edited = put(text, "json5", ("mcp", "servers", "picomem"), {"command": "p"})
    assert """{ command: "x", args: ['a\\'b', "c\\\nd"], }, "picomem": {"command": "p"}, }, },  // unquoted""" in edited
    assert remove(edited, "json5", ("mcp", "servers", "picomem")) == text


@each_case(
    "text",
    ["", "[]", "{", '{"a"}', '{"a": 1 "b": 2}', "{a b: 1}", "{'a: 1}", '{"a": 01}', '{"a": "x\n"}', '{"a": 1,,}', "{} {}",
     '{"a": /* }', '{"a": tru}', "[" * 5000, '{"a":' * 5000],
)  # fmt: skip
def test_what_is_no_json_with_comments_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse(text, "json5")


@each_case(
    "text", ["// a\n{}", "{} /* a */", '{"a": [1,]}', '{"a": 1,}', "{\u00a0}", "{a: 1}", "{'a': 1}", '{"a": .5}']
)
def test_strict_json_has_no_comments_and_no_trailing_commas(text: str) -> None:
    parse(text, "json5")
    with pytest.raises(InvalidInput, match="line 1 is not valid JSON"):
        parse(text, "json")


def test_the_layout_of_the_neighbours_is_taken_over() -> None:
    text = '{\r\n\t"a": 1, // first\r\n\t"b": {"c": 2} // last\r\n}\r\n'
    assert put(text, "json5", ("m", "picomem"), {"x": 1}) == (
        '{\r\n\t"a": 1, // first\r\n\t"b": {"c": 2}, // last\r\n\t"m": {\r\n\t\t"picomem": {\r\n\t\t\t"x": 1\r\n\t\t}\r\n\t}\r\n}\r\n'
    )
