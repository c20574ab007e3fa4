"""The speakers of an OpenClaw session: its owner, other people, a hook, a scheduled job, another agent. Pure except for
`of_file`, which reads the host's list of sessions.

OpenClaw records the speaker in three places, none of them specified:

- the session's entry, in `sessions.json` beside the transcripts or in the database: its key
  (`agent:main:discord:group:…`, `cron:…`, `hook:…`, `…:subagent:…`), `chatType`, `hookExternalContentSource`,
  `spawnedBy`;
- the entry of a single message, its `provenance` (see `openclaw`);
- an envelope around the words: `[WhatsApp Bob +49… 10:00] …`, "Conversation info (untrusted metadata):",
  "[Chat messages since your last reply …]", `System: [10:00] …`.

Only a direct chat belongs to the owner. Two things identify one: the session's entry, and the folder of Pi, which is
a program for a terminal without other people. If neither does, the words of the session have the origin `agent`: the
list of sessions names only the newest session of each key, so an unlisted transcript may be an older one of a group,
and a copy may have come without the list. Such words can be found, but no memory is made from them. Words in an
envelope are somebody else's.

In any session, a message is not the owner's if the host marks its text as external
(`<<<EXTERNAL_UNTRUSTED_CONTENT>>>`) or introduces it as a job, a mail or an order to a sub-agent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from picomem.errors import InvalidInput, NotFound
from picomem.paths import read_regular
from picomem.provenance.whose_words import CHANNELS
from picomem.records.kinds import Origin

LIST = "sessions.json"
_OF_PI = (".pi", "agent", "sessions")  # ~/.pi/agent/sessions/<folder of the project>/<session>.jsonl
PEER = "peer"  # the mark of the one with whom a direct chat is held: a number, an address, or an id of the channel
SPEAKER = "speaker"  # the mark of whose words stand in a user's place in a session, where that is known
_LARGEST = 64 << 20
_OTHERS_KEY = re.compile(r"(?:^|:)(?:group|channel|room|thread|topic|cron|heartbeat|dream\w*)(?::|$)")
_DIRECT_KEY = re.compile(r"^(?:agent:[^:]+:)?main$|:(?:direct|dm|webchat|tui)(?::|$)")
_HOOK_KEY = re.compile(r"(?:^|:)(?:web)?hook(?::|$)")
_AGENT_KEY = re.compile(r"(?:^|:)(?:subagent|acp)(?::|$)")
_PEER = re.compile(r":(?:direct|dm):(.+)\Z")
_OF_SENDER = ("id", "label", "from", "e164")
# What tells one sender from another, which a name does not: "id:U02ABC", an address, a number of a telephone.
_IDENTITY = re.compile(r"(?i)\bid:[ \t]{0,4}([\w@.+-]{1,80})|([\w.+-]{1,64}@[\w.-]{1,80})|\+?(\d{6,20})")
_NUMBER = re.compile(r"\+?(\d{6,20})(?:@.*)?")  # also as an address of WhatsApp: 491701234@s.whatsapp.net
_WEB_SOURCES = ("webhook", "web", "web_fetch", "web_search", "browser", "http", "rss")

_ENVELOPE = re.compile(rf"(?i)\A\s*\[(?:{CHANNELS})\b[^\]\n]{{0,300}}\][ \t]*")
_GROUP_ENVELOPE = re.compile(r"(?i)@g\.us|\bgroup\b|\bchannel\b|\broom\b|\bid:-\d|#[\w-]+")
_METADATA = re.compile(r"(?ims)^[\w ]{1,60}\(untrusted[^)\n]{0,60}\):\s*\n```(?:json)?\s*\n(.*?)\n```[ \t]*\n?")
_METADATA_BEGINS = re.compile(r"(?im)^[\w ]{1,60}\(untrusted[^)\n]{0,60}\):")
_CONTEXT = re.compile(r"(?i)\[chat messages since your last reply|\[current message - respond to this")
_EXTERNAL = re.compile(
    r"(?i)<{2,4}\s{0,4}(?:END_)?EXTERNAL_UNTRUSTED_CONTENT|content is from an EXTERNAL, UNTRUSTED source"
)
_WEB_CONTENT = re.compile(r"(?im)^[ \t]*Source:[ \t]*(?:web\b|webhook|browser|http)")
_BY_THE_HOST = re.compile(
    r"(?i)\A\s*(?:\[cron\b|new (?:e-?mail|message) from\b|task:[^\n]{0,200}\|[ \t]*job id:|\[scheduled\b|\[heartbeat\b)"
)
_BY_AN_AGENT = re.compile(r"(?im)^[ \t]*\[(?:sub-?agent (?:context|task)|inter-session message)\b")
_EVENT = re.compile(r"(?ms)^System(?: \(untrusted\): |: \[[^\]\n]{1,60}\]).*?(?:\n[ \t]*\n|\Z)")
# Events that quote an output or another's words, which may hold a blank line: nothing tells where they end.
_OPEN_EVENT = re.compile(r"(?m)^System(?: \(untrusted\): |: \[[^\]\n]{1,60}\][ \t]*(?:exec|process|command)\b)", re.I)
_OF_A_GROUP = ("groupId", "groupChannel", "group_id", "groupSubject", "subject", "room", "space", "threadId")


def of_session(key: str, entry: Mapping[str, Any]) -> Origin | None:
    """The speaker in the user's role of a session, by its key and its entry; None if neither tells."""
    key = key.lower()
    source = _text(entry, "hookExternalContentSource", "hook_external_content_source").lower()
    if source or _HOOK_KEY.search(key):
        return Origin.WEB if source in _WEB_SOURCES else Origin.OTHER
    chat = _text(entry, "chatType", "chat_type").lower()
    told = entry.get("origin")
    if isinstance(told, Mapping) and _text(told, "chatType", "chat_type").lower() not in ("", "direct"):
        return Origin.OTHER
    if chat not in ("", "direct") or _OTHERS_KEY.search(key) or any(entry.get(name) for name in _OF_A_GROUP):
        return Origin.OTHER
    parent = _text(entry, "spawnedBy", "spawned_by")
    if parent or _AGENT_KEY.search(key):
        asked = of_session(parent, {}) if parent else None
        return Origin.AGENT if asked is None or asked.trusted else asked
    return Origin.USER if chat or _DIRECT_KEY.search(key) else None


