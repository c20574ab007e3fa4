"""The export of conversations of Claude (claude.ai), which is a transcript: ingest/formats/claude_ai.py reads it."""

from __future__ import annotations

from picomem.transfer.conversations import ConversationExport

FORMAT = ConversationExport("claude", "~/Downloads/data-2026-11-20.zip")
