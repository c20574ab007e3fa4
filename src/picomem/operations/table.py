"""Every verb, once. The command line, the MCP tools and the reference page are rendered from this table.

The verbs stand in modules by meaning, and a module is loaded when a verb of it is asked for: a hook that recalls does
not wait for ingest.
"""

from __future__ import annotations

from importlib import import_module

from picomem.operations.operation import Operation

_PLACES = {
    "ingesting": ("ingest", "withhold", "tag", "migrate"),
    "maintenance": ("scrub", "embed", "status", "doctor", "audit", "index-status"),
    "auditing": ("audit-verify", "audit-head"),
    "backups": ("backup", "restore"),
    "sealing": ("encrypt", "decrypt", "rekey"),
    "transferring": ("export", "import"),
    "remembering": ("remember", "revise", "forget", "bulk-edit"),
    "undoing": ("undo", "changes"),
    "reviewing": ("suggestions", "review"),
    "purging": ("purge",),
    "recalling": ("recall",),
    "absence": ("why-not",),
    "injecting": ("prompt-context",),
    "notes": ("search-notes", "read-note"),
    "showing": ("memories", "show"),
    "explaining": ("why", "history"),
    "timeline": ("timeline",),
    "index_page": ("index",),
    "overview": ("overview", "days", "projects"),
    "sessions": ("sessions", "messages", "begin-session", "rename-session", "archive-session", "fork-session"),
    "consolidating": ("consolidate",),
    "background": ("jobs", "cancel-job"),
    "access": ("token-make", "token-list", "token-revoke", "grant"),
    "pairing": ("pair-list", "pair-accept", "pair-revoke"),
}
NAMES = tuple(name for names in _PLACES.values() for name in names)
EVERYDAY = ("ingest", "recall", "memories", "remember", "forget", "undo", "review", "status")  # what most people need


def operations() -> tuple[Operation, ...]:
    """All of them, in the order in which a person should meet them."""
    return tuple(operation(name) for name in NAMES)


def operation(name: str) -> Operation:
    """The operation of that name; raises KeyError for another."""
    for module, names in _PLACES.items():
        if name in names:
            declared = import_module(f"picomem.operations.{module}").OPERATIONS
            return next(verb for verb in declared if verb.name == name)
    raise KeyError(name)