def peer_of(key: str, entry: Mapping[str, Any]) -> str:
    """The one with whom a direct chat is held, by its key or its entry; empty where neither names one."""
    told = entry.get("origin")
    named = _PEER.search(key.lower())
    if named:
        return next(iter(_identities(named[1])), named[1])
    return next(iter(_identities(_text(told, "from"))), "") if isinstance(told, Mapping) else ""


def _identities(text: str) -> list[str]:
    named = (next(filter(None, groups)).lower() for groups in _IDENTITY.findall(text))
    return [number[1] if (number := _NUMBER.fullmatch(identity)) else identity for identity in named]


def of_message(text: str, session: Origin | None, peer: str = "") -> tuple[str, Origin]:
    """A user's message without its envelope, and whose words it is. `session` is the session's speaker, if known, and
    `peer` the one with whom a direct chat is held: an envelope that names others holds their words."""
    origin = session or Origin.AGENT
    if (written_by := _origin_of_block(text)) is not None:
        return text, written_by if origin.trusted else origin
    if _OPEN_EVENT.search(text):
        origin = Origin.OTHER if origin.trusted else origin
    text = _EVENT.sub("", text)
    in_envelope, envelope = False, ""
    if _METADATA_BEGINS.search(text):
        in_envelope = True
        if any(_names_a_group(block) for block in _METADATA.findall(text)):
            origin = Origin.OTHER if origin.trusted else origin
        envelope = " ".join(map(_sender_in, _METADATA.findall(text)))
        text = _METADATA.sub("", text)
    if match := _ENVELOPE.match(text):
        in_envelope = True
        if _GROUP_ENVELOPE.search(match[0]):
            origin = Origin.OTHER if origin.trusted else origin
        text, envelope = text[match.end() :], envelope + match[0]
    senders = _identities(envelope)
    if peer and senders and peer not in senders and origin.trusted:
        origin = Origin.OTHER
    if in_envelope and session is None:
        origin = Origin.OTHER
    return text, origin


