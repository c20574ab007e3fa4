"""A session that OpenClaw may not send is withheld, from the moment its policy is read until OpenClaw allows it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.cases import each_case
from tests.ingest.test_openclaw_database import Host

from picomem.engine.engine import Engine
from picomem.errors import Refused
from picomem.ingest.format import HostPolicy
from picomem.ingest.formats.openclaw.send_policy import resolve
from picomem.ingest.send_policies import decide

pytestmark = pytest.mark.requirement("O17")

_DIRECT, _GROUP = "agent:main:whatsapp:direct:+351911", "agent:main:discord:group:harbour"


class OpenClawHome:
    """The state folder of an OpenClaw with agents whose transcripts are JSON lines."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def sessions(self, agent: str = "main") -> Path:
        folder = self.folder / "agents" / agent / "sessions"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def says(self, session: str, *texts: str, agent: str = "main", parent: str = "") -> Path:
        path = self.sessions(agent) / f"{session}.jsonl"
        lines = (
            [] if path.exists() else [{"type": "session", "version": 3, "id": session, "cwd": "/w", **_parent(parent)}]
        )
        said = path.read_text().count("\n") if path.exists() else 1
        for number, text in enumerate(texts, said):
            told = {"role": "user", "content": [{"type": "text", "text": text}]}
            at = f"2026-05-03T10:00:{number:02}Z"
            lines.append(
                {"type": "message", "id": f"{session}-{number}", "parentId": None, "timestamp": at, "message": told}
            )
        with path.open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        return path

    def lists(self, entries: dict[str, dict], agent: str = "main") -> None:
        (self.sessions(agent) / "sessions.json").write_text(json.dumps(entries))

    def sets(self, policy: object) -> None:
        (self.folder / "openclaw.json").write_text(json.dumps({"session": {"sendPolicy": policy}}))


def _parent(session: str) -> dict[str, str]:
    return {"parentSession": session} if session else {}


def _entry(session: str, **more: object) -> dict[str, object]:
    return {"sessionId": session, "chatType": "direct", **more}


@pytest.fixture
def openclaw(tmp_path: Path) -> OpenClawHome:
    return OpenClawHome(tmp_path / "openclaw")


@pytest.fixture
def shown(engine: Engine, openclaw: OpenClawHome) -> Callable[[], list[str]]:
    """Reads all transcripts, and gives the sessions that the timeline shows."""

    def read() -> list[str]:
        engine.ingest([openclaw.folder])
        return sorted({hit.session for hit in engine.timeline(limit=100)})

    return read


def test_a_denied_session_is_withheld_and_released_when_the_host_allows_it(engine, openclaw, shown):
    path = openclaw.says("s1", "The crane is rented from Nordic")
    openclaw.lists({_DIRECT: _entry("s1")})
    assert shown() == ["s1"]
    (hit,) = engine.recall("crane").hits
    openclaw.lists({_DIRECT: _entry("s1", sendPolicy="deny")})  # the transcript itself is unchanged
    report = engine.ingest([openclaw.folder])
    assert (report.withheld, report.unchanged, report.problems) == (1, 1, [])
    assert engine.timeline() == []
    assert engine.recall("crane").hits == ()
    with pytest.raises(Refused, match="by its host's send policy"):
        engine.show(hit.id)
    openclaw.says("s1", "And the ladder is rented from Baltic")
    assert shown() == []  # what comes later as well
    assert engine.ingest([path]).withheld == 0
    openclaw.lists({_DIRECT: _entry("s1", sendPolicy="allow")})
    assert engine.ingest([path]).released == 1
    assert engine.recall("ladder").hits[0].text == "And the ladder is rented from Baltic"


def test_the_command_says_what_the_host_withholds(engine, openclaw):
    from picomem.operations.table import operation

    openclaw.says("s1", "The crane is rented from Nordic")
    openclaw.lists({_DIRECT: _entry("s1")})
    ingest = operation("ingest")
    ingest.call(engine, ingest.request(paths=(str(openclaw.folder),)))
    openclaw.lists({_DIRECT: _entry("s1", sendPolicy="deny")})
    result = ingest.call(engine, ingest.request(paths=(str(openclaw.folder),)))
    assert "1 transcript withheld, as the host's send policy says." in str(ingest.present(result))


