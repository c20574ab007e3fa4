"""Errors in the reader's language, by their codes."""

from __future__ import annotations

from picomem.coded_text import CodedText
from picomem.light_dataclass import dataclass
from picomem.page.message_catalog import Say, catalog, told


@dataclass(frozen=True, slots=True)
class ToldError:
    """`meaning` says in the reader's language what the code means, and `detail` in English what exactly went wrong;
    empty where the other says it."""

    meaning: str
    detail: str


def told_error(code: str, message: str, say: Say) -> ToldError:
    """An error as the page shows it: by its message alone, where that is known in the reader's language."""
    if isinstance(message, CodedText):
        return ToldError(told(message, say), "")
    key = f"error_code.{code}"
    english, meaning = catalog("en")[key], say(key)
    if meaning == english:
        return ToldError("", message)
    return ToldError(meaning, "" if message == english else message)


def error_meanings(say: Say) -> dict[str, list[str]]:
    """What each code means, in English and as told, for the page's scripts; empty where it is told in English."""
    codes = [key.removeprefix("error_code.") for key in catalog("en") if key.startswith("error_code.")]
    meanings = {code: [catalog("en")[f"error_code.{code}"], say(f"error_code.{code}")] for code in codes}
    return {code: [english, told] for code, (english, told) in meanings.items() if told != english}
