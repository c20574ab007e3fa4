"""Converts the fields of a request to arguments of the command line, and back. Pure."""

from __future__ import annotations

import argparse
import os
from typing import Any

from picomem.errors import InvalidInput
from picomem.light_dataclass import MISSING
from picomem.operations.operation import option_flag, options


def add_request(parser: argparse.ArgumentParser, request: type) -> None:
    """Add an argument for each field of a request."""
    hints = request.__annotations__  # as they are written: names are enough here
    for name, default, about in options(request):
        settings: dict[str, Any] = {"help": about["help"], "dest": name}
        if about["choices"]:
            settings["choices"] = [str(choice) for choice in about["choices"]]
            settings["metavar"] = about["choices"][0].upper() if about["positional"] else name.upper()
            settings["help"] += f" ({', '.join(about['choices'])})"
        if about["positional"]:
            settings.pop("dest")
            if about["many"]:
                settings["nargs"] = "*"
            elif about["free_text"]:
                settings.update(nargs="+" if default is MISSING else "*", default=None)
            elif default is not MISSING:
                settings.update(nargs="?", default=default)
            of_one = hints[name] if not about["many"] else "str"
            read = _type_of(of_one, about["path"])
            parser.add_argument(name, **{**settings, "type": read, "metavar": name.upper()})
            continue
        flag = option_flag(name, about)
        flags = [flag, about["short"]] if about["short"] else [flag]
        if hints[name] == "bool":
            settings.update(action=argparse.BooleanOptionalAction if default else "store_true", default=default)
            settings.pop("choices", None)
        elif about["many"]:
            settings.update(action="append", type=_type_of("str", about["path"]), default=None)
            settings.setdefault("metavar", name.upper())
        else:
            settings.update(type=_type_of(hints[name], about["path"]), default=default)
            settings.setdefault("metavar", name.upper())
        parser.add_argument(*flags, **settings)


def request_of(request: type, chosen: argparse.Namespace) -> Any:
    """The request that was parsed."""
    values: dict[str, Any] = {}
    for name, default, about in options(request):
        value = getattr(chosen, name)
        if about["free_text"] and about["positional"]:
            value = " ".join(value) if value else default
        values[name] = tuple(value or ()) if about["many"] else value
    return request(**values)


def unicode_text(argument: str) -> str:
    """An argument that is text. Raises InvalidInput where its bytes were not UTF-8."""
    try:
        argument.encode()
    except UnicodeEncodeError as error:
        shown = os.fsencode(argument).decode("utf-8", "backslashreplace")
        raise InvalidInput(
            f"“{shown}” is not UTF-8, so it was not taken; use a terminal with a UTF-8 locale, or convert the text."
        ) from error
    return argument


def _type_of(hint: str, path: bool) -> Any:
    """Return the function that argparse calls on the argument: a number where nothing else is allowed; a file's name
    may be any bytes."""
    if "str" in hint:
        return str if path else unicode_text
    return float if "float" in hint else int
