"""Who may write on a channel: codes that expire and are few, ids that stand for one person, and what a purge forgets."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from picomem.clock import DAY
from picomem.engine.channel_contacts import accept, ask_to_pair, every_contact, pairings, person_of, revoke
from picomem.engine.channel_log import ChannelLog, Incoming
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, NotFound
from picomem.light_dataclass import replace

NOW = 1_777_593_600_000_000
HELLO = Incoming(
    channel="whatsapp",
    account="main",
    conversation="direct",
    native_id="wamid.1",
    native_ids=("phone:351912345678",),
    address="phone:351912345678",
    name="Ann",
    text="The quincemarmalade is in the cellar",
    said_at=NOW,
)


@pytest.fixture
def clock() -> list[int]:
    return [NOW]


@pytest.fixture
def owner(open_engine: Callable, clock: list[int]) -> Engine:
    return open_engine(clock=lambda: clock[0])


def test_a_code_is_for_one_sender_for_a_day_and_once(owner: Engine, clock: list[int]) -> None:
    assert ask_to_pair(owner, HELLO)
    assert not ask_to_pair(owner, replace(HELLO, native_id="wamid.2"))
    (waiting,) = pairings(owner)
    clock[0] += DAY
    assert pairings(owner) == []
    with pytest.raises(NotFound):
        accept(owner, waiting.code, "ann")
    assert ask_to_pair(owner, HELLO)
    (again,) = pairings(owner)
    assert again.code != waiting.code
    assert accept(owner, again.code, "ann")[0] == person_of(owner, HELLO) == "ann"
    with pytest.raises(NotFound):
        accept(owner, again.code, "ann")


def test_only_so_many_senders_wait_and_codes_differ(owner: Engine) -> None:
    asked = [ask_to_pair(owner, replace(HELLO, native_ids=(f"phone:{number}",))) for number in range(60)]
    assert asked == [True] * 50 + [False] * 10
    codes = {pairing.code for pairing in pairings(owner)}
    assert len(codes) == 50
    assert {len(code) for code in codes} == {10}
    assert ask_to_pair(owner, replace(HELLO, account="another"))


def test_an_id_stands_for_a_person_on_one_account_alone(owner: Engine) -> None:
    ask_to_pair(owner, HELLO)
    accept(owner, pairings(owner)[0].code, "ann")
    assert person_of(owner, replace(HELLO, account="another")) == ""
    assert person_of(owner, replace(HELLO, native_ids=("id:PT.1", "phone:351912345678"))) == "ann"
    assert person_of(owner, replace(HELLO, native_ids=("id:PT.1",))) == "ann"
    assert revoke(owner, "ann") == 2
    assert person_of(owner, HELLO) == ""


def test_a_user_id_that_is_none_is_refused(owner: Engine) -> None:
    ask_to_pair(owner, HELLO)
    with pytest.raises(InvalidInput):
        accept(owner, pairings(owner)[0].code, "x" * 300)
    assert every_contact(owner) == []


def test_a_purge_of_everything_forgets_the_contact_and_what_waits(open_engine: Callable, owner: Engine) -> None:
    ask_to_pair(owner, HELLO)
    accept(owner, pairings(owner)[0].code, "ann")
    ann = open_engine(user="ann", clock=lambda: NOW)
    ann.remember("Ann keeps bees", key="bees")
    assert ChannelLog(ann).receive(HELLO)
    purged = ann.purge(everything=True)
    assert purged.scan is not None
    assert purged.scan.found == {}
    assert ChannelLog(ann).unfinished() == []
    assert every_contact(owner) == []
