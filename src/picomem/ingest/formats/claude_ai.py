"""The export of conversations of Claude (claude.ai): `conversations.json`, or the zip archive that holds it.

    [{"uuid", "name", "created_at", "chat_messages": [{"uuid", "sender": "human" | "assistant", "text", "content": […],
      "created_at", "attachments": [{"file_name", "extracted_content"}]}, …]}, …]

What a tool gave, and what was attached, is passed over; the agent has read it from then on.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from picomem.ingest.conversation_exports import ExportedConversation, begins_with, conversations
from picomem.ingest.format import DocumentFormat, State
from picomem.ingest.record_fields import Record, moment, texts
from picomem.records.kinds import Origin
from picomem.records.transcript import Skipped, TranscriptInfo, Turn

_SPEAKERS = {"human": ("user", Origin.USER), "assistant": ("assistant", Origin.AGENT)}


class ClaudeAiFormat(DocumentFormat):
    name = "claude"

    def claims(self, path: Path, head: bytes, /) -> bool:
        return begins_with(path, head, b'"chat_messages"')

    def sessions(self, path: Path) -> Iterator[tuple[TranscriptInfo, list[Turn], Skipped]]:
        for conversation in conversations(path):
            yield _session(conversation)


FORMAT = ClaudeAiFormat()


def _session(conversation: ExportedConversation) -> tuple[TranscriptInfo, list[Turn], Skipped]:
    state = State()
    record = conversation.record
    if record is None:
        state.skipped.add("unreadable conversation")
        return state.info, [], state.skipped
    state.note(session=record.get("uuid"), title=record.get("name"), started_at=moment(record.get("created_at")))
    turns: list[Turn] = []
    messages = record.get("chat_messages")
    for number, message in enumerate(messages if isinstance(messages, list) else []):
        if isinstance(message, dict):
            turns += _said(state, conversation, number, message)
        else:
            state.skipped.add("unreadable message")
    return state.info, turns, state.skipped


def _said(state: State, conversation: ExportedConversation, number: int, message: Record) -> list[Turn]:
    sender, content = message.get("sender"), message.get("content")
    if not isinstance(sender, str) or sender not in _SPEAKERS:
        state.unknown(sender)
        return []
    role, origin = _SPEAKERS[sender]
    text, others = texts(content)
    if role == "assistant":
        _hear_tools(state, content)
    for kind in others:
        state.skipped.add("tool" if kind.startswith("tool_") else kind or "unknown")
    if not text and not others:
        plain = message.get("text")
        text = plain if isinstance(plain, str) else ""
    at = moment(message.get("created_at"))
    turns = state.say(
        conversation.line(number), text, role=role, origin=origin, at=at, ids=(message.get("uuid"), "", "")
    )
    if message.get("attachments"):
        state.skipped.add("attachment")
        state.hear(Origin.OTHER)  # the agent reads it before it answers
    return list(turns)


def _hear_tools(state: State, content: object) -> None:
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            name = block.get("name")
            state.hear(Origin.WEB if isinstance(name, str) and name.startswith("web_") else Origin.TOOL)
