"""Edits of a TOML document as text: a table comes and goes, and nothing else changes."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from tests.amounts import amount
from tests.cases import each_case
from tests.hosts.documents import toml_documents

from picomem.errors import InvalidInput
from picomem.hosts.toml_edit import put_table, remove_table, set_key

_PATH = ("mcp_servers", "picomem")
_VALUES = {"command": "/opt/a b/picomem", "args": ["mcp", "--db", 'C:\\x "y"'], "env": {"PICOMEM_DATA_DIR": "/d"}}


@settings(max_examples=amount(50, 20_000))
@given(toml_documents())
def test_a_table_that_is_added_is_there_and_removed_again_to_the_byte(text: str) -> None:
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(InvalidInput):
            put_table(text, _PATH, _VALUES)
        return
    edited = put_table(text, _PATH, _VALUES)
    assert edited.startswith(text)
    after = tomllib.loads(edited)
    assert after["mcp_servers"].pop("picomem") == _VALUES
    assert repr({"mcp_servers": {}, **before}) == repr({"mcp_servers": {}, **before, **after})
    assert put_table(edited, _PATH, _VALUES) == edited
    assert remove_table(edited, _PATH) == text
    assert remove_table(put_table(edited, _PATH, {"command": "other"}), _PATH) == text


def test_a_table_is_changed_where_it_stands_and_a_table_below_it_that_has_no_values_goes() -> None:
    text = (
        '# top\n[mcp_servers.picomem] # ours\ncommand = "old"\n\n[mcp_servers.picomem.env]\nA = "b"\n\n'
        '# about the next\n[mcp_servers.z]\ncommand = "z"\n'
    )
    edited = put_table(text, _PATH, {"command": "new"})
    assert (
        edited
        == '# top\n[mcp_servers.picomem] # ours\ncommand = "new"\n\n# about the next\n[mcp_servers.z]\ncommand = "z"\n'
    )
    assert remove_table(edited, _PATH) == '# top\n\n# about the next\n[mcp_servers.z]\ncommand = "z"\n'


@each_case(
    ("lines", "expected"),
    [
        (['env = { OWN = "1", OLD = "x" } # mine'], ['env = {OWN = "1", NEW = "y"} # mine']),
        (["env.OWN = '1'", "env.OLD = 'x' # gone"], ["env.OWN = '1'"]),
        (["# why", "[mcp_servers.picomem.env] # mine", 'OLD = "x"', "# own", 'OWN = "1"'],
         ["# why", "[mcp_servers.picomem.env] # mine", "# own", 'OWN = "1"', 'NEW = "y"']),
        (['startup_timeout_sec = 30 # slow disk', '"env" = {OWN="1"}'],
         ['startup_timeout_sec = 30 # slow disk', '"env" = {OWN = "1", NEW = "y"}']),
    ],
)  # fmt: skip
@each_case("end", ["\n", "", "\n\n# the next\n[other]\n"])
@each_case("line_end", ["\n", "\r\n"])
def test_only_the_keys_that_differ_are_edited(lines: list[str], expected: list[str], end: str, line_end: str) -> None:
    ours = [
        "[mcp_servers.picomem] # by me",
        "# what it runs",
        'command = "old" # was /opt',
        "args = [",
        '  "mcp", # serves',
        "]",
    ]
    text = line_end.join(["model = 'x'", *ours, *lines]) + end.replace("\n", line_end)
    before = tomllib.loads(text)["mcp_servers"]["picomem"]
    env = {"OWN": "1"} if any("env.OWN" in line for line in lines) else {"OWN": "1", "NEW": "y"}

    edited = put_table(text, _PATH, {**before, "command": "new", "env": env})

    ours[2] = 'command = "new" # was /opt'
    assert edited == line_end.join(["model = 'x'", *ours, *expected]) + end.replace("\n", line_end)
    assert put_table(edited, _PATH, {**before, "command": "new", "env": env}) == edited


def test_a_key_that_goes_takes_its_lines_with_it() -> None:
    text = '[mcp_servers.picomem]\ncommand = "x"\nargs = [\n  "a",\n]\n# note\ncwd = """\n[x]\n"""'
    assert put_table(text, _PATH, {"command": "x"}) == '[mcp_servers.picomem]\ncommand = "x"\n# note'


@each_case("line_end", ["\n", "\r\n"])
@each_case("separator", ["\u2028", "\u2029", "\x85", "\u00a0"])
def test_a_comment_with_a_unicode_line_separator_below_the_table_stays(separator: str, line_end: str) -> None:
    table = line_end.join(["[mcp_servers.picomem]", 'command = "x"', ""])
    comment = f"# one{separator}two{line_end}# three{line_end}"
    assert remove_table(table + comment, _PATH) == comment
    assert put_table(table + comment, _PATH, {"command": "y"}) == table.replace('"x"', '"y"') + comment


@each_case("separator", ["\u2028", "\x85"])
def test_a_value_with_a_unicode_line_separator_goes_with_its_table(separator: str) -> None:
    text = f'[mcp_servers.picomem]\ncommand = "x{separator}# y"\n'
    assert remove_table(text, _PATH) == ""


@each_case("text", ["mcp_servers = { other = { command = 'x' } }\n", "mcp_servers = 1\n"])
def test_a_place_that_takes_no_table_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be edited there"):
        put_table(text, _PATH, _VALUES)


def test_an_entry_that_is_no_table_of_its_own_is_not_removed() -> None:
    with pytest.raises(InvalidInput, match=r"write .* as a table of its own"):
        remove_table("[mcp_servers]\npicomem = { command = 'x' }\n", _PATH)


@each_case(
    ("text", "expected"),
    [
        ("", '[ingest]\nkeep = "expiring"\n'),
        ("# mine\n[recall]\nlimit = 5 # few\n", '# mine\n[recall]\nlimit = 5 # few\n\n[ingest]\nkeep = "expiring"\n'),
        ("[ingest] # copies\nkeep_mb = 5\n[recall]\n", '[ingest] # copies\nkeep_mb = 5\nkeep = "expiring"\n[recall]\n'),
        ("[ingest]\r\nkeep = 'none' # later\r\n", '[ingest]\r\nkeep = "expiring" # later\r\n'),
        ("[ingest]", '[ingest]\nkeep = "expiring"'),
        ("[ingest]\nkeep = '''none''' # later", '[ingest]\nkeep = "expiring" # later'),
        ('# keep = "all"\n[ingest]\n# keep = "all"\n  keep="none"\n', '# keep = "all"\n[ingest]\n# keep = "all"\n  keep="expiring"\n'),
        ('[a]\nx = """\n[ingest]\nkeep = \'n\'\n"""\n[ingest]\n', '[a]\nx = """\n[ingest]\nkeep = \'n\'\n"""\n[ingest]\nkeep = "expiring"\n'),
        ("ingest.keep = 'none' # x\n", 'ingest.keep = "expiring" # x\n'),
        ("ingest = { keep = 'none' }\n", 'ingest = { keep = "expiring" }\n'),
    ],
)  # fmt: skip
def test_a_key_is_set_and_every_other_byte_stays(text: str, expected: str) -> None:
    assert set_key(text, ("ingest",), "keep", "expiring") == expected


@each_case("text", ["ingest = {}\ningest.keep = 1\n", "ingest = 1\n", "x = ["])
def test_a_key_that_cannot_be_set_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        set_key(text, ("ingest",), "keep", "expiring")
