"""Writes an export to a file, records its path, and writes the file again after a purge.

The path is recorded before the file gets its name, so a killed process leaves no unrecorded copy. A purge writes the
recorded files again from the remaining rows (erasure/file_traces.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from picomem.blake2b import blake2b
from picomem.clock import Micros
from picomem.errors import InvalidInput
from picomem.paths import check_folder_of, open_regular, status_of, written_whole
from picomem.records.scope import Scope
from picomem.store import exported_files
from picomem.store.connector import Connector, Transaction
from picomem.store.exported_files import WHOLE, Export
from picomem.transfer import export_graph, export_markdown, export_records
from picomem.transfer.export_graph import graph_lines
from picomem.transfer.export_lines import ExportCounts, export_lines
from picomem.transfer.export_markdown import markdown_lines
from picomem.transfer.export_records import Clean

ExportFormat = Literal["picomem", "markdown", "mcp-memory"]

_HEADS: dict[ExportFormat, bytes] = {
    "picomem": export_records.HEAD,
    "markdown": export_markdown.HEAD.encode(),
    "mcp-memory": export_graph.HEAD.encode(),
}
_CHUNK = 1 << 20


def lines_of(
    tx: Transaction, scope: Scope, clean: Clean, now: Micros, form: ExportFormat, counts: ExportCounts
) -> Iterator[str]:
    """The lines of an export."""
    if form == "markdown":
        return markdown_lines(tx, scope, clean, now, counts)
    if form == "mcp-memory":
        return graph_lines(tx, scope, clean, now, counts)
    return export_lines(tx, scope, clean, counts)


def write_export(
    connector: Connector, scope: Scope, clean: Clean, now: Micros, path: Path, form: ExportFormat
) -> ExportCounts:
    """Export to a file; what it holds. Raises InvalidInput, also for a file that is there and no export, and NotFound
    where there is no folder for it."""
    check_folder_of(path)
    if status_of(path) is not None and _format_of(path) is None:
        raise InvalidInput(f"{path} exists and is no export of picomem; name another file.")
    place = str(path.absolute())
    if not connector.read_only:
        with connector.write(scope) as tx:
            if exported_files.at(tx, scope, place) is None:
                exported_files.put(tx, Export(place, Scope(scope.user), WHOLE, "", now))
    counts = ExportCounts()
    with connector.read() as tx, written_whole(path, private=True) as file:
        for line in lines_of(tx, scope, clean, now, form, counts):
            file.write(line)
    _note(connector, scope, path, now)
    return counts


def write_again(connector: Connector, exported: Export, clean: Clean, now: Micros) -> str:
    """Write an export anew, in its format; the digest of what it holds now. Raises InvalidInput or NotFound where the
    file is another's by now, or was changed."""
    path = Path(exported.path)
    form = _format_of(path)
    if form is None or exported.content_hash not in ("", _digest(path)):
        raise InvalidInput(f"{path} is no longer the export that picomem wrote, and was left as it is.")
    with connector.read() as tx, written_whole(path, private=True) as file:
        for line in lines_of(tx, exported.scope, clean, now, form, ExportCounts()):
            file.write(line)
    return _digest(path)


def _note(connector: Connector, scope: Scope, path: Path, now: Micros) -> None:
    if not connector.read_only:
        with connector.write(scope) as tx:
            exported_files.put(tx, Export(str(path.absolute()), Scope(scope.user), WHOLE, _digest(path), now))


def _format_of(path: Path) -> ExportFormat | None:
    """The format of an export that lies there; None for any other file, such as one that cannot be read."""
    try:
        with open_regular(path) as file:
            start = file.read(max(map(len, _HEADS.values())))
    except OSError:
        return None
    return next((form for form, head in _HEADS.items() if start.startswith(head)), None)


def _digest(path: Path) -> str:
    digest = blake2b(digest_size=12)
    with open_regular(path) as file:
        while piece := file.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest()
