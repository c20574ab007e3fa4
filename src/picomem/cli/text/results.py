"""Results as text for a person at a terminal: each operation's by the function of its name, in the module that stands
here. Only that one is loaded, for a hook waits for `picomem recall`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from picomem.operations.inert import inert
from picomem.text.safe import for_terminal

_MODULES = {
    "lookup": "recall search-notes read-note memories show why history timeline index",
    "remembering": "remember revise forget undo changes audit purge",
    "maintenance": "ingest withhold migrate scrub embed status doctor index-status",
    "conversations": "sessions messages begin-session rename-session archive-session fork-session import-sessions "
    "consolidate",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def text_of(name: str, result: Any) -> str:
    """The result of the operation of that name, as a terminal may show it."""
    module = import_module(f"picomem.cli.text.{_MODULE_OF[name]}")
    return for_terminal(getattr(module, name.replace("-", "_"))(inert(result)))
