"""The step of schema 0010 that SQL cannot do: paths and idempotency keys leave the wording of rows for columns.

Files were known by their context ("the file notes/plan.md") and their tag, and a request that was to be done once by
the run of its change ("file:" and the key) and the end of the reason ("written as a whole (asked for
0123456789abcdef)").
Only picomem made such memory keys, which hold a hash of the path, and such runs, so they decide. The context stays,
because recall finds a file by it.
"""

from __future__ import annotations

import json
import re

import apsw

from picomem.records.ids import content_hash
from picomem.store.row_hash_migration import Fields, hash_anew

_CONTEXT = "the file "
_TAG = "file"
_RUN = "file:"
_REASON = re.compile(r"((?:written|deleted) as a whole) \(asked for ([0-9a-f]{16})\)")


def move_to_columns(connection: apsw.Connection) -> None:
    """Fill the columns and hash the rows anew, in the caller's transaction."""
    hash_anew(connection, "memories", ("path",), _path)
    hash_anew(connection, "changes", ("idempotency_key", "request_hash"), _request)


def _path(memory: Fields) -> dict[str, object]:
    path = str(memory["context"]).removeprefix(_CONTEXT)
    words = re.sub(r"[^a-z0-9]+", "_", path.lower()).strip("_")[:40]
    key = f"{_TAG}_{words}_{content_hash(path)[:12]}"
    is_file = memory["key"] == key and _TAG in json.loads(str(memory["tags"]))
    return {"path": path} if is_file else {}


def _request(change: Fields) -> dict[str, object]:
    run, reason = str(change["run"]), _REASON.fullmatch(str(change["reason"]))
    if not run.startswith(_RUN):
        return {}
    if reason is None:  # a purge blanked it
        return {"run": change["id"]}
    return {
        "run": change["id"],
        "reason": reason[1],
        "content_hash": content_hash(reason[1], str(change["candidate"])),
        "idempotency_key": run.removeprefix(_RUN),
        "request_hash": reason[2],
    }
