"""Lines of memory that the folder of a session contradicts: they name a file, a script or a make target that is no
longer there, or a package manager while the lock file of another is there.

Names are looked up, a bounded number of them, and the two files that define commands are read if they are small. A link
is not followed, so nothing outside the folder is read, and nothing is run. A path is held against the folder only if
its first part is a folder there: `src/auth/token.ts` is gone where `src` is there and the rest is not, and of `and/or`
nothing is known. A line that is contradicted says so, and goes behind the other lines of its list.

Ports are not compared: “the staging database listens on 6432” says nothing about a compose file for development.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import groupby
from pathlib import Path, PurePosixPath

from picomem.errors import InvalidInput, NotFound
from picomem.paths import read_regular

_MOST_LOOKUPS = 64  # of one block
_LARGEST = 256 * 1024  # bytes of a file that is read
_PATH = re.compile(r"(?<![\w/.:~@-])(?:\./)?[\w-][\w.-]*(?:/[\w.@+-]+)+")
_SCRIPT = re.compile(r"\b(?:npm|pnpm|yarn|bun) run ([\w:.-]*\w)")
_TARGET = re.compile(r"`make ([\w.-]+)`")  # without the quotes, “make sure” is a command too
_RULE = re.compile(r"^([^\s#:=][^#:=\n]*):(?!=)", re.MULTILINE)
# The lock files of package managers, of which a project uses one.
_LOCK_FILES: tuple[Mapping[str, tuple[str, ...]], ...] = (
    {
        "npm": ("package-lock.json",),
        "pnpm": ("pnpm-lock.yaml",),
        "yarn": ("yarn.lock",),
        "bun": ("bun.lock", "bun.lockb"),
    },
    {"uv": ("uv.lock",), "poetry": ("poetry.lock",), "pipenv": ("Pipfile.lock",), "pdm": ("pdm.lock",)},
)


class ProjectTree:
    """The files of a folder, as far as they were looked up."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._left = _MOST_LOOKUPS

    def contradicted(self, text: str) -> str:
        """What of a text the folder contradicts, in words; empty if it contradicts nothing."""
        gone = [*self._gone_files(text), *self._gone_commands(text)]
        said = [f"no longer there: {', '.join(gone)}"] if gone else []
        return "; ".join([*said, *(f"here: {lock}" for lock in self._other_locks(text))])

    def _gone_files(self, text: str) -> list[str]:
        named = dict.fromkeys(match[0].rstrip(".").removeprefix("./") for match in _PATH.finditer(text))
        return [path for path in named if self._is_gone(path)]

    def _gone_commands(self, text: str) -> list[str]:
        """The named scripts of package.json, and the named make targets, that these files do not have."""
        scripts = [match for match in _SCRIPT.finditer(text) if not self._has_script(match[1])]
        targets = [match for match in _TARGET.finditer(text) if not self._has_target(match[1])]
        return list(dict.fromkeys([*(match[0] for match in scripts), *(f"make {match[1]}" for match in targets)]))

    def _has_script(self, name: str) -> bool:
        return self._scripts is None or name in self._scripts

    def _has_target(self, name: str) -> bool:
        return self._targets is None or name in self._targets

    @cached_property
    def _scripts(self) -> Collection[str] | None:
        """The names of the scripts of package.json; None where nobody can say."""
        try:
            scripts = json.loads(self._text("package.json"))["scripts"]
        except (ValueError, LookupError, TypeError, RecursionError):
            return None
        return scripts.keys() if isinstance(scripts, dict) else None

    @cached_property
    def _targets(self) -> Collection[str] | None:
        """The targets of the Makefile; None where there is none, and where it includes others or has patterns."""
        makefile = self._text("Makefile")
        rules = " ".join(_RULE.findall(makefile))
        return None if not rules or "%" in rules or "$" in rules or "include" in makefile else rules.split()

    @cached_property
    def _lock_files(self) -> dict[str, str]:
        """The lock files that are there, each with its package manager."""
        known = {lock: name for managers in _LOCK_FILES for name, locks in managers.items() for lock in locks}
        return {lock: name for lock, name in known.items() if self._is_file(lock)}

    def _other_locks(self, text: str) -> list[str]:
        """The lock files of other package managers than the text names, where that of none it names is there."""
        words = set(re.findall(r"[a-z]+", text.lower())) if self._lock_files else set()
        others: list[str] = []
        for managers in _LOCK_FILES:
            named = words & managers.keys()
            there = {lock: name for lock, name in self._lock_files.items() if name in managers}
            others += sorted(there) if named and named.isdisjoint(there.values()) else []
        return others

    def _is_file(self, name: str) -> bool:
        return stat.S_ISREG(next(self._modes([name]), 0))

    def _text(self, name: str) -> str:
        """A small file of the folder; empty if there is none."""
        if not self._is_file(name):
            return ""
        try:
            return read_regular(self._folder / name, most=_LARGEST).decode("utf-8", "replace")
        except (NotFound, InvalidInput):
            return ""

    def checked(self, lines: Iterable[str]) -> list[str]:
        """The lines; of each list, those that the folder contradicts come last, and say so."""
        checked: list[str] = []
        for is_list, group in groupby(lines, key=lambda line: line.startswith("- ")):
            if not is_list:
                checked += group
                continue
            marked = [(line, self.contradicted(line)) for line in group]
            checked += [line for line, said in marked if not said]
            checked += [f"{line} [{said}]" for line, said in marked if said]
        return checked

    def _is_gone(self, path: str) -> bool:
        parts = PurePosixPath(path).parts
        if ".." in parts or self._left < len(parts):
            return False
        modes = list(self._modes(parts))
        # Behind a link, and without its first folder, nobody knows.
        return 0 < len(modes) < len(parts) and stat.S_ISDIR(modes[-1])

    def _modes(self, parts: Iterable[str]) -> Iterator[int]:
        """The kinds of the parts of a path that are there."""
        place = self._folder
        for part in parts:
            place /= part
            self._left -= 1
            try:
                mode = place.lstat().st_mode
            except OSError:
                return
            yield mode
            if not stat.S_ISDIR(mode):
                return
