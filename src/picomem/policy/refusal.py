"""The reasons for which memory refuses a text: a closed list of names, each with its sentence.

All checks of the write gate share the names, and the record of changes keeps them permanently, so names may be added
but never changed.
"""

from __future__ import annotations

from enum import StrEnum

LONGEST_CONTENT = 8_000  # characters


class Refusal(StrEnum):
    """The reason why something is not stored; audit rows and people see the value."""

    EMPTY = "empty"
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    SECRET = "secret"
    BOILERPLATE = "boilerplate"
    BOOT_FILE = "boot_file"
    RECALLED = "recalled"
    QUESTION = "question"
    CHATTER = "chatter"
    CODE = "code"
    UNTRUSTED_INSTRUCTION = "untrusted_instruction"
    TRANSIENT = "transient"

    @property
    def reason(self) -> str:
        """One sentence for a person."""
        return _REASONS[self]


_REASONS = {
    Refusal.EMPTY: "There are no words in it.",
    Refusal.TOO_SHORT: "It is too short to mean something later.",
    Refusal.TOO_LONG: f"It is longer than {LONGEST_CONTENT:,} characters; a memory is one statement.",
    Refusal.SECRET: "Nothing is left of it but a redacted secret.",
    Refusal.BOILERPLATE: "It is boiler-plate: a licence, a footer or a program's own notice.",
    Refusal.BOOT_FILE: "It restates a system prompt or a file that is loaded at every start anyway.",
    Refusal.RECALLED: "It came out of memory and is only coming back.",
    Refusal.QUESTION: "It asks something and states nothing.",
    Refusal.CHATTER: "It is small talk or talk about the work, not something to know later.",
    Refusal.CODE: "It is bare code, a log or data, without a statement about it.",
    Refusal.UNTRUSTED_INSTRUCTION: (
        "It reads as an instruction to the agent, and nothing shows that the user gave it; if they did, they can store "
        "it in a terminal, as in “picomem remember …”."
    ),
    Refusal.TRANSIENT: "It is about this moment or this task and will not be true later.",
}
