"""OpenClaw's send policy: which of its sessions may be sent anywhere.

    sessions.json, or session_nodes.entry_json of the database:   "sendPolicy": "allow" | "deny", set in the chat
    openclaw.json:   session.sendPolicy {default, rules: [{action, match: {channel, chatType, …}}]}

A session's own policy comes first. Then a rule that matches and denies counts more than all that allow, and otherwise
the default decides. Without any policy the session is allowed. No specification exists beyond OpenClaw's documentation,
so what is not plain denies: a condition that the session's entry does not settle, a policy of another form, settings
that include other files.

A list or settings that are there and cannot be read say nothing, so the answer is a problem. An unlisted session is in
doubt if anything of the same agent is denied, because it may be an older session of a denied chat.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from picomem.errors import InvalidInput, NotFound
from picomem.ingest.format import HostPolicy, SendPolicies, moved, strictest
from picomem.ingest.formats.openclaw.database import session_entries
from picomem.ingest.formats.openclaw.senders import LIST, session_names
from picomem.ingest.host_database import HostDatabase
from picomem.ingest.source import is_database
from picomem.paths import read_regular, size_shown
from picomem.text import json_edit

SETTINGS = "openclaw.json"
_LARGEST_LIST = 64 << 20  # bytes
_LARGEST_SETTINGS = 4 << 20
_REMEDY = "Until it can be read, new sessions of that agent are not read, and known ones stay as they are."

Policy = Mapping[str, Any]  # as the settings have it; an empty one allows everything
_KINDS = frozenset(("direct", "group", "channel"))
_DENY_ALL: Policy = {"default": "deny"}


def policies(path: Path, home: Path, env: Mapping[str, str]) -> SendPolicies:
    """The policies of the sessions in a folder of transcripts, or in an agent's database."""
    try:
        policy = _of_settings(settings_file(path, home, env))
        entries = list(_of_database(path) if is_database(path) else _of_list(path / LIST))
    except (InvalidInput, NotFound) as error:
        return SendPolicies({}, HostPolicy.DOUBTFUL, str(error))
    listed: dict[str, HostPolicy] = {}
    for entry, names in entries:
        for name in names:
            listed[name] = strictest((resolve(entry, policy), listed.get(name, HostPolicy.ALLOW)))
    if _denies_by_default(policy):
        return SendPolicies(listed, HostPolicy.DENY)
    is_any_denied = bool(policy.get("rules")) or any(of is not HostPolicy.ALLOW for of in listed.values())
    return SendPolicies(listed, HostPolicy.DOUBTFUL if is_any_denied else HostPolicy.UNKNOWN)


def settings_file(path: Path, home: Path, env: Mapping[str, str]) -> Path | None:
    """The settings of the OpenClaw that has this folder, or this database, of an agent; None for one from elsewhere."""
    folder = path.parent if is_database(path) else path
    if folder.name not in ("sessions", "agent") or folder.parent.parent.name != "agents":
        return None
    state = folder.parents[2]
    is_usual = moved(env, "OPENCLAW_STATE_DIR", home / ".openclaw").resolve() == state.resolve()
    return moved(env, "OPENCLAW_CONFIG_PATH", state / SETTINGS) if is_usual else state / SETTINGS


def resolve(entry: Mapping[str, Any] | None, policy: Policy) -> HostPolicy:
    """The policy of a session with that entry; an entry that cannot be read is None."""
    if entry is None:
        return HostPolicy.DOUBTFUL
    own = _word(entry.get("sendPolicy"))
    if own not in ("", "inherit"):
        return HostPolicy.ALLOW if own == "allow" else HostPolicy.DENY
    actions = [_word(rule.get("action")) for rule in policy.get("rules") or () if _matches(rule, entry)]
    is_allowed = all(action == "allow" for action in actions) if actions else not _denies_by_default(policy)
    return HostPolicy.ALLOW if is_allowed else HostPolicy.DENY


def _denies_by_default(policy: Policy) -> bool:
    return _word(policy.get("default", "allow")) != "allow"


def _matches(rule: Mapping[str, Any], entry: Mapping[str, Any]) -> bool:
    """Return whether a rule is about a session. Where nobody can tell, one that denies is, and an other is not."""
    told = {
        "channel": _word(entry.get("channel") or entry.get("lastChannel")),
        "chatType": _word(entry.get("chatType")),
    }
    for name, value in (rule.get("match") or {}).items():
        known, wanted = told.get(name, ""), _word(value)
        if known and (name != "chatType" or {known, wanted} <= _KINDS):
            if wanted not in ("", known):
                return False
        elif wanted and _word(rule.get("action")) == "allow":
            return False
    return True


def _of_list(path: Path) -> Iterator[tuple[Mapping[str, Any] | None, tuple[str, ...]]]:
    """The sessions of a list: the entry, and the names by which its transcripts are known."""
    try:
        data = _read(path, _LARGEST_LIST)
    except InvalidInput as error:
        raise InvalidInput(f"{error} {_REMEDY}") from error
    if data is None:
        return
    try:
        entries = json.loads(data, strict=False)
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, dict):
        raise InvalidInput(f"{path}, OpenClaw's list of its sessions, is not whole JSON. {_REMEDY}")
    for entry in entries.values():
        if isinstance(entry, dict):
            yield entry, session_names(entry)


def _of_database(path: Path) -> Iterator[tuple[Mapping[str, Any] | None, tuple[str, ...]]]:
    """The sessions of a database, as `_of_list` gives those of a list. An older session has its key's entry."""
    with closing(HostDatabase(path)) as database:
        for entry, session in session_entries(database):
            yield entry, (session,)


def _of_settings(path: Path | None) -> Policy:
    """The policy in a file of settings. Raises InvalidInput for a file that cannot be read."""
    try:
        data = None if path is None else _read(path, _LARGEST_SETTINGS)
        if data is None:
            return {}
        settings = json_edit.parse(data.decode("utf-8-sig", "replace"), "json5").value
    except InvalidInput as error:
        said = str(error).rstrip(".")
        raise InvalidInput(f"{path}, OpenClaw's settings, cannot be read: {said}. {_REMEDY}") from error
    session = settings.get("session") or {}
    policy = session.get("sendPolicy") or {} if isinstance(session, dict) else None
    if isinstance(policy, str):
        policy = {"default": policy}
    if not isinstance(policy, dict) or any("$include" in part for part in (settings, session, policy)):
        return _DENY_ALL
    rules = policy.get("rules") or []
    is_plain = isinstance(rules, list) and all(
        isinstance(rule, dict) and isinstance(rule.get("match") or {}, dict) for rule in rules
    )
    return policy if is_plain else _DENY_ALL


def _read(path: Path, largest: int) -> bytes | None:
    """The bytes of a file; None where there is none. Raises InvalidInput for one that cannot be read."""
    try:
        return read_regular(path, most=largest, too_large=f"{path} is larger than {size_shown(largest)}.")
    except NotFound:
        return None


def _word(value: object) -> str:
    """A word of a policy in lower case; none for nothing, and one that is no policy for what is no text."""
    word = value.strip().lower() if isinstance(value, str) else str(value or "")
    return "direct" if word == "dm" else word
