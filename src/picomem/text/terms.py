"""Text to index terms: the one analyser, for what is stored and for what is asked.

A term is what full text matches on. From a text come, in order:

- words, folded (NFKC, case, accents) and stemmed (Porter 1980, through Snowball's C library), English stop words
  left out, since a rare question is about them and they make up half of every posting list;
- the parts of an identifier and the identifier as a whole: `getUserName`, `get_user_name` and `get-user-name` all
  give get, user, name and getusername;
- numbers with dots kept together (`3.11.7`, `10.0.0.1`) besides their parts;
- for Chinese, Japanese and Korean, which write no spaces, every pair of neighbouring characters, and the last
  character of a run alone, so that a single character is found by prefix.

Nothing is looked up in a dictionary, so nothing depends on a language being guessed.

The full-text index belongs to many users at once. Each term is therefore stored behind its owner's token, twenty
characters made from the user id: the postings of one user lie together, a query reads those and no others, and its
cost does not rise with the number of users. (A column that holds the owner, the other way, still reads every user's
postings of a word to weigh it.)

`VERSION` rises whenever the same text would give other terms, or other rows are indexed: the index is then rebuilt from
the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import Stemmer

from picomem.blake2b import blake2b
from picomem.loaded_once import cached_if_short
from picomem.text.late_pattern import late_pattern
from picomem.text.visible_text import normalized

VERSION = "3"

# Function words of English, and what is left of "don't" before its apostrophe. None of them names a thing; "will",
# "may" and "can" are left in, as they are names too.
STOP_WORDS = frozenset(
    """a about am an and any are as at be been but by could d did do does doing for from had has have having he her
    hers him his how i if in into is it its just ll m me my of on or our ours re s she should so some such t than
    that the their theirs them then there these they this those to too us ve was we were what when where which who
    whom whose why with would you your yours
    aren couldn didn doesn don hadn hasn haven isn mustn shouldn wasn weren won wouldn""".split()
)

# Characters that mostly stand for function words of Chinese, and for parts of question words.
_CJK_FUNCTION = frozenset(
    "的了是在我你您他她它们这那哪什么怎样吗呢吧啊谁几多少为何有没不用和与及或就都也还会能可以要被把从到对于给让个些种次之其某后前时候请问"
)
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
# Scripts of India and South-East Asia, whose vowel signs are marks and not letters to `\w`.
_MARKED = "\u0900-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_LETTER = rf"(?:[^\W_{_CJK}]|[{_MARKED}])"
# Compiled at the first use, for ASCII text needs none with CJK in it.
# A run of CJK; or a word of any other script, with the joiners that hold an identifier or a number together.
_WORD = late_pattern(rf"[{_CJK}]+|{_LETTER}+(?:[_.\-'’]+{_LETTER}+)*")
_ASCII_WORD = late_pattern(r"[A-Za-z0-9]+(?:[_.\-']+[A-Za-z0-9]+)*")
_JOINER = late_pattern(r"[_.\-'’]+")
_ANY_CJK = late_pattern(f"[{_CJK}]")
_COMBINING = late_pattern("[\u0300-\u036f]+")
_CLITIC = r"(?i)['’](?:s|t|d|m|ll|re|ve)$"
_HUMP = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d]+"
_CJK_ALONE = f"(?<![{_CJK}])[{_CJK}](?![{_CJK}])"
_LONGEST_TERM = 64  # a longer "word" is a hash or base64; its head identifies it as well
_LONGEST_CACHED_WORD = 32
_LITTLE = 0.1  # what a pair of Chinese characters with a function word weighs beside another


@lru_cache(maxsize=64)
def owner_token(user: str) -> str:
    """Twenty characters of [a-z2-7] that stand for a user in the index.

    100 bits: who may choose an id must not find one whose token is another user's, or they would be told that user's
    words as near spellings. FTS5 stores what neighbouring terms have in common once, so the length costs little.
    """
    digest = int.from_bytes(blake2b(user.encode("utf-8", "surrogatepass"), digest_size=13).digest(), "big")
    return "".join("abcdefghijklmnopqrstuvwxyz234567"[digest >> shift & 31] for shift in range(0, 100, 5))


def terms(text: str) -> list[str]:
    """The terms of a text, in order, repeated as often as they occur."""
    out: list[str] = []
    for word in _words(text):
        out.extend((_kept_terms if len(word) <= _LONGEST_CACHED_WORD else _terms_of_word)(word))
    return out


def terms_of_word(word: str) -> Sequence[str]:
    """The same of one word of `words_in`. An ASCII word holds no other word, so it is not searched for words again."""
    if not word.isascii():
        return terms(word)
    return (_kept_terms if len(word) <= _LONGEST_CACHED_WORD else _terms_of_word)(word)


def query_terms(text: str, limit: int = 64) -> list[str]:
    """The different terms of the first 8,000 characters of a question, at most `limit`, in order.

    A CJK character is a term of a question only where it stands alone: in a longer run the pairs say more.
    """
    return list(worded_terms(text, limit))


def worded_terms(text: str, limit: int = 64) -> dict[str, str]:
    """The terms, each with the first word of the question that gives it (without its "'s")."""
    text = text[:8000]
    word_by_term: dict[str, str] = {}
    for word in _words(text):
        for term in (_kept_terms if len(word) <= _LONGEST_CACHED_WORD else _terms_of_word)(word):
            if term not in word_by_term:
                word_by_term[term] = _without_clitic(word)
    if not text.isascii():
        alone = set(re.findall(_CJK_ALONE, text))
        word_by_term = {
            term: word for term, word in word_by_term.items() if term in alone or not re.fullmatch(_CJK_ALONE, term)
        }
    return dict(list(word_by_term.items())[:limit])


def words_in(text: str) -> Iterator[re.Match[str]]:
    """The words of a text as they stand in it."""
    return (_ASCII_WORD if text.isascii() else _WORD).finditer(text)


def is_stop_word(word: str) -> bool:
    """Return whether a word, with whatever punctuation stands around it, is one that no term is made from."""
    return word.strip(".,;:!?'\"()").lower() in STOP_WORDS


def is_cjk(text: str) -> bool:
    """Return whether the text holds a CJK character."""
    return not text.isascii() and _ANY_CJK.search(text) is not None


def cjk_runs(text: str) -> list[str]:
    """The runs of CJK characters in a text, in which no word begins or ends visibly."""
    return [] if text.isascii() else re.findall(f"[{_CJK}]+", _fold_accents(text))


def says_little(term: str) -> bool:
    """Return whether a CJK term has a character that is a function word by itself: 是什 stands where two words meet."""
    return is_cjk(term) and any(character in _CJK_FUNCTION for character in term)


def weight_of(term: str, rarity: float) -> float:
    """How much a term says of a subject by its rarity; a pair of characters with a function word a tenth of that."""
    return rarity * (_LITTLE if says_little(term) else 1.0)


def indexed(text: str, owner: str) -> str:
    """The text for the full-text index: the terms behind their owner's token, joined by spaces."""
    all_terms = terms(text)
    return owner + f" {owner}".join(all_terms) if all_terms else ""


