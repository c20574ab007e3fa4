"""Keys: the readable names under which memories are stored.

A person types a key to find, revise or forget a memory, and a key makes a repeated statement an update instead of a
duplicate. So a suggested key consists of the subject and leaves out what is likely to change: numbers are dropped
while words remain, so "the staging DB is on port 5433" and, next month, "… on port 6000" both give `staging_db_port`.

The key of a text in another script than Latin is the Latin words in it, with four digits of a hash. Where there are no
such words, and for Chinese, whose Latin words seldom say what a text says of them, the text is spelled in Latin
letters: `bu_zai_yong_redis_3f9a`. The hash tells different words apart that are spelled alike. (If two texts give the
same key, the later one gets a number.)
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from picomem.blake2b import blake2b
from picomem.errors import InvalidKey
from picomem.text.visible_text import normalized

LONGEST_KEY = 64
KEY_PATTERN = r"[a-z][a-z0-9_]*"
RESERVED_PREFIXES = ("system_", "internal_")

_MOST_WORDS = 6
_MOST_READ = 2_000  # characters of the text that are read; a key says what it begins with

# Words that carry a sentence and do not say what it is about.
_FUNCTION_WORDS = """
a about after again all also always am an and any are as at be because been before being but by can
could did do does doing don down during each ever every few for from further get gets go goes going got
had has have having he her here hers him his how i if im in instead into is it its itself just keep let
lets like likes m make makes me mind more most must my myself need needs nor note now of
off on once one only or other our ours out over own per please prefer prefers put rather re remember s
same shall she should so some such t than that the their theirs them then there these they this those
through to too under until up use used user users uses using ve very via want wants was we were what
when where which while who whom why will with without would you your yours d ll
"""
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
# Function words that say more of a single word than that it is of a fact: “uses_terraform”, “our_standup”.
_RELATIONS = {
    "use": "uses", "uses": "uses", "using": "uses", "has": "has", "have": "has", "got": "has", "want": "wants",
    "wants": "wants", "need": "needs", "needs": "needs", "like": "likes", "likes": "likes", "prefer": "prefers",
    "prefers": "prefers", "keep": "keeps",
}  # fmt: skip
_OWNERS = {"our": "our", "we": "our", "my": "user", "i": "user", "user": "user", "users": "user"}
_TIME_OF_DAY = r"\b(?:at|from|until) \d"
# Whom a statement is about, at its beginning: the user.
_WHOM = r"^(?:用户|我们?|本人|ユーザー|私|пользовател\w*|사용자)[的は가는]?\s*"
_HAN, _KANA = r"[\u3400-\u9fff]", r"[\u3040-\u30ff]"
# These turn what follows round, and so does the key: “we don't support Windows” is not about supporting it.
_DENIALS = frozenset(("no", "never"))
_NOT = r"\b(?:not|cannot|can['’]t|[a-z]{2,6}n['’]t)\b(?: any ?more\b)?"
# At the beginning of a rule against a thing.
_FORBIDS = r"(?:please,? |from now on,? |and |also |in this \w+,? )*(?:never|don'?t|do not|avoid|no more|stop)\b"


def check_key(key: str) -> str:
    """The key itself, when it is valid.

    Valid is `^[a-z][a-z0-9_]*$`, at most 64 characters, and neither `system_…` nor `internal_…`.

    Raises InvalidKey; its sentence gives the rule and a valid key close to the one given, which stands in
    `data["suggestion"]` too.
    """
    if _is_valid(key):
        return key
    suggestion = _close_to(key)
    shown = key if len(key) <= 40 else key[:39] + "…"
    raise InvalidKey(
        f"“{shown}” is not a valid key: a key is lower-case letters, digits and underscores, starts with a "
        f"letter, is at most {LONGEST_KEY} characters long and does not start with system_ or internal_; "
        f"try “{suggestion}”.",
        key=key,
        suggestion=suggestion,
    )


def suggest_key(text: str, kind: str = "") -> str:
    """A valid, readable key for a memory of that content: its informative words, at most six, in their order.

    `kind` (a kind's name) leads the key where words alone do not make one. The same text always gives the
    same key; so do texts that differ only in case, spacing or the width of their letters.
    """
    text = normalized("NFKC", text[:_MOST_READ]).casefold()
    is_ban = re.match(_FORBIDS, text) is not None
    text = re.sub(_NOT, "no", text)
    lead = kind if _is_valid(f"{kind}_x") else "note"
    said = _words(text)
    words = _informative(said)
    if _has_foreign_letters(text):
        digest = _digest(text)
        is_chinese = re.search(_HAN, text) and not re.search(_KANA, text)
        telling = [] if is_chinese else [word for word in words if not word.isdigit()]
        telling = telling or _spelled_in_latin(text)
        return f"{_joined(telling or [lead], lead, room=LONGEST_KEY - len(digest) - 1)}_{digest}"
    if words and is_ban:
        words = ["never", *_informative([word for word in said if word not in _DENIALS])[: _MOST_WORDS - 1]]
    if len(words) == 1 and kind:
        words = (_with_function_word(text, words[0]) if kind == "fact" else []) or [lead, *words]
    return _joined(words, lead) if words else lead


def numbered(key: str, number: int) -> str:
    """The key of that number among those that are like it: the first is the key itself."""
    suffix = f"_{number}" if number > 1 else ""
    return f"{key[: LONGEST_KEY - len(suffix)]}{suffix}"


def tells_of(key: str, gone: str, kept: str) -> bool:
    """Return whether a word of a key is one of a text that goes and of none that is kept: the key was made from it."""
    words = set(key.split("_"))
    return bool(words & set(_words(gone)) - set(_words(kept)))


def _is_valid(key: str) -> bool:
    return (
        len(key) <= LONGEST_KEY and re.fullmatch(KEY_PATTERN, key) is not None and not key.startswith(RESERVED_PREFIXES)
    )


def _close_to(key: str) -> str:
    """A valid key that keeps every word of a bad one."""
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", key[:_MOST_READ])
    words = _words(normalized("NFKC", text).casefold())
    return _joined(words) if words else suggest_key(key)


def _words(text: str) -> list[str]:
    """The words that ASCII letters and digits make, accents taken off; other letters separate."""
    plain = "".join(c for c in normalized("NFKD", text) if not unicodedata.combining(c))
    return re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z])['’](?=[a-z]{1,2}\b)", " ", plain.casefold()))


def _informative(words: list[str]) -> list[str]:
    """The words that say what it is about, each once, the fullest six when there are more."""
    distinct = list(dict.fromkeys(words))
    telling = [word for word in distinct if word not in _STOP_WORDS and not word.isdigit()]
    if not telling:
        telling = [word for word in distinct if word not in _STOP_WORDS] or distinct
    denied = {word for denial, word in pairwise(telling) if denial in _DENIALS} | _DENIALS
    fullest = sorted(telling, key=lambda word: (word not in denied, -min(len(word), 8)))[:_MOST_WORDS]
    return [word for word in telling if word in fullest]


def _with_function_word(text: str, word: str) -> list[str]:
    """The only informative word of a fact, with the function word that says most about it; nothing if none does."""
    said = _words(text)
    if word.isdigit() or word not in said:
        return []
    if re.search(_TIME_OF_DAY, text):
        return [word, "time"]
    for telling in (_RELATIONS, _OWNERS):
        if names := [telling[function] for function in said if function in telling and function != word]:
            return [names[0], word]
    return []


def _spelled_in_latin(text: str) -> list[str]:
    """The first words or syllables of a text as Latin letters spell them, without whom it is about. Of Japanese these
    are the kana alone, because characters would be spelled as in Chinese."""
    from anyascii import anyascii  # reads its tables, which only this needs

    told = re.sub(_WHOM, "", text.strip())
    if re.search(_KANA, told):
        told = re.sub(_HAN, " ", told)
    spelled = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", anyascii(told))
    return [word for word in _words(spelled) if not word.isdigit()][:_MOST_WORDS]


def _has_foreign_letters(text: str) -> bool:
    """Return whether a letter is left that the ASCII words do not show."""
    return any(c.isalpha() and not normalized("NFKD", c)[0].isascii() for c in text)


def _digest(text: str) -> str:
    canonical = " ".join(text.split()).encode("utf-8", "surrogatepass")
    return blake2b(canonical, digest_size=2).hexdigest()


def _joined(words: list[str], lead: str = "note", room: int = LONGEST_KEY) -> str:
    """Words as one valid key: led by a letter, not reserved, cut between words where that is possible."""
    key = "_".join(words)
    if not key[0].isalpha() or f"{key}_".startswith(RESERVED_PREFIXES):
        key = f"{lead}_{key}"
    if len(key) <= room:
        return key
    cut = key[: room + 1].rpartition("_")[0]
    return cut or key[:room]
