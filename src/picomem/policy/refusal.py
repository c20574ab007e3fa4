"""The reasons for which memory refuses a text: a closed list of names, each with its sentence.

All checks of the write gate share the names, and the record of changes keeps them permanently, so names may be added
but never changed.
"""

from __future__ import annotations

from enum import StrEnum

from picomem.coded_text import CodedText

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
        values = {"most": LONGEST_CONTENT} if self is Refusal.TOO_LONG else {}
        return CodedText(f"refusal.{self}", **values)
