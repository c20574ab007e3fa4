"""Determines who wrote the text in a user's place, by the fields in which hosts say so. Pure.

A record holds the user's own words only where every field that tells who speaks agrees. No host specifies these fields,
and they change with its versions. So a field of this family that is present with an unexpected value or type is a
doubt, and a text in doubt is not the user's: a flag is set by any true value (`1`, `"true"`), and an object that names
no kind, or has keys besides those that are known, names no person.

Names of fields are compared without case and separators, because one host writes `isMeta` and the next `is_meta`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from picomem.ingest.format import State
from picomem.ingest.record_fields import Record, objects
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


# The forms that an agent shows to its user: which calls wait for the person, and whose words an answer holds.
#
# An answer stands in the result of a call, and a tool can print the same. So the calls that only a person answers are
# noted in the parser's state, and only their results are read. A question, its options and an option that was clicked
# are the agent's words; what the person typed is theirs.

_PENDING = "pending"  # the mark of the calls whose results may be the person's
_MOST_PENDING = 8
_REMARK = re.compile(r"\s*\([^()]*\)\s*\Z")  # "(Recommended)" behind an option
_MOST_PARTS = 40  # of an answer, between commas


def await_person(state: State, call: str) -> None:
    """Note a call that only the person can answer."""
    state.marks[_PENDING] = " ".join([*_pending(state), call][-_MOST_PENDING:])


def awaits_person_in(state: State, data: bytes) -> bool:
    """Return whether a line may hold the result of a call that only the person can answer."""
    return any(f'"{call}"'.encode() in data for call in _pending(state))


def take_awaited(state: State, call: object) -> bool:
    """Return whether only the person can answer a call; what comes later for the same call is no answer."""
    pending = _pending(state)
    state.marks[_PENDING] = " ".join(other for other in pending if other != call)
    return call in pending


def words_of_question(state: State, question: Record) -> str:
    """Return a question of a form and its options, a line each. The options are noted, with and without the remark
    behind them: their words are the agent's."""
    options = [option.get("label") for option in objects(question.get("options"))]
    labels = [label for label in options if isinstance(label, str)]
    for label in labels:
        state.seen.add(_option_key(label))
        state.seen.add(_option_key(_REMARK.sub("", label)))
    lines = (question.get("question"), *(f"- {label}" for label in labels))
    return "\n".join(line for line in lines if isinstance(line, str))


def is_option(state: State, words: str) -> bool:
    """Return whether these are the words of an option that the agent offered."""
    return _option_key(words) in state.seen


def origin_of_answers(state: State, typed: Origin, answers: Sequence[str]) -> Origin:
    """Return the origin of answers; `typed` is that of what the person typed. An option that was clicked is in the
    agent's words, and so in those of what the agent had read."""
    words = [words for answer in answers for words in (answer, *_possible_options(answer))]
    is_clicked = any(is_option(state, part) for part in dict.fromkeys(words))
    is_in_doubt = any(len(_parts(answer)) > _MOST_PARTS for answer in answers)
    return worst((typed, state.agents_origin())) if is_clicked or is_in_doubt else typed


def _pending(state: State) -> list[str]:
    return state.marks.get(_PENDING, "").split()


def _possible_options(answer: str) -> Iterator[str]:
    """Return what may be one of several options in an answer: they are joined by commas, and may hold commas."""
    parts = _parts(answer)[:_MOST_PARTS]
    for first in range(len(parts)):
        for end in range(first + 1, len(parts) + 1):
            yield ", ".join(parts[first:end])


def _parts(answer: str) -> list[str]:
    return re.split(r"\n+|, ", answer)


def _option_key(label: str) -> str:
    return f"option\n{' '.join(label.split())}"
