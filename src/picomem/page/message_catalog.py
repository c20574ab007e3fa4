"""The page's texts in each language: one JSON file a language, with the same keys in each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Protocol

from picomem.coded_text import CodedText, worded
from picomem.english_texts import ENGLISH
from picomem.errors import meanings

LANGUAGES = {"en": "English", "zh": "中文"}
# HTTP statuses that have a text, error_status.STATUS. What exactly went wrong is a sentence in English.
STATUSES = frozenset({400, 401, 403, 404, 405, 408, 409, 413, 422, 429, 500, 503})


class Say(Protocol):
    """The text of a key in one language, with `values` in its places."""

    def __call__(self, key: str, /, **values: object) -> str: ...


@cache
def catalog(language: str) -> Mapping[str, str]:
    """All texts of a language, by key: those of the page, of errors, and of what picomem says about its decisions."""
    texts = json.loads((files("picomem.page") / "messages" / f"{language}.json").read_text("utf-8"))
    if language != "en":
        return texts
    return {**ENGLISH, **{f"error_code.{code}": meaning for code, meaning in meanings().items()}, **texts}


@cache
def say_in(language: str) -> Say:
    """The texts of a language. A key that does not exist raises KeyError."""
    texts = catalog(language)

    def say(key: str, /, **values: object) -> str:
        return worded(texts, key, values) if values else texts[key]

    return say


def told(text: str, say: Say) -> str:
    """A text in the language of `say`; one that a person or an agent wrote is shown as it is."""
    return say(text.code, **text.values) if isinstance(text, CodedText) else text


def told_word(word: str, say: Say) -> str:
    """A decision in the language of `say`; a word that is not known as it is."""
    return say(f"reason_word.{word}") if f"reason_word.{word}" in catalog("en") else word


def preferred_language(accepted: str) -> str:
    """The language that a header `Accept-Language` asks for, among those that there are."""
    wanted: list[tuple[float, str]] = []
    for part in accepted[:500].split(","):
        name, _, quality = part.strip().partition(";q=")
        try:
            wanted.append((-float(quality or 1), name.partition("-")[0].lower()))
        except ValueError:
            continue
    return next((name for _, name in sorted(wanted, key=lambda pair: pair[0]) if name in LANGUAGES), "en")
