"""Counting tokens, with a real tokenizer that needs no download.

The vocabulary is Llama 2's (32,000 pieces), which comes inside the `wordllama` package that the static embeddings
use as well. For English it counts a little more than today's models do and for Chinese a good deal more, so a budget
that holds by this count holds by theirs.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from picomem.text.plain import plain

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def count_tokens(text: str) -> int:
    """How many tokens the text has. An empty text has none."""
    return len(_encode(text)) if text else 0


def cut_to_tokens(text: str, budget: int) -> str:
    """The longest head of `text` that has at most `budget` tokens."""
    if budget <= 0:
        return ""
    encoding = tokenizer().encode(plain(text), add_special_tokens=False)
    if len(encoding.ids) <= budget:
        return text
    # Cutting can join differently at the edge, so the cut text is counted again until it holds.
    end = encoding.offsets[budget - 1][1]
    while end and count_tokens(text[:end]) > budget:
        end -= 1
    return text[:end]


def _encode(text: str) -> list[int]:
    return tokenizer().encode(plain(text), add_special_tokens=False).ids


@lru_cache(maxsize=1)
def tokenizer() -> Tokenizer:
    """Llama 2's tokenizer. Loading takes about 80 ms, so nothing loads it before something is counted."""
    from tokenizers import Tokenizer

    loaded = Tokenizer.from_file(str(wordllama_folder() / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    loaded.no_truncation()
    loaded.no_padding()
    return loaded


def wordllama_folder() -> Path:
    """Where the package with the vocabulary and the weights lies. It is found, not imported: importing it costs
    300 ms and loads a web client."""
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("wordllama")
    return Path(spec.origin).parent
