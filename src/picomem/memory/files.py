"""Files that an agent keeps as a whole, under a path: what foreign memory tools think in.

A file is a memory like any other: redacted, versioned, with its changes on record, found by recall, forgotten, purged.
What differs is that its text is the agent's to lay out. So it is not matched with what is known, and the gate only
refuses what nobody may store: too much, and words that would take a later reader over.

Writers agree by versions (compare and set, in the writing transaction). An operation that says who it is, is done once:
the change that it made carries its name as its run, and is found again when it is repeated.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from picomem.clock import Clock
from picomem.errors import Conflict, InvalidInput, NotFound, Refused
from picomem.memory.clean import Cleaner
from picomem.memory.remember import Writer
from picomem.policy.injection import is_hijack
from picomem.policy.refusal import LONGEST_CONTENT, Refusal
from picomem.records.ids import content_hash, new_id
from picomem.records.kinds import Kind, Origin
from picomem.records.memory import Change, Memory
from picomem.records.scope import Scope
from picomem.store import audit, memories
from picomem.store.connector import Connector, Transaction
from picomem.text.plain import plain
from picomem.text.tokens import count_tokens
from picomem.values import dataclass, replace

_TAG = "file"
_CONTEXT = "the file "  # and its path: what a file's memory says of why it matters
_LONGEST_PATH = 400


@dataclass(frozen=True, slots=True)
class File:
    """A file as it is stored. `version` is another after each write; `operation` is what wrote it, if it said so."""

    path: str
    text: str
    version: str
    operation: str


@dataclass(frozen=True, slots=True)
class Operation:
    """A write that is done once however often it is sent; `fingerprint` stands for all that it was asked to do."""

    id: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did. `version` is None where the file is gone; `existed` whether it was there before; `replayed`
    whether it had been done already."""

    version: str | None
    existed: bool
    replayed: bool = False


