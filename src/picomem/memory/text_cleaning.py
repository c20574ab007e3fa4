"""Cleans text on its way into and out of memory: new text is normalised and redacted, and stored text is redacted again
by the current rules.
"""

from __future__ import annotations

from collections.abc import Sequence

from picomem.errors import InvalidInput
from picomem.light_dataclass import replace
from picomem.policy.redact import Redactor, check_ids
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.text.storable import plain

_LONGEST_NAME = 64
_MOST_NAMES = 32


class Cleaner:
    """Cleans the texts that a store receives and returns."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def text(self, given: str) -> str:
        """A text as it may be stored: valid, trimmed, without secrets."""
        return self.shown_text(plain(given).strip())

    def names(self, given: str | Sequence[str], what: str) -> tuple[str, ...]:
        """Tags or related entries: short, each once, without secrets. Raises InvalidInput."""
        words = [given] if isinstance(given, str) else given  # a string is a sequence too, of letters
        words = dict.fromkeys(filter(None, (plain(word).strip() for word in words)))
        if len(words) <= _MOST_NAMES:
            cleaned = tuple(dict.fromkeys(map(self.shown_text, words)))
            if all(len(word) <= _LONGEST_NAME for word in cleaned):
                return cleaned
        raise InvalidInput(
            f"A {what} has at most {_LONGEST_NAME} characters, and there are at most {_MOST_NAMES} of them."
        )

    def owner(self, scope: Scope) -> Scope:
        """A scope that may be stored. Raises InvalidInput for a secret in it."""
        return check_ids(scope)

    def shown_text(self, stored: str) -> str:
        """Return a stored text, redacted by the current rules."""
        return self._redactor.redact(stored).text

    def shown(self, memory: Memory) -> Memory:
        """Return a memory, redacted by the current rules."""
        return replace(memory, content=self.shown_text(memory.content), context=self.shown_text(memory.context))
