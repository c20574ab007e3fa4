"""Converts the errors of PostgreSQL to picomem's, in this one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors as postgres
from psycopg_pool import PoolClosed, PoolTimeout

from picomem import errors

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
    if isinstance(error, PoolClosed):
        return errors.StoreError(f"{store} was closed; open it again.")
    if isinstance(error, PoolTimeout):
        return errors.Locked(
            f"{store} gave no connection in time; nothing was written. Look whether the server runs, and try again."
        )
    if isinstance(error, postgres.LockNotAvailable):
        return errors.Locked(
            f"{store} has been locked by another process for {LOCK_SECONDS} seconds; nothing was written. Try again "
            "when it has finished."
        )
    if isinstance(error, postgres.DeadlockDetected | postgres.SerializationFailure):
        return errors.Locked(
            f"{store} was written by another process at the same time; nothing was written. Try again."
        )
    if isinstance(error, postgres.DiskFull):
        return errors.DiskFull(f"The disk of {store} is full; nothing was written. Free some space and run it again.")
    if isinstance(error, postgres.OutOfMemory):
        return errors.OutOfMemory(f"The server of {store} is out of memory; nothing was written. Try again.")
    if isinstance(error, postgres.InsufficientPrivilege | postgres.ReadOnlySqlTransaction):
        return errors.ReadOnly(f"{store} cannot be written ({said}); check the rights of the role.")
    if isinstance(error, postgres.DataCorrupted | postgres.IndexCorrupted):
        return errors.Corrupt(f"{store} is damaged ({said}); restore it from a backup of the server.")
    if isinstance(error, postgres.UndefinedTable | postgres.UndefinedColumn | postgres.InvalidSchemaName):
        return errors.Corrupt(f"{store} lacks a part of what it should hold ({said}); run `picomem doctor --repair`.")
    if isinstance(error, postgres.NumericValueOutOfRange):
        return errors.InvalidInput(f"A number is too large for a database ({said}).")
    if isinstance(error, postgres.QueryCanceled):
        return errors.StoreError(
            f"{store} ended a statement ({said}); nothing was written. Raise the limit of the role, or try "
            "again when the server has less to do."
        )
    if isinstance(error, psycopg.DataError) and "NUL" in said:
        return errors.InvalidInput("A text holds a NUL character, which PostgreSQL cannot keep; remove it.")
    if isinstance(error, psycopg.OperationalError):
        return errors.StoreError(
            f"{store} cannot be reached ({said}); check the address, the role and its password, or try "
            "again when the server answers."
        )
    return errors.StoreError(f"{store} could not be read or written: {said}.")
