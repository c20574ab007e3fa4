"""The caller: the user, the name that is recorded with changes, and the permissions."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from picomem.coded_text import CodedText, Command
from picomem.errors import Forbidden, InvalidInput
from picomem.light_dataclass import dataclass
from picomem.records.scope import LOCAL_USER

READ = "memory:read:user"
WRITE = "memory:write:user"
READ_SESSIONS = "memory:read:session"  # transcripts, and conversations with PicoBot
WRITE_SESSIONS = "memory:write:session"
OWN_DATA = frozenset({READ_SESSIONS, READ, WRITE_SESSIONS, WRITE})
PURGE = "memory:purge:user"
READ_EVERYONE = "memory:read:global"
GLOBAL = frozenset({READ_EVERYONE, "memory:write:global"})
SESSIONS_NOT_READ = CodedText("warning.sessions_not_read", permission=READ_SESSIONS)
METRICS = "server:read:metrics"
GRANTABLE = GLOBAL | {METRICS}
TOKEN_SIGNATURE = "api:"  # begins the name of a caller who shows a token
PERMISSIONS = OWN_DATA | GRANTABLE | {PURGE}

_Self = TypeVar("_Self", bound="HasCaller")
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Caller:
    """A user, or an agent that acts for them (`is_agent`).

    By default a caller reads, changes and purges their own data. The permissions in `GRANTABLE` must be granted: those
    of `GLOBAL`, which reach every user's data, and `METRICS`, the numbers of a server. An agent never purges, whatever
    it was granted.
    """

    user: str = LOCAL_USER
    actor: str = ""  # the name that stands on changes; empty: the user's
    permissions: Collection[str] = OWN_DATA | {PURGE}  # kept as a frozenset
    is_agent: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.permissions, str):
            raise InvalidInput(f"The permissions are the text “{self.permissions[:64]}”; give a collection of names.")
        object.__setattr__(self, "permissions", frozenset(self.permissions))
        unknown = sorted(str(name) for name in self.permissions if name not in PERMISSIONS)
        if unknown:
            known = ", ".join(sorted(PERMISSIONS))
            raise InvalidInput(f"There is no permission “{unknown[0][:64]}”; the permissions are {known}.")

    @property
    def signature(self) -> str:
        """The name that stands on changes."""
        return self.actor or f"user:{self.user}"

    def may(self, permission: str) -> bool:
        """Return whether the caller holds a permission."""
        return permission in self.permissions and not (self.is_agent and permission == PURGE)

    def require(self, permission: str, verb: str, *further: str) -> None:
        """Raise Forbidden where the caller does not hold the permission that `verb` needs; `further` are others that it
        needs, so that the remedy names all of them."""
        if not self.may(permission):
            raise Forbidden(
                CodedText(
                    "failure.no_permission",
                    verb=verb,
                    permission=permission,
                    caller=self.signature,
                    remedy=self._remedy(permission, further),
                ),
                permission=permission,
            )

    def _remedy(self, permission: str, further: tuple[str, ...]) -> str:
        """Return how to get a permission that the caller does not hold."""
        if self.is_agent and permission == PURGE:
            return CodedText("failure.agents_erase_nothing")
        if not self.signature.startswith(TOKEN_SIGNATURE):
            return CodedText("failure.ask_permitted_caller")
        made = Command("token", "make", user=self.user, scope=tuple(dict.fromkeys((permission, *further))))
        if permission in GRANTABLE:
            grant = Command("grant", permission, user=self.user)
            return CodedText("failure.grant_and_make_token", grant=grant, command=made)
        return CodedText("failure.make_other_token", command=made)


class HasCaller(Protocol):
    """Something that acts for a caller."""

    @property
    def caller(self) -> Caller: ...


def needs(
    permission: str,
) -> Callable[[Callable[Concatenate[_Self, _Given], _Result]], Callable[Concatenate[_Self, _Given], _Result]]:
    """Declare the permission that a caller must hold for a verb; without it the verb raises Forbidden at once."""

    def declare(verb: Callable[Concatenate[_Self, _Given], _Result]) -> Callable[Concatenate[_Self, _Given], _Result]:
        @wraps(verb)
        def permitted(self: _Self, *given: _Given.args, **named: _Given.kwargs) -> _Result:
            self.caller.require(permission, verb.__name__)
            return verb(self, *given, **named)

        return permitted

    return declare
