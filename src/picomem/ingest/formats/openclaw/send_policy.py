"""OpenClaw's send policy: which of its sessions may be sent anywhere.

    sessions.json, or session_nodes.entry_json of the database:   "sendPolicy": "allow" | "deny", set in the chat
    openclaw.json:   session.sendPolicy {default, rules: [{action, match: {channel, chatType, keyPrefix, …}}]}

A session's own policy comes first. Then each rule that matches counts, and one that denies counts more than all that
allow. Otherwise the default decides, and without one the session is allowed. No specification exists beyond OpenClaw's
documentation.

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
from picomem.ingest.formats.openclaw.senders import LIST, session_names
from picomem.ingest.host_database import HostDatabase
from picomem.ingest.source import is_database
from picomem.light_dataclass import dataclass
from picomem.paths import read_regular, size_shown
from picomem.text import json_edit

SETTINGS = "openclaw.json"
_LARGEST_LIST = 64 << 20  # bytes
_LARGEST_SETTINGS = 4 << 20
_MOST_INCLUDES = 10  # files that include one another
_KINDS = {"direct": "direct", "dm": "direct", "group": "group", "channel": "channel"}
_ALLOWED, _DENIED = "allow", "deny"


@dataclass(frozen=True, slots=True)
class SendRule:
    """A rule of the settings; an empty condition matches every session."""

    denies: bool
    channel: str = ""
    chat: str = ""
    prefix: str = ""
    raw_prefix: str = ""

    def matches(self, key: str, channel: str, chat: str) -> bool:
        """Return whether it is about the session with that key, in lower case."""
        return (
            self.channel in ("", channel)
            and self.chat in ("", chat)
            and key.startswith(self.raw_prefix)
            and (key.startswith(self.prefix) or _without_agent(key).startswith(self.prefix))
        )


@dataclass(frozen=True, slots=True)
class SendRules:
    """The send policy in the settings."""

    denies: bool = False
    rules: tuple[SendRule, ...] = ()

    @property
    def may_deny(self) -> bool:
        """Whether they can deny any session."""
        return self.denies or any(rule.denies for rule in self.rules)


def policies(path: Path, home: Path, env: Mapping[str, str]) -> SendPolicies:
    """The policies of the sessions in a folder of transcripts, or in an agent's database."""
    try:
        rules = _rules(settings_file(path, home, env))
        entries = list(_of_database(path) if is_database(path) else _of_list(path / LIST))
    except (InvalidInput, NotFound) as error:
        return SendPolicies({}, HostPolicy.DOUBTFUL, str(error))
    listed: dict[str, HostPolicy] = {}
    for key, entry, names in entries:
        policy = resolve(key, entry, rules)
        for name in names:
            listed[name] = strictest((policy, listed.get(name, policy)))
    denied = rules.may_deny or any(policy is not HostPolicy.ALLOW for policy in listed.values())
    unlisted = HostPolicy.DOUBTFUL if denied else HostPolicy.UNKNOWN
    return SendPolicies(listed, HostPolicy.DENY if _denied(rules, "", "", "") else unlisted)


def settings_file(path: Path, home: Path, env: Mapping[str, str]) -> Path | None:
    """The settings of the OpenClaw that has this folder, or this database, of an agent; None for one from elsewhere."""
    folder = path.parent if is_database(path) else path
    if folder.name not in ("sessions", "agent") or folder.parent.parent.name != "agents":
        return None
    state = folder.parents[2]
    is_usual = moved(env, "OPENCLAW_STATE_DIR", home / ".openclaw").resolve() == state.resolve()
    return moved(env, "OPENCLAW_CONFIG_PATH", state / SETTINGS) if is_usual else state / SETTINGS


def resolve(key: str, entry: Mapping[str, Any] | None, rules: SendRules) -> HostPolicy:
    """The policy of a session with that key and entry; an entry that cannot be read is None."""
    if entry is None:
        return HostPolicy.DOUBTFUL
    own = entry.get("sendPolicy")
    if own is not None and own != "":
        word = own.strip().lower() if isinstance(own, str) else ""
        if word in (_ALLOWED, _DENIED):
            return HostPolicy.DENY if word == _DENIED else HostPolicy.ALLOW
        if word != "inherit":
            return HostPolicy.DOUBTFUL
    key = key.lower()
    parts = _without_agent(key).split(":")
    kinds = [_KINDS[part] for part in parts[1:3] if part in _KINDS]
    if rules.may_deny and len(kinds) == 2:
        return HostPolicy.DENY  # an account may be called like a kind of chat, so nobody knows which it is
    told = (entry.get("channel"), _inner(entry, "deliveryContext", "channel"), entry.get("lastChannel"))
    channel = next(filter(None, map(_word, told)), parts[0] if kinds else "")
    chat_type = _word(entry.get("chatType")) or _word(entry.get("chat_type"))
    chat = _KINDS.get(chat_type, kinds[0] if kinds else "")
    return HostPolicy.DENY if _denied(rules, key, channel, chat) else HostPolicy.ALLOW


