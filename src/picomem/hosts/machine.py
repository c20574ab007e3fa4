"""The machine on which picomem looks for hosts: home folder, current folder, environment, operating system."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from shutil import which

from picomem.light_dataclass import dataclass
from picomem.paths import home_folder, named_path


@dataclass(frozen=True, slots=True)
class Machine:
    """`system` is Python's `sys.platform`."""

    home: Path
    folder: Path
    env: Mapping[str, str]
    system: str

    def has_program(self, name: str) -> bool:
        """Return whether a program of this name is on the PATH."""
        return self.program(name) is not None

    def program(self, name: str) -> Path | None:
        """The program of this name on the PATH."""
        path = which(name, path=self.env.get("PATH", os.defpath))
        return Path(path).absolute() if path else None

    def named(self, variable: str, default: Path) -> Path:
        """The path that a variable of the environment names."""
        value = self.env.get(variable)
        return named_path(value).absolute() if value else default


def this_machine() -> Machine:
    """The machine and the environment of this process. Raises InvalidInput where there is no home folder."""
    return Machine(home_folder(), Path.cwd(), os.environ, sys.platform)