def _origin_of_block(text: str) -> Origin | None:
    """Who wrote a text that the program marks as a block of another's; None for any other."""
    if _EXTERNAL.search(text):
        return Origin.WEB if _WEB_CONTENT.search(text) else Origin.OTHER
    if _CONTEXT.search(text) or _BY_THE_HOST.match(text):
        return Origin.OTHER
    return Origin.AGENT if _BY_AN_AGENT.search(text) else None


def of_file(path: Path) -> tuple[Origin | None, str]:
    """Return whose words stand in a user's place in the transcript at `path`, None where neither its folder nor the
    list of sessions says it; and the one with whom a direct chat is held."""
    if path.parts[-5:-2] == _OF_PI:
        return Origin.USER, ""
    session = path.name.partition(".jsonl")[0]
    listed = path.with_name(LIST)
    try:
        status = listed.stat()
    except OSError:
        return Origin.OTHER if "-topic-" in session else None, ""
    known = _listed(listed, status.st_mtime_ns, status.st_size).get(session.partition("-topic-")[0])
    return known or (Origin.OTHER if "-topic-" in session else None, "")


@lru_cache(maxsize=4)
def _listed(path: Path, _written: int, _size: int) -> dict[str, tuple[Origin, str]]:
    """The speaker of each session in a list, and the peer. A session under two keys belongs to the less trusted
    speaker."""
    try:
        entries = json.loads(read_regular(path, most=_LARGEST), strict=False)
    except (InvalidInput, NotFound, ValueError, RecursionError):
        return {}
    speakers: dict[str, tuple[Origin, str]] = {}
    for key, entry in entries.items() if isinstance(entries, dict) else ():
        if isinstance(entry, dict) and (speaker := of_session(str(key), entry)) is not None:
            for session in session_names(entry):
                if session not in speakers or speakers[session][0].trusted:
                    speakers[session] = speaker, peer_of(str(key), entry)
    return speakers


def session_names(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of a listed session's transcript: its id, and its file without the ending."""
    return tuple(filter(None, (_text(entry, "sessionId"), _stem(_text(entry, "sessionFile")))))


def _names_a_group(block: str) -> bool:
    try:
        told = json.loads(block)
    except (ValueError, RecursionError):
        return True  # nobody knows what it says
    if not isinstance(told, dict):
        return True
    chat = _text(told, "chat_type", "chatType").lower()
    return chat not in ("", "direct") or any(
        bool(value) and ("group" in name.lower() or name.lower() in ("thread", "thread_label", "room", "channel_name"))
        for name, value in told.items()
    )


def _sender_in(block: str) -> str:
    """What a block of metadata says of the sender; its other numbers are ids of messages."""
    try:
        told = json.loads(block)
    except (ValueError, RecursionError):
        return ""
    fields = told.items() if isinstance(told, dict) else ()
    return " ".join(
        f"id:{value}" if name.lower().endswith("id") else str(value)
        for name, value in fields
        if name in _OF_SENDER or "sender" in name.lower()
    )


def _stem(file: str) -> str:
    return file.replace("\\", "/").rpartition("/")[2].partition(".jsonl")[0]


def _text(entry: Mapping[str, Any], *names: str) -> str:
    values = (entry.get(name) for name in names)
    return next((value for value in values if isinstance(value, str) and value), "")
