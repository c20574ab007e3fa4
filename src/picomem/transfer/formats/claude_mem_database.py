"""claude-mem: its database `~/.claude-mem/claude-mem.db`, read as ingest reads hosts' databases, and never written.

    observations(id, project, type, title, subtitle, narrative, text, facts, concepts, created_at_epoch, …)
    session_summaries(id, project, request, learned, completed, next_steps, created_at_epoch, …)

Each fact of an observation becomes an entry; one without facts becomes an entry of its title and its text. Of a summary
only what was learned is taken. claude-mem's model words all of it, so it is an agent's. The user's prompts are passed
over: they stand in Claude Code's transcripts, which `ingest` reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from picomem.errors import InvalidInput, NotFound
from picomem.ingest.host_database import HostDatabase
from picomem.ingest.source import check_database, is_database
from picomem.records.kinds import Kind
from picomem.transfer.foreign_files import check_size, json_of, time_of
from picomem.transfer.importer import ImportedEntry, Importer

_PAGE = 200
_LONGEST = 1 << 20  # bytes of a value
_KINDS = {"decision": Kind.DECISION}
_OBSERVED = ("project", "type", "title", "subtitle", "narrative", "text", "facts", "concepts")
_SUMMARISED = ("project", "request", "learned")
_TIMES = ("created_at_epoch", "created_at")


class ClaudeMemDatabase:
    """The one database of claude-mem."""

    name = "claude-mem"
    example = "~/.claude-mem/claude-mem.db"
    serves_all_users = False
    is_fallback = False

    def claims(self, path: Path) -> bool:
        if not is_database(path):
            return False
        check_database(path)
        with closing(HostDatabase(path)) as database:
            try:
                return {"title", "facts"} <= database.columns("observations")
            except (InvalidInput, NotFound):
                return False

    def read(self, path: Path, importer: Importer) -> None:
        if not is_database(path):
            raise InvalidInput(f"{path} is not called like a database; name claude-mem.db.")
        check_database(path)
        check_size(path)
        with closing(HostDatabase(path)) as database:
            if not database.columns("observations"):
                raise InvalidInput(f"{path} is no database of claude-mem: it has no table of observations.")
            for row in _rows(database, importer, path, "observations", _OBSERVED):
                _offer_observation(importer, row)
            for row in _rows(database, importer, path, "session_summaries", _SUMMARISED):
                _offer_summary(importer, row)
            if database.columns("user_prompts"):
                ((prompts,),) = database.select("SELECT count(*) FROM user_prompts")
                importer.report.passed_over["prompt"] += int(prompts)


def _rows(
    database: HostDatabase, importer: Importer, path: Path, table: str, wanted: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    """The rows of a table, with those of the wanted columns that it has. What is too long is left out and counted, and
    so is a row without a number. Rows may share an id: a table that was copied has no key."""
    columns = database.columns(table)
    if "id" not in columns:
        return
    names = [name for name in (*wanted, *_TIMES) if name in columns]
    key = next((key for key in ("rowid", "oid", "_rowid_") if key not in columns), "rowid")
    # A value that is too long is not even fetched, and a text that is no UTF-8 is read as bytes.
    chosen = "".join(
        f", CASE WHEN typeof({name}) IN ('integer', 'real') THEN {name} "
        f"WHEN octet_length({name}) <= {_LONGEST} THEN CAST({name} AS BLOB) END, octet_length({name}) > {_LONGEST}"
        for name in names
    )
    ((count,),) = database.select(f"SELECT count(*) FROM {table}")
    last, done = -(2**63), 0
    while page := database.select(
        f"SELECT {key}, CASE WHEN typeof(id) = 'integer' THEN id END{chosen} FROM {table} "
        f"WHERE {key} > ? ORDER BY {key} LIMIT {_PAGE}",
        last,
    ):
        for number, row_id, *values in page:
            if number <= last:
                raise InvalidInput(f"The rows of {table} are out of order: the database is damaged.")
            last = number
            if row_id is None:
                importer.unreadable(f"row {number} of {table}", "its id is no number")
                continue
            for name in (name for name, is_too_long in zip(names, values[1::2], strict=True) if is_too_long):
                importer.unreadable(f"row {row_id} of {table}", f"its {name} is longer than {_LONGEST >> 20} MiB")
            texts = (value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in values[::2])
            yield {"id": row_id, **dict(zip(names, texts, strict=True))}
        done += len(page)
        importer.done_with(done, count, path)


def _offer_observation(importer: Importer, row: dict[str, Any]) -> None:
    place = f"observation {row['id']}"
    title = _text(row, "title")
    told = _text(row, "narrative") or _text(row, "subtitle") or _text(row, "text")
    contents = [*_names(row, "facts")] or [f"{title}: {told}" if title and told else title or told]
    if not contents[0].strip():
        importer.unreadable(place, "it has no text")
        return
    for content in contents:
        importer.offer(
            ImportedEntry(
                identity=f"observation {row['id']} {_text(row, 'created_at')}",
                place=place,
                content=content,
                context=title if title and title not in content else "",
                kind=_KINDS.get(_text(row, "type")),
                tags=(_text(row, "type"), *_names(row, "concepts")),
                at=time_of(row, *_TIMES),
                project=_text(row, "project"),
            )
        )


def _offer_summary(importer: Importer, row: dict[str, Any]) -> None:
    learned = _text(row, "learned")
    if not learned:
        importer.report.passed_over["summary that says nothing of what was learned"] += 1
        return
    importer.offer(
        ImportedEntry(
            identity=f"summary {row['id']} {_text(row, 'created_at')}",
            place=f"summary {row['id']}",
            content=learned,
            context=_text(row, "request"),
            kind=Kind.INSIGHT,
            at=time_of(row, *_TIMES),
            project=_text(row, "project"),
        )
    )


def _text(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    return value.strip() if isinstance(value, str) else ""


def _names(row: dict[str, Any], name: str) -> list[str]:
    """A column that holds a list as JSON."""
    try:
        values = json_of(_text(row, name) or "[]")
    except InvalidInput:
        return []
    return [value for value in values if isinstance(value, str) and value.strip()] if isinstance(values, list) else []


FORMATS = (ClaudeMemDatabase(),)