def test_a_session_that_is_denied_before_it_is_read_is_never_shown_and_makes_no_memory(engine, openclaw, shown):
    openclaw.says("s1", "Please remember that invoices go to Nordic Shell")
    openclaw.lists({_DIRECT: _entry("s1", sendPolicy=" DENY ")})
    assert shown() == []
    assert engine.memories() == []
    assert engine.recall("invoices").hits == ()


def test_what_a_person_withheld_stays_withheld_whatever_the_host_says(engine, openclaw, shown):
    openclaw.says("s1", "The crane is rented from Nordic")
    openclaw.lists({_DIRECT: _entry("s1", sendPolicy="deny")})
    shown()
    engine.withhold("s1")
    openclaw.lists({_DIRECT: _entry("s1", sendPolicy="allow")})
    assert shown() == []
    engine.withhold("s1", release=True)
    assert shown() == ["s1"]


@each_case("host", HostPolicy)
def test_a_session_that_was_withheld_before_hosts_were_asked_stays_withheld(host):
    assert decide("deny", None, host) == ("deny", None)


def test_a_person_may_release_what_the_host_denies_until_the_host_allows_and_denies_it_again(engine, openclaw, shown):
    openclaw.says("s1", "The crane is rented from Nordic")
    denied, allowed = {_DIRECT: _entry("s1", sendPolicy="deny")}, {_DIRECT: _entry("s1", sendPolicy="allow")}
    openclaw.lists(denied)
    assert shown() == []
    engine.withhold("s1", release=True)
    assert shown() == ["s1"]
    openclaw.lists(allowed)
    assert shown() == ["s1"]
    openclaw.lists(denied)
    assert shown() == []


def test_the_rules_of_the_settings_decide_where_the_session_says_nothing(engine, openclaw, shown):
    for session in ("direct", "group", "own"):
        openclaw.says(session, f"The {session} talk is about cranes")
    group = {"sessionId": "group", "chatType": "group", "channel": "discord"}
    own = {"sessionId": "own", "chatType": "group", "channel": "discord", "sendPolicy": "allow"}
    openclaw.lists({_DIRECT: _entry("direct"), _GROUP: group, "agent:main:discord:group:quay": own})
    openclaw.sets({"rules": [{"action": "deny", "match": {"channel": "discord", "chatType": "group"}}]})
    assert shown() == ["direct", "own"]
    openclaw.sets({"default": "deny", "rules": [{"action": "allow", "match": {"chatType": "direct"}}]})
    assert shown() == ["direct", "own"]
    openclaw.sets({"default": "deny"})
    assert shown() == ["own"]
    openclaw.sets({"default": "allow"})
    assert shown() == ["direct", "group", "own"]


def test_each_agent_has_its_own_list_and_all_have_the_rules_of_their_own_openclaw(engine, openclaw, tmp_path, shown):
    other = OpenClawHome(tmp_path / "other")
    for home, agent, session in ((openclaw, "main", "a"), (openclaw, "work", "b"), (other, "main", "c")):
        home.says(session, f"Session {session} is about cranes", agent=agent)
        home.lists({f"agent:{agent}:main": _entry(session)}, agent)
    assert shown() == ["a", "b"]
    openclaw.lists({"agent:work:main": _entry("b", sendPolicy="deny")}, "work")
    other.sets({"default": "deny"})
    engine.ingest([other.folder])
    assert shown() == ["a"]
    openclaw.sets({"rules": [{"action": "deny", "match": {"rawKeyPrefix": "agent:main:"}}]})
    openclaw.lists({"agent:work:main": _entry("b", sendPolicy="allow")}, "work")
    assert shown() == ["b"]  # the key of a session is no plain condition, so it denies all others


def test_a_sub_agent_of_a_denied_session_is_withheld_with_it(openclaw, shown):
    openclaw.says("s1", "The crane is rented from Nordic")
    openclaw.says("s2", "Look up the crane of Nordic", parent="s1")
    entries = {_DIRECT: _entry("s1"), "agent:main:subagent:x": {"sessionId": "s2", "spawnedBy": _DIRECT}}
    openclaw.lists(entries)
    assert shown() == ["s1", "s2"]
    openclaw.lists({**entries, _DIRECT: _entry("s1", sendPolicy="deny")})
    assert shown() == []


