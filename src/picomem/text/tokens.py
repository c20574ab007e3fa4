"""Counting tokens, with a real tokenizer that needs no download.

The vocabulary is Llama 2's (32,000 pieces), which comes inside the `wordllama` package that the static embeddings
use as well. For English it counts a little more than today's models do and for Chinese a good deal more, so a budget
that holds by this count holds by theirs.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from picomem.errors import PicomemError
from picomem.loaded_once import cached_if_short, loaded_once
from picomem.text.late_pattern import late_pattern
from picomem.text.storable import plain

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# Spaces belong to the word behind them, for the vocabulary has runs of spaces; at the end to the word before.
_WORD = late_pattern(r" +[^ ]+(?: +\Z)?| +\Z")
WORDLLAMA = "wordllama>=0.4.0.post1,<0.5"  # as pyproject.toml says: its data files are read without its code
VOCABULARY_SIZE = 32_000
_LONGEST_PIECE = 16  # characters, of the vocabulary
_LONGEST_CACHED = 2_000  # characters of a text: an episode, or a memory of usual length
_LONGEST_CACHED_WORD = 32


def count_tokens(text: str) -> int:
    """Return how many tokens the text has. An empty text has none."""
    return len(token_ids(text)) if text else 0


@cached_if_short(_LONGEST_CACHED, 1024)  # storing a text counts its tokens, and then makes its vector from them
def token_ids(text: str) -> list[int]:
    """The text's tokens, as rows of the vocabulary; the list is not to be changed.

    No piece of this vocabulary reaches from one word over a space into the next, so a text's tokens are its words'
    tokens in a row; words come again, and are looked up. A text with a mark in angle brackets, which may be a
    special token, is encoded as a whole.
    """
    text = plain(text)
    if "<" in text and ">" in text:
        return _encode(text)
    ids: list[int] = []
    for word in _WORD.findall(f" {text}"):
        encode = _word_ids if len(word) <= _LONGEST_CACHED_WORD else _encode
        ids.extend(encode(word[1:]))  # the tokenizer puts a space before what it is given
    return ids


def cut_to_tokens(text: str, budget: int) -> str:
    """The longest head of `text` that has at most `budget` tokens."""
    if budget <= 0:
        return ""
    head = text[: _LONGEST_PIECE * (budget + 1)]  # holds more tokens than that, so of a long text no more is read
    encoding = tokenizer().encode(plain(head), add_special_tokens=False)
    if len(encoding.ids) <= budget:
        return head
    # Cutting can join differently at the edge, so the cut text is counted again until it holds.
    end = encoding.offsets[budget - 1][1]
    while end and count_tokens(text[:end]) > budget:
        end -= 1
    return text[:end]


@lru_cache(maxsize=1 << 14)
def _word_ids(word: str) -> tuple[int, ...]:
    return tuple(_encode(word))


def _encode(text: str) -> list[int]:
    return tokenizer().encode(text, add_special_tokens=False).ids


@loaded_once
def tokenizer() -> Tokenizer:
    """Llama 2's tokenizer. Loading takes about 80 ms, so nothing loads it before something is counted."""
    return read_tokenizer(wordllama_folder() / "tokenizers" / "l2_supercat_tokenizer_config.json")


def read_tokenizer(path: Path) -> Tokenizer:
    """Load a tokenizer with the expected number of tokens. Raises PicomemError for any other, or none."""
    from tokenizers import Tokenizer

    if not path.is_file():
        raise PicomemError(unexpected_file(path))
    loaded = Tokenizer.from_file(str(path))
    if loaded.get_vocab_size() != VOCABULARY_SIZE:
        raise PicomemError(unexpected_file(path))
    loaded.no_truncation()
    loaded.no_padding()
    return loaded


def unexpected_file(path: Path) -> str:
    """The error message for a data file of wordllama that has another form than the one that is read here."""
    return f"{path} is not what picomem expects; install the wordllama that it reads: pip install '{WORDLLAMA}'."


def wordllama_folder() -> Path:
    """Return where the package with the vocabulary and the weights lies. It is found, not imported: importing it costs
    300 ms and loads a web client."""
    from importlib.util import find_spec  # noqa: PLC0415 - a recall by words does not need it

    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("wordllama")
    return Path(spec.origin).parent
