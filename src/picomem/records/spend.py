"""The cost of calling a model."""

from __future__ import annotations

from picomem.light_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Spend:
    """Requests that were made, tokens that went in and that came out."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Spend) -> Spend:
        return Spend(
            self.calls + other.calls, self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        )

    def __neg__(self) -> Spend:
        return Spend(-self.calls, -self.input_tokens, -self.output_tokens)
