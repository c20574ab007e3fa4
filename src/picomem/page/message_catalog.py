"""The page's texts in each language: one JSON file a language, with the same keys in each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Protocol

LANGUAGES = {"en": "English", "zh": "中文"}
# HTTP statuses that have a text, error_status.STATUS. What exactly went wrong is a sentence in English.
STATUSES = frozenset({400, 401, 403, 404, 405, 408, 409, 413, 422, 429, 500, 503})
_ONE = ".one"  # the end of the key of a text for a count of 1, where it differs


class Say(Protocol):
    """The text of a key in one language, with `values` in its places."""

    def __call__(self, key: str, /, **values: object) -> str: ...


@cache
def catalog(language: str) -> Mapping[str, str]:
    """All texts of a language, by key."""
    return json.loads((files("picomem.page") / "messages" / f"{language}.json").read_text("utf-8"))


@cache
def say_in(language: str) -> Say:
    """The texts of a language. A key that does not exist raises KeyError."""
    texts = catalog(language)

    def say(key: str, /, **values: object) -> str:
        if values.get("count") == 1 and key + _ONE in texts:
            key += _ONE
        shown = {name: f"{value:,}" if isinstance(value, int) else value for name, value in values.items()}
        return texts[key].format_map(shown) if shown else texts[key]

    return say


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
