"""PicoBot's snapshot `sessions.json`, taken over as sessions and messages (P11).

    {"sessions": [{"id", "channel_type", "channel_id", "user_id", "conversation": [{"User": {"content"}} | …],
    "permissions": {"permissions": […]}, "created_at", "last_active", "state"}]}

All of it is stored in one transaction, each session under the user that the snapshot names (P4), or not at all. The
terminal's user, `tui:local`, is the local user. Then the file is renamed `sessions.json.migrated`. So a run that was
killed in between only renames; and a file that is read a second time adds nothing: of a session that is there already
only the messages behind those that are there are taken, and one that went another way since is left as it is and
counted. What is not understood is counted, and still there in the renamed file.

A message has no time of its own in this format. It gets that of its session's last activity, so that retention deletes
none of them early; the order is the file's. Results of tools whose calls an older PicoBot did not write down are kept,
and stay out of the prompt (`pairs.grouped`).

`ingest/formats/picobot.py` reads the same file for another end: as a transcript that stays where it is, turn by turn
with byte offsets to point back with, and without tools. Here the whole record is wanted and no offset, so the standard
parser does; the two have nothing to share but the names of the fields.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from picomem.clock import Clock, Micros, parse_iso
from picomem.errors import InvalidInput, InvalidTime, NotFound
from picomem.light_dataclass import dataclass, replace
from picomem.paths import read_regular, write_whole
from picomem.policy.redact import Redact, Redactor, check_ids, redact_json
from picomem.records.kinds import Origin
from picomem.records.scope import Scope
from picomem.records.session import Channel, Message, NewMessage, Role, Session, ToolCall
from picomem.sessions.channel_users import memory_user, user_of
from picomem.sessions.pairs import id_like, safe_said, stored_message, title_of, with_origins
from picomem.store.connector import EVERYONE, Connector, Transaction, rolled_back
from picomem.store.tables import session_rows
from picomem.store.tables.tombstones import Tombstones
from picomem.text.storable import plain

NAME = "sessions.json"
_LARGEST = 256 * 1024 * 1024
_ROLES = {"User": Role.USER, "Assistant": Role.ASSISTANT, "System": Role.SYSTEM, "Tool": Role.TOOL}


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotImport:
    """The result of importing a snapshot: new sessions and messages, and whose. `differing` are sessions that went
    another way here and were left as they are; `skipped` counts what was not understood; `moved_to` is the file's
    new name."""

    users: tuple[str, ...]
    sessions: int
    messages: int
    differing: tuple[str, ...]
    skipped: dict[str, int]
    moved_to: str


@dataclass(frozen=True, slots=True)
class _SessionSnapshot:
    session: Session
    said: tuple[NewMessage, ...]


def take_over(
    connector: Connector,
    redactor: Callable[[], Redactor],
    clock: Clock,
    path: Path,
    *,
    move: bool,
    dry_run: bool = False,
) -> SnapshotImport:
    """Store what the snapshot holds and is not there yet; with `move`, rename it then. With `dry_run` it only counts.

    Raises NotFound, InvalidInput for a broken snapshot, and StoreError; the file is then left alone, and the database.
    """
    skipped: Counter[str] = Counter()
    stored = _read(path, lambda text: redactor().redact(plain(text)).text, clock(), skipped)
    new, messages, differing = 0, 0, []
    transaction = rolled_back(connector, EVERYONE) if dry_run else connector.write(EVERYONE)
    with transaction as tx:  # a snapshot holds the sessions of several users
        for one in stored:
            if Tombstones(tx, one.session.scope).touches("picobot", one.session.id, ""):
                skipped["purged session"] += 1
                continue
            said = _without_copies(tx, one, skipped)
            if one.said and not said:
                continue
            added = _store(tx, replace(one, said=said))
            new += added is not None and added[0]
            messages += added[1] if added else 0
            differing += [] if added else [one.session.id]
    return SnapshotImport(
        users=tuple(sorted({one.session.scope.user for one in stored})),
        sessions=new,
        messages=messages,
        differing=tuple(differing),
        skipped={reason: count for reason, count in sorted(skipped.items()) if count},
        moved_to=str(_moved(path)) if move else "",
    )


def without_purged(connector: Connector, folder: Path, gone: str = "") -> list[str]:
    """Take what was purged, and all of the user `gone`, out of the snapshots in a folder that were taken over before;
    what could not be, a sentence each."""
    problems = []
    for path in sorted(folder.glob(f"{NAME}.migrated*")):
        try:
            document = json.loads(read_regular(path, most=_LARGEST), strict=False)
            listed = document["sessions"]
            with connector.read() as tx:
                kept = [fields for fields in listed if not _is_purged(tx, fields, gone)]
            if len(kept) < len(listed):
                write_whole(path, json.dumps({**document, "sessions": kept}, ensure_ascii=False, indent=2))
        except (ValueError, TypeError, KeyError, RecursionError, InvalidInput, NotFound) as error:
            problems.append(f"{path} could not be read and rewritten ({error}); delete it if it holds what was purged.")
    return problems


def _is_purged(tx: Transaction, fields: dict[str, Any], gone: str) -> bool:
    """Return whether something of a session that stands in a snapshot was purged."""
    id_, user = _text(fields, "id"), _user(fields)
    return user == gone or (bool(id_) and Tombstones(tx, Scope(user)).touches("picobot", id_, ""))


def _user(fields: dict[str, Any]) -> str:
    channel, channel_id = Channel(_text(fields, "channel_type").lower()), _text(fields, "channel_id")
    named = _text(fields, "user_id") or user_of(channel, name=channel_id, key=channel_id, session=_text(fields, "id"))
    return memory_user(named)


def _store(tx: Transaction, snapshot: _SessionSnapshot) -> tuple[bool, int] | None:
    """Return whether the session is new, and how many messages were; None where the session went another way here."""
    session, scope = snapshot.session, snapshot.session.scope
    known = session_rows.session(tx, scope, session.id)
    here = session_rows.messages_after(tx, scope, session.id, 0)
    agreed = min(len(here.messages), len(snapshot.said))
    if here.damaged or any(not _same(message, said) for message, said in zip(here.messages, snapshot.said)):
        return None
    last = session_rows.last_seq(tx, scope, session.id)
    fresh = with_origins(snapshot.said[agreed:], here.messages, Origin.AGENT)
    news = [stored_message(session.id, seq, said, session.last_active_at) for seq, said in enumerate(fresh, last + 1)]
    if known is None:
        session_rows.put(tx, replace(session, title=title_of(news)))
    for message in news:
        session_rows.insert_message(tx, scope, message)
    return known is None, len(news)


def _without_copies(tx: Transaction, snapshot: _SessionSnapshot, skipped: Counter[str]) -> tuple[NewMessage, ...]:
    """The messages of a session without copies of purged ones. Their time is that of the session's last activity."""
    at = snapshot.session.last_active_at
    said = {place: (message.content, at) for place, message in enumerate(snapshot.said)}
    copies = Tombstones(tx, snapshot.session.scope).words(said)
    skipped["purged message"] += len(copies)
    return tuple(message for place, message in enumerate(snapshot.said) if place not in copies)