def _words(text: str) -> list[str]:
    return _ASCII_WORD.findall(text) if text.isascii() else _WORD.findall(_fold_accents(text))


def _fold_accents(text: str) -> str:
    """NFKC without the combining marks, so that café and cafe are one word; unpaired surrogates go."""
    text = normalized("NFKC", text.encode("utf-8", "ignore").decode())
    decomposed = normalized("NFD", text)
    return normalized("NFC", _COMBINING.sub("", decomposed))


def _terms_of_word(word: str) -> tuple[str, ...]:
    if ord(word[0]) > 0x2FFF and is_cjk(word[0]):
        return tuple([word[i : i + 2] for i in range(len(word) - 1)] + [word[-1]])
    pieces = _pieces(word)
    parts = [part for piece in pieces for part in _split_humps(piece)]
    whole = ""
    if len(parts) > 1:
        # Numbers keep a sign between their parts, or 3.11 would be 311.
        joiner = "·" if all(piece.isdigit() for piece in pieces) else ""
        whole = joiner.join(parts).lower()
    out = [_stem(part.lower()) for part in parts if part.lower() not in STOP_WORDS]
    if whole and len(whole) <= _LONGEST_TERM:
        out.append(whole)
    return tuple(out)


_kept_terms = lru_cache(maxsize=1 << 14)(_terms_of_word)


def written_as(term: str, word: str) -> str:
    """The part of a word that gives a term, as it is written: “deploys” of “redis-deploys” for the term “deploi”; the
    word itself for a term that is all of it."""
    parts = (part for piece in _pieces(word) for part in _split_humps(piece))
    return next((part for part in parts if _stem(part.lower()) == term), _without_clitic(word))


def _pieces(word: str) -> list[str]:
    """The pieces of a word between the signs that join them."""
    return _JOINER.split(_without_clitic(word))  # Ann's is about Ann


def _without_clitic(word: str) -> str:
    return re.sub(_CLITIC, "", word) if "'" in word or "’" in word else word


def _split_humps(piece: str) -> list[str]:
    """camelCase and HTTPServer2 at their humps; a word that is all of one case stays whole."""
    if piece.isdigit() or piece.islower() or (piece.isupper() and piece.isalpha()) or piece.istitle():
        return [piece[:_LONGEST_TERM]]
    humps = re.findall(_HUMP, piece)
    # A random string has a hump every other letter: it is one word, not forty.
    if not humps or len(humps) > 8 or len(piece) < 2 * len(humps):
        return [piece[:_LONGEST_TERM]]
    return humps


@cached_if_short(_LONGEST_CACHED_WORD, 1 << 15)
def _stem(word: str) -> str:
    return _stemmer().stemWord(word) if word.isalpha() else word


@lru_cache(maxsize=1)
def _stemmer():
    return Stemmer.Stemmer("porter", 0)
