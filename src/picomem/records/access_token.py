"""An access token of a network caller, and its permissions.

The text of a token, which only its owner has:

    token  = "pico_" user "." secret
    user   = the user's id, UTF-8 in base64url without padding
    secret = 24 random bytes in base64url

So a lookup reads the rows of one user. The store keeps BLAKE2b of the text, 32 bytes in hex; a digest without a key is
enough for 192 random bits.
"""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode

from picomem.blake2b import blake2b
from picomem.clock import Micros
from picomem.light_dataclass import dataclass

PREFIX = "pico_"
# Marks among the permissions of a token, which say what it is for; no caller holds them.
SIGN_IN = "page:sign-in"  # a one-time code, which opens a session of the web page and nothing else
PAGE_SESSION = "page:session"  # a session of the web page, whose token is valid in its cookie only
_SECRET_BYTES = 24
_LONGEST = 2_000  # characters; the longest id of a user takes 1,400


@dataclass(frozen=True, slots=True)
class Credential:
    """A token as a request shows it: in the cookie of the web page, or in a header."""

    token: str
    is_cookie: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """A token as it is kept: whose it is, what it permits, and until when. A revoked one has `revoked_at`."""

    user: str
    id: str
    label: str
    permissions: frozenset[str]
    created_at: Micros
    expires_at: Micros | None = None
    revoked_at: Micros | None = None

    @property
    def short_id(self) -> str:
        """The beginning and the end of the id: ids of one minute begin alike."""
        return self.id[:8] + self.id[-4:]

    @property
    def is_sign_in_code(self) -> bool:
        """Whether it is a one-time code, which is exchanged for a session of the web page."""
        return SIGN_IN in self.permissions

    @property
    def is_page_session(self) -> bool:
        """Whether it is a session of the web page."""
        return PAGE_SESSION in self.permissions

    @property
    def opens_api(self) -> bool:
        """Whether programs may show it."""
        return not (self.is_sign_in_code or self.is_page_session)

    def is_valid(self, now: Micros) -> bool:
        """Return whether it opens anything at that time."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def new_token(user: str) -> str:
    """The text of a new token of that user."""
    return f"{PREFIX}{_base64(user.encode())}.{_base64(secrets.token_bytes(_SECRET_BYTES))}"


def user_of(token: str) -> str | None:
    """The user whom a token names, whether it is a true one or not; None for what is no token."""
    user, dot, secret = token.removeprefix(PREFIX).partition(".")
    if not token.startswith(PREFIX) or not dot or not secret or len(token) > _LONGEST:
        return None
    try:
        decoded = urlsafe_b64decode(user + "=" * (-len(user) % 4)).decode()
    except ValueError:
        return None
    return decoded if _base64(decoded.encode()) == user else None


def digest_of(token: str) -> str:
    """The digest of a token, which the store keeps instead of it."""
    return blake2b(token.encode("utf-8", "replace"), digest_size=32).hexdigest()


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
