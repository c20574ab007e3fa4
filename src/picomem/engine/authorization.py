"""Access over a network: the tokens of a user, and the permissions that were granted beyond the user's own data."""

from __future__ import annotations

from picomem.blake2b import blake2b
from picomem.clock import DAY, MINUTE, Micros
from picomem.coded_text import CodedText, Command
from picomem.engine.caller_context import Resources
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, NotFound
from picomem.records.access_token import PAGE_SESSION, SIGN_IN, AccessToken, Credential, digest_of, new_token, user_of
from picomem.records.caller import GRANTABLE, OWN_DATA, PERMISSIONS, PURGE, TOKEN_SIGNATURE, Caller
from picomem.records.ids import new_id
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables import access_tokens, audit, meta, user_entries, users

CODE_LASTS = 5 * MINUTE
SESSION_LASTS = 7 * DAY
PAGE_LABEL = "web page"
_SHORTEST_ID = 8  # characters of a token's id that name it


def make_token(
    engine: Engine, permissions: frozenset[str], label: str, expires_at: Micros | None
) -> tuple[AccessToken, str]:
    """Make a token for the engine's user; the record, and the text, which is kept nowhere.

    Raises InvalidInput for a permission that the user does not have, and for an end that has passed.
    """
    now = engine.now()
    if expires_at is not None and expires_at <= now:
        raise InvalidInput("The token would have expired already; name a later time, as in `--expires 90d`.")
    label = engine._context.redactor().redact(label).text
    text = new_token(engine.scope.user)
    token = AccessToken(
        user=engine.scope.user,
        id=new_id(),
        label=label,
        permissions=permissions or OWN_DATA,
        created_at=now,
        expires_at=expires_at,
    )
    with engine._context.connector.write(engine.scope) as tx:
        missing = sorted(token.permissions - _permissions(tx, engine.scope))
        if missing:
            raise InvalidInput(
                CodedText(
                    "failure.not_granted",
                    permission=missing[0],
                    user=engine.scope.user,
                    command=Command("grant", missing[0], user=engine.scope.user),
                )
            )
        access_tokens.put(tx, token, digest_of(text))
    return token, text


def tokens(engine: Engine, damaged: list[str] | None = None) -> list[AccessToken]:
    """The tokens of the engine's user, the oldest first, with those that open nothing any more. Damaged rows are left
    out and put on `damaged`."""
    with engine._context.connector.read() as tx:
        return access_tokens.every(tx, engine.scope, damaged)


def revoke_token(engine: Engine, name: str) -> AccessToken:
    """Let a token open nothing from now on; `name` is its id, the beginning of it, or its name in the record of
    changes, such as `api:01a20b9bcad9`. Doing it again changes nothing.

    Raises NotFound for a name that no token has, and InvalidInput for one that several have.
    """
    with engine._context.connector.write(engine.scope) as tx:
        known = access_tokens.every(tx, engine.scope)
        meant = [token for token in known if name.removeprefix(TOKEN_SIGNATURE) in (token.id, token.short_id)]
        if not meant and len(name) >= _SHORTEST_ID:
            meant = [token for token in known if token.id.startswith(name)]
        if not meant:
            raise NotFound(
                CodedText(
                    "failure.no_token",
                    user=engine.scope.user,
                    name=name[:64],
                    command=Command("token", "list", user=engine.scope.user),
                )
            )
        if len(meant) > 1:
            fitting = ", ".join(f"{token.id} ({token.label})" if token.label else token.id for token in meant)
            raise InvalidInput(f"“{name[:64]}” fits several tokens, {fitting}; none was revoked. Write more of the id.")
        access_tokens.revoke(tx, meant[0], engine.now())
        return next(token for token in access_tokens.every(tx, engine.scope) if token.id == meant[0].id)


def granted(engine: Engine) -> frozenset[str]:
    """The permissions of the engine's user beyond their own data."""
    with engine._context.connector.read() as tx:
        return granted_in(tx, engine.scope)


def grant(engine: Engine, permissions: frozenset[str], *, withdraw: bool = False) -> frozenset[str]:
    """Grant permissions to the engine's user, or withdraw them; what they have afterwards. A token that was made with a
    permission loses it at once when it is withdrawn. Raises InvalidInput for one that needs no grant."""
    unknown = sorted(permissions - GRANTABLE)
    if unknown:
        raise InvalidInput(
            f"{unknown[0][:64]} is not granted to users: what can be granted is {', '.join(sorted(GRANTABLE))}."
        )
    with engine._context.connector.write(engine.scope) as tx:
        before = granted_in(tx, engine.scope)
        after = before - permissions if withdraw else before | permissions
        _put_granted(tx, engine.scope, after)
    return after


def caller_of(resources: Resources, credential: Credential) -> Caller | None:
    """The caller of a token; None for an unknown, revoked, expired or damaged token.

    A cookie holds sessions of the web page only, and a header other tokens only. The store is asked each time, so that
    a revoked token stops at once. A permission that the user lost since the token was made is left out.
    """
    scope = _scope_of(credential.token)
    if scope is None:
        return None
    with resources.connector.read() as tx:
        known = access_tokens.of_digest(tx, scope, digest_of(credential.token))
        if known is None or not known.is_valid(resources.clock()):
            return None
        if not (known.is_page_session if credential.is_cookie else known.opens_api):
            return None
        permissions = known.permissions & _permissions(tx, scope)
    return Caller(scope.user, f"{TOKEN_SIGNATURE}{known.short_id}", permissions)


