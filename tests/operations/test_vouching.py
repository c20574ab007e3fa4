"""What an agent asks memory to store, weighed with untrusted text in its sight."""

from __future__ import annotations

import pytest

from picomem.consolidation.review import Spoken
from picomem.operations.remembering import Revise
from picomem.operations.vouching import vouched
from picomem.policy.statements import Grounds
from picomem.records.kinds import Origin

pytestmark = pytest.mark.requirement("X7")

_PAGE = ((Origin.WEB, frozenset({"visitor", "counter"})),)


@pytest.mark.parametrize(("origin", "expected"), [("user", "agent"), ("web", "web")])
def test_words_of_a_trusted_memory_need_no_grounding_in_its_revision(open_engine, origin: str, expected: str) -> None:
    engine = open_engine()
    engine.remember("The staging database listens on port 5433", key="staging_port", origin=origin)
    request = Revise(name="staging_port", content="The staging database listens on port 6432", origin="agent")
    spoken = Spoken((Grounds(["Staging is on port 6432 now"]),), _PAGE)
    assert vouched(request, spoken, engine)[0].origin == expected


def test_what_is_new_in_a_revision_needs_the_persons_word(open_engine) -> None:
    engine = open_engine()
    engine.remember("The staging database listens on port 5433", key="staging_port")
    request = Revise(name="staging_port", content="The staging database listens on port 7777", origin="agent")
    spoken = Spoken((Grounds(["Staging is on port 6432 now"]),), _PAGE)
    assert vouched(request, spoken, engine)[0].origin == "web"
