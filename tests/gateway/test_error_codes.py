"""The codes of errors that the server gives are all in the reference."""

from __future__ import annotations

import re

from tests.conftest import SOURCES

from picomem import errors
from picomem.operations.reference_page import render


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
