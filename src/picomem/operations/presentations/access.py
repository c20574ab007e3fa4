"""The presentation of tokens and grants."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from picomem.operations.presentation import Fields, Presentation, Sentence, Table
from picomem.operations.presentations.wording import day

if TYPE_CHECKING:
    from picomem.operations.access import GrantResult, TokenListResult, TokenMakeResult, TokenView


def token_made(result: TokenMakeResult) -> Presentation:
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


def tokens_listed(result: TokenListResult) -> Presentation:
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


def token_revoked(result: TokenView) -> Presentation:
    return Presentation(blocks=(Sentence(f"The token {result.id} opens nothing any more."),))


def granted(result: GrantResult) -> Presentation:
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