def make_sign_in_code(engine: Engine, permissions: frozenset[str]) -> str:
    """Make a code that opens one session of the web page with these permissions, within five minutes. It is kept as a
    digest; codes that were never used go."""
    now, text = engine.now(), new_token(engine.scope.user)
    code = AccessToken(
        user=engine.scope.user,
        id=new_id(),
        label="sign-in code",
        permissions=permissions | {SIGN_IN},
        created_at=now,
        expires_at=now + CODE_LASTS,
    )
    with engine._context.connector.write(engine.scope) as tx:
        for earlier in access_tokens.every(tx, engine.scope):
            if earlier.is_sign_in_code and not earlier.is_valid(now):
                access_tokens.remove(tx, earlier)
        access_tokens.put(tx, code, digest_of(text))
    return text


def is_sign_in_code(resources: Resources, code: str) -> bool:
    """Return whether a code would open a session now."""
    scope = _scope_of(code)
    if scope is None:
        return False
    with resources.connector.read() as tx:
        return _sign_in_code(tx, scope, code, resources.clock()) is not None


def sign_in(resources: Resources, code: str, replaced: str = "") -> str | None:
    """Exchange a one-time code for the token of a new session, and end the session `replaced`; None for a code that is
    not valid, or was used."""
    scope = _scope_of(code)
    if scope is None:
        return None
    now, text = resources.clock(), new_token(scope.user)
    if not is_sign_in_code(resources, code):  # a stranger's code is not worth a lock
        return None
    with resources.connector.write(scope) as tx:
        known = _sign_in_code(tx, scope, code, now)
        if known is None:  # somebody was faster
            return None
        access_tokens.remove(tx, known)
        session = AccessToken(
            user=scope.user,
            id=new_id(),
            label=PAGE_LABEL,
            permissions=known.permissions - {SIGN_IN} | {PAGE_SESSION},
            created_at=now,
            expires_at=now + SESSION_LASTS,
        )
        access_tokens.put(tx, session, digest_of(text))
    sign_out(resources, replaced)
    return text


def _sign_in_code(tx: Transaction, scope: Scope, code: str, now: Micros) -> AccessToken | None:
    known = access_tokens.of_digest(tx, scope, digest_of(code))
    return known if known is not None and known.is_sign_in_code and known.is_valid(now) else None


def sign_out(resources: Resources, token: str) -> None:
    """End the session of a token at once; a token that is no session stays as it is."""
    scope = _scope_of(token)
    if scope is not None and caller_of(resources, Credential(token, is_cookie=True)) is not None:
        with resources.connector.write(scope) as tx:
            known = access_tokens.of_digest(tx, scope, digest_of(token))
            if known is not None:
                access_tokens.revoke(tx, known, resources.clock())


def page_session_names(resources: Resources, user: str) -> frozenset[str]:
    """The names that stand on the changes of a user's sessions of the web page, ended ones too."""
    with resources.connector.read() as tx:
        known = access_tokens.every(tx, Scope(user))
    return frozenset(f"{TOKEN_SIGNATURE}{token.short_id}" for token in known if token.is_page_session)


def has_tokens(resources: Resources) -> bool:
    """Return whether any user has a token that programs may show, or may have one on a machine that does not answer."""
    now = resources.clock()
    with resources.connector.read() as tx:
        every = (token for user in users.scopes(tx) for token in access_tokens.every(tx, user))
        if any(token.is_valid(now) and token.opens_api for token in every):
            return True
    return bool(resources.connector.maintenance.silent_machines())


def last_change(engine: Engine) -> str:
    """The id of the last change to the user's memory; empty where there was none. Raises StoreError."""
    with engine._context.connector.read() as tx:
        return audit.last_id(tx, engine.scope)


def confirmation_key(engine: Engine) -> bytes:
    """The key for codes that confirm an irreversible operation, derived from the store's key. Raises Corrupt if the
    store's key is damaged."""
    with engine._context.connector.read() as tx:
        return blake2b(b"picomem confirmation", key=meta.key(tx)).digest()


def log_key(engine: Engine) -> bytes:
    """The key for digests of user ids in logs, made from the store's key; where that is damaged, from another."""
    with engine._context.connector.read() as tx:
        return blake2b(b"picomem log", key=meta.redaction_key(tx)).digest()


def granted_in(tx: Transaction, scope: Scope) -> frozenset[str]:
    """Return what was granted to a user beyond their own data, in this transaction."""
    return frozenset((user_entries.value(tx, scope, user_entries.GRANTED) or "").split()) & PERMISSIONS


def permit_only(tx: Transaction, scope: Scope, permissions: frozenset[str]) -> int:
    """Withdraw from a user what is not among these permissions; how many that were."""
    before = granted_in(tx, scope)
    _put_granted(tx, scope, before & permissions)
    return len(before - permissions)


def _scope_of(token: str) -> Scope | None:
    """The scope of the user whom a token names; None for what is no token."""
    user = user_of(token)
    if user is None:
        return None
    try:
        return Scope(user)
    except InvalidInput:
        return None


def _put_granted(tx: Transaction, scope: Scope, permissions: frozenset[str]) -> None:
    if permissions:
        user_entries.put(tx, scope, user_entries.GRANTED, " ".join(sorted(permissions)))
    else:
        user_entries.remove(tx, scope, user_entries.GRANTED)


def _permissions(tx: Transaction, scope: Scope) -> frozenset[str]:
    """All that a token of this user may permit."""
    return OWN_DATA | {PURGE} | granted_in(tx, scope)
