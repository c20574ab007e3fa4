"""Tombstones: digests of purged entries, which must not come back. Every call takes a scope.

A tombstone is a digest of the identity of a session, a file or a turn, or of words, under a key that only this database
has. The digests alone reveal nothing; anyone who has the database has the key too, and can test whether a name, or a
text, that they know was purged.

A copy of a conversation (a fork, a resumed session, a file under another name) may give its messages new ids, new
times, or both. So an episode leaves up to three digests:

- its identity, which a copy shares if the host's ids are unique in the world, or if it gives times and no ids;
- its words, if they are at least `_DISTINCTIVE` bytes long: shorter ones are said by everybody, and could be guessed
  from their digest. Who says the same sentence later makes a new statement. So the words bar only what was said before
  the purge: up to its moment, or, if it was a purge by age, up to that age. In a transcript that names a purged session
  as the one that it copies, they bar whatever its time. Words without a time bar words without a time, and only after
  a purge by choice: a copy cannot be told there from a repetition, and what a person chose to erase must not return;
- its moment and its first line, if the words alone do not decide: they are short, or have several lines. An agent's
  remarks are packed together, and a copy may end, or go on differently, within such an episode.

A digest takes about 80 bytes. A message of fewer bytes whose copy has another time is not recognised, and
neither are the remarks of an agent, if a copy has other times and ends within an episode.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TypeVar

from picomem.blake2b import blake2b
from picomem.clock import Micros
from picomem.records.ids import new_id
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.row_hash import is_whole
from picomem.store.sql_access import sql
from picomem.store.tables import meta, user_entries

EVERYTHING = "everything"  # the mark of a purge of all that a user has
_PERSON = b"picomem.purged"
_Name = TypeVar("_Name")
_DISTINCTIVE = 32  # bytes of UTF-8: about six words, or eleven Chinese characters


def begin(tx: Transaction, scope: Scope, *, everything: bool) -> None:
    """Say in the database that a purge of this user is not finished, and whether it is of everything.

    Each purge has a mark of its own: another process may purge the same user at the same time, and whichever ends first
    must not call the other one finished.
    """
    mark = f"{EVERYTHING if everything else 'some'}:{new_id()}"
    user_entries.put(tx, scope, user_entries.PURGE, " ".join([*marks(tx, scope), mark]))


def marks(tx: Transaction, scope: Scope) -> list[str]:
    """The marks of the purges of this user that were begun and are not finished. Raises Corrupt."""
    return (user_entries.value(tx, scope, user_entries.PURGE) or "").split()


def is_of_everything(marks: Iterable[str]) -> bool:
    """Return whether one of these purges is of all that the user has."""
    return any(mark.partition(":")[0] == EVERYTHING for mark in marks)


def is_begun(tx: Transaction, scope: Scope) -> bool:
    """Return whether a purge of a user was begun and not finished; its mark may be damaged."""
    return user_entries.is_there(tx, scope, user_entries.PURGE)


def end(tx: Transaction, scope: Scope, done: Iterable[str]) -> None:
    """All that these purges have to do is done; one that was begun since keeps its mark."""
    left = [mark for mark in marks(tx, scope) if mark not in set(done)]
    if left:
        user_entries.put(tx, scope, user_entries.PURGE, " ".join(left))
    else:
        user_entries.remove(tx, scope, user_entries.PURGE)


def copy(source: Transaction, target: Transaction, scope: Scope) -> None:
    """Take over the tombstones of a user from another copy of the same store, which has the same key. A damaged one is
    taken over as one that bars whatever is said later, for its size may be wrong."""
    for row in sql(source).all("all_tombstones", user=scope.user):
        size = row[1] if is_whole("tombstones", row) else None
        sql(target).run("put_tombstone", user=scope.user, digest=row[0], size=size)


def count(tx: Transaction, scope: Scope) -> int:
    """Return how many tombstones a user has: none where nothing was ever purged."""
    return len(sql(tx).all("all_tombstones", user=scope.user))


class Tombstones:
    """The tombstones of one user, in one transaction. Raises Corrupt where their key is damaged: no tombstone would be
    found by another key, and what was purged would come back."""

    def __init__(self, tx: Transaction, scope: Scope) -> None:
        self._tx = tx
        self._scope = scope
        self._key = meta.key(tx)

    def put_transcript(self, host: str, session: str, path: str, size: int | None) -> None:
        """Bury a session, or a file that names none. If its size is another than `size`, something else stands in it,
        which may be read; with None nothing may, whatever is said later."""
        sql(self._tx).run(
            "put_tombstone", user=self._scope.user, digest=self._transcript(host, session, path), size=size
        )

    def put_title(self, title: str) -> None:
        """Bury the title of a session, in whichever transcript a copy of it stands."""
        if title:
            sql(self._tx).run("put_tombstone", user=self._scope.user, digest=self._digest("title", title), size=None)

    def bars_title(self, title: str) -> bool:
        """Return whether a purged session was called so."""
        return bool(title) and bool(self._found([self._digest("title", title)]))

    def put_episode(self, identity: str) -> None:
        """Bury a turn, in whichever transcript a copy of it stands."""
        digest = self._digest("episode", identity)
        sql(self._tx).run("put_tombstone", user=self._scope.user, digest=digest, size=None)

    def put_words(self, text: str, said_at: Micros | None, until: Micros, *, by_choice: bool) -> None:
        """Bury what was said, for copies of it that were said until a time; see above."""
        words = _normal(text)
        if _is_distinctive(words):
            if said_at is not None:
                sql(self._tx).run(
                    "put_words_tombstone", user=self._scope.user, digest=self._digest("words", words), size=until
                )
            elif by_choice:
                digest = self._digest("words without time", words)
                sql(self._tx).run("put_tombstone", user=self._scope.user, digest=digest, size=None)
        if said_at is not None and (not _is_distinctive(words) or "\n" in text.strip()):
            digest = self._moment(text, said_at)
            sql(self._tx).run("put_tombstone", user=self._scope.user, digest=digest, size=None)

    def words(self, said: Mapping[_Name, tuple[str, Micros | None]], *, is_copy: bool = False) -> set[_Name]:
        """The names of texts, given with their times, that are copies of purged ones. `is_copy`: they are known to
        come from a conversation of which something was purged."""
        if not said or not self._is_anything_buried():
            return set()
        asked = {name: self._digests_of(text, at, is_copy=is_copy) for name, (text, at) in said.items()}
        buried = self._found(dict.fromkeys(digest for digests in asked.values() for digest in digests))
        return {
            name
            for name, digests in asked.items()
            if any(
                digest in buried and (is_copy or (until := buried[digest]) is None or (said[name][1] or 0) <= until)
                for digest in digests
            )
        }

    def _digests_of(self, text: str, said_at: Micros | None, *, is_copy: bool) -> list[str]:
        words = _normal(text)
        digests = [] if said_at is None else [self._moment(text, said_at)]
        if _is_distinctive(words):
            digests += [self._digest("words", words)] if is_copy or said_at is not None else []
            digests += [self._digest("words without time", words)] if is_copy or said_at is None else []
        return digests

    def _moment(self, text: str, said_at: Micros) -> str:
        return self._digest("moment", str(said_at), _normal(text.strip().partition("\n")[0]))

    def _is_anything_buried(self) -> bool:
        return sql(self._tx).one("any_tombstone", user=self._scope.user) is not None

    def put_memory(self, name: str) -> None:
        """Bury a memory, which a file to import may still hold, by its id or by what identifies it in that file."""
        digest = self._digest("memory", name)
        sql(self._tx).run("put_tombstone", user=self._scope.user, digest=digest, size=None)

    def bars_memory(self, name: str) -> bool:
        """Return whether a version of that memory was purged."""
        return bool(self._found([self._digest("memory", name)]))

    def put_copy(self, host: str, session: str, path: str, size: int) -> None:
        """Bury a transcript of which all was a copy, so that nothing else is known of it: no path, and no project."""
        digest = self._digest("copy", host, session, path)
        sql(self._tx).run("put_tombstone", user=self._scope.user, digest=digest, size=size)

    def bars(self, host: str, session: str, path: str, size: int) -> bool:
        """Return whether a transcript that is so large now may not be read."""
        copy = self._digest("copy", host, session, path)
        tombstones = self._found([self._transcript(host, session, path), copy])
        return any(buried is None or size == buried for buried in tombstones.values())

    def bars_what_is_new(self, host: str, session: str) -> bool:
        """Return whether a session was purged by choice, so that what is said in it later stays out as well."""
        return None in self._found([self._transcript(host, session, "")]).values()

    def touches(self, host: str, session: str, path: str) -> bool:
        """Return whether something of that transcript was purged."""
        return bool(self._found([self._transcript(host, session, path)]))

    def episodes(self, identities: Iterable[str]) -> set[str]:
        """The identities that are buried."""
        digests = {self._digest("episode", identity): identity for identity in identities}
        return {digests[digest] for digest in self._found(digests)}

    def _transcript(self, host: str, session: str, path: str) -> str:
        return self._digest("session", host, session) if session else self._digest("file", host, path)

    def _found(self, digests: Iterable[str]) -> dict[str, int | None]:
        asked = json.dumps(list(digests))
        rows = sql(self._tx).all("tombstones", user=self._scope.user, digests=asked) if asked != "[]" else []
        # Of a damaged one the size may be wrong: nothing of what it bars may be read.
        return {row[0]: row[1] if is_whole("tombstones", row) else None for row in rows}

    def _digest(self, *parts: str) -> str:
        digest = blake2b(key=self._key, person=_PERSON, digest_size=12)
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(4, "big"))
            digest.update(data)
        return digest.hexdigest()


def distinctive_words(text: str) -> str:
    """The words by which a copy of a text is recognised, whatever its time; empty if they are too few for that."""
    words = _normal(text)
    return words if _is_distinctive(words) else ""


def _normal(text: str) -> str:
    return " ".join(text.split()).casefold()


def _is_distinctive(words: str) -> bool:
    return len(words.encode("utf-8", "surrogatepass")) >= _DISTINCTIVE
