"""The codes of errors that the server gives are all in the reference."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

import anyio
import pytest
from tests.conftest import SOURCES
from tests.databases import Database
from tests.docs.reference_page import render

from picomem import errors
from picomem.app import operations
from picomem.coded_text import CodedText, Command
from picomem.gateway.calls import Calls
from picomem.records.caller import Caller
from picomem.runtime import Runtime
from picomem.settings import Settings


def test_every_code_of_the_server_is_in_the_reference() -> None:
    text = "\n".join(path.read_text("utf-8") for path in (SOURCES / "gateway").glob("*.py"))
    text = re.sub(r"^_TYPES = .*$", "", text, flags=re.MULTILINE)  # OpenAI's names for kinds of errors
    given = set(re.findall(r"\b(?:4\d\d|500),\s+\"([a-z_]+)\"", text))
    given |= set(re.findall(r"\b(?:4\d\d|500): \"([a-z_]+)\"", text)) | set(
        re.findall(r"{\"code\": \"([a-z_]+)\"}", text)
    )
    assert {"unauthorized", "wrong_method", "cancelled"} <= given
    of_operations = {kind.code for kind in vars(errors).values() if isinstance(kind, type) and hasattr(kind, "code")}
    assert given - of_operations == errors.SERVER_CODES.keys()
    page = render()
    assert all(f"| `{code}` |" in page for code in errors.SERVER_CODES)


def test_the_reference_names_the_fields_that_are_called_otherwise_than_their_option() -> None:
    page = render()
    assert "- `--tag` (HTTP: `tags`): a tag; repeatable" in page
    assert "(HTTP: `query`)" not in page
    assert "(HTTP: `token_budget`)" not in page


def test_a_failure_of_the_embedder_is_raised_anew_and_not_reworded_for_others(db: Path, database: Database) -> None:
    without = errors.EmbedderFailed(
        CodedText("failure.other_dimensions", model="m", given=3, stored=4, command=Command("embed", afresh=True))
    )
    with Runtime(database.connect(db), Settings(), embedder=without) as runtime:
        calls = Calls(runtime, operations())
        caught = []
        for _ in range(3):
            with pytest.raises(errors.EmbedderFailed) as local:
                runtime.engine().embed()
            caught.append(local.value)
            with pytest.raises(errors.EmbedderFailed) as remote:
                anyio.run(calls.call, Caller("local", "cli"), "embed", {})
            assert "afresh" in str(remote.value) and str(remote.value) != str(without)
    assert [str(error) for error in caught] == [str(without)] * 3
    assert len({id(error) for error in caught}) == 3
    depths = [len(traceback.extract_tb(error.__traceback__)) for error in caught]
    assert depths == [depths[0]] * 3