@pytest.mark.parametrize("damage", ["list", "settings"])
def test_what_cannot_be_read_changes_nothing_and_new_sessions_wait_for_it(engine, openclaw, shown, damage):
    for session in ("denied", "allowed"):
        openclaw.says(session, f"The {session} talk is about cranes")
    entries = {_GROUP: _entry("denied", sendPolicy="deny"), _DIRECT: _entry("allowed")}
    openclaw.lists(entries)
    openclaw.sets({"default": "allow"})
    assert shown() == ["allowed"]
    openclaw.says("new", "The new talk is about cranes")
    openclaw.says("allowed", "It goes on")
    texts = {
        "list": ("agents/main/sessions/sessions.json", '{"agent:main:main": {"sessionId": "ne'),
        "settings": ("openclaw.json", '{session: {sendPolicy: {default: "de'),
    }
    file, text = texts[damage]
    (openclaw.folder / file).write_text(text)
    report = engine.ingest([openclaw.folder])
    assert report.turns == 1  # the known one goes on
    assert any(file.rpartition("/")[2] in problem for problem in report.problems)
    assert sorted({hit.session for hit in engine.timeline()}) == ["allowed"]
    openclaw.lists({**entries, "agent:main:main": _entry("new")})
    openclaw.sets({"default": "allow"})
    assert shown() == ["allowed", "new"]


def test_a_list_that_is_gone_releases_nothing_and_hides_nothing(engine, openclaw, shown):
    for session in ("denied", "allowed"):
        openclaw.says(session, f"The {session} talk is about cranes")
    openclaw.lists({_GROUP: _entry("denied", sendPolicy="deny"), _DIRECT: _entry("allowed")})
    assert shown() == ["allowed"]
    (openclaw.sessions() / "sessions.json").unlink()
    assert shown() == ["allowed"]


def test_an_unlisted_session_is_withheld_only_if_its_agent_has_something_denied(engine, openclaw, shown):
    openclaw.says("old", "The old talk is about cranes")
    openclaw.says("now", "The new talk is about cranes")
    openclaw.lists({_DIRECT: _entry("now")})
    assert shown() == ["now", "old"]
    openclaw.says("older", "The oldest talk is about cranes")
    openclaw.lists({_DIRECT: _entry("now"), _GROUP: _entry("elsewhere", sendPolicy="deny")})
    assert shown() == ["now", "old"]  # "older" may be an earlier session of the denied group
    openclaw.lists({_DIRECT: _entry("now"), "agent:main:main": _entry("older")})
    assert shown() == ["now", "old", "older"]


@pytest.mark.parametrize(
    "settings",
    [
        "// mine\n{session: {sendPolicy: {default: 'deny'}, // all\n},}",
        "{session: {$include: ['./parts/session.json5']}}",
        '{$include: "./parts.json5"}',
        '{session: {sendPolicy: {default: "allow", rules: {deny: "all"}}}}',
        '{session: {sendPolicy: {default: "allow", rules: [5]}}}',
        '{session: {sendPolicy: {default: "perhaps"}}}',
        '{session: {sendPolicy: ["allow"]}}',
        '{session: "allow"}',
    ],
)
def test_what_the_settings_do_not_plainly_allow_is_withheld_until_a_person_releases_it(
    openclaw, shown, settings, engine
):
    for session in ("s1", "own"):
        openclaw.says(session, f"The crane of {session} is rented from Nordic")
    openclaw.lists({_DIRECT: _entry("s1"), _GROUP: _entry("own", sendPolicy="allow")})
    (openclaw.folder / "openclaw.json").write_text(settings)
    assert shown() == ["own"]
    engine.withhold("s1", release=True)
    assert shown() == ["own", "s1"]


def test_a_copy_is_withheld_and_released_with_its_original(engine, openclaw, tmp_path, shown):
    path = openclaw.says("s1", "The crane is rented from Nordic")
    openclaw.lists({_DIRECT: _entry("s1", sendPolicy="deny")})
    assert shown() == []
    copy = tmp_path / "copies" / path.name
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    with copy.open("a") as file:
        file.write(path.read_text().splitlines()[1].replace("s1-1", "s1-9").replace("crane", "ladder") + "\n")
    engine.ingest([copy])
    assert shown() == []
    openclaw.lists({_DIRECT: _entry("s1")})
    shown()
    assert {hit.transcript for hit in engine.timeline()} == {str(path.resolve()), str(copy.resolve())}


