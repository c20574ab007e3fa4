"""OpenClaw's database `~/.openclaw/agents/<agent>/agent/openclaw-agent.sqlite`: the same records as its JSON lines.

    transcript_events(session_id, seq, event_json | event_zstd, …)   a record a row, the larger ones compressed
    transcript_rewrite_watermarks(session_id, generation)            another generation: the session was rewritten
    session_windows(session_id, session_key, chat_type, hook_external_content_source, …)
    session_nodes(session_key, current_session_id, entry_json)       who speaks in it: see senders.py

No specification exists; other tables and columns are not read. The file is another program's, and is only read
(see host_database.py); what is too long is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from picomem.errors import InvalidInput, NotFound
from picomem.ingest.formats.openclaw.senders import PEER, SPEAKER, of_session, peer_of
from picomem.ingest.host_database import HostDatabase
from picomem.ingest.noise import visible
from picomem.ingest.reader import LONGEST, WINDOW, Line, needs_too_much_memory
from picomem.ingest.record_fields import record_of
from picomem.ingest.source import SourceState, look_at
from picomem.records.kinds import worst

_PAGE = 200  # records of one statement
_LONGEST_NAME = 200  # bytes of a session id
_LONGEST_ENTRY = 4 << 20  # bytes of what the host knows of a session


def holds_events(path: Path) -> bool:
    """Return whether a database has OpenClaw's table; not one that cannot be read."""
    with closing(HostDatabase(path)) as database:
        try:
            return bool(database.columns("transcript_events"))
        except (InvalidInput, NotFound):
            return False


@contextmanager
def sessions(path: Path) -> Iterator[Sequence[SessionRecords]]:
    """The sessions of the database, by their ids. Raises InvalidInput or NotFound."""
    with closing(HostDatabase(path)) as database:
        yield _sessions(path, database)


def _sessions(path: Path, database: HostDatabase) -> list[SessionRecords]:
    columns = database.columns("transcript_events")
    if not {"session_id", "seq"} <= columns or not {"event_json", "event_zstd"} & columns:
        raise InvalidInput(f"{path} has no table transcript_events of a known form; picomem cannot read it.")
    names = database.select(
        "SELECT CAST(session_id AS BLOB) FROM transcript_events "
        f"WHERE octet_length(session_id) BETWEEN 1 AND {_LONGEST_NAME} GROUP BY session_id ORDER BY session_id"
    )
    session_ids = [name.decode("utf-8", "replace") for (name,) in names]
    fit = [SessionRecords(path, database, name) for name in session_ids if name == visible(name)]
    ((others,),) = database.select(
        "SELECT count(DISTINCT coalesce(session_id, '')) FROM transcript_events "
        f"WHERE coalesce(octet_length(session_id), 0) NOT BETWEEN 1 AND {_LONGEST_NAME}"
    )
    left_out = others + len(session_ids) - len(fit)
    return [*fit, *([_LeftOut(path, database, left_out)] if left_out else [])]


class SessionRecords:
    """One session: its records by their number, `seq`."""

    def __init__(self, path: Path, database: HostDatabase, session: str) -> None:
        self.path = path
        self.session = session
        self.read = 0
        self._database = database

    def look(self) -> SourceState:
        """A look whose `file` is another one after the session was rewritten."""
        (last,) = self._database.select("SELECT max(seq) FROM transcript_events WHERE session_id = ?", self.session)[0]
        if last is None:
            return SourceState(0, 0, 0)
        if not isinstance(last, int) or last < 0:
            raise InvalidInput(f"{self.path} numbers the records of {self.session} in an unknown way.")
        version = f"{look_at(self.path).file} {self._generation()}"
        return SourceState(int.from_bytes(blake2b(version.encode(), digest_size=6).digest()), last + 1, 0)

    def lines(self, offset: int) -> Iterator[Line]:
        while page := self._page(offset):
            for seq, data in page:
                self.read += len(data or b"")
                yield Line(seq, seq + 1, data)
            offset = page[-1][0] + 1

    def fingerprint(self, upto: int) -> str:
        """A digest of the generation, the number of records before `upto`, and the first and the last of them."""
        (count,) = self._database.select(
            "SELECT count(*) FROM transcript_events WHERE session_id = ? AND seq < ?", self.session, upto
        )[0]
        first, last = self._page(0, 1), self._page(upto - 1, 1)
        if not first or not last or last[0][0] != upto - 1:
            return ""
        digest = blake2b(f"{self._generation()} {count} ".encode(), digest_size=12)
        for _, data in (*first, *last):
            digest.update(data or b"")
        return digest.hexdigest()

    def marks(self) -> dict[str, str]:
        """The speaker in the user's role, if the host names one."""
        windows = self._entries(
            "session_windows", "session_id", "session_key", ("chat_type", "hook_external_content_source", "spawned_by")
        )
        keys = [key for key, _ in windows]
        nodes = self._entries("session_nodes", "current_session_id", "session_key", ("entry_json",))
        for key in dict.fromkeys(keys):
            nodes += self._entries("session_nodes", "session_key", "session_key", ("entry_json",), key) if key else []
        entries: dict[str, dict[str, Any]] = {}
        for key, entry in (*windows, *map(_opened, nodes)):
            known = {name: value for name, value in entry.items() if value}
            entries[key] = {**entries.get(key, {}), **known}
        speakers = [speaker for key, entry in entries.items() if (speaker := of_session(key, entry)) is not None]
        peer = next(filter(None, (peer_of(key, entry) for key, entry in entries.items())), "")
        return {SPEAKER: worst(speakers).value, PEER: peer} if speakers else {}

    def _entries(
        self, table: str, by: str, key: str, wanted: Sequence[str], value: str = ""
    ) -> list[tuple[str, dict[str, Any]]]:
        """Of the rows about this session, or about `value`, the key and those of the wanted columns that there are."""
        columns = self._database.columns(table)
        if by not in columns:
            return []
        names = [name for name in wanted if name in columns]
        chosen = ", ".join(_cut(name) for name in (key, *names) if name in columns)
        if not chosen:
            return []
        rows = self._database.select(f"SELECT {chosen} FROM {table} WHERE {by} = ? LIMIT 20", value or self.session)
        has_key = key in columns
        return [
            (_said(row[0]) if has_key else "", {n: _said(v) for n, v in zip(names, row[has_key:], strict=True)})
            for row in rows
        ]

    def _generation(self) -> str:
        if not {"session_id", "generation"} <= self._database.columns("transcript_rewrite_watermarks"):
            return ""
        rows = self._database.select(
            "SELECT quote(substr(generation, 1, 200)) FROM transcript_rewrite_watermarks WHERE session_id = ?",
            self.session,
        )
        return str(rows[0][0]) if rows else ""

    def _page(self, offset: int, most: int = _PAGE) -> list[tuple[int, bytes | None]]:
        """Some records from `offset` on."""
        columns = self._database.columns("transcript_events")
        plain = "event_json" if "event_json" in columns else "NULL"
        packed = "event_zstd" if "event_zstd" in columns else "NULL"
        # A value that is too long is not even fetched.
        rows = self._database.select(
            f"SELECT seq, CASE WHEN octet_length({plain}) <= {LONGEST} THEN CAST({plain} AS BLOB) END, "
            f"CASE WHEN octet_length({packed}) <= {LONGEST} THEN CAST({packed} AS BLOB) END, "
            f"max(coalesce(octet_length({plain}), 0), coalesce(octet_length({packed}), 0)) "
            "FROM transcript_events WHERE session_id = ? AND seq >= ? AND typeof(seq) = 'integer' ORDER BY seq LIMIT ?",
            self.session,
            offset,
            most,
        )
        return [(seq, _data(plain, packed, size)) for seq, plain, packed, size in rows]


