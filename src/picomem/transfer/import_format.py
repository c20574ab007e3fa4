"""The interface of an import format, and the registry: each module of formats/ holds its FORMATS.

A format recognises its file (`claims`), and offers its entries one by one (`read`). It opens files only through
`bounded_files` and ingest's reader, so no device, pipe, huge file or path of an archive is followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Protocol

from picomem.errors import InvalidInput, NotFound, did_you_mean
from picomem.paths import status_of
from picomem.transfer.importer import Importer


class ImportFormat(Protocol):
    """One kind of file, or folder, of another program."""

    name: str
    example: str  # a path as a person would give it
    serves_all_users: bool  # whether a file holds what belongs to several users
    is_fallback: bool  # whether it claims only what no other format does

    def claims(self, path: Path, /) -> bool:
        """Return whether the file or folder is of this format. Raises NotFound or InvalidInput where it cannot be
        read."""
        ...

    def read(self, path: Path, importer: Importer, /) -> None:
        """Hand over what it holds. Raises NotFound or InvalidInput where nothing can be read."""
        ...


@cache
def import_formats() -> tuple[ImportFormat, ...]:
    """Every format there is, by name."""
    folder = import_module("picomem.transfer.formats")
    modules = (import_module(f"{folder.__name__}.{module.name}") for module in iter_modules(folder.__path__))
    return tuple(sorted((form for module in modules for form in module.FORMATS), key=lambda form: form.name))


def import_format_named(name: str) -> ImportFormat:
    """The format of that name. Raises InvalidInput for an unknown one."""
    names = [form.name for form in import_formats()]
    if name not in names:
        listed = f"the formats are {', '.join(names)}."
        raise InvalidInput(f"There is no format “{name[:40]}” to import; {did_you_mean(name, names, listed)}")
    return next(form for form in import_formats() if form.name == name)


def guessed_format(path: Path) -> ImportFormat:
    """The one format that a file or folder is of. Raises InvalidInput where it is of none, or could be of several."""
    if status_of(path) is None:
        raise NotFound(f"There is no file or folder {path}.")
    every: Sequence[ImportFormat] = [form for form in import_formats() if form.claims(path)]
    claiming = [form for form in every if not form.is_fallback] or every
    if len(claiming) == 1:
        return claiming[0]
    if claiming:
        names = " or ".join(form.name for form in claiming)
        raise InvalidInput(f"{path} may be of several formats; name one before the path: {names}.")
    names = ", ".join(form.name for form in import_formats())
    raise InvalidInput(f"{path} is of no format that is known by its looks; name the format before the path: {names}.")