class Files:
    """The files of one scope."""

    def __init__(
        self,
        connector: Connector,
        scope: Scope,
        writer: Callable[[], Writer],
        cleaner: Callable[[], Cleaner],
        clock: Clock,
    ) -> None:
        self._connector = connector
        self._scope = scope
        self._writer = writer
        self._cleaner = cleaner
        self._clock = clock

    def read(self, path: str) -> File | None:
        """The file, or None where there is none. Raises InvalidInput for what is no path."""
        key = _key(self._checked(path))
        with self._connector.read() as tx:
            found = memories.by_key(tx, self._scope, key)
            return None if found is None else self._file(tx, found)

    def paths(self, prefix: str = "") -> list[str]:
        """The paths of all files that begin so, in their order."""
        with self._connector.read() as tx:
            known = memories.current(tx, self._scope, self._clock())
        found = [_path(memory) for memory in known if _TAG in memory.tags and memory.scope == self._scope]
        return sorted(path for path in found if path and path.startswith(prefix))

    def write(self, path: str, text: str, *, expected: str | None, operation: Operation | None = None) -> Written:
        """Make the file, where `expected` is None, or put this text in the place of that version's.

        Raises Conflict where the file is another by now, Refused where the gate says no, InvalidInput.
        """
        path = self._checked(path)
        clean = self._cleaner().shown_text(plain(text))
        _check(clean)
        with self._connector.write(self._scope) as tx:
            if operation and (done := self._done(tx, operation)) is not None:
                return done
            old = self._expected(tx, path, expected)
            writer = replace(self._writer(), verb="revise" if old else "remember", run=_run(operation))
            if old is None:
                made = self._made(tx, writer, path, clean, _reason("written", operation))
            else:
                made = writer.replace_version(
                    tx, old, {"content": clean}, old.valid_from, "revise", _reason("written", operation)
                )
            return Written(made.change_id, old is not None)

    def delete(self, path: str, *, expected: str | None, operation: Operation | None = None) -> Written:
        """Archive the file, where it is of that version. Raises Conflict where it is another by now."""
        path = self._checked(path)
        with self._connector.write(self._scope) as tx:
            if operation and (done := self._done(tx, operation)) is not None:
                return done
            old = self._expected(tx, path, expected)
            if old is not None:
                writer = replace(self._writer(), verb="forget", run=_run(operation))
                writer.forget(tx, self._scope, old.id, _reason("deleted", operation))
            return Written(None, old is not None)

    def move(self, path: str, to: str) -> None:
        """Give a file another path. Raises NotFound, and Conflict where one is there already."""
        with self._connector.write(self._scope) as tx:
            old = memories.by_key(tx, self._scope, _key(self._checked(path)))
            if old is None:
                raise NotFound(f"There is no file {path}.")
            if memories.by_key(tx, self._scope, _key(self._checked(to))) is not None:
                raise Conflict(f"There is a file {to} already.")
            writer = replace(self._writer(), verb="revise")
            self._made(tx, writer, to, old.content, f"moved from {path}")
            writer.forget(tx, self._scope, old.id, f"moved to {to}")

    def done(self, operation: Operation) -> Written | None:
        """What an operation did when it was sent before; None where it was not. Raises Conflict where another one was
        sent under its id."""
        with self._connector.read() as tx:
            return self._done(tx, operation)

    # Parts

    def _checked(self, path: str) -> str:
        parts = path.split("/")
        plain_name = len(path) <= _LONGEST_PATH and path.isprintable() and plain(path) == path
        if not plain_name or any(not part.strip() or part in (".", "..") for part in parts):
            raise InvalidInput(f"“{plain(path[:80])}” is no path of a file; write it as notes/plan.md.")
        if self._cleaner().text(path) != path:
            raise InvalidInput("The path looks like a secret; choose another.")
        return path

    def _expected(self, tx: Transaction, path: str, expected: str | None) -> Memory | None:
        found = memories.by_key(tx, self._scope, _key(path))
        if (found.change_id if found else None) != expected:
            raise Conflict(f"The file {path} changed since it was read; read it again and repeat the change.")
        return found

    def _made(self, tx: Transaction, writer: Writer, path: str, text: str, reason: str) -> Memory:
        id_ = new_id()
        change = writer.record(tx, self._scope, "add", reason, memory_id=id_, after=1)
        made = Memory(
            id=id_,
            version=1,
            scope=self._scope,
            key=_key(path),
            kind=Kind.FACT,
            content=text,
            context=_CONTEXT + path,
            tags=(_TAG,),
            origin=Origin.AGENT,
            valid_from=writer.now,
            known_from=writer.now,
            created_at=writer.now,
            tokens=count_tokens(text),
            change_id=change.id,
        )
        return writer.open_version(tx, made, [])

    def _file(self, tx: Transaction, memory: Memory) -> File:
        change = audit.change(tx, self._scope, memory.change_id)
        run = change.run if change else ""
        operation = run.removeprefix(_RUN) if run.startswith(_RUN) else ""
        return File(_path(memory), self._cleaner().shown_text(memory.content), memory.change_id, operation)

    def _done(self, tx: Transaction, operation: Operation) -> Written | None:
        changes = audit.of_run(tx, self._scope, _run(operation))
        if not changes:
            return None
        change: Change = changes[-1]
        if not change.reason.endswith(_fingerprint(operation)):
            raise Conflict(
                f"The operation {operation.id[:80]} was sent before, and asked for something else.",
                operation=operation.id,
            )
        return Written(change.id if change.after is not None else None, change.before is not None, replayed=True)


_RUN = "file:"


def _run(operation: Operation | None) -> str:
    return _RUN + operation.id if operation else new_id()


def _reason(said: str, operation: Operation | None) -> str:
    return f"{said} as a whole{_fingerprint(operation) if operation else ''}"


def _fingerprint(operation: Operation) -> str:
    return f" (asked for {content_hash(operation.fingerprint)[:16]})"


def _key(path: str) -> str:
    """A readable key that is this path's alone."""
    words = re.sub(r"[^a-z0-9]+", "_", path.lower()).strip("_")[:40]
    return f"{_TAG}_{words}_{content_hash(path)[:12]}"


def _path(memory: Memory) -> str:
    return memory.context.removeprefix(_CONTEXT) if memory.context.startswith(_CONTEXT) else ""


def _check(text: str) -> None:
    if len(text) > LONGEST_CONTENT:
        raise InvalidInput(f"The file has {len(text):,} characters, and {LONGEST_CONTENT:,} fit; split it.")
    if is_hijack(text):
        raise Refused(f"Not written: {Refusal.UNTRUSTED_INSTRUCTION.reason}")
