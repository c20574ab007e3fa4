"""Whole files that an agent keeps under a path, as other memory tools expect.

A file is a memory like any other: redacted, versioned, with its changes on record, found by recall, forgotten,
purged. The difference is that the agent controls the layout of its text. So it is not compared with other memories,
and the gate only refuses text that nobody may store: text that is too long, and text that would manipulate a later
reader; of text that nobody trusted wrote also what gives orders.

Writers coordinate by versions (compare and set, in the writing transaction). An operation with an id is done once:
its change has the id as its idempotency key, and is found again when the operation is repeated.
"""

from __future__ import annotations

import re

from picomem.coded_text import CodedText
from picomem.emulation.agent_store import AgentStore
from picomem.errors import Conflict, InvalidInput, NotFound, Refused
from picomem.light_dataclass import dataclass, replace
from picomem.memory.decide import version_origin
from picomem.memory.remember import Writer
from picomem.memory.text_cleaning import Cleaner
from picomem.policy.gate import judge, judge_names
from picomem.policy.prompt_injection import is_hijack
from picomem.policy.refusal import LONGEST_CONTENT, Refusal
from picomem.records.ids import content_hash, new_id
from picomem.records.kinds import Kind, Origin, worst
from picomem.records.memory import Change, Memory
from picomem.store.connector import Transaction
from picomem.store.tables import audit, memories
from picomem.text.storable import plain
from picomem.text.tokens import count_tokens

_TAG = "file"
_CONTEXT = "the file "  # and its path: by these words recall finds a file
_LONGEST_PATH = 400


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as it is stored. `version` is another after each write; `operation` is what wrote it, if it said so. Text
    of an untrusted `origin` is data for its reader."""

    path: str
    text: str
    version: str
    operation: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class FileWrite:
    """A write that is done once however often it is sent; `fingerprint` stands for all that it was asked to do."""

    id: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a write. `version` is None where the file is gone; `existed` whether it was there before;
    `replayed` whether it had been done already."""

    version: str | None
    existed: bool
    replayed: bool = False


