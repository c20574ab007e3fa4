"""Cuts the result of a tool to its token budget in a prompt. Pure except for the tokenizer.

The log keeps the whole result. A cut result says so, and how to see more of it: the model can ask the tool for less at
a time, and the person can open the message.
"""

from __future__ import annotations

from picomem.text.tokens import count_tokens, cut_to_tokens

SHARE = 4  # one result has at most this part of the room: several have to stand there, and what is said of them
_LONGEST_PIECE = 16  # characters that one token stands for
_MORE = "To see more, call the tool for a smaller part; for the user `picomem messages` prints all of it."
_NOTHING = f"[… cut here: nothing is shown. {_MORE}]"  # without a number: cut once more it is the same


def is_longer(text: str, most: int) -> bool:
    """Return whether a text has more tokens than that; a very long one is not counted."""
    return len(text) > _LONGEST_PIECE * most or count_tokens(text) > most


def cut_result(text: str, most: int) -> str:
    """The result as it is, or as much of its beginning as fits in so many tokens with a mark that says so. Where not
    even the mark fits, the shorter of the two."""
    if not is_longer(text, most):
        return text
    keep = most
    while True:
        short = cut_to_tokens(text, keep).rstrip()
        marked = short + _mark(len(short), len(text))
        tokens = count_tokens(marked)
        if tokens <= most:
            return marked
        if not short:
            return _NOTHING if is_longer(text, count_tokens(_NOTHING)) else text
        keep -= tokens - most


def left_out(text: str) -> str:
    """The placeholder for a result that does not fit at all."""
    return f"[left out for room: {len(text):,} characters; call the tool again, for a smaller part, to see them]"


def _mark(shown: int, whole: int) -> str:
    return f"\n[… cut here: {shown:,} of {whole:,} characters are shown. {_MORE}]"
