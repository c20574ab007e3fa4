"""Who may name another user may name them by the id that a channel gives (P4); nobody else learns whom it stands for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .serving import Served, made_token, picomem, token

pytestmark = [
    pytest.mark.requirement("P4"),
]


def _key_of(served: Served, user: str) -> str:
    """The alias of a new token of a user who has a memory."""
    made = made_token(served.db, "--user", user)
    assert (
        served.post(made["token"], "remember", {"content": f"The ferry of {user} leaves at seven"}).status_code == 200
    )
    listed = json.loads(picomem(served.db, "token", "list", "--user", user, "--json").stdout)
    return next(one["alias"] for one in listed["tokens"] if one["id"] == made["id"])


def _admin(served: Served, user: str) -> str:
    for permission in ("memory:read:global", "memory:write:global"):
        assert picomem(served.db, "grant", permission, "--user", user).returncode == 0
    own = ("memory:read:user", "memory:read:session", "memory:read:global", "memory:write:global")
    return token(served.db, "--user", user, *(part for scope in own for part in ("--scope", scope)))


def _contents(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [memory["content"] for memory in answer.json()["memories"]]


def test_a_caller_with_a_global_permission_reaches_the_user_of_a_key_by_its_alias(served: Served) -> None:
    alias, admin = _key_of(served, "olga"), _admin(served, "root-1")
    for named in (alias, alias.replace("api:", "ws:"), "olga", "tui:olga"):
        assert _contents(served.post(admin, "memories", Picomem_User=named)) == ["The ferry of olga leaves at seven"]
    missing = served.post(admin, "memories", Picomem_User="api:00000000")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "not_found")
    stored = served.post(admin, "remember", {"content": "The ferry is blue"}, Picomem_User=alias)
    assert stored.status_code == 200
    assert picomem(served.db, "memories", "--user", "olga").stdout.count("The ferry") == 2


def test_without_the_permission_every_alias_gets_the_refusal_of_today(served: Served, anns: str) -> None:
    alias = _key_of(served, "pia")

    def refusal(named: str) -> tuple[int, str]:
        answer = served.post(anns, "memories", Picomem_User=named)
        return answer.status_code, answer.text.replace(named, "NAME").partition('"request')[0]

    asked = [refusal(named) for named in ("pia", alias, "api:00000000", "ws:00000000", "tui:local", "tui:pia")]
    assert asked[0][0] == 403
    assert set(asked) == {asked[0]}


def test_a_socket_s_session_names_its_user(served: Served) -> None:
    shown = token(served.db, "--user", "quinn")
    begun = served.post(shown, "begin-session", {"channel": "websocket"}).json()["session"]
    assert begun["user"] == f"ws:{begun['id']}"
    admin = _admin(served, "root-2")
    listed = served.post(admin, "sessions", Picomem_User=begun["user"]).json()["sessions"]
    assert [one["session"]["id"] for one in listed] == [begun["id"]]


def test_the_command_line_takes_an_alias_and_refuses_one_of_two_tokens(served: Served) -> None:
    alias = _key_of(served, "rosa")
    assert "ferry of rosa" in picomem(served.db, "memories", "--user", alias).stdout
    prefixes: list[str] = []
    while len(set(prefixes)) == len(prefixes):  # ids of one minute begin alike
        prefixes += [made_token(served.db, "--user", user)["id"][:8] for user in ("rosa", "sami")]
    common = next(prefix for prefix in prefixes if prefixes.count(prefix) > 1)
    refused = picomem(served.db, "memories", "--user", f"api:{common}")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.count("\n") == 1
    assert "fits several tokens" in refused.stderr


def test_a_prefix_of_two_tokens_revokes_none_and_both_are_listed(served: Served) -> None:
    made = [made_token(served.db, "--user", "theo")]
    while len({token["id"][:8] for token in made}) == len(made):  # ids of one minute begin alike
        made.append(made_token(served.db, "--user", "theo", "--label", f"laptop {len(made)}"))
    common = made[-1]["id"][:8]
    fitting = [token for token in made if token["id"].startswith(common)]
    refused = picomem(served.db, "token", "revoke", common, "--user", "theo")
    assert refused.returncode == 2
    assert all(token["id"] in refused.stderr for token in fitting)
    assert f"laptop {len(made) - 1}" in refused.stderr
    assert all(served.post(token["token"], "memories").status_code == 200 for token in made)
    assert picomem(served.db, "token", "revoke", fitting[0]["id"], "--user", "theo").returncode == 0
