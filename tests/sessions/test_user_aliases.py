"""The user ids of channels stand for the users whose tokens, sockets, phones and terminals they are (P4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.channels.test_contacts import HELLO
from tests.databases import Database
from tests.engine_parts import resources_of

from picomem.app import open_engine
from picomem.engine.authorization import make_token, revoke_token
from picomem.engine.channel_contacts import accept, ask_to_pair, pairings, revoke
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, NotFound
from picomem.operations.table import operation
from picomem.records.caller import PERMISSIONS, Caller
from picomem.records.session import Channel
from picomem.runtime import Runtime
from picomem.settings import Settings

pytestmark = pytest.mark.requirement("P4")

Opened = Callable[..., Engine]


@pytest.fixture
def opened(db: Path, database: Database) -> Iterator[Opened]:
    """Open the store for a user, as the command line does."""
    with ExitStack() as engines:

        def _open(user: str = "local") -> Engine:
            store = database.named(db)
            return engines.enter_context(
                open_engine(store, user=user, embedder="none", permissions=PERMISSIONS, settings=Settings())
            )

        yield _open


def _key(engine: Engine) -> str:
    return make_token(engine, frozenset(), "laptop", None)[0].id


def _of(opened: Opened, name: str) -> str:
    return opened(user=name).scope.user


@pytest.mark.parametrize("channel", ["api", "ws"])
def test_the_prefix_of_a_key_stands_for_the_user_of_the_token(opened: Opened, channel: str) -> None:
    ann = opened(user="ann")
    ann.remember("The relay is tested on Fridays", key="relay")
    key = _key(ann)
    opened(user="bob").remember("The relay is Bob's", key="relay")
    for prefix in (key[:8], key[:13], key, key[:8] + key[-4:]):
        engine = opened(user=f"{channel}:{prefix}")
        assert engine.scope.user == "ann"
        assert [memory.content for memory in engine.memories()] == ["The relay is tested on Fridays"]


def test_a_prefix_that_fits_two_tokens_is_refused_and_more_of_the_key_is_not(opened: Opened) -> None:
    first, second = _key(opened(user="ann")), _key(opened(user="bob"))
    common = next(n for n, (one, other) in enumerate(zip(first, second, strict=True)) if one != other)
    assert common >= 8
    with pytest.raises(InvalidInput, match=r"^“api:[0-9a-f]{8}” fits several tokens; write more of the id, or name"):
        opened(user=f"api:{first[:8]}")
    assert (_of(opened, f"api:{first}"), _of(opened, f"api:{second}")) == ("ann", "bob")


@pytest.mark.parametrize("key", ["api:0123456789", "api:01", "ws:nobody", "api:%", "ws:ffffffff"])
def test_a_key_that_nobody_has_opens_no_new_memory(opened: Opened, key: str) -> None:
    ann = opened(user="ann")
    ann.remember("The relay is tested on Fridays")
    _key(ann)
    with pytest.raises(NotFound, match="stands for no user"):
        opened(user=key)


def test_a_revoked_key_stands_for_nobody(opened: Opened) -> None:
    ann = opened(user="ann")
    ann.remember("The relay is tested on Fridays")
    key = _key(ann)
    revoke_token(ann, key)
    with pytest.raises(NotFound, match="stands for no user"):
        opened(user=f"api:{key}")


def test_a_socket_s_session_stands_for_its_user_and_another_channel_s_does_not(opened: Opened) -> None:
    log = opened(user="ann").sessions()
    session, other = log.create(Channel.WEBSOCKET), log.create(Channel.TUI)
    assert _of(opened, f"ws:{session.id}") == "ann"
    with pytest.raises(NotFound, match="stands for no user"):
        opened(user=f"ws:{other.id}")
    with pytest.raises((InvalidInput, NotFound), match=r"fits several|stands for no user"):
        opened(user=f"ws:{session.id[:8]}")  # of both


def test_the_terminal_s_user_is_local_or_the_one_of_that_name(opened: Opened) -> None:
    opened().remember("The relay is tested on Fridays", key="relay")
    opened(user="ann").remember("The relay is Ann's", key="relay")
    assert _of(opened, "tui:local") == "local"
    assert _of(opened, "tui:ann") == "ann"
    assert _of(opened, "tui:nobody") == "nobody", "an alias makes no user of its own name"


def test_a_phone_stands_for_the_user_who_was_accepted_with_it_until_it_is_revoked(opened: Opened) -> None:
    owner = opened()
    opened(user="ann").remember("The relay is Ann's", key="relay")
    ask_to_pair(owner, HELLO)
    accept(owner, pairings(owner)[0].code, "ann")
    name = "whatsapp:351912345678@s.whatsapp.net"
    assert _of(opened, name) == "ann"
    revoke(owner, "ann")
    assert _of(opened, name) == name


def test_a_user_who_has_something_under_that_very_id_is_meant(opened: Opened) -> None:
    resources = resources_of(opened())  # such a user comes from an import, which takes ids as they are
    runtime = Runtime(resources.connector, resources.settings, clock=resources.clock)
    runtime.engine(Caller("tui:mia")).remember("The relay is mia's", key="relay")
    opened(user="mia").remember("The relay is another mia's", key="relay")
    assert _of(opened, "tui:mia") == "tui:mia"


@pytest.mark.requirement("P13")
def test_a_conversation_says_its_channel_and_its_user(opened: Opened) -> None:
    def listed(user: str, channel: Channel) -> tuple[str, str]:
        engine = opened(user=user)
        declared = operation("begin-session")
        view = declared.call(engine, declared.request(channel=channel.value)).session
        return view.channel, view.user.replace(view.id, "SESSION")

    opened(user="ann").remember("The relay is Ann's", key="relay")
    phone = "whatsapp:351912345678@s.whatsapp.net"
    assert listed("local", Channel.TUI) == ("tui", "tui:local")
    assert listed("ann", Channel.TUI) == ("tui", "tui:ann")
    assert listed("ann", Channel.WEBSOCKET) == ("websocket", "ws:SESSION")
    assert listed(phone, Channel.WHATSAPP) == ("whatsapp", phone)


@pytest.mark.requirement("P13")
def test_a_person_s_conversations_say_the_number_and_the_key_that_stand_for_them(opened: Opened) -> None:
    owner, ann = opened(), opened(user="ann")
    ann.remember("The relay is Ann's", key="relay")
    ask_to_pair(owner, HELLO)
    accept(owner, pairings(owner)[0].code, "ann")
    log = ann.sessions()
    log.named(Channel.WHATSAPP, f"{HELLO.account}/direct")
    log.create(Channel.API)
    listing = operation("sessions")

    def users() -> dict[str, str]:
        listed = listing.call(ann, listing.request()).sessions
        return {one.session.channel: one.session.user for one in listed}

    assert users() == {"whatsapp": "whatsapp:351912345678@s.whatsapp.net", "api": "ann"}
    key = _key(ann)
    assert users()["api"] == f"api:{key[:8]}"
    assert {_of(opened, name) for name in users().values()} == {"ann"}
    other = _key(ann)
    assert users()["api"] == "ann", "it is not recorded which of the keys it was"
    (of_api,) = (one.session for one in listing.call(ann, listing.request()).sessions if one.session.channel == "api")
    assert set(of_api.users) == {f"api:{one[:8]}{one[-4:]}" for one in (key, other)}
    assert {_of(opened, name) for name in of_api.users} == {"ann"}


def test_a_token_is_listed_with_its_alias(opened: Opened) -> None:
    ann = opened(user="ann")
    _key(ann)
    declared = operation("token-list")
    (token,) = declared.call(opened(user="ann"), declared.request()).tokens
    assert _of(opened, token.alias) == "ann"