class _LeftOut(SessionRecords):
    """The sessions that cannot be read, last in order: to look at them is an error that tells so."""

    def __init__(self, path: Path, database: HostDatabase, count: int) -> None:
        super().__init__(path, database, "\0")  # no session is called so
        self._count = count

    def look(self) -> SourceState:
        raise InvalidInput(
            f"{self.path} has sessions ({self._count}) whose id is empty, longer than {_LONGEST_NAME} bytes or "
            "not plain text; they were not read."
        )


def session_entries(database: HostDatabase) -> Iterator[tuple[dict[str, Any] | None, str]]:
    """The entry and the id of each session that the host lists. An older session has the entry of its key. An entry
    that cannot be read is None."""
    entries: dict[str, dict[str, Any] | None] = {}
    if {"session_key", "current_session_id", "entry_json"} <= database.columns("session_nodes"):
        wanted = ("current_session_id", "entry_json")
        for key, session, entry in _every(database, "session_nodes", "session_key", wanted):
            entries[_said(key)] = {} if entry is None else record_of(entry)
            yield entries[_said(key)], _said(session)
    windows = database.columns("session_windows")
    if {"session_key", "session_id"} <= windows:
        known = {
            column: name for column, name in (("chat_type", "chatType"), ("channel", "channel")) if column in windows
        }
        for session, key, *values in _every(database, "session_windows", "session_id", ("session_key", *known)):
            told = {name: _said(value) for name, value in zip(known.values(), values, strict=True) if value}
            entry = entries.get(_said(key), {})
            yield None if entry is None else {**told, **entry}, _said(session)


def _every(database: HostDatabase, table: str, key: str, columns: Sequence[str]) -> Iterator[tuple[bytes | None, ...]]:
    """The key and these columns of every row, as bytes; nothing (b"") for a value that is too long."""
    cut = ", ".join(
        f"CASE WHEN octet_length({name}) > {_LONGEST_ENTRY} THEN x'' ELSE CAST({name} AS BLOB) END" for name in columns
    )
    last = b""
    while rows := database.select(
        f"SELECT CAST({key} AS BLOB) AS named, {cut} FROM {table} WHERE CAST({key} AS BLOB) > ? ORDER BY named LIMIT ?",
        last,
        _PAGE,
    ):
        yield from rows
        last = rows[-1][0]


def _cut(column: str) -> str:
    """A column as bytes; none of a value that is too long."""
    return f"CASE WHEN octet_length({column}) <= {_LONGEST_ENTRY} THEN CAST({column} AS BLOB) END"


def _said(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


def _opened(node: tuple[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    """A node of sessions with the entry that stands in it as JSON."""
    key, columns = node
    return key, record_of(columns.get("entry_json", "").encode()) or {}


def _data(plain: bytes | None, packed: bytes | None, size: int) -> bytes | None:
    """A record's bytes; none (b"") where it cannot be read, None where it is too long."""
    if plain is not None:
        return plain
    if packed is None:
        return None if size > LONGEST else b""
    import zstandard

    try:
        with zstandard.ZstdDecompressor(max_window_size=WINDOW).stream_reader(packed) as stream:
            data = stream.read(LONGEST + 1)
    except zstandard.ZstdError as error:
        return None if needs_too_much_memory(error) else b""
    return None if len(data) > LONGEST else data
