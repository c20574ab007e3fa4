"""The OpenAPI document of a real server, held against what the server does (S7), by schemathesis.

What the document calls valid is accepted, what it calls wrong is refused, and each answer is one that it describes. Text
is ASCII here: the schemas do not list every character that no line may hold.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.amounts import amount

from picomem.app import operations

from .serving import Served, token

pytestmark = [
    pytest.mark.reliability("S7"),
]
CONFORMANCE = [status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = amount(2, 2_000)
MOST_OF_A_TOKEN = 150  # requests, fewer than its burst
# Refused for what the store or the settings are, or for how two fields go together, which no schema of a field says.
OF_THE_STATE = {
    "chat": "No model is set",
    "embed": "recall.embedder is none",
    "purge": "Choose what to erase|The age is",
    "undo": "so there is nothing to undo|cannot be undone",
    "changes": "Give a memory or a run|cursor",
    "memories": "cursor",
    "sessions": "cursor",
    "review": "Say|Choose|Name|Give a memory|cursor",
    "revise": "Say what|nothing to change|not both|Nothing|passed already|importance or the priority",
    "audit": "cursor",
    "bulk-edit": "Name between",
    "jobs": "cursor",
    "remember": "passed already|system_|internal_|importance or the priority|not both|begins with",
    "history": "begins|before",
    "recall": "ends before|begins after|not both",
    "timeline": "ends before|begins after|cursor",
}
TOO_EARLY = "is before 1970"  # a time of any operation, which no schema of a text says
MANY_FIELDS = ["memories", "purge", "recall", "remember", "timeline"]  # to make examples takes seconds an operation
EVERY = sorted(operation.name for operation in operations() if not (operation.operator or operation.reads_local_files))
NAMES = EVERY if amount(0, 1_000) else MANY_FIELDS


@pytest.fixture(scope="module")
def document(served: Served) -> Any:
    with served.client(token(served.db, "--user", "reader")) as client:
        text = client.get("/api/v1/openapi.json").json()
    config = SchemathesisConfig.from_dict({"generation": {"codec": "ascii", "allow-x00": False, "database": "none"}})
    return schemathesis.openapi.from_dict(text, config=config)


class _Tokens:
    """Tokens of a user, a new one before the bound of requests is reached."""

    def __init__(self, served: Served, user: str) -> None:
        self._served = served
        self._user = user
        self._left = 0
        self._text = ""

    def header(self) -> dict[str, str]:
        if not self._left:
            self._text, self._left = token(self._served.db, "--user", self._user), MOST_OF_A_TOKEN
        self._left -= 1
        return {"Authorization": f"Bearer {self._text}"}


@pytest.mark.timeout(amount(120, 36_000))
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mode", list(GenerationMode), ids=str)
def test_an_operation_does_what_the_document_says(served: Served, document: Any, name: str, mode: Any) -> None:
    described = document[f"/api/v1/{name}"]["POST"]
    tokens = _Tokens(served, f"{name}_{mode.value}")

    @seed(7)
    @settings(
        max_examples=EXAMPLES,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(case=described.as_strategy(generation_mode=mode))
    def answered(case: Any) -> None:
        case.headers.pop("Picomem-User", None)  # what is another user's is another test's
        answer = case.call(base_url=served.url, headers=tokens.header())
        case.validate_response(answer, checks=[not_a_server_error, *CONFORMANCE])
        said = answer.json()
        if mode is GenerationMode.POSITIVE and answer.status_code == 400:
            message = said["error"]["message"]
            refused = f"{TOO_EARLY}|{OF_THE_STATE[name]}" if name in OF_THE_STATE else TOO_EARLY
            assert re.search(refused, message), (case.body, message)

    answered()
