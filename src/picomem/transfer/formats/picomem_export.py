"""picomem's own export; see transfer/export_records.py for the format of its lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from picomem.errors import InvalidInput
from picomem.ingest import reader
from picomem.paths import is_regular
from picomem.transfer.export_records import FORMAT as FORMAT_NAME
from picomem.transfer.export_records import JsonObject, check_header, read_memory, read_message, read_session
from picomem.transfer.foreign_files import bounded_lines, check_size, json_of
from picomem.transfer.importer import Importer
from picomem.transfer.restoring import Restoring

_LONGEST = 64 << 20  # bytes of a line: a memory with all its versions


class PicomemExport:
    """An export of picomem."""

    name = "picomem"
    example = "memories.jsonl"
    serves_all_users = False
    is_fallback = False

    def claims(self, path: Path) -> bool:
        return is_regular(path) and is_export(reader.head(path).split(b"\n")[0])

    def read(self, path: Path, importer: Importer) -> None:
        total, lines = check_size(path), bounded_lines(path, _LONGEST)
        reading = _Reading(importer)
        first = next(lines, None)
        try:
            record = json_of(first.data) if first is not None and first.data is not None else None
            check_header(record if isinstance(record, dict) else {})
        except InvalidInput as error:
            raise InvalidInput(f"{path} cannot be imported: {error}.") from error
        for number, line in enumerate(lines, 2):
            reading.line(f"line {number}", line.data)
            importer.done(min(line.end, total), total, str(path))
        importer.store()
        if not reading.is_whole:
            importer.report.tell(f"{path} ends before its last line: it is not the whole export.")
            importer.report.unreadable["the last line is missing"] += 1


def is_export(line: bytes) -> bool:
    """Return whether a file that begins with this line is an export of picomem, of whatever version."""
    try:
        record = json_of(line)
    except InvalidInput:
        return False
    return isinstance(record, dict) and record.get("type") == "export" and record.get("format") == FORMAT_NAME


class _Reading:
    def __init__(self, importer: Importer) -> None:
        self.is_whole = False
        self._importer = importer
        self._restoring = Restoring(importer)
        self._kinds: dict[str, Callable[[str, JsonObject], None]] = {
            "memory": self._memory,
            "session": self._session,
            "message": self._message,
            "end": self._end,
        }

    def line(self, place: str, data: bytes | None) -> None:
        """Take in a line; one that breaks a rule is counted."""
        if data is None:
            self._importer.unreadable(place, f"it is longer than {_LONGEST >> 20} MiB")
            return
        try:
            record = json_of(data)
            kind = record.get("type") if isinstance(record, dict) else None
            take = self._kinds.get(kind) if isinstance(kind, str) else None
            if take is None:
                raise InvalidInput("it is no record that picomem knows")
            take(place, record)
        except InvalidInput as error:
            self._importer.unreadable(place, str(error).rstrip("."))

    def _memory(self, place: str, record: JsonObject) -> None:
        importer = self._importer
        memory = read_memory(record, importer.scope.user, importer.now, importer.clean)
        importer.add(lambda tx, writer: self._restoring.memory(tx, writer, place, memory))

    def _session(self, place: str, record: JsonObject) -> None:
        importer = self._importer
        session = read_session(record, importer.scope.user, importer.now, importer.clean)
        importer.add(lambda tx, writer: self._restoring.session(tx, writer, place, session))

    def _message(self, place: str, record: JsonObject) -> None:
        message = read_message(record, self._importer.now)
        self._importer.add(lambda tx, writer: self._restoring.message(tx, writer, place, message))

    def _end(self, _place: str, _record: JsonObject) -> None:
        self.is_whole = True


FORMATS = (PicomemExport(),)
