"""Operations on network access: tokens, and permissions that are granted to users beyond their own data."""

from __future__ import annotations

import re
from shlex import quote

from picomem.clock import DAY, HOUR, Micros, iso
from picomem.engine.authorization import grant as grant_to
from picomem.engine.authorization import granted, make_token, revoke_token, tokens
from picomem.engine.engine import Engine
from picomem.errors import InvalidTime
from picomem.light_dataclass import dataclass
from picomem.operations.memory_views import damage_warnings
from picomem.operations.operation import Operation, option
from picomem.operations.presentation import Fields, Presentation, Sentence, Table, day, moment
from picomem.operations.recall_views import iso_or_none
from picomem.records.access_token import AccessToken
from picomem.records.caller import GRANTABLE, PERMISSIONS

_SPAN = re.compile(r"(\d{1,5})([hd])")
_LONGEST_LABEL = 200  # characters


@dataclass(frozen=True, slots=True)
class TokenMakeRequest:
    scope: tuple[str, ...] = option(
        "what the token permits (default: reading and writing the user's own memory)",
        choices=tuple(sorted(PERMISSIONS)),
        many=True,
    )
    expires: str | None = option("when it expires: a span such as 90d or 12h, or a date (default: never)", None)
    label: str = option("its purpose, shown in lists", "")


@dataclass(frozen=True, slots=True)
class TokenMakeResult:
    """The new token: `token` is its text, which is not kept and cannot be shown again."""

    token: str
    id: str
    user: str
    scopes: list[str]
    expires_at: str | None


@dataclass(frozen=True, slots=True)
class TokenListRequest:
    pass


@dataclass(frozen=True, slots=True)
class TokenView:
    """A token without its text; `state` is "valid", "expired" or "revoked". `alias` may be named as a user, and is the
    name on the changes that the token made."""

    id: str
    alias: str
    label: str
    scopes: list[str]
    state: str
    created_at: str
    expires_at: str | None
    revoked_at: str | None


@dataclass(frozen=True, slots=True)
class TokenListResult:
    """The user's tokens, the oldest first; `warnings` says what is damaged."""

    user: str
    tokens: list[TokenView]
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class TokenRevokeRequest:
    id: str = option("the token's id, its first eight characters or more, or its name in the changes", positional=True)


@dataclass(frozen=True, slots=True)
class GrantRequest:
    permission: tuple[str, ...] = option(
        f"what to grant ({', '.join(sorted(GRANTABLE))}); left out, what is granted is shown",
        positional=True,
        many=True,
    )
    withdraw: bool = option("take it back", False)


@dataclass(frozen=True, slots=True)
class GrantResult:
    """The user's permissions beyond their own data."""

    user: str
    granted: list[str]


def token_make(engine: Engine, request: TokenMakeRequest) -> TokenMakeResult:
    """Make a token that opens a user's memory over the network. It is shown once.

    `--user` says whose. Programs send it as `Authorization: Bearer TOKEN`.

    memory:read:user reads memories, memory:write:user stores and changes them, memory:read:session reads past sessions
    (transcripts, and conversations with PicoBot), memory:write:session holds conversations with PicoBot, and
    memory:purge:user erases. Without --scope a token has all of these but the last. memory:read:global and
    memory:write:global reach the memory of every user, and server:read:metrics the numbers of the server; `picomem
    grant` grants these three first.
    """
    expires_at = _end(request.expires, engine)
    label = " ".join(request.label.split())[:_LONGEST_LABEL]
    token, text = make_token(engine, frozenset(request.scope), label, expires_at)
    return TokenMakeResult(text, token.id, token.user, sorted(token.permissions), iso_or_none(token.expires_at))


def token_list(engine: Engine, _request: TokenListRequest) -> TokenListResult:
    """List a user's tokens: what each is for, what it permits, and whether it is valid."""
    now = engine.now()
    damaged: list[str] = []
    views = [_view(token, now) for token in tokens(engine, damaged)]
    return TokenListResult(engine.scope.user, views, damage_warnings(damaged))


def token_revoke(engine: Engine, request: TokenRevokeRequest) -> TokenView:
    """Revoke a token; running servers refuse it at once."""
    return _view(revoke_token(engine, request.id), engine.now())


def grant(engine: Engine, request: GrantRequest) -> GrantResult:
    """Grant a user network access to the memory of all users, or to the server's metrics; or withdraw it.

    Tokens of the user need the permission as their scope as well.
    """
    wanted = frozenset(request.permission)
    holds = grant_to(engine, wanted, withdraw=request.withdraw) if wanted else granted(engine)
    return GrantResult(engine.scope.user, sorted(holds))