class Files:
    """The files of one scope."""

    def __init__(self, store: AgentStore) -> None:
        self._agent_store = store
        self._connector = store.connector
        self._scope = store.scope

    def read(self, path: str) -> StoredFile | None:
        """The file, or None where there is none. Raises InvalidInput for what is no path."""
        path = self._checked(path)
        with self._connector.read() as tx:
            memory = memories.by_path(tx, self._scope, path)
            return None if memory is None else self._file(tx, memory)

    def paths(self, prefix: str = "") -> list[str]:
        """The paths of all files that begin so, in their order."""
        with self._connector.read() as tx:
            files = memories.files(tx, self._scope)
        now = self._agent_store.clock()
        return sorted({file.path for file in files if file.current(now) and file.path.startswith(prefix)})

    def write(self, path: str, text: str, *, expected: str | None, operation: FileWrite | None = None) -> Written:
        """Make the file, where `expected` is None, or put this text in the place of that version's.

        Raises Conflict where the file is another by now, Refused where the gate says no, InvalidInput.
        """
        path = self._checked(path)
        clean = self._agent_store.cleaner().shown_text(plain(text))
        check_text(clean)
        with self._connector.write(self._scope) as tx:
            if operation and (done := self._done(tx, operation)) is not None:
                return done
            old = self._expected(tx, path, expected)
            origin = self._agent_store.origin_of(clean, [path], old.content if old else "")
            writer = self._writer_of("revise" if old else "remember", operation)
            if old is None:
                check_names(path, clean, origin)
                made = self._made(tx, writer, path, clean, origin, _WRITTEN)
            else:
                self._agent_store.check_may_replace(old, clean, origin)
                news: dict[str, object] = {"content": clean, "origin": version_origin(origin, old, changed=True)}
                made = writer.replace_version(tx, old, news, old.valid_from, "revise", _WRITTEN)
        self._agent_store.settle()
        return Written(made.change_id, old is not None)

    def delete(self, path: str, *, expected: str | None, operation: FileWrite | None = None) -> Written:
        """Archive the file, where it is of that version. Raises Conflict where it is another by now."""
        path = self._checked(path)
        return self._agent_store.deleting(lambda: self._deleted(path, expected, operation))

    def _deleted(self, path: str, expected: str | None, operation: FileWrite | None) -> Written:
        with self._connector.write(self._scope) as tx:
            if operation and (done := self._done(tx, operation)) is not None:
                return done
            old = self._expected(tx, path, expected)
            writer = self._writer_of("forget", operation)
            if old is not None:
                self._agent_store.check_may_forget(old)
                writer.forget(tx, self._scope, old.id, _DELETED)
            elif operation is not None:  # so that the same operation has the same answer when a file is there
                writer.record(tx, self._scope, "noop", _NOTHING_TO_DELETE)
            return Written(None, old is not None)

    def move(self, path: str, to: str) -> None:
        """Give a file another path. Raises NotFound, and Conflict where one is there already."""
        with self._connector.write(self._scope) as tx:
            old = memories.by_path(tx, self._scope, self._checked(path))
            if old is None:
                raise NotFound(f"There is no file {path}.")
            if memories.by_path(tx, self._scope, self._checked(to)) is not None:
                raise Conflict(f"The file {to} already exists.")
            writer = self._agent_store.writer("revise")
            self._agent_store.check_may_forget(old)
            origin = worst((old.origin, self._agent_store.origin_of(to, [], path)))
            check_names(to, "", origin)
            self._made(tx, writer, to, old.content, origin, CodedText("reason.moved_from", path=path))
            writer.forget(tx, self._scope, old.id, CodedText("reason.moved_to", path=to))
        self._agent_store.settle()

    def done(self, operation: FileWrite) -> Written | None:
        """The result of an operation that was sent before; None for a new one. Raises Conflict if another one was
        sent under its id."""
        with self._connector.read() as tx:
            return self._done(tx, operation)

    # Parts

    def _checked(self, path: str) -> str:
        return checked_path(path, self._agent_store.cleaner())

    def _expected(self, tx: Transaction, path: str, expected: str | None) -> Memory | None:
        memory = memories.by_path(tx, self._scope, path)
        if (memory.change_id if memory else None) != expected:
            raise Conflict(f"The file {path} changed since it was read; read it again and repeat the change.")
        return memory

    def _writer_of(self, verb: str, operation: FileWrite | None) -> Writer:
        writer = self._agent_store.writer(verb)
        if operation is None:
            return writer
        return replace(writer, idempotency_key=operation.id, request_hash=_request_hash(operation))

    def _made(self, tx: Transaction, writer: Writer, path: str, text: str, origin: Origin, reason: str) -> Memory:
        id_ = new_id()
        key = memories.free_key(tx, self._scope, _key(path))  # a person may have named another memory so
        change = writer.record(tx, self._scope, "add", reason, memory_id=id_, after=1)
        made = Memory(
            id=id_,
            version=1,
            scope=self._scope,
            key=key,
            kind=Kind.FACT,
            content=text,
            context=_CONTEXT + path,
            tags=(_TAG,),
            origin=origin,
            valid_from=writer.now,
            known_from=writer.now,
            created_at=writer.now,
            tokens=count_tokens(text),
            change_id=change.id,
            path=path,
        )
        return writer.open_version(tx, made, [])

    def _file(self, tx: Transaction, memory: Memory) -> StoredFile:
        change = audit.change(tx, self._scope, memory.change_id)
        operation = change.idempotency_key if change else ""
        return StoredFile(
            memory.path,
            self._agent_store.cleaner().shown_text(memory.content),
            memory.change_id,
            operation,
            memory.origin,
        )

    def _done(self, tx: Transaction, operation: FileWrite) -> Written | None:
        changes = audit.of_idempotency_key(tx, self._scope, operation.id)
        if not changes:
            return None
        change: Change = changes[-1]
        if change.request_hash != _request_hash(operation):
            raise Conflict(
                f"The operation {operation.id[:80]} was sent before with a different request.",
                operation=operation.id,
            )
        return Written(change.id if change.after is not None else None, change.before is not None, replayed=True)


# The reasons of changes.
_WRITTEN, _DELETED = CodedText("reason.file_written"), CodedText("reason.file_deleted")
_NOTHING_TO_DELETE = CodedText("reason.file_missing")


def _request_hash(operation: FileWrite) -> str:
    return content_hash(operation.fingerprint)[:16]


def _key(path: str) -> str:
    """A readable key that is this path's alone."""
    words = re.sub(r"[^a-z0-9]+", "_", path.lower()).strip("_")[:40]
    return f"{_TAG}_{words}_{content_hash(path)[:12]}"


def checked_path(path: str, cleaner: Cleaner) -> str:
    """The path itself. Raises InvalidInput for what is no path of a file."""
    plain_name = len(path) <= _LONGEST_PATH and path.isprintable() and plain(path) == path
    if not plain_name or any(not part.strip() or part in (".", "..") for part in path.split("/")):
        raise InvalidInput(CodedText("reason.no_file_path", path=plain(path[:80])))
    if cleaner.text(path) != path:
        raise InvalidInput(CodedText("reason.path_is_secret"))
    return path


def check_names(path: str, text: str, origin: Origin) -> None:
    """Raises Refused for a path that gives orders, and for a text of nobody trusted that does."""
    verdict = judge_names([path], origin)
    if verdict.keep and text and not origin.trusted:
        verdict = judge(text, kind=Kind.FACT, origin=origin, explicit=True)
    if not verdict.keep:
        raise Refused(CodedText("reason.not_written", why=verdict.reason))


def check_text(text: str) -> None:
    """Raises InvalidInput or Refused for a text that no file may hold."""
    if len(text) > LONGEST_CONTENT:
        raise InvalidInput(CodedText("reason.file_too_long", count=len(text), most=LONGEST_CONTENT))
    if is_hijack(text):
        raise Refused(CodedText("reason.not_written", why=Refusal.UNTRUSTED_INSTRUCTION.reason))
