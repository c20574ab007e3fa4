"""picomem: long-term memory for AI agents, in one SQLite file.

import picomem

memory = picomem.open("memory.db")
memory.remember("The staging database listens on port 5433", kind="fact", key="staging_db_port")
for hit in memory.recall("which port does staging use?").hits:
    print(hit.text, hit.score)
"""

from __future__ import annotations

from picomem.version import __version__

TYPE_CHECKING = False  # typing's own would load typing
if TYPE_CHECKING:
    from typing import Any

    from picomem.app import open_engine as open  # noqa: A004
    from picomem.app import open_runtime
    from picomem.engine.engine import Engine
    from picomem.errors import PicomemError
    from picomem.records.caller import Caller
    from picomem.records.scope import Scope
    from picomem.runtime import Runtime

__all__ = ["Caller", "Engine", "PicomemError", "Runtime", "Scope", "__version__", "open", "open_runtime"]

_PLACES = {
    "open": ("picomem.app", "open_engine"),
    "open_runtime": ("picomem.app", "open_runtime"),
    "Caller": ("picomem.records.caller", "Caller"),
    "Engine": ("picomem.engine.engine", "Engine"),
    "PicomemError": ("picomem.errors", "PicomemError"),
    "Runtime": ("picomem.runtime", "Runtime"),
    "Scope": ("picomem.records.scope", "Scope"),
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for, so that `picomem --version` stays quick."""
    if name not in _PLACES:
        raise AttributeError(f"module 'picomem' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - importing picomem loads nothing

    module, attribute = _PLACES[name]
    return getattr(import_module(module), attribute)
