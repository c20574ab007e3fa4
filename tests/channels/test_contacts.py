"""Who may write on a channel: codes that expire and are few, ids that stand for one person, and what a purge forgets."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from picomem.clock import DAY
from picomem.engine.channel_contacts import (
    ChangedIds,
    accept,
    ask_to_pair,
    every_contact,
    former_people,
    pairings,
    person_of,
    revoke,
    take_change,
)
from picomem.engine.channel_log import ChannelLog, Incoming
from picomem.engine.engine import Engine
from picomem.errors import Conflict, InvalidInput, NotFound
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


def known(owner: Engine) -> dict[str, str]:
    """The ids that stand for somebody."""
    return {contact.native_id: contact.person for contact in every_contact(owner) if contact.revoked_at is None}


def sends(owner: Engine, *native_ids: str) -> str:
    """Who sends a message with these ids."""
    return person_of(owner, replace(HELLO, native_ids=native_ids))


def pair(owner: Engine, person: str, *native_ids: str) -> str:
    assert ask_to_pair(owner, replace(HELLO, native_ids=native_ids))
    return accept(owner, pairings(owner)[-1].code, person)[0]


def test_ids_that_came_in_one_message_are_one_sender(owner: Engine) -> None:
    pair(owner, "ann", "phone:1")
    assert sends(owner, "id:PT.A") == ""
    assert sends(owner, "phone:1", "id:PT.A", "lid:9@lid") == "ann"
    assert [sends(owner, one) for one in ("id:PT.A", "lid:9@lid", "phone:1", "id:PT.B")] == ["ann", "ann", "ann", ""]


def test_a_user_name_identifies_nobody(owner: Engine) -> None:
    pair(owner, "ann", "id:PT.A", "username:annie")
    assert sends(owner, "id:PT.B", "username:annie") == ""
    assert known(owner) == {"id:PT.A": "ann", "username:annie": "ann"}
    assert sends(owner, "id:PT.A", "username:ann.lee") == "ann"
    pair(owner, "zoe", "id:PT.B", "username:annie")
    assert known(owner) == {
        "id:PT.A": "ann",
        "username:ann.lee": "ann",
        "id:PT.B": "zoe",
        "username:annie": "zoe",
    }
    assert sends(owner, "id:PT.A", "username:annie") == "ann"
    assert known(owner)["username:annie"] == "ann"


def test_two_who_wait_with_one_user_name_are_two(owner: Engine) -> None:
    assert ask_to_pair(owner, replace(HELLO, native_ids=("id:PT.A", "username:annie")))
    assert ask_to_pair(owner, replace(HELLO, native_ids=("id:PT.B", "username:annie")))


def test_a_phone_number_that_passed_to_a_stranger_does_not_give_them_the_memory(owner: Engine) -> None:
    anns = pair(owner, "", "phone:351912345678")
    assert anns == "whatsapp:351912345678@s.whatsapp.net"
    assert sends(owner, "phone:351912345678", "id:PT.A") == anns
    assert sends(owner, "phone:351912345678", "id:PT.STRANGER") == ""
    assert sends(owner, "phone:351912345678") == "", "the number alone stands for nobody once it is in doubt"
    assert sends(owner, "id:PT.A") == anns
    assert ask_to_pair(owner, replace(HELLO, native_ids=("phone:351912345678", "id:PT.STRANGER")))
    (waiting,) = pairings(owner)
    assert former_people(owner, waiting) == [anns]
    with pytest.raises(Conflict, match="--user"):
        accept(owner, waiting.code, "")
    assert accept(owner, waiting.code, "zoe")[0] == "zoe"
    assert [sends(owner, one) for one in ("phone:351912345678", "id:PT.STRANGER", "id:PT.A")] == ["zoe", "zoe", anns]


def test_a_late_message_of_the_earlier_owner_does_not_take_a_number_back(owner: Engine) -> None:
    pair(owner, "ann", "phone:1", "id:PT.A")
    assert sends(owner, "phone:1", "id:PT.Z") == ""
    pair(owner, "zoe", "phone:1", "id:PT.Z")
    assert sends(owner, "phone:1", "id:PT.A") == "ann"
    assert sends(owner, "phone:1") != "ann"
    assert sends(owner, "id:PT.Z") == "zoe"


def test_ids_of_two_people_in_one_message_are_nobodys(owner: Engine) -> None:
    pair(owner, "ann", "id:PT.A")
    pair(owner, "bob", "lid:9@lid")
    assert sends(owner, "id:PT.A", "lid:9@lid") == ""
    assert known(owner) == {"id:PT.A": "ann", "lid:9@lid": "bob"}


def test_two_telephones_of_one_person_are_two_senders(owner: Engine) -> None:
    pair(owner, "ann", "phone:1", "id:PT.A")
    pair(owner, "ann", "phone:2")
    assert sends(owner, "phone:2", "id:PT.B") == "ann"
    assert sends(owner, "phone:1", "id:PT.A") == "ann"
    assert sends(owner, "phone:1") == "ann"


def test_a_revoked_id_stays_revoked_until_its_sender_is_accepted_again(owner: Engine) -> None:
    pair(owner, "ann", "phone:1", "id:PT.A")
    assert revoke(owner, "ann", "phone:1") == 1
    with pytest.raises(NotFound):
        revoke(owner, "ann", "phone:1")
    with pytest.raises(NotFound):
        revoke(owner, "bob", "id:PT.A")
    assert sends(owner, "phone:1") == ""
    assert sends(owner, "phone:1", "id:PT.A") == "ann"
    assert known(owner) == {"id:PT.A": "ann"}
    assert revoke(owner, "ann", "id:PT.A") == 1
    assert sends(owner, "phone:1", "id:PT.A") == ""
    pair(owner, "ann", "phone:1", "id:PT.A")
    assert sends(owner, "phone:1") == "ann"


def test_a_sender_who_has_another_number_stays_the_same_user(owner: Engine) -> None:
    pair(owner, "ann", "phone:1", "id:PT.A")
    change = ChangedIds(channel="whatsapp", account="main", old=("phone:1",), new=("phone:2", "id:PT.A2"))
    assert take_change(owner, change) == "ann"
    assert known(owner) == {"phone:2": "ann", "id:PT.A2": "ann"}
    assert sends(owner, "phone:1") == "", "the number may pass to somebody else"
    assert take_change(owner, replace(change, old=("phone:7",), new=("phone:2",))) == ""
    pair(owner, "bob", "phone:3", "id:PT.B")
    assert take_change(owner, replace(change, old=("phone:3",), new=("id:PT.A2",))) == ""
    assert sends(owner, "id:PT.A2") == "ann"