def _same(message: Message, said: NewMessage) -> bool:
    return (message.role, message.content, message.tool_calls, message.tool_call_id) == (
        said.role,
        said.content,
        said.tool_calls,
        said.tool_call_id,
    )


def _moved(path: Path) -> Path:
    """Rename the file, beside one that was renamed before. Raises InvalidInput where that cannot be done."""
    free = path.with_name(f"{path.name}.migrated")
    number = 2
    while free.exists():
        free, number = path.with_name(f"{path.name}.migrated-{number}"), number + 1
    try:
        path.rename(free)
    except FileNotFoundError:
        pass  # another process was faster, with the same outcome
    except OSError as error:
        raise InvalidInput(f"{path} is taken over and cannot be renamed: {error.strerror}.") from error
    return free


def _read(path: Path, redact: Redact, now: Micros, skipped: Counter[str]) -> list[_SessionSnapshot]:
    """The sessions of the file. Raises NotFound and InvalidInput."""
    try:
        document = json.loads(read_regular(path, most=_LARGEST), strict=False)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} is not a whole PicoBot {NAME}; it was left alone.") from error
    listed = document.get("sessions") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise InvalidInput(f"{path} is no PicoBot {NAME}: it has no list of sessions; it was left alone.")
    by_id: dict[tuple[str, str], _SessionSnapshot] = {}
    for place, fields in enumerate(listed, 1):
        try:
            one = _session(fields, redact, now, skipped)
        except (InvalidInput, ValueError) as error:
            raise InvalidInput(f"Session {place} of {path} cannot be read, so it was left alone: {error}") from error
        if by_id.setdefault((one.session.scope.user, one.session.id), one) is not one:
            raise InvalidInput(f"Session {place} of {path} has the id of another, so it was left alone.")
    return list(by_id.values())


