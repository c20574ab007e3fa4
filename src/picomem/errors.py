"""Every error that picomem raises on purpose.

    PicomemError
    ├── InvalidInput          the request is wrong; the caller can mend it          exit 2, HTTP 400
    │   ├── InvalidKey        a key that breaks the rule; carries a suggestion
    │   ├── InvalidTime       a date that does not exist or cannot be read
    │   ├── TooLarge          more than a server takes, or gives, at once         HTTP 413
    │   └── TooSlow           a request that a server did not get in time         HTTP 408
    ├── NotFound              nothing under that id or key                          exit 3, HTTP 404
    ├── TooManyRequests       the caller asks a server too often                    exit 1, HTTP 429
    ├── ServerEnding          the server shuts down and takes nothing new           exit 1, HTTP 503
    ├── Forbidden             the caller lacks the permission                       exit 9, HTTP 403
    ├── Refused               the write gate said no, with a named reason           exit 4, HTTP 422
    ├── Conflict              the thing changed since it was read                   exit 5, HTTP 409
    ├── EmbedderFailed        texts could not be turned into vectors                exit 7, HTTP 502
    ├── GeneratorFailed       a text model gave no answer that can be used          exit 8, HTTP 502
    ├── OutputFailed          stdout takes no more (a full disk)                    exit 1, HTTP 500
    ├── Unsupported           the store's kind of database cannot do that           exit 10, HTTP 501
    └── StoreError            the database could not do it                          exit 6, HTTP 503
        ├── NoStore           there is no file, and none is to be made            exit 3, HTTP 404
        ├── NotADatabase      the file is something else, or is damaged
        ├── Sealed            the file is encrypted, and no key that was found opens it
        ├── NewerSchema       the file was written by a newer picomem
        ├── ReadOnly          the file or its folder cannot be written
        ├── DiskFull          no room left; nothing was written
        ├── OutOfMemory       the process may take no more memory; nothing was written
        ├── TooManyFiles      the process may open no more files
        ├── Locked            another process holds the write lock for too long
        ├── Unconfirmed       it may have been stored: the connection broke       HTTP 504
        ├── Unreachable       a machine of the store, or its server, does not answer
        ├── FilesMoved        the files were moved, deleted or replaced while they were open
        └── Corrupt           a row does not match its own hash

One mapping, `exit_code`, serves the command line; HTTP and JSON-RPC read `status` and `code`.
A message is one sentence that says what is wrong and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable


class PicomemError(Exception):
    """picomem could not do that; the message says why."""

    code = "error"
    exit_code = 1
    status = 500

    def __init__(self, message: str | None = None, **data: object) -> None:
        super().__init__(message or (self.__doc__ or "").strip())
        self.message: str = self.args[0]  # with its code and its values, where it has them
        self.data = data


class InvalidInput(PicomemError):
    """The request is not valid; mend what the message names."""

    code = "invalid_input"
    exit_code = 2
    status = 400


class InvalidKey(InvalidInput):
    """A key is lower-case letters, digits and underscores, starts with a letter, and is at most 64 long."""

    code = "invalid_key"


class InvalidTime(InvalidInput):
    """That date cannot be read; write it as 2026-05-03 or 2026-05-03T14:30."""

    code = "invalid_time"


class TooLarge(InvalidInput):
    """The request is too large; send it in several."""

    code = "too_large"
    status = 413


class TooSlow(InvalidInput):
    """The request did not come in time; send it again."""

    code = "too_slow"
    status = 408


class NotFound(PicomemError):
    """There is nothing under that name; look at the list for the right one."""

    code = "not_found"
    exit_code = 3
    status = 404


class Ambiguous(NotFound):
    """Several things have a name that begins so; write more of it."""

    code = "ambiguous"


class TooManyRequests(PicomemError):
    """Too many requests; `Retry-After`, and the field `retry_after`, say how many seconds to wait."""

    code = "too_many_requests"
    status = 429


class ServerEnding(PicomemError):
    """The server is ending and takes nothing new; try again in a few seconds."""

    code = "server_ending"
    status = 503


class Forbidden(PicomemError):
    """The caller does not have the permission for that; a token with another scope may have it."""

    code = "forbidden"
    exit_code = 9
    status = 403


class Refused(PicomemError):
    """The write gate refused to store that; word it as a lasting statement of one's own."""

    code = "refused"
    exit_code = 4
    status = 422


class Conflict(PicomemError):
    """It changed since it was read; read it again and repeat the change."""

    code = "conflict"
    exit_code = 5
    status = 409


