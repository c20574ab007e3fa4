"""What picomem says about its own decisions: a code and values, which each reader puts into words.

As a text it is worded in English (`english_texts.py`). A reader of another language words the code and the values. A
database and an export hold the code and the values, so no wording is ever read back; a text without a code is what a
person or an agent wrote, and is the same in every language.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from shlex import quote
from typing import Any

from picomem.english_texts import ENGLISH

_ALL = "reason.and"
_ONE = ".one"  # the end of the code of a text for a count of 1, where it differs


class CodedText(str):
    """A text of picomem's own, in English. A value is a text, a number, or a tuple of texts that are listed."""

    __slots__ = ("code", "values")
    code: str
    values: Mapping[str, Any]

    def __new__(cls, code: str, /, **values: Any) -> CodedText:
        text = super().__new__(cls, worded(ENGLISH, code, values))
        text.code, text.values = code, values
        return text


class Command(str):
    """A command that a text names, as it is typed in a terminal: `words` without an option, then options by the fields
    of the request that they fill. Other surfaces name what does the same there (`operations/command_names.py`)."""

    __slots__ = ("name", "options", "words")
    name: str
    words: tuple[str, ...]
    options: Mapping[str, str | bool | tuple[str, ...]]

    def __new__(cls, name: str, /, *words: str, **options: str | bool | tuple[str, ...]) -> Command:
        flags = (
            f"--{field.replace('_', '-')}{'' if given is True else f' {quote(str(given))}'}"
            for field, values in options.items()
            for given in (values if isinstance(values, tuple) else (values,))
        )
        text = super().__new__(cls, f"`{' '.join(('picomem', name, *map(quote, words), *flags))}`")
        text.name, text.words, text.options = name, words, options
        return text


def worded(texts: Mapping[str, str], code: str, values: Mapping[str, Any]) -> str:
    """The text of a code in a language, with values in its places. Raises KeyError for a code that does not exist."""
    if values.get("count") == 1 and code + _ONE in texts:
        code += _ONE
    return texts[code].format_map({name: _worded_value(texts, value) for name, value in values.items()})


def _worded_value(texts: Mapping[str, str], value: Any) -> str:
    if isinstance(value, CodedText):
        return worded(texts, value.code, value.values)
    if isinstance(value, tuple):
        return texts["words.between"].join(_worded_value(texts, part) for part in value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def code_of(text: str) -> str:
    """The code of a text; empty where a person or an agent wrote it."""
    return text.code if isinstance(text, CodedText) else ""


def value_of(text: str, name: str) -> str:
    """A value of a text, or of a text in it; empty where it has none of that name."""
    values = text.values if isinstance(text, CodedText) else {}
    return values.get(name) or next(filter(None, (value_of(inner, name) for inner in values.values())), "")


def word_of(word: str) -> CodedText:
    """A decision, an origin or a field, as a text names it."""
    return CodedText(f"reason_word.{word}")


def without(text: str, last: str) -> str:
    """A text that `all_of` made, without its last part, if it is this one."""
    return value_of(text, "first") if code_of(text) == _ALL and value_of(text, "second") == last else text


def all_of(first: str, *others: str) -> str:
    """Several texts as one."""
    for other in others:
        first = CodedText(_ALL, first=first, second=other)
    return first


def rewritten(text: str, rewrite: Callable[[str], str]) -> str:
    """A text with what others wrote in it rewritten."""
    return _mapped(text, lambda part: _command_with(part, rewrite) if isinstance(part, Command) else rewrite(part))


def _command_with(command: Command, rewrite: Callable[[str], str]) -> Command:
    def changed(given: Any) -> Any:
        return tuple(map(rewrite, given)) if isinstance(given, tuple) else given if given is True else rewrite(given)

    options = {field: changed(given) for field, given in command.options.items()}
    return Command(command.name, *map(rewrite, command.words), **options)


def with_commands(text: str, named: Callable[[Command], str]) -> str:
    """A text that names its commands otherwise."""
    return _mapped(text, lambda part: named(part) if isinstance(part, Command) else part)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, CodedText):
        return CodedText(value.code, **{name: _mapped(part, change) for name, part in value.values.items()})
    if isinstance(value, tuple):
        return tuple(_mapped(part, change) for part in value)
    return change(value) if isinstance(value, str) else value


def written_in(text: str) -> list[str]:
    """What others wrote in a text: names, and all of a text without a code."""
    if isinstance(text, Command):
        return [*text.words, *(given for given in text.options.values() if isinstance(given, str))]
    if not isinstance(text, CodedText):
        return [text]
    listed = [part for value in text.values.values() for part in (value if isinstance(value, tuple) else [value])]
    return [written for part in listed if isinstance(part, str) for written in written_in(part)]


def stored_words(text: str) -> list[str]:
    """What others wrote in a text, as a row holds it."""
    return [json.dumps(part, ensure_ascii=False)[1:-1] for part in written_in(text)]


def stored_form(text: str) -> str:
    """A text as a row holds it."""
    return json.dumps(data_of(text), ensure_ascii=False, separators=(",", ":"))


def read_stored(stored: str) -> str:
    """The text that a row holds; of a damaged row, whatever stands there."""
    try:
        return text_of(json.loads(stored))
    except ValueError:
        return stored


def data_of(text: Any) -> Any:
    """A text, or a value of one, as JSON: itself, its code and values, or the words and options of a command."""
    if isinstance(text, Command):
        return {"command": [text.name, *text.words], "options": data_of(dict(text.options))}
    if isinstance(text, CodedText):
        return [text.code, {name: data_of(value) for name, value in text.values.items()}]
    if isinstance(text, dict):
        return {name: data_of(value) for name, value in text.items()}
    return [data_of(part) for part in text] if isinstance(text, tuple) else text


def text_of(data: object) -> str:
    """The text that JSON stands for. Raises ValueError for data that are none."""
    try:
        text = _value_of(data)
    except (KeyError, RecursionError) as error:
        raise ValueError("it has a code, or values, that no text has") from error
    if not isinstance(text, str):
        raise ValueError("it is no text, and no code with values")
    return text


def _value_of(data: object) -> Any:
    match data:
        case [str(code), dict(values)]:
            return CodedText(code, **{name: _value_of(value) for name, value in values.items()})
        case list(parts):
            return tuple(map(_value_of, parts))
        case {"command": [str(name), *words], "options": dict(options)}:
            return Command(name, *map(str, words), **{field: _value_of(given) for field, given in options.items()})
        case str() | int():
            return data
        case _:
            raise ValueError("it is no text, and no code with values")
