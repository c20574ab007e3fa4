"""A conversation as each program writes it down, and copies of it under other names and ids."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Said = tuple[str, str]  # who speaks, and the words
Write = Callable[["Copy", Sequence[Said]], Path]

SENT = 1_775_037_600  # 2026-04-01T10:00:00Z
FOLDER = "/home/mia/quincesmugglers"


class Copy:
    """A file of a conversation: which copy it is, whose message ids it makes, and when its messages were sent."""

    def __init__(self, root: Path, number: int, sent: int = SENT, **header: Any) -> None:
        self.root = root
        self.number = number
        self.sent = sent
        self.header = header
        self.session = f"{number:08}-0000-4000-8000-00000000abcd"

    def message_id(self, place: int) -> str:
        return f"{self.number:08}-{place:04}-4000-8000-000000000000"

    def iso(self, place: int) -> str:
        return datetime.fromtimestamp(self.sent + place, UTC).isoformat().replace("+00:00", "Z")

    def lines(self, name: str, *records: dict[str, Any]) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records))
        return path

    def document(self, name: str, content: Any) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
        return path


def claude_code(copy: Copy, said: Sequence[Said]) -> Path:
    records = [
        {
            "type": role,
            "sessionId": copy.session,
            "uuid": copy.message_id(place),
            "timestamp": copy.iso(place),
            "cwd": FOLDER,
            "message": {"role": role, "content": text},
        }
        for place, (role, text) in enumerate(said)
    ]
    return copy.lines(f"claude/{copy.session}.jsonl", *records)


def codex(copy: Copy, said: Sequence[Said]) -> Path:
    meta = {"id": copy.session, "cwd": FOLDER, "originator": "codex_cli_rs", "source": "cli", **copy.header}
    records: list[dict[str, Any]] = [{"timestamp": copy.iso(0), "type": "session_meta", "payload": meta}]
    for place, (role, text) in enumerate(said):
        content = [{"type": "input_text" if role == "user" else "output_text", "text": text}]
        payload = {"type": "message", "role": role, "content": content}
        records.append({"timestamp": copy.iso(place), "type": "response_item", "payload": payload})
    return copy.lines(f"codex/rollout-2026-04-01T10-00-00-{copy.session}.jsonl", *records)


def pi(copy: Copy, said: Sequence[Said]) -> Path:
    head = {"type": "session", "version": 3, "id": copy.session, "cwd": FOLDER, **copy.header}
    records = [
        {
            "type": "message",
            "id": f"{copy.number:04}{place:04}",
            "parentId": None,
            "timestamp": copy.iso(place),
            "message": {"role": role, "content": text},
        }
        for place, (role, text) in enumerate(said)
    ]
    return copy.lines(f".pi/agent/sessions/--w--/{copy.session}.jsonl", head, *records)


def plain(copy: Copy, said: Sequence[Said]) -> Path:
    records = [
        {"role": role, "content": text, "timestamp": copy.iso(place), "id": f"m{copy.number}-{place}"}
        for place, (role, text) in enumerate(said)
    ]
    return copy.lines(f"plain-{copy.number}.jsonl", *records)


def plain_without_times(copy: Copy, said: Sequence[Said]) -> Path:
    return copy.lines(f"timeless-{copy.number}.jsonl", *({"role": role, "content": text} for role, text in said))


def nanobot(copy: Copy, said: Sequence[Said]) -> Path:
    head = {"_type": "metadata", "key": f"cli:{copy.session}", "updated_at": copy.iso(0).rstrip("Z")}
    records = [
        {"role": role, "content": text, "timestamp": copy.iso(place).rstrip("Z")}
        for place, (role, text) in enumerate(said)
    ]
    return copy.lines(f"nanobot/sessions/cli_{copy.session}.jsonl", head, *records)


def gemini_cli(copy: Copy, said: Sequence[Said]) -> Path:
    head = {"sessionId": copy.session, "projectHash": "06", "startTime": copy.iso(0), "kind": "main"}
    records = [
        {
            "id": copy.message_id(place),
            "timestamp": copy.iso(place),
            "type": "user" if role == "user" else "gemini",
            "content": [{"text": text}],
        }
        for place, (role, text) in enumerate(said)
    ]
    return copy.lines(f"gemini/chats/session-{copy.number}.jsonl", head, *records)


def cursor(copy: Copy, said: Sequence[Said]) -> Path:
    minute = datetime.fromtimestamp(copy.sent, UTC).strftime("%A, %b %d, %Y, %I:%M %p (UTC)")
    typed = "<timestamp>{}</timestamp>\n<user_query>\n{}\n</user_query>"
    records = [
        {
            "role": role,
            "message": {"content": [{"type": "text", "text": typed.format(minute, text) if role == "user" else text}]},
        }
        for role, text in said
    ]
    return copy.lines(f"w/agent-transcripts/{copy.session}/{copy.session}.jsonl", *records)


def chatgpt(copy: Copy, said: Sequence[Said]) -> Path:
    mapping, parent = {}, None
    for place, (role, text) in enumerate(said):
        name = copy.message_id(place)
        message = {
            "id": name,
            "author": {"role": role},
            "create_time": copy.sent + place,
            "recipient": "all",
            "content": {"content_type": "text", "parts": [text]},
        }
        mapping[name] = {"id": name, "message": message, "parent": parent, "children": []}
        parent = name
    conversation = {"id": copy.session, "title": "", "create_time": copy.sent, "current_node": parent}
    return copy.document(f"chatgpt-{copy.number}/conversations.json", [{**conversation, "mapping": mapping}])


def claude_ai(copy: Copy, said: Sequence[Said]) -> Path:
    messages = [
        {
            "uuid": copy.message_id(place),
            "text": text,
            "content": [{"type": "text", "text": text}],
            "sender": "human" if role == "user" else "assistant",
            "created_at": copy.iso(place),
        }
        for place, (role, text) in enumerate(said)
    ]
    conversation = {"uuid": copy.session, "name": "", "created_at": copy.iso(0), "chat_messages": messages}
    return copy.document(f"claude-{copy.number}/conversations.json", [conversation])


def picobot(copy: Copy, said: Sequence[Said]) -> Path:
    conversation = [{role.capitalize(): {"content": text}} for role, text in said]
    session = {"id": copy.session, "channel_type": "Tui", "user_id": "local", "conversation": conversation}
    times = {"created_at": copy.iso(0), "last_active": copy.iso(len(said))}
    return copy.document(f"picobot-{copy.number}/sessions.json", {"sessions": [{**session, **times}]})


FORMATS: dict[str, Write] = {
    "claude-code": claude_code,
    "codex": codex,
    "openclaw": pi,
    "plain": plain,
    "plain without times": plain_without_times,
    "nanobot": nanobot,
    "gemini-cli": gemini_cli,
    "cursor": cursor,
    "chatgpt": chatgpt,
    "claude": claude_ai,
    "picobot": picobot,
}
