"""Regular expressions that are compiled when they are first used.

A module with forty patterns takes a tenth of a second to compile them, and most processes that import it use none.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _LatePattern:
    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        """Compile, and let the pattern's own methods stand in this one's place, so that later uses cost nothing."""
        pattern = re.compile(self._text, self._flags)
        for method in ("search", "match", "fullmatch", "findall", "finditer", "split", "sub"):
            self.__dict__[method] = getattr(pattern, method)
        return getattr(pattern, name)


def late_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile`, at the first use. An error in the pattern is raised then."""
    return cast("re.Pattern[str]", _LatePattern(text, flags))
