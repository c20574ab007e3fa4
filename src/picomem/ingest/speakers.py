"""Determines who wrote the text in a user's place, by the fields in which hosts say so. Pure.

A record holds the user's own words only where every field that tells who speaks agrees. No host specifies these fields,
and they change with its versions. So a field of this family that is present with an unexpected value or type is a
doubt, and a text in doubt is not the user's: a flag is set by any true value (`1`, `"true"`), and an object that names
no kind, or has keys besides those that are known, names no person.

Names of fields are compared without case and separators, because one host writes `isMeta` and the next `is_meta`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from picomem.loaded_once import cached_if_short
from picomem.records.kinds import Origin, worst

# Fields that are set only in a record that no person wrote, and whose words it holds then.
_SET_BY_OTHERS = {
    **dict.fromkeys("issidechain issubagent isagent isbot agentid agentname agentpath agentrole".split(), Origin.AGENT),
    **dict.fromkeys(
        "agentnickname teamname subagent subagentid spawnedby parentagentid sourcetool".split(), Origin.AGENT
    ),
    **dict.fromkeys("parentthreadid parenttooluseid phase plancontent".split(), Origin.AGENT),
    **dict.fromkeys("sourcetooluseid sourcetoolassistantuuid tooluseresult tooluseid".split(), Origin.TOOL),
    **dict.fromkeys("toolcallid toolcalls toolname toolresult functioncall callid".split(), Origin.TOOL),
    **dict.fromkeys("ismeta issynthetic iscompactsummary isvisibleintranscriptonly isautomated".split(), Origin.OTHER),
    **dict.fromkeys("hookname hookevent hookeventname hookexternalcontentsource".split(), Origin.OTHER),
}
OF_A_RESULT = frozenset("tooluseresult sourcetooluseid sourcetoolassistantuuid".split())
_PERSON = frozenset(("", "user", "human", "typed", "sdk", "prompt", "queued", "cli", "external_user", "keyboard"))
# Fields that name who or what wrote the record, and the values by which a person did.
_NAMES_A_WRITER = {
    **dict.fromkeys("origin source promptsource provenance threadsource sender author".split(), _PERSON),
    "usertype": frozenset(("", "external", "ant", "user", "human")),
}
# Keys of an object that names a writer which leave a person a person: its kind, and what OpenClaw notes of its channel.
_IN_A_WRITER = frozenset("kind type originsessionid sourcechannel".split())
# In a log without a host of its own these tell it too; elsewhere they are the host's own kinds of records.
_NAMES_A_WRITER_IN_A_LOG = {
    "name": frozenset(("", "user", "human", "me", "you")),
    "type": frozenset(("", "message", "user", "human", "text", "chat", "prompt", "human_message", "user_message")),
    "kind": frozenset(("", "message", "user", "human", "text", "chat", "prompt", "plain")),
}
_AGENTS = re.compile(r"(?i)agent|assistant|coordinator|inter[-_ ]?session|model|\bbot\b")
_TOOLS = re.compile(r"(?i)tool|function|shell|exec|output")
_WEB = re.compile(r"(?i)\b(?:web|browser|http|rss)")

_INTERNAL_CHAT = re.compile(r"(?i)^(?:cron|dream|heartbeat|hook|webhook|system|subagent)(?:[:_-]|$)")
_GROUP_CHAT = re.compile(
    r"(?i)@(?:g\.us|thread|broadcast|newsletter)|[:_]-\d|:!|:oc_|[:_](?:group|channel|room|thread|topic)\b|"
    r"^slack:[cg]|^(?:e-?mail|gmail|github|gitlab|rss|x|twitter|mastodon):"
)
_DIRECT_CHAT = re.compile(
    r"(?i)^(?:cli|tui|terminal|local|websocket|webui|webchat|web|api|desktop|app)(?::|$)|^telegram:\+?\d+$|"
    r"^whatsapp:\+?\d+(?:@(?:s\.whatsapp\.net|c\.us|lid))?$|^slack:[du]\w+$|^signal:\+\d+$|^imessage:\+?[\w.@]+$|"
    r"^feishu:ou_\w+$|:(?:direct|dm)(?::|$)"
)


def doubted(
    *records: Mapping[str, Any], in_a_log: bool = False, except_for: Collection[str] = frozenset()
) -> Origin | None:
    """Return whose words a record in a user's place holds, where one of its fields says that they are not the user's;
    None where none does. `except_for` are fields, as they are compared, that the record has for another reason."""
    doubts: list[Origin] = []
    for record in records:
        for name, value in record.items():
            field = _field(name)
            if field in except_for or _is_empty(value):
                continue
            if field in _SET_BY_OTHERS and value:
                doubts.append(_SET_BY_OTHERS[field])
            expected = _NAMES_A_WRITER.get(field) or (_NAMES_A_WRITER_IN_A_LOG.get(field) if in_a_log else None)
            if expected is not None and (origin := _named(value, expected)) is not None:
                doubts.append(origin)
    return worst(doubts) if doubts else None


def of_chat(key: str) -> Origin | None:
    """Return whose words stand in a user's place in a chat that its key names `channel:chat`; None where the key is
    none."""
    if _INTERNAL_CHAT.search(key) or _GROUP_CHAT.search(key):
        return Origin.OTHER
    if _DIRECT_CHAT.search(key):
        return Origin.USER
    return Origin.AGENT if ":" in key else None


def _named(value: object, expected: frozenset[str]) -> Origin | None:
    """Return whose words these are by a field that names the writer; None where it names a person."""
    return _named_by_object(value, expected) if isinstance(value, Mapping) else _named_by_word(value, expected)


def _named_by_word(value: object, expected: frozenset[str]) -> Origin | None:
    if not isinstance(value, str):
        return Origin.OTHER
    if value.strip().lower() in expected:
        return None
    if _TOOLS.search(value):
        return Origin.TOOL
    if _WEB.search(value):
        return Origin.WEB
    return Origin.AGENT if _AGENTS.search(value) else Origin.OTHER


def _named_by_object(writer: Mapping[str, Any], expected: frozenset[str]) -> Origin | None:
    """Return the same for an object. A person is named only where each of its keys is known: another key may say
    through what the words came (`via`)."""
    if doubts := doubted(writer):
        return doubts
    kinds = [writer[name] for name in ("kind", "type") if name in writer] or [None]
    if origins := [origin for kind in kinds if (origin := _named_by_word(kind, expected)) is not None]:
        return worst(origins)
    keys = {_field(name) for name, value in writer.items() if not _is_empty(value)}
    return None if keys <= _IN_A_WRITER | _NAMES_A_WRITER.keys() else Origin.OTHER


@cached_if_short(40, 512)  # a transcript repeats the same few
def _field(name: str) -> str:
    """The name of a field as names are compared."""
    return re.sub(r"[\W_]+", "", name).lower()


def _is_empty(value: object) -> bool:
    return value is None or value is False or value == ""