def _denied(rules: SendRules, key: str, channel: str, chat: str) -> bool:
    matching = [rule for rule in rules.rules if rule.matches(key, channel, chat)]
    return any(rule.denies for rule in matching) or (rules.denies and not matching)


def _without_agent(key: str) -> str:
    """A session's key without `agent:<id>:`."""
    parts = key.split(":", 2)
    return parts[2] if len(parts) == 3 and parts[0] == "agent" else key


def _of_list(path: Path) -> Iterator[tuple[str, Mapping[str, Any] | None, tuple[str, ...]]]:
    """The sessions of a list: key, entry, and the names by which its transcripts are known."""
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
    for key, entry in entries.items():
        if isinstance(entry, dict):
            yield key, entry, session_names(entry)


def _of_database(path: Path) -> Iterator[tuple[str, Mapping[str, Any] | None, tuple[str, ...]]]:
    """The sessions of a database, as `_of_list` gives those of a list. An older session has its key's entry."""
    from picomem.ingest.formats.openclaw.database import session_entries

    with closing(HostDatabase(path)) as database:
        for key, entry, session in session_entries(database):
            yield key, entry, (session,)


def _rules(path: Path | None) -> SendRules:
    """The rules in a file of settings. Raises InvalidInput for a file that cannot be read."""
    if path is None or not path.exists():
        return SendRules()
    try:
        policy = _at(path, ("session", "sendPolicy"), 0)
    except InvalidInput as error:
        said = str(error).rstrip(".")
        raise InvalidInput(f"{path}, OpenClaw's settings, cannot be read: {said}. {_REMEDY}") from error
    if policy is None:
        return SendRules()
    told = policy if isinstance(policy, dict) else {"default": policy}
    default, rules = told.get("default", _ALLOWED), told.get("rules", [])
    is_known = isinstance(rules, list) and all(map(_is_known, rules)) and default in (_ALLOWED, _DENIED)
    if not is_known:
        raise InvalidInput(f"{path} has a session.sendPolicy of an unknown form. {_REMEDY}")
    return SendRules(
        default == _DENIED, tuple(_rule(rule["action"] == _DENIED, rule.get("match") or {}) for rule in rules)
    )


_REMEDY = "Until it can be read, new sessions of that agent are not read, and known ones stay as they are."


def _is_known(rule: object) -> bool:
    if not isinstance(rule, dict) or rule.get("action") not in (_ALLOWED, _DENIED):
        return False
    match = rule.get("match") or {}
    return isinstance(match, dict) and all(value is None or isinstance(value, str) for value in match.values())


def _rule(denies: bool, match: Mapping[str, str | None]) -> SendRule:
    chat = _word(match.get("chatType"))
    # OpenClaw passes over a kind of chat that it does not know. Here such a rule does not allow anything.
    chat = _KINDS.get(chat, "" if denies else chat)
    prefix, raw_prefix = _word(match.get("keyPrefix")), _word(match.get("rawKeyPrefix"))
    return SendRule(denies, _word(match.get("channel")), chat, prefix, raw_prefix)


def _at(path: Path, names: tuple[str, ...], depth: int) -> Any:
    """The value under these keys of a file and the files that it includes. Raises InvalidInput."""
    if depth > _MOST_INCLUDES:
        raise InvalidInput("too many files include one another")
    data = _read(path, _LARGEST_SETTINGS)
    if data is None:
        raise InvalidInput(f"there is no file {path}")
    root = json_edit.parse(data.decode("utf-8-sig", "replace"), "json5").value
    return _under(root, path.parent, names, depth)


def _under(value: Any, folder: Path, names: tuple[str, ...], depth: int) -> Any:
    if not isinstance(value, dict):
        return value
    included = value.get("$include", ())
    files = [included] if isinstance(included, str) else included
    if not isinstance(files, list | tuple) or not all(isinstance(file, str) for file in files):
        raise InvalidInput("an $include names no file")
    merged: Any = None
    for file in files:
        merged = _merged(merged, _at(folder / file, names, depth + 1))
    if names:
        return _merged(merged, _under(value.get(names[0]), folder, names[1:], depth))
    return _merged(merged, {name: inner for name, inner in value.items() if name != "$include"})


def _merged(below: Any, above: Any) -> Any:
    """A value over another one, as OpenClaw merges what it includes."""
    if isinstance(below, dict) and isinstance(above, dict):
        return below | {name: _merged(below.get(name), inner) for name, inner in above.items()}
    if isinstance(below, list) and isinstance(above, list):
        return below + above
    return below if above is None else above


def _read(path: Path, largest: int) -> bytes | None:
    """The bytes of a file; None where there is none. Raises InvalidInput for one that cannot be read."""
    try:
        return read_regular(path, most=largest, too_large=f"{path} is larger than {size_shown(largest)}.")
    except NotFound:
        return None


def _inner(entry: Mapping[str, Any], name: str, key: str) -> object:
    value = entry.get(name)
    return value.get(key) if isinstance(value, dict) else None


def _word(value: object) -> str:
    return value.strip().lower() if isinstance(value, str) else ""
