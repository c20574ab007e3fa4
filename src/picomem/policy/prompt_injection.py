"""Prompt injection: detects text that tries to control the agent that will read it.

There are two tables of shapes: `hijack` takes the agent over (earlier instructions overridden, role tags, new
personas), and `directive` orders its reader to do something. An agent may store an order, because it writes down the
user's rules, so the two are checked separately. Each table is applied to every reading of the text: as it is, with
look-alike letters made Latin, with spaced-out letters joined. A text that hides its reading (reversed letters, two
alphabets in a word, Base64 together with an order) counts as an injection.

Elsewhere the gate accepts in doubt; here it refuses. Even so, a list proves nothing: what keeps untrusted text from
acting is its origin, which is kept permanently.
"""

from __future__ import annotations

import binascii
import re
from functools import lru_cache

from picomem.policy.pattern_tables import matches, visible
from picomem.text.visible_text import normalized

_MOST_READ = 40_000  # characters

_LOOK_ALIKES = str.maketrans(
    "асеорхуіјѕԁһкмтвнпгӏѵԛԝοαερτικνυηωɡıАВСЕНІКМОРТХ", "aceopxyijsdhkmtbhnrlvqwoaeptikvunwgiABCEHIKMOPTX"
)


def looks_like_instruction(text: str) -> bool:
    """Return whether a text that does not come from the user tries to steer the agent that will read it.

    Known shapes: overriding earlier instructions, role tags and fake closing tags, new personas, orders to
    the agent or the reader, delayed triggers, hiding something from the user, giving secrets away, commands
    to run, encoded orders, and all of these behind invisible, look-alike or spaced-out characters. Of a text
    beyond 40,000 characters the two ends are read.
    """
    return _is_disguised(text) or any(map(_steers, _views(text)))


def is_hijack(text: str) -> bool:
    """Return whether a text would take its reader over, in whatever way it is read; refused from an agent too."""
    return _takes_over(_bounded(text))


@lru_cache(maxsize=8)  # of one message it is asked for each memory that is cut from it
def _takes_over(text: str) -> bool:
    return any(matches("hijack", view) for view in _views(text))


def _steers(text: str) -> bool:
    return matches("hijack", text) or matches("directive", text)


def _views(text: str) -> list[str]:
    """The ways in which a text can be read: as it is, look-alikes made Latin, spaced-out letters joined."""
    plain = normalized("NFKC", visible(_bounded(text)))
    latin = plain.translate(_LOOK_ALIKES)
    joined = re.sub(r"\s{2,}", " ", re.sub(r"(?<=\b\w)[ .\-_*](?=\w\b)", "", latin))
    return list(dict.fromkeys((plain, latin, joined)))


def _bounded(text: str) -> str:
    half = _MOST_READ // 2
    return text if len(text) <= _MOST_READ else f"{text[:half]}\n{text[-half:]}"


def _is_disguised(text: str) -> bool:
    """Reversed letters, a word of two alphabets, or Base64 that is an order or comes with one to run it."""
    text = _bounded(text)
    if re.search(r"[\u202d\u202e]|[a-z][\u0430-\u045f]|[\u0430-\u045f][a-z]", text):
        return True
    runs = re.findall(r"[A-Za-z0-9+/]{24,2000}", text)[:50]
    blobs = [run for run in runs if all(re.search(sort, run) for sort in ("[A-Z]", "[a-z]", "[0-9]"))]
    if blobs and re.search(r"(?i)\b(base64|decode|execute|eval|exec|run|follow|obey)\b|解码|执行", text):
        return True
    decoded = (binascii.a2b_base64(blob[: len(blob) // 4 * 4]).decode("utf-8", "replace") for blob in blobs)
    return any(map(_steers, decoded))
