"""ChatGPT's export of conversations, which is a transcript: ingest/formats/chatgpt.py reads it."""

from __future__ import annotations

from picomem.transfer.conversations import ConversationExport

FORMAT = ConversationExport("chatgpt", "~/Downloads/chatgpt.zip")
