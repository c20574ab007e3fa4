"""Runs operations for callers over a network: checks permission and arguments, and chooses the thread.

An engine is made for each call and belongs to one user. The engine is synchronous, so a call runs in a worker thread
from the check of its arguments to the finished result. A call that has begun is never abandoned: if the client
disconnects, it gets no result, but its write is complete. Only an operation that reports progress stops where it
reports.

limits.py chooses the threads, so that neither a long call nor a writer that waits for its lock delays the calls
of other users.

An operation that cannot be undone needs a confirmation. A dry run returns a confirmation code, and the operation runs
only with that code: within ten minutes, for the caller's user, for the same request, and while its effect is the same.
The code is a message authentication code under a key of the store, so every process on the store accepts it and none
has to keep it.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import cached_property
from typing import Any, TypeVar

import anyio
from anyio import CapacityLimiter, from_thread, to_thread

from picomem.clock import MINUTE, Micros, iso
from picomem.engine import authorization
from picomem.engine.caller_context import Resources
from picomem.engine.engine import Engine
from picomem.errors import Conflict, Forbidden, InvalidInput, NotFound, PicomemError, StoreError, TooLarge
from picomem.gateway.error_replies import bounded, remote_sentence
from picomem.gateway.limits import ThreadLimits, ThreadUse
from picomem.light_dataclass import asdict, fields, replace
from picomem.operations.command_names import for_remote_callers, result_for_remote_callers, without_folders
from picomem.operations.operation import Operation, options
from picomem.operations.schemas import Parameter, PlainParameters, result_schema
from picomem.records.access_token import Credential, user_of
from picomem.records.caller import GLOBAL, PURGE, READ_EVERYONE, Caller
from picomem.records.scope import Scope
from picomem.records.session import Channel
from picomem.runtime import Runtime
from picomem.sessions.channel_users import named_by_channel
from picomem.side_tasks import side_tasks

TOKEN_ENDED = "The token is no longer valid; make another one, or sign in anew."
_CODE_LASTS = 10 * MINUTE
_LOOK_SECONDS = 1.0  # between two looks whether a token is still valid

_Key = TypeVar("_Key")
_Result = TypeVar("_Result")
ToldProgress = Callable[[int, int, str], None]  # called in the event loop
SessionListener = Callable[[str], Awaitable[None]]  # gets the user of whom a session of the page has ended
ToldEvent = Callable[[Any], Awaitable[None]]


class WireParameters(PlainParameters):
    """The fields of a request that a remote caller may fill: none that names a file of this machine, and none that says
    yes without a code."""

    null_is_absent = False  # programs send what the document says

    def _listed(self, operation: Operation) -> list[Parameter]:
        left_out = {name for name, _, about in options(operation.request) if about["path"]}
        if operation.confirmation is not None:
            left_out.add(operation.confirmation.answer)
        return [parameter for parameter in super()._listed(operation) if parameter.name not in left_out]


class RemoteOperation:
    """An operation as remote callers have it."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.name = operation.name

    @cached_property
    def parameters(self) -> WireParameters:
        """The check of its arguments; made when it is called first, because pydantic takes milliseconds for each."""
        return WireParameters(self.operation)

    @cached_property
    def _local_fields(self) -> frozenset[str]:
        """Return the fields of a result that describe this machine, which remote callers do not see."""
        return frozenset(field.name for field in fields(self.operation.result) if field.metadata.get("local"))

    def shown(self, result: Any) -> dict[str, Any]:
        """The fields of a result that a remote caller has. Their values may be views, for `json_bodies.encoded`."""
        names = (field.name for field in fields(result))
        return {name: getattr(result, name) for name in names if name not in self._local_fields}

    def result_schema(self) -> dict[str, Any]:
        """The schema of what a call gives."""
        schema = result_schema(self.operation)
        schema["properties"] = {
            name: shape for name, shape in schema["properties"].items() if name not in self._local_fields
        }
        schema["required"] = [name for name in schema.get("required", ()) if name not in self._local_fields]
        if self.operation.confirmation is None:
            return schema
        code = {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "of a dry run: what confirms it"}
        return {**schema, "properties": {**schema["properties"], "confirmation": code}}

    def request_schema(self) -> dict[str, Any]:
        """The schema of what a call over HTTP takes."""
        schema = self.parameters.schema()
        if self.operation.begins or self.operation.converses:
            channel = {**schema["properties"]["channel"], "default": Channel.API.value}
            schema = {**schema, "properties": {**schema["properties"], "channel": channel}}
        if self.operation.confirmation is None:
            return schema
        code = {"type": "string", "description": "the code that the dry run gave"}
        return {**schema, "properties": {**schema["properties"], "confirmation": code}}


