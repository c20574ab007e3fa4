"""What an agent asks memory to store, weighed with untrusted text in its sight."""

from __future__ import annotations

import pytest

from picomem.operations.offer_origins import SpokenTexts, vouched
from picomem.operations.remembering import ForgetRequest, RememberRequest, ReviseRequest
from picomem.provenance.statements import Grounds
from picomem.records.kinds import Origin

pytestmark = pytest.mark.requirement("X7")

_PAGE = ((Origin.WEB, frozenset({"visitor", "counter"})),)


@pytest.mark.parametrize(("origin", "expected"), [("user", "agent"), ("web", "web")])
def test_a_sentence_of_a_trusted_memory_needs_no_grounding_in_its_revision(
    open_engine, origin: str, expected: str
) -> None:
    engine = open_engine()
    engine.remember("Staging is in Bergen. It has two nodes.", key="staging", origin=origin)
    request = ReviseRequest(
        name="staging", content="Staging is in Bergen. Staging is on port 6432 now.", origin="agent"
    )
    spoken = SpokenTexts((Grounds(["Staging is on port 6432 now"]),), _PAGE)
    assert vouched(request, spoken, engine)[0].origin == expected


def test_what_is_new_in_a_revision_needs_the_persons_word(open_engine) -> None:
    engine = open_engine()
    engine.remember("Staging is on port 5433 now.", key="staging_port")
    request = ReviseRequest(name="staging_port", content="Staging is on port 7777 now.", origin="agent")
    spoken = SpokenTexts((Grounds(["Staging is on port 6432 now"]),), _PAGE)
    assert vouched(request, spoken, engine)[0].origin == "web"


@pytest.mark.parametrize(
    "names", [{"related_to": ("visitor_counter",)}, {"project": "visitor counter"}, {"tags": ("visitor",)}, {"key": "counter"}]
)  # fmt: skip
def test_no_name_that_comes_with_a_statement_has_words_of_a_page(open_engine, names: dict) -> None:
    spoken = SpokenTexts((Grounds(["Staging is on port 6432 now"]),), _PAGE)
    request = RememberRequest("Staging is on port 6432", origin="agent", **{"key": "staging_port", **names})
    assert vouched(request, spoken, open_engine())[0].origin == "web"


@pytest.mark.parametrize("verb", [ReviseRequest, ForgetRequest])
def test_a_reason_that_the_user_did_not_state_is_left_out(open_engine, verb: type) -> None:
    spoken = SpokenTexts((Grounds(["Staging is on port 6432 now"]),), _PAGE)
    told = [
        vouched(verb(name="x", reason=reason), spoken, open_engine())[0].reason
        for reason in ("evil", "Staging is on port 6432 now")
    ]
    assert told == ["", "Staging is on port 6432 now"]
