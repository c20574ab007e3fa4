"""ChatGPT's export of conversations: `conversations.json`, or the zip archive that holds it.

    [{"id", "title", "create_time", "current_node", "mapping": {NODE: {"message", "parent", "children"}}}, …]
    message: {"id", "author": {"role", "name"}, "create_time", "recipient", "content": {"content_type", "parts"}, …}

A conversation is a tree: what was said is the path from `current_node` up to the root, and answers that were made
anew are other branches. No specification exists; unknown kinds of content are passed over and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from picomem.ingest.conversation_exports import ExportedConversation, begins_with, conversations
from picomem.ingest.format import DocumentFormat, State
from picomem.ingest.record_fields import Record, inner, moment
from picomem.records.kinds import Origin
from picomem.records.transcript import Skipped, TranscriptInfo, Turn

_SAID = ("text", "multimodal_text")
_SPEAKERS = {"user": Origin.USER, "assistant": Origin.AGENT}
_FROM_THE_WEB = ("tether_quote", "tether_browsing_display", "sonic_webpage")
_MOST_NODES = 100_000


class ChatGptFormat(DocumentFormat):
    name = "chatgpt"

    def claims(self, path: Path, head: bytes, /) -> bool:
        return begins_with(path, head, b'"mapping"')

    def sessions(self, path: Path) -> Iterator[tuple[TranscriptInfo, list[Turn], Skipped]]:
        for conversation in conversations(path):
            yield _session(conversation)


FORMAT = ChatGptFormat()


def _session(conversation: ExportedConversation) -> tuple[TranscriptInfo, list[Turn], Skipped]:
    state = State()
    record = conversation.record
    if record is None:
        state.skipped.add("unreadable conversation")
        return state.info, [], state.skipped
    state.note(
        session=record.get("conversation_id") or record.get("id"),
        title=record.get("title"),
        started_at=moment(record.get("create_time")),
    )
    turns: list[Turn] = []
    path, others = _path(record)
    if others:
        state.skipped.add("another branch", others)
    for number, (node, message) in enumerate(path):
        turns += _said(state, conversation, number, node, message)
    return state.info, turns, state.skipped


def _path(record: Record) -> tuple[list[tuple[str, Record]], int]:
    """The messages from the root to the current node, and how many stand on other branches."""
    nodes = {name: node for name, node in inner(record, "mapping").items() if isinstance(node, dict)}
    name = record.get("current_node")
    if not isinstance(name, str) or name not in nodes:
        leaves = [leaf for leaf, node in nodes.items() if not node.get("children")]
        name = max(leaves, key=lambda leaf: moment(inner(nodes[leaf], "message").get("create_time")) or 0, default="")
    path: dict[str, Record] = {}
    while isinstance(name, str) and name in nodes and name not in path and len(path) < _MOST_NODES:
        path[name] = inner(nodes[name], "message")
        name = nodes[name].get("parent")
    others = sum(bool(inner(node, "message")) for other, node in nodes.items() if other not in path)
    return [(node, message) for node, message in reversed(path.items()) if message], others


def _said(state: State, conversation: ExportedConversation, number: int, node: str, message: Record) -> list[Turn]:
    author, content = inner(message, "author"), inner(message, "content")
    role, kind = author.get("role"), content.get("content_type")
    if role == "tool" or kind in _FROM_THE_WEB:
        name = author.get("name")
        is_web = kind in _FROM_THE_WEB or (isinstance(name, str) and ("web" in name or "browser" in name))
        state.hear(Origin.WEB if is_web else Origin.TOOL)
        state.skipped.add("tool")
        return []
    hidden = inner(message, "metadata").get("is_visually_hidden_from_conversation") is True
    if role not in _SPEAKERS or hidden or message.get("recipient") not in (None, "all"):
        state.skipped.add("hidden" if hidden else "system" if role == "system" else "tool call")
        return []
    if kind not in _SAID:
        state.unknown(kind)
        return []
    text = "\n".join(_texts(content.get("parts")))
    at = moment(message.get("create_time"))
    ids = (message.get("id") or node, "", "")
    return list(state.say(conversation.line(number), text, role=str(role), origin=_SPEAKERS[str(role)], at=at, ids=ids))


def _texts(parts: object) -> Iterator[str]:
    """The words among the parts of a message, those that were spoken too; not its pictures."""
    for part in parts if isinstance(parts, list) else []:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            yield text
