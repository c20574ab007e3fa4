"""Lines of memory that name a file which is no longer in the folder that a session stands in.

Only names are looked up, a bounded number of them; no file is opened, and a link is not followed, so nothing outside
the folder is read. A path is held against the folder only if its first part is a folder there: `src/auth/token.ts` is
gone where `src` is there and the rest is not, and of `and/or` nothing is known. A line with a file that is gone says
so, and goes behind the other lines of its list.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path, PurePosixPath

_MOST_LOOKUPS = 64  # of one block
_PATH = re.compile(r"(?<![\w/.:~@-])(?:\./)?[\w-][\w.-]*(?:/[\w.@+-]+)+")


class ProjectTree:
    """The files of a folder, as far as they were looked up."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._left = _MOST_LOOKUPS

    def gone_from(self, text: str) -> list[str]:
        """The files that a text names and that are no longer there, each once."""
        named = dict.fromkeys(match[0].rstrip(".").removeprefix("./") for match in _PATH.finditer(text))
        return [path for path in named if self._is_gone(path)]

    def checked(self, lines: Iterable[str]) -> list[str]:
        """The lines; of each list, those that name a file which is gone come last, and say so."""
        checked: list[str] = []
        for is_list, group in groupby(lines, key=lambda line: line.startswith("- ")):
            if not is_list:
                checked += group
                continue
            marked = [(line, self.gone_from(line)) for line in group]
            checked += [line for line, gone in marked if not gone]
            checked += [f"{line} [no longer there: {', '.join(gone)}]" for line, gone in marked if gone]
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
