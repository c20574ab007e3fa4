"""Recognises picomem's own prompts.

A command that consolidates (`memory.consolidation_command`, such as `claude -p`) is an agent's host, and writes a
transcript of what it was asked. Without a mark picomem would read that transcript as a session of its user, consolidate
it, and so make the next one. The same command runs the host's hooks, and those may call picomem.
"""

from __future__ import annotations

# The first line of a prompt to a command. Reading transcripts leaves out what begins with it, and the answer.
OWN_PROMPT = "[picomem consolidation prompt, not a conversation: leave it out of memory]"

# Set to 1 in the environment of a command. Hooks that see it do nothing, and no further command is started.
COMMAND_MARKER = "PICOMEM_IN_CONSOLIDATION_COMMAND"


def is_own_prompt(text: str) -> bool:
    """Return whether a user's turn is a prompt of picomem's own."""
    return text.lstrip().startswith(OWN_PROMPT)
