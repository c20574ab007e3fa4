"""The tables of persistent sessions as their design lists them (P2), each with what stands for it in our schema."""

from __future__ import annotations

# What the design calls table.column, and what it is here. Our tables belong to users, so `user_id` is in every key.
COLUMNS = {
    "sessions.id": "sessions.id",
    "sessions.channel_type": "sessions.channel",
    "sessions.channel_id": "sessions.channel_id",
    "sessions.user_id": "sessions.user_id",
    "sessions.permissions_json": "sessions.permissions",
    "sessions.created_at": "sessions.created_at",
    "sessions.last_active": "sessions.last_active_at",
    "sessions.state_json": "sessions.state",
    "sessions.summary": "session_summaries.summary",
    "messages.id": "messages.id",
    "messages.session_id": "messages.session_id",
    "messages.message_type": "messages.role",
    "messages.content": "messages.content",
    "messages.tool_call_id": "messages.tool_call_id",
    "messages.created_at": "messages.created_at",
    "messages.seq_order": "messages.seq",
    "messages.token_estimate": "messages.tokens",
    "user_memories.id": "memories.id",
    "user_memories.user_id": "memories.user_id",
    "user_memories.key": "memories.key",
    "user_memories.content": "memories.content",
    "user_memories.source_session_id": "lineage.parent_id",  # of the episode or the message, which knows its session
    "user_memories.created_at": "memories.created_at",
    "user_memories.updated_at": "memories.known_from",  # of the version
    "session_summaries.session_id": "session_summaries.session_id",
    "session_summaries.summary": "session_summaries.summary",
    "session_summaries.message_count": "session_summaries.message_count",
    "session_summaries.created_at": "session_summaries.created_at",
    "session_summaries.updated_at": "session_summaries.updated_at",
}
# Columns that may be null in the design, and are an empty text or a row elsewhere here.
OPTIONAL = {"sessions.summary", "messages.tool_call_id", "messages.token_estimate", "user_memories.source_session_id"}
# An index or primary key that begins with these columns.
INDEXES = {
    "idx_messages_session_order": ("messages", ("user_id", "session_id", "seq")),
    "idx_messages_created": ("messages", ("user_id", "created_at")),
    "idx_sessions_user": ("sessions", ("user_id",)),
    "idx_sessions_channel": ("sessions", ("user_id", "channel", "channel_id")),
    "idx_user_memories_user": ("memories", ("user_id",)),
    "idx_session_summaries_session": ("session_summaries", ("user_id", "session_id")),
}
# UNIQUE (user_id, key): of what is believed now, in each scope of a user.
UNIQUE_KEY = ("memories", ("user_id", "agent", "project", "session", "key"))
# Deleting a session deletes these with it.
CASCADES = {"messages": ("user_id", "session_id"), "session_summaries": ("user_id", "session_id")}
MESSAGE_TYPES = ("system", "user", "assistant", "tool")


def missing(columns: set[str], indexes: list[tuple[str, tuple[str, ...]]]) -> list[str]:
    """What the design lists and a schema lacks, given its columns (`table.column`) and its indexes with primary keys."""
    lacking = sorted({ours for ours in COLUMNS.values() if ours not in columns})
    for name, (table, wanted) in INDEXES.items():
        if not any(of == table and index[: len(wanted)] == wanted for of, index in indexes):
            lacking.append(name)
    return lacking