def _end(given: str | None, engine: Engine) -> Micros | None:
    if span := _SPAN.fullmatch(given or ""):
        return engine.now() + int(span[1]) * (HOUR if span[2] == "h" else DAY)
    try:
        return moment(given, engine.now(), engine.zone, end=True)
    except InvalidTime as error:  # its own sentence names times of the past
        raise InvalidTime(f"“{str(given)[:40]}” cannot be read as a time; write 90d, 12h or a date to come.") from error


def _view(token: AccessToken, now: Micros) -> TokenView:
    state = "revoked" if token.revoked_at is not None else "valid" if token.is_valid(now) else "expired"
    return TokenView(
        id=token.id,
        alias=f"api:{token.short_id}",
        label=token.label,
        scopes=sorted(token.permissions),
        state=state,
        created_at=iso(token.created_at),
        expires_at=iso_or_none(token.expires_at),
        revoked_at=iso_or_none(token.revoked_at),
    )


def _present_new_token(result: TokenMakeResult) -> Presentation:
    fields = Fields(
        (
            ("token", result.token),
            ("id", result.id),
            ("user", result.user),
            ("permits", ", ".join(result.scopes)),
            ("until", day(result.expires_at) if result.expires_at else "it is revoked"),
        )
    )
    return Presentation(
        blocks=(fields,),
        next_steps=(
            "The token is not shown again. Programs send it as “Authorization: Bearer TOKEN”.",
            f"`picomem token revoke {result.id} --user {quote(result.user)}` ends it at once.",
        ),
    )


def _present_tokens(result: TokenListResult) -> Presentation:
    if not result.tokens:
        return Presentation(
            blocks=(Sentence(f"{result.user} has no tokens."),),
            warnings=tuple(result.warnings),
            next_steps=(f"`picomem token make --user {quote(result.user)}` makes one.",),
        )
    rows = tuple(
        (token.id, token.state, day(token.expires_at)[:10] if token.expires_at else "", token.label, _short(token))
        for token in result.tokens
    )
    table = Table(("id", "state", "until", "label", "permits"), rows)
    return Presentation(blocks=(table,), warnings=tuple(result.warnings))


def _present_revoked(result: TokenView) -> Presentation:
    return Presentation(blocks=(Sentence(f"The token {result.id} opens nothing any more."),))


def _present_granted(result: GrantResult) -> Presentation:
    if not result.granted:
        return Presentation(blocks=(Sentence(f"{result.user} reaches their own data only."),))
    return Presentation(
        blocks=(Sentence(f"{result.user} has {' and '.join(result.granted)}."),),
        next_steps=(
            f"A token needs it too: `picomem token make --user {quote(result.user)} --scope {result.granted[0]}`.",
        ),
    )


def _short(token: TokenView) -> str:
    return ", ".join(scope.removeprefix("memory:") for scope in token.scopes)


OPERATIONS = (
    Operation(
        name="token-make",
        group="serve",
        run=token_make,
        present=_present_new_token,
        reply=lambda result: f"The token {result.id} was made.",
        permission="memory:write:global",
        example="picomem token make --user ann --scope memory:read:user --expires 90d --label laptop",
        creates=True,
        operator=True,
    ),
    Operation(
        name="token-list",
        group="serve",
        run=token_list,
        present=_present_tokens,
        reply=lambda result: "\n".join(f"{token.id}: {token.state}" for token in result.tokens) or "no tokens",
        permission="memory:read:global",
        example="picomem token list --user ann",
        read_only=True,
        operator=True,
    ),
    Operation(
        name="token-revoke",
        group="serve",
        run=token_revoke,
        present=_present_revoked,
        reply=lambda result: f"The token {result.id} opens nothing any more.",
        permission="memory:write:global",
        example="picomem token revoke 01a202b8-3596 --user ann",
        destructive=True,
        idempotent=True,
        operator=True,
    ),
    Operation(
        name="grant",
        group="serve",
        run=grant,
        present=_present_granted,
        reply=lambda result: f"{result.user}: {', '.join(result.granted) or 'nothing beyond their own data'}",
        permission="memory:write:global",
        example="picomem grant memory:read:global --user ann",
        creates=True,
        idempotent=True,
        operator=True,
    ),
)
