"""Converts the errors of PostgreSQL to picomem's, in this one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors as postgres
from psycopg_pool import PoolClosed, PoolTimeout

from picomem import errors
from picomem.coded_text import CodedText, Command

LOCK_SECONDS = 30


@contextmanager
def postgres_translated(store: str) -> Iterator[None]:
    """Turn the library's errors into picomem's. `store` is the address without its password."""
    try:
        yield
    except (psycopg.Error, PoolTimeout, PoolClosed) as error:
        raise postgres_translation(error, store) from error


def postgres_translation(error: Exception, store: str) -> errors.PicomemError:
    """The error of ours for one of the library's, with a sentence that says what to do."""
    said = " ".join(str(error).split()).rstrip(".")
    if isinstance(error, psycopg.DataError) and "NUL" in said:
        return errors.InvalidInput("A text holds a NUL character, which PostgreSQL cannot keep; remove it.")
    if isinstance(error, postgres.UndefinedTable | postgres.UndefinedColumn | postgres.InvalidSchemaName):
        repair = Command("doctor", repair=True)
        return errors.Corrupt(CodedText("failure.incomplete_store", place=store, problem=said, command=repair))
    for kinds, ours, sentence in _SENTENCES:
        if isinstance(error, kinds):
            return ours(sentence.format(store=store, said=said))
    return errors.StoreError(f"{store} could not be read or written: {said}.")


# The first line that fits an error counts.
_SENTENCES: tuple[tuple[tuple[type[Exception], ...], type[errors.PicomemError], str], ...] = (
    ((PoolClosed,), errors.StoreError, "{store} was closed; open it again."),
    (
        (PoolTimeout,),
        errors.Locked,
        "{store} gave no connection in time; nothing was written. Look whether the server runs, and try again.",
    ),
    (
        # What Citus says of one of its machines: that of the server itself has no such code.
        (postgres.ConnectionFailure, postgres.ConnectionDoesNotExist, postgres.SqlclientUnableToEstablishSqlconnection),
        errors.Unreachable,
        "A machine of {store} does not answer ({said}), so the memory that it holds can be neither read nor written; "
        "try again when it runs.",
    ),
    (
        (postgres.LockNotAvailable,),
        errors.Locked,
        f"{{store}} has been locked by another process for {LOCK_SECONDS} seconds; nothing was written. Try again "
        "when it has finished.",
    ),
    (
        (postgres.DeadlockDetected, postgres.SerializationFailure),
        errors.Locked,
        "{store} was written by another process at the same time; nothing was written. Try again.",
    ),
    (
        (postgres.DiskFull,),
        errors.DiskFull,
        "The disk of {store} is full; nothing was written. Free some space and run it again.",
    ),
    (
        (postgres.OutOfMemory,),
        errors.OutOfMemory,
        "The server of {store} is out of memory; nothing was written. Try again.",
    ),
    (
        (postgres.InsufficientPrivilege, postgres.ReadOnlySqlTransaction),
        errors.ReadOnly,
        "{store} cannot be written ({said}); check the rights of the role.",
    ),
    (
        (postgres.DataCorrupted, postgres.IndexCorrupted),
        errors.Corrupt,
        "{store} is damaged ({said}); restore it from a backup of the server.",
    ),
    ((postgres.NumericValueOutOfRange,), errors.InvalidInput, "A number is too large for a database ({said})."),
    (
        (postgres.QueryCanceled,),
        errors.StoreError,
        "{store} ended a statement ({said}); nothing was written. Raise the limit of the role, or try again when the "
        "server has less to do.",
    ),
    (
        (psycopg.OperationalError,),
        errors.StoreError,
        "{store} cannot be reached ({said}); check the address, the role and its password, or try again when the "
        "server answers.",
    ),
)
