"""Sign-in to the web page: the cookie of a session, and the code that every form of the session carries.

`picomem open` and `picomem serve` make a one-time code (engine/authorization.py) and put it into the fragment of a
link, which browsers do not send. The page posts the code, once, and gets the token of a session as a cookie that no
script reads and no other site sends. The name of the cookie has a port, because browsers send a cookie to every port of
a host. It is the port that the browser calls, because containers may all listen on the same one.

A form that changes something carries a message authentication code of the session, which another site cannot know.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request, cookie_parser
from starlette.responses import Response

from picomem.blake2b import blake2b
from picomem.clock import SECOND
from picomem.engine.authorization import SESSION_LASTS

_COOKIE = "picomem_session_"
_PORT = re.compile(r"[0-9]{1,5}")


def cookie_name(scope: Mapping[str, Any]) -> str:
    """The name of the session's cookie on this server."""
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
    called = "" if host.endswith("]") else host.rpartition(":")[2]
    return f"{_COOKIE}{called if _PORT.fullmatch(called) else (scope.get('server') or ('', ''))[1]}"


def token_in_cookie(scope: Mapping[str, Any], cookies: str) -> str:
    """The session's token of the session in a header `Cookie`; empty where there is none."""
    # Not http.cookies, which drops them all where another program of this machine has set one that it dislikes.
    return cookie_parser(cookies).get(cookie_name(scope), "")


def session_token(request: Request) -> str:
    """The session's token that a request brings; empty where there is none."""
    return token_in_cookie(request.scope, request.headers.get("cookie", ""))


def begin_session(response: Response, request: Request, token: str) -> None:
    """Give the browser the token of a session."""
    response.set_cookie(
        cookie_name(request.scope),
        token,
        max_age=SESSION_LASTS // SECOND,
        path="/",
        secure=request.headers.get("origin", "").startswith("https://"),
        httponly=True,
        samesite="strict",
    )


def end_session(response: Response, request: Request) -> None:
    """Let the browser forget the session."""
    response.delete_cookie(cookie_name(request.scope), path="/", httponly=True, samesite="strict")


def form_code(token: str) -> str:
    """The code that the forms of a session carry."""
    key = blake2b(token.encode("utf-8", "replace"), digest_size=32).digest()
    return blake2b(b"picomem page form", key=key, digest_size=24).hexdigest()


def is_form_code(token: str, shown: str) -> bool:
    """Return whether a form came from a page of this session."""
    return bool(token) and hmac.compare_digest(form_code(token).encode(), shown.encode("utf-8", "replace"))
