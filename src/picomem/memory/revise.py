"""Revise: the changed fields of a memory pass the gate and become its next version (see the head of `remember.py`)."""

from __future__ import annotations

from picomem.clock import Micros
from picomem.coded_text import CodedText, word_of
from picomem.errors import InvalidInput, Refused
from picomem.memory.decide import persons_own, version_origin, vouched_by_person
from picomem.memory.remember import Writer
from picomem.policy.gate import judge_names
from picomem.records.kinds import Origin
from picomem.records.memory import Memory
from picomem.store.connector import Transaction

_NAMES = {"content": "text", "expires_at": "expiry"}  # of fields, where a person calls them otherwise


def revised(
    tx: Transaction,
    writer: Writer,
    memory: Memory,
    fields: dict[str, object],
    origin: Origin,
    since: Micros | None,
    correct: bool,
    reason: str,
) -> Memory:
    """Revise a memory. With `correct` it was always so; otherwise it is so from `since` (or now) on.

    A revision of anything but the content says nothing new about the world, so it counts as a correction.
    Raises InvalidInput where nothing would change, and Refused where the gate says no, where text that nobody trusted
    wrote would replace what a person or their agent said, or where an agent would change what a person stated or pinned
    and the person has not said so. An agent's version of what nobody trusted wrote has the origin of what it replaces,
    unless the person stated it.
    """
    _refuse_outsider(writer, memory, fields, origin)
    expires = fields.get("expires_at", memory.expires_at)
    if memory.expired(writer.now) and expires == memory.expires_at:
        raise InvalidInput(f"“{memory.key}” has expired; give it a new expiry, or “never”, to restore it.")
    if not fields:
        raise InvalidInput(f"Say what to change about “{memory.key}”: give a new text or an option.")
    news = {name: value for name, value in fields.items() if getattr(memory, name) != value}
    if not news:
        raise InvalidInput(f"“{memory.key}” already says that; nothing was changed.")
    if not vouched_by_person(str(fields.get("content", "")), origin, writer.persons):
        origin = version_origin(origin, memory, changed=True)
    _refuse_unfit(writer, memory, news, origin)
    if "content" in news:
        news["origin"] = origin
    if correct or "content" not in news:
        since = memory.valid_from
    elif since is None:
        since = writer.now
    named = [_NAMES.get(name, name) for name in news if name != "origin"]
    said = reason or CodedText("reason.corrected" if correct else "reason.changed", fields=tuple(map(word_of, named)))
    return writer.replace_version(tx, memory, news, since, "revise", said, writer.sources)


def _refuse_outsider(writer: Writer, memory: Memory, fields: dict[str, object], origin: Origin) -> None:
    """Raises Refused where the memory is not to be changed by text of this origin."""
    if memory.origin.trusted and not origin.trusted:
        raise Refused(f"“{memory.key}” came from the {memory.origin}; text of origin {origin} cannot replace it.")
    is_stated = "content" in fields and writer.persons.hold(str(fields["content"]))
    if memory.is_a_persons and origin is not Origin.USER and not is_stated:
        raise Refused(persons_own(memory))


def _refuse_unfit(writer: Writer, memory: Memory, news: dict[str, object], origin: Origin) -> None:
    """Raises Refused where the gate keeps one of the new texts out."""
    for field, called in (("content", "text"), ("context", "context")):
        if news.get(field) or (field == "content" and field in news):
            verdict = writer.judged(str(news[field]), memory.kind, origin, explicit=True)
            if not verdict.keep:
                raise Refused(f"The new {called} cannot be kept: {verdict.reason}")
    verdict = judge_names([*_names(news, "tags"), *_names(news, "related")], origin)
    if not verdict.keep:
        raise Refused(f"The new names cannot be kept: {verdict.reason}")


def _names(news: dict[str, object], field: str) -> tuple[str, ...]:
    names = news.get(field, ())
    return names if isinstance(names, tuple) else ()
