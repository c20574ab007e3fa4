"""What the functions on texts keep of the texts that they read."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

from tests.cases import each_case

from picomem.text.likeness import statement_words
from picomem.text.terms import query_terms, terms
from picomem.text.tokens import count_tokens

_SIZE = 1_000_000  # characters
_READERS = (count_tokens, terms, query_terms, statement_words)
_TEXTS: dict[str, Callable[[], str]] = {
    "a word": lambda: "harbor" * (_SIZE // 6),
    "words in one": lambda: "Aa" + "b" * (_SIZE // 2) + "C" + "d" * (_SIZE // 2),
    "words": lambda: "harbor " * (_SIZE // 7),
    "no spaces": lambda: "灯塔在港口" * (_SIZE // 5),
}


@each_case("shape", _TEXTS)
@each_case("read", _READERS)
def test_nothing_of_a_long_text_is_kept(read: Callable[[str], object], shape: str) -> None:
    read("The lighthouse stands by the harbor")  # loads what is loaded once
    tracemalloc.start()
    try:
        read(_TEXTS[shape]())
        assert tracemalloc.get_traced_memory()[0] < _SIZE // 20
    finally:
        tracemalloc.stop()