@pytest.mark.parametrize("where", ["node", "window"])
def test_the_database_of_an_agent_says_it_for_the_older_sessions_of_a_chat_too(engine, tmp_path, where):
    folder = tmp_path / "openclaw"
    path = folder / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    with closing((host := Host(path)).db):
        host.say("old", "The old talk is about cranes")
        host.say("now", "The new talk is about cranes")
        for session in ("old", "now"):
            host.db.execute("INSERT INTO session_windows VALUES (?, ?, 1)", (session, _GROUP))
        if where == "node":
            entry = json.dumps({"sendPolicy": "deny"})
            host.db.execute("INSERT INTO session_nodes VALUES (?, 'now', ?)", (_GROUP, entry))
        else:
            (folder / "openclaw.json").write_text(
                '{"session": {"sendPolicy": {"rules": [{"action": "deny", "match": {"keyPrefix": "discord:"}}]}}}'
            )
        report = engine.ingest([folder])
        assert (report.problems, engine.timeline()) == ([], [])
        if where == "node":
            host.db.execute("UPDATE session_nodes SET entry_json = '{broken'")
            engine.ingest([folder])
            assert engine.timeline() == []
            host.db.execute("UPDATE session_nodes SET entry_json = '{}'")
        else:
            (folder / "openclaw.json").write_text("{}")
        assert engine.ingest([folder]).released == 2
        assert {hit.session for hit in engine.timeline()} == {"old", "now"}


_DENY_GROUPS = {"rules": [{"action": "deny", "match": {"chatType": "group"}}]}
_DENY_SLACK = {"rules": [{"action": "deny", "match": {"channel": "slack"}}]}
_ALLOW_DIRECT = {"default": "deny", "rules": [{"action": "allow", "match": {"chatType": "direct"}}]}
_KEYS = {"keyPrefix": "cron:"}


@each_case(
    ("entry", "settings", "policy"),
    [
        ({}, {}, HostPolicy.ALLOW),
        ({"sendPolicy": "deny"}, {}, HostPolicy.DENY),
        ({"sendPolicy": "inherit"}, {"default": "deny"}, HostPolicy.DENY),
        ({"sendPolicy": "perhaps"}, {}, HostPolicy.DENY),
        ({"sendPolicy": 5}, {}, HostPolicy.DENY),
        (None, {}, HostPolicy.DOUBTFUL),
        ({"chatType": "GROUP"}, _DENY_GROUPS, HostPolicy.DENY),
        ({"chatType": "dm"}, _DENY_GROUPS, HostPolicy.ALLOW),
        ({}, _DENY_GROUPS, HostPolicy.DENY),
        ({"chatType": "thread"}, _DENY_GROUPS, HostPolicy.DENY),
        ({"chatType": "dm"}, _ALLOW_DIRECT, HostPolicy.ALLOW),
        ({"chatType": "group"}, _ALLOW_DIRECT, HostPolicy.DENY),
        ({}, _ALLOW_DIRECT, HostPolicy.DENY),
        ({"lastChannel": "Slack"}, _DENY_SLACK, HostPolicy.DENY),
        ({"channel": "discord"}, _DENY_SLACK, HostPolicy.ALLOW),
        ({}, {"rules": [{"action": "deny", "match": _KEYS}]}, HostPolicy.DENY),
        ({}, {"default": "deny", "rules": [{"action": "allow", "match": _KEYS}]}, HostPolicy.DENY),
        ({}, {"rules": [{"action": "allow"}, {"action": "deny", "match": {"channel": None}}]}, HostPolicy.DENY),
        ({}, {"rules": [{"action": "allow"}]}, HostPolicy.ALLOW),
        ({}, {"rules": [{"action": "ask"}]}, HostPolicy.DENY),
    ],
)
def test_a_sessions_policy(entry, settings, policy):
    assert resolve(entry, settings) is policy