class EmbedderFailed(PicomemError):
    """The embedder could not turn text into vectors; recall works by words meanwhile."""

    code = "embedder_failed"
    exit_code = 7
    status = 502


class GeneratorFailed(PicomemError):
    """The text model gave no usable answer; the conversation stays as it is. Try again, or choose another model."""

    code = "generator_failed"
    exit_code = 8
    status = 502


class OutputFailed(PicomemError):
    """The result could not be written to stdout; free space there and look at what was done."""

    code = "output_failed"


class Unsupported(PicomemError):
    """This kind of database cannot do that; use a store of the other kind."""

    code = "unsupported"
    exit_code = 10
    status = 501


class StoreError(PicomemError):
    """The database could not do that; try again, and look at it with `doctor`."""

    code = "store_error"
    exit_code = 6
    status = 503


class NoStore(StoreError):
    """There is no store yet; what stores something first makes one."""

    code = "no_store"
    exit_code = NotFound.exit_code
    status = NotFound.status


class NotADatabase(StoreError):
    """The file is not a picomem database; name another, or restore a backup."""

    code = "not_a_database"


class Sealed(StoreError):
    """This store is sealed, and the key that was given does not open it; give the key with which it was sealed."""

    code = "sealed"


class NewerSchema(StoreError):
    """The database was written by a newer picomem; upgrade picomem to open it."""

    code = "newer_schema"


class ReadOnly(StoreError):
    """The database cannot be written here; recall works, changes need the right to write the file and its folder."""

    code = "read_only"


class DiskFull(StoreError):
    """The disk is full; nothing was written. Free some space and run it again."""

    code = "disk_full"


class OutOfMemory(StoreError):
    """There is not enough memory for this; nothing was written. Free some, or raise the limit, and run it again."""

    code = "out_of_memory"


class TooManyFiles(StoreError):
    """The process may not open any more files; raise the limit (`ulimit -n`), or close some, and run it again."""

    code = "too_many_files"


class Locked(StoreError):
    """Another process has locked the database for too long; try again."""

    code = "locked"


class Unconfirmed(StoreError):
    """The database did not confirm what was written, so it may have been stored; look before you run it again."""

    code = "unconfirmed"
    status = 504


class Unreachable(StoreError):
    """A machine that holds this memory does not answer; nothing was written. Try again when it runs."""

    code = "unreachable"


class FilesMoved(StoreError):
    """The database was moved, deleted or replaced while it was open; restart the program that uses it."""

    code = "files_moved"


class Corrupt(StoreError):
    """A stored row does not match its own hash; run `doctor`."""

    code = "corrupt"


# What the server says besides, by code: the status, 0 where there is none of its own, and the meaning.
SERVER_CODES = {
    "bad_request": (400, "That is no request of HTTP; over TLS, ask the proxy in front of the server."),
    "unauthorized": (401, "No valid token was sent; `picomem token make` makes one."),
    "foreign_origin": (403, "A page of another site asks; name a proxy in `hosts` of `[server]`."),
    "wrong_method": (405, "The address takes another method; the header `Allow` names it."),
    "not_json": (415, "The body is not sent as `application/json`; send that as its `Content-Type`."),
    "wrong_host": (421, "The server does not go by that name; add it to `hosts` of `[server]`."),
    "too_many_sockets": (429, "The user has too many web sockets and MCP streams open; close one."),
    "fault": (500, "The server made a mistake, which its log tells."),
    "cancelled": (0, "JSON-RPC: the request was cancelled; send it again if it is still wanted."),
}


def meanings() -> dict[str, str]:
    """What each code means, for errors of operations and of the server."""
    classes = [value for value in globals().values() if isinstance(value, type) and issubclass(value, PicomemError)]
    of_classes = {error.code: " ".join((error.__doc__ or "").split()) for error in classes}
    return {**of_classes, **{code: meaning for code, (_, meaning) in SERVER_CODES.items()}}


def did_you_mean(name: str, known: Iterable[str], otherwise: str, *, shown: str = "“{}”") -> str:
    """The end of a sentence about a name that does not exist: a question with the nearest known name as `shown`, or
    `otherwise` where none is near."""
    near = nearest(name, known)
    return f"did you mean {shown.format(near)}?" if near is not None else otherwise


def nearest(name: str, known: Iterable[str], least_likeness: float = 0.5) -> str | None:
    """The known name that a name is most like, if any is near."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name[:_MOST_COMPARED], known, 1, least_likeness)), None)


_MOST_COMPARED = 80  # characters of a name