class Calls:
    """The operations of a runtime, for the callers of a server."""

    def __init__(self, runtime: Runtime, operations: Iterable[Operation]) -> None:
        self.runtime = runtime
        self.operations = {
            operation.name: RemoteOperation(operation)
            for operation in operations
            if not (operation.operator or operation.reads_local_files)
        }
        self.requests = {name: remote.operation.request for name, remote in self.operations.items()}
        self.places = ThreadLimits()
        self.session_listeners: list[SessionListener] = []

    async def find_caller(self, credential: Credential) -> Caller | None:
        """The caller of a token; None if the token is not valid."""
        if not credential.token:
            return None
        return await self._looked_up(authorization.caller_of, credential)

    @asynccontextmanager
    async def while_valid(self, caller: Caller, credential: Credential | None) -> AsyncIterator[None]:
        """Stop the block when the token of a caller ends, or loses a permission, while it runs. Raises Forbidden then.

        Without a `credential` nothing is looked up."""
        if credential is None:
            yield
            return
        is_valid = True

        async def watch() -> None:
            nonlocal is_valid
            while is_valid:
                await anyio.sleep(_LOOK_SECONDS)
                with suppress(StoreError):  # the next look tries again
                    known = await self.find_caller(credential)
                    is_valid = known is not None and set(caller.permissions) <= set(known.permissions)
            tasks.cancel_scope.cancel()

        async with side_tasks() as tasks:
            tasks.start_soon(watch)
            yield
        if not is_valid:
            raise Forbidden(TOKEN_ENDED)

    async def is_sign_in_code(self, code: str) -> bool:
        """Return whether a code would open a session of the web page now."""
        return await self._looked_up(authorization.is_sign_in_code, code)

    async def page_session_names(self, caller: Caller) -> frozenset[str]:
        """The names that stand on the changes of the caller's sessions of the web page. Raises StoreError."""
        return await self._looked_up(authorization.page_session_names, caller.user)

    async def sign_in(self, code: str, replaced: str) -> str | None:
        """The token of a new session of the web page for a one-time code, which ends the session `replaced`; None for a
        code that is not valid."""
        async with self.places.place("", ThreadUse.WRITE) as limiter:
            resources = self.runtime.resources
            session = await to_thread.run_sync(authorization.sign_in, resources, code, replaced, limiter=limiter)
        if session is not None and replaced:
            await self._tell_of_end(replaced)
        return session

    async def sign_out(self, token: str) -> None:
        """End the session of a token."""
        async with self.places.place("", ThreadUse.WRITE) as limiter:
            await to_thread.run_sync(authorization.sign_out, self.runtime.resources, token, limiter=limiter)
        await self._tell_of_end(token)

    async def _looked_up(self, look_up: Callable[[Resources, _Key], _Result], key: _Key) -> _Result:
        return await to_thread.run_sync(look_up, self.runtime.resources, key, limiter=self.places.lookups)

    async def _tell_of_end(self, token: str) -> None:
        for listener in self.session_listeners:
            await listener(user_of(token) or "")

    def named(self, name: str) -> RemoteOperation:
        """The operation of that name. Raises NotFound."""
        known = self.operations.get(name)
        if known is None:
            raise NotFound(f"There is no operation “{name[:64]}”; /api/v1/openapi.json lists them.")
        return known

    async def call(
        self,
        caller: Caller,
        name: str,
        arguments: Mapping[str, Any],
        *,
        user: str = "",
        progress: ToldProgress | None = None,
        tell: ToldEvent | None = None,
        credential: Credential | None = None,
    ) -> dict[str, Any]:
        """Run an operation; its result, as `RemoteOperation.shown` has it.

        `user` is another user, whom a global permission reaches. What waits on a model stops if the `credential` ends
        meanwhile. Raises what the operation raises, and NotFound for an unknown one.
        """
        remote = self.named(name)
        try:
            engine = self.engine_for(caller, remote, await self.user_named(caller, remote, user))
            async with self.places.place(engine.scope.user, ThreadUse.of(remote.operation)) as limiter:
                if remote.operation.asynchronous:
                    request = remote.parameters.request(arguments)
                    async with self.while_valid(caller, credential):
                        result = await remote.operation.stream(engine, request, tell, progress)
                    return self._shown(remote, result)
                return await to_thread.run_sync(self._called, remote, engine, arguments, progress, limiter=limiter)
        except PicomemError as error:
            raise self.explained(error) from error

    def explained(self, error: PicomemError) -> PicomemError:
        """A copy of the error, with a sentence that a caller over a network can follow."""
        return type(error)(for_remote_callers(remote_sentence(error), self.requests), **error.data)

    async def user_named(self, caller: Caller, remote: RemoteOperation, name: str) -> str:
        """The user whom a caller names, who may be named by an id that a channel gives. Raises Forbidden for a caller
        who may name nobody else, before it is looked up; NotFound and InvalidInput."""
        if named_by_channel(name) is None or name == caller.user:
            return name
        self._acting(caller, name, remote.operation)
        return await to_thread.run_sync(self.runtime.user_named, name, limiter=self.places.lookups)

    async def caller_as(self, caller: Caller, name: str) -> Caller:
        """The caller of operations that are not known yet, on the memory of the user whom a caller names; empty for
        their own. Raises Forbidden for a caller who may name nobody else; NotFound and InvalidInput."""
        if not name or name == caller.user:
            return caller
        if not any(caller.may(permission) for permission in GLOBAL):
            caller.require(READ_EVERYONE, f"memory of {name[:64]}")
        if named_by_channel(name) is not None:
            name = await to_thread.run_sync(self.runtime.user_named, name, limiter=self.places.lookups)
        return caller_for(caller, Scope(name).user)

    def engine_for(self, caller: Caller, remote: RemoteOperation, user: str = "") -> Engine:
        """The engine on which a caller may run an operation. Raises Forbidden, before anything is said about the
        operation's arguments."""
        engine = self.runtime.engine(self._acting(caller, user, remote.operation))
        remote.operation.check_permission(engine)
        return engine

    def turn_place(self, user: str) -> AbstractAsyncContextManager[CapacityLimiter]:
        """A place for a chat turn of a user, which is held until the end of the block."""
        return self.places.place(user, ThreadUse.LONG)

    def _acting(self, caller: Caller, user: str, operation: Operation) -> Caller:
        if not user or user == caller.user:
            return caller
        if PURGE in operation.permissions:
            raise Forbidden(f"Nobody erases what another user has; ask with a token of {user[:64]}.", permission=PURGE)
        for permission in operation.permissions:
            caller.require(global_permission(permission), f"{operation.name} for {user[:64]}")
        return caller_for(caller, user)

    def _called(
        self, remote: RemoteOperation, engine: Engine, arguments: Mapping[str, Any], progress: ToldProgress | None
    ) -> dict[str, Any]:
        operation = remote.operation
        if operation.confirmation is None:
            result = operation.call(engine, remote.parameters.request(arguments), _in_thread(progress))
            return self._shown(remote, result)
        given = dict(arguments)
        code = given.pop("confirmation", None)
        request = remote.parameters.request(given)
        if not isinstance(code, str | None):
            raise InvalidInput("confirmation is the code that the dry run gave, a text.")
        return self._confirmed(remote, engine, request, code)

    def _confirmed(self, remote: RemoteOperation, engine: Engine, request: Any, code: str | None) -> dict[str, Any]:
        """Run what asks first: a preview gives a code, and with it the operation runs."""
        operation = remote.operation
        asks = operation.confirmation
        assert asks is not None
        preview = asks.preview(request)
        if request == preview:
            planned = operation.call(engine, preview)
            empty = asks.is_empty(planned)
            code = None if empty else self._code(operation, engine, preview, planned)
            return {**self._shown_beginning(remote, planned), "confirmation": code}
        if asks.is_needed(request):
            if not code:
                raise Conflict(
                    f"“{operation.name}” cannot be undone. Send the same with “dry_run”: true first; the answer has a "
                    "confirmation code, and this request runs with it as “confirmation”."
                )
            request = asks.granted(request, self._checked_plan(operation, engine, preview, code))
        return {**self._shown(remote, operation.call(engine, request)), "confirmation": None}

    def _shown(self, remote: RemoteOperation, result: Any) -> dict[str, Any]:
        """A result with advice that a remote caller can follow, and without the folders of this machine. Raises
        TooLarge where it is too large for one answer."""
        shown = remote.shown(result_for_remote_callers(without_folders(result), self.requests))
        return bounded(remote.name, shown, is_done=not remote.operation.read_only)

    def _shown_beginning(self, remote: RemoteOperation, planned: Any) -> dict[str, Any]:
        """A dry run, with the beginnings of its lists where one answer cannot hold them: its counts say all, and
        without a dry run nobody could erase what is too much to list."""
        while True:
            try:
                return self._shown(remote, planned)
            except TooLarge:
                values = {member.name: getattr(planned, member.name) for member in fields(planned)}
                lists = {name: value for name, value in values.items() if isinstance(value, list) and value}
                if not lists:
                    raise
                planned = replace(planned, **{name: value[: len(value) // 2] for name, value in lists.items()})

    def _code(self, operation: Operation, engine: Engine, preview: Any, planned: Any, until: Micros = 0) -> str:
        """A code for one request and what would go by it: two requests may name the same, and mean more."""
        until = until or engine.now() + _CODE_LASTS
        about = [operation.name, engine.scope.user, until, asdict(preview), asdict(planned)]
        content = json.dumps(about, sort_keys=True, default=str)
        key = authorization.confirmation_key(engine)
        return f"{until}.{hmac.new(key, content.encode(), 'sha256').hexdigest()}"

    def _checked_plan(self, operation: Operation, engine: Engine, preview: Any, code: str) -> Any:
        """The result of the dry run that a code confirms. Raises Conflict."""
        until = code.partition(".")[0]
        is_number = until.isascii() and until.isdigit() and len(until) <= 16
        planned = operation.call(engine, preview)
        expected = self._code(operation, engine, preview, planned, int(until)) if is_number and int(until) else ""
        if not hmac.compare_digest(expected.encode(), code.encode("utf-8", "replace")):
            raise Conflict(
                "The confirmation code is of another request, or what would go has changed since; look at the dry run "
                "again."
            )
        if int(until) <= engine.now():
            raise Conflict(f"The confirmation code was valid until {iso(int(until))}; look at the dry run again.")
        return planned


def global_permission(permission: str) -> str:
    """The permission that stands for another one where the memory is another user's."""
    _, verb, _ = permission.split(":")
    return f"memory:{verb}:global"


def caller_for(caller: Caller, user: str) -> Caller:
    """The caller who acts on another user's memory, with what the global permissions allow there."""
    verbs = [verb for verb in ("read", "write") if caller.may(f"memory:{verb}:global")]
    permissions = {f"memory:{verb}:{reach}" for verb in verbs for reach in ("session", "user")}
    return Caller(user, caller.signature, frozenset(permissions))


def _in_thread(progress: ToldProgress | None) -> Callable[[int, int, str], None]:
    """Return a progress callback for a worker thread. A cancelled call stops in it."""

    def told(done: int, total: int, text: str) -> None:
        from_thread.check_cancelled()
        if progress is not None:
            from_thread.run_sync(progress, done, total, text)

    return told