def _session(fields: dict[str, Any], redact: Redact, now: Micros, skipped: Counter[str]) -> _SessionSnapshot:
    id_, channel_id = _text(fields, "id"), _text(fields, "channel_id")
    if not id_:
        raise InvalidInput("it has no id.")
    channel = Channel(_text(fields, "channel_type").lower())
    scope = check_ids(Scope(_user(fields), session=id_))  # an id that could stand in no line is refused too
    conversation = fields.get("conversation", [])
    if not isinstance(conversation, list):
        raise InvalidInput("its conversation is no list.")
    created = _moment(fields.get("created_at"), now)
    permissions = fields.get("permissions")
    granted = permissions.get("permissions", []) if isinstance(permissions, dict) else []
    session = Session(
        id=id_,
        scope=replace(scope, session=""),
        channel=channel,
        channel_id=redact(channel_id),
        state=redact(_kind(fields.get("state", "active")).lower()),
        permissions=redact_json(json.dumps(granted, ensure_ascii=False), redact),
        created_at=created,
        last_active_at=max(created, _moment(fields.get("last_active"), created)),
    )
    said = [one for entry in conversation if (one := _said(entry, skipped)) is not None]
    return _SessionSnapshot(session, tuple(safe_said(one, redact) for one in said))


def _said(entry: object, skipped: Counter[str]) -> NewMessage | None:
    name = _kind(entry)
    inner = entry[name] if isinstance(entry, dict) and name else None
    if isinstance(inner, dict) and name in _ROLES and isinstance(inner.get("content"), str):
        content = inner["content"]
        if content.strip() or name == "Tool":
            call = id_like(_text(inner, "tool_call_id")) if name == "Tool" else ""
            return NewMessage(role=_ROLES[name], content=content, tool_call_id=call)
        skipped["empty"] += 1
        return None
    calls = inner.get("tool_calls") if isinstance(inner, dict) and name == "AssistantToolCalls" else None
    if isinstance(calls, list) and calls and all(isinstance(call, dict) for call in calls):
        return NewMessage(
            role=Role.ASSISTANT, content=_text(inner or {}, "content"), tool_calls=tuple(map(_call, calls))
        )
    skipped["unknown"] += 1
    return None


def _call(call: dict[str, Any]) -> ToolCall:
    arguments = json.dumps(call.get("arguments", {}), ensure_ascii=False)
    return ToolCall(id_like(_text(call, "id")) or "_", id_like(_text(call, "name")) or "_", arguments)


def _kind(value: object) -> str:
    """The name of one of Rust's enum values: the text, or the one member of the object."""
    name = next(iter(value), "") if isinstance(value, dict) else value
    return name if isinstance(name, str) else ""


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _moment(value: object, otherwise: Micros) -> Micros:
    try:
        return parse_iso(value) if isinstance(value, str) and len(value) <= 64 else otherwise
    except InvalidTime:
        return otherwise
