"""The web page: the views of `picomem.page` as routes, with sign-in, forms and errors.

GET  /static/VERSION/NAME  style sheet and scripts
GET  /sign-in            a form for the one-time code; POST exchanges it for a session
POST /sign-out           ends the session
POST /appearance         language, and light or dark
POST /undo               takes back a change or a run
POST /purge/certificate  gives a certificate that the page holds as a file
GET  /, /search, …       the views (page/view_table.py); POST to the addresses of their forms

Every operation runs by `Calls`, for the caller of the session.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from functools import partial
from typing import Any
from urllib.parse import parse_qs, quote, unquote

from anyio import to_thread
from starlette.requests import Request, cookie_parser
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from picomem.blake2b import blake2b
from picomem.clock import MINUTE, SECOND
from picomem.engine.authorization import SESSION_LASTS, last_change
from picomem.errors import Forbidden, InvalidInput, NotFound, PicomemError
from picomem.gateway.calls import Calls
from picomem.gateway.error_replies import error_headers, remote_sentence
from picomem.gateway.guard import CERTIFICATE, SIGN_IN
from picomem.page.html_rendering import THEMES, rendered, static_files
from picomem.page.message_catalog import LANGUAGES, STATUSES, Say, preferred_language, say_in
from picomem.page.page_view import WRITE, Act, PageContent, PageRequest, PageView, Redirect, own_path
from picomem.page.review_view import count_to_review
from picomem.page.view_table import FORMS, VIEWS
from picomem.records.access_token import Credential, user_of
from picomem.records.caller import Caller

# Sign-in to the web page: the cookie of a session, and the code that every form of the session carries.
#
# `picomem open` and `picomem serve` make a one-time code (engine/authorization.py) and put it into the fragment of a
# link, which browsers do not send. The page posts the code, once, and gets the token of a session as a cookie that no
# script reads and no other site sends. The name of the cookie has a port, because browsers send a cookie to every
# port of a host. It is the port that the browser calls, because containers may all listen on the same one.
#
# A form that changes something carries a message authentication code of the session, which another site cannot know.

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


HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # Nothing goes to other sites; with “no-referrer” our own forms would come with “Origin: null”.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
STATIC = "/static/"
THEME_COOKIE, LANGUAGE_COOKIE, NOTICE_COOKIE = "picomem_theme", "picomem_language", "picomem_notice"
REGIONS_HEADER = "picomem-regions"
_YEAR_SECONDS = 365 * 86_400
_NOTICE_SECONDS = 10
_MOST_FIELDS = 2_000
_MOST_COUNTED = 1_000  # users whose decisions to make are kept as a number
_LONGEST_ABOUT = 80  # characters


class WebPages:
    """The pages of one server."""

    def __init__(self, calls: Calls, addresses_of_programs: Iterable[str]) -> None:
        self._calls = calls
        self._parts_of_programs = frozenset(path.split("/")[1] for path in addresses_of_programs)
        self._zone = calls.runtime.engine().zone
        self._seal_key = secrets.token_bytes(32)
        self._to_review_by_user: dict[str, tuple[tuple[str, int], int]] = {}
        own = [SIGN_IN, "/sign-out", "/appearance", *FORMS]
        paths = [*own, *(path for view in VIEWS for path in (view.path, *view.actions))]
        self._first_parts = frozenset(path.split("/")[1] for path in paths)
        self.names = frozenset(part for part in self._first_parts if part) | {"static"}

    def owns(self, path: str) -> bool:
        """Return whether the session's cookie is the only token that is taken at this address."""
        return path.startswith("/") and path.split("/")[1] in self._first_parts

    def takes_session(self, path: str) -> bool:
        """Return whether the session's cookie is taken at this address: at each that is not for programs alone, so that
        a person who is signed in reads of a mistyped address that it is not there."""
        return path.startswith("/") and path.split("/")[1] not in self._parts_of_programs

    def routes(self) -> list[Route]:
        """All addresses of the page."""
        return [
            Route(f"{STATIC}{{version}}/{{name}}", self._shown_errors(self._static), methods=["GET"]),
            Route(SIGN_IN, self._sign_in_form, methods=["GET"]),
            Route(SIGN_IN, self._shown_errors(self._sign_in), methods=["POST"]),
            Route("/sign-out", self._shown_errors(self._sign_out), methods=["POST"]),
            Route("/appearance", self._shown_errors(self._set_appearance), methods=["POST"]),
            Route(CERTIFICATE, self._shown_errors(self._certificate), methods=["POST"]),
            *(Route(path, self._shown_errors(self._form(act)), methods=["POST"]) for path, act in FORMS.items()),
            *(Route(view.path, self._shown_errors(self._view(view), view.missing), methods=["GET"]) for view in VIEWS),
            *(
                Route(path, self._shown_errors(self._form(act, view), view.missing), methods=["POST"])
                for view in VIEWS
                for path, act in view.actions.items()
            ),
        ]

    def session_token(self, scope: MutableMapping[str, Any], cookies: str) -> str:
        """The token in a header `Cookie`; empty where there is none."""
        return token_in_cookie(scope, cookies)

    def refusal(
        self, scope: MutableMapping[str, Any], status: int, code: str, message: str, headers: Mapping[str, str]
    ) -> Response:
        """An error as a page; without a session the page to sign in, which leads back to what was asked for."""
        request = Request(scope)
        if status == 401:
            return self._sign_in_page(request, 401, "", back=_address(request) if request.method == "GET" else "/")
        return self._error_page(request, status, code, message, headers)

    # Sign-in

    async def _sign_in_form(self, request: Request) -> Response:
        return self._sign_in_page(request, 200, "", back="/")

    def _sign_in_page(self, request: Request, status: int, problem: str, *, back: str) -> Response:
        values = {"problem": problem, "back": back}
        page = PageContent(template="sign_in.html", title=_say(request)("sign_in.title"), values=values, status=status)
        return self._response(request, page)

    async def _sign_in(self, request: Request) -> Response:
        form = await _form(request)
        # A whole link may be pasted as well.
        code = "".join(form.get("code", [""])[0].split()).rpartition("#")[2]
        back = own_path(form.get("back", ["/"])[0])
        earlier = session_token(request)
        signed_in = await self._calls.find_caller(Credential(earlier, is_cookie=True))
        is_confirmed = is_form_code(earlier, form.get("csrf", [""])[0])
        if signed_in is not None and signed_in.user != user_of(code) and not is_confirmed:
            # Somebody else may have made the link: what the person then writes would be in that other memory.
            if await self._calls.is_sign_in_code(code):
                return self._other_user_page(request, signed_in, code, back)
            token = None
        else:
            token = await self._calls.sign_in(code, earlier)
        if token is None:
            return self._sign_in_page(request, 403, "sign_in.wrong_code", back=back)
        response = RedirectResponse(back, 303, HEADERS)
        begin_session(response, request, token)
        self._keep_notice(response, token, Redirect(to=back, notice="notice.signed_in", about=user_of(token) or ""))
        return response

    def _other_user_page(self, request: Request, signed_in: Caller, code: str, back: str) -> Response:
        """Ask whether a link may replace the session of another user."""
        values = {
            "signed_in_user": signed_in.user,
            "link_user": user_of(code),
            "code": code,
            "back": back,
            "csrf": form_code(session_token(request)),
        }
        title = _say(request)("sign_in.other_title")
        return self._response(request, PageContent(template="sign_in_other.html", title=title, values=values))

    async def _sign_out(self, request: Request) -> Response:
        await self._checked_form(request)
        await self._calls.sign_out(session_token(request))
        response = RedirectResponse(SIGN_IN, 303, HEADERS)
        end_session(response, request)
        return response

    async def _set_appearance(self, request: Request) -> Response:
        form = await self._checked_form(request)
        response = RedirectResponse(own_path(form.get("back", ["/"])[0]), 303, HEADERS)
        for name, cookie, allowed in (("theme", THEME_COOKIE, THEMES), ("language", LANGUAGE_COOKIE, LANGUAGES)):
            chosen = form.get(name, [""])[0]
            if chosen in allowed:
                response.set_cookie(cookie, chosen, max_age=_YEAR_SECONDS, path="/", httponly=True, samesite="strict")
        return response

    async def _certificate(self, request: Request) -> Response:
        form = await _form(request)
        text = form.get("certificate", [""])[0]
        if not self._is_sealed("certificate", text, form.get("seal", [""])[0]):
            raise InvalidInput("The certificate is not as this server wrote it; it cannot be had a second time.")
        name = f"picomem-purge-{json.loads(text)['change_id'][:13]}.json"
        headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}
        return Response(text, headers=headers, media_type="application/json")

    def _seal(self, purpose: str, text: str) -> str:
        """The code of a text that this server gives to a browser, for one purpose."""
        return hmac.new(self._seal_key, f"{purpose}\0{text}".encode("utf-8", "replace"), "sha256").hexdigest()

    def _is_sealed(self, purpose: str, text: str, seal: str) -> bool:
        """Return whether a text comes back as this server gave it."""
        return hmac.compare_digest(self._seal(purpose, text).encode(), seal.encode("utf-8", "replace"))

    def _keep_notice(self, response: Response, session: str, done: Redirect) -> None:
        """Let the next page of a session say what was done. The cookie is sealed: another program of the machine could
        set it, and the notice has a button that undoes something."""
        notice = quote(json.dumps([done.notice, done.about[:_LONGEST_ABOUT], done.run]))
        value = f"{self._seal(_notice_purpose(session), notice)}.{notice}"
        response.set_cookie(NOTICE_COOKIE, value, max_age=_NOTICE_SECONDS, path="/", httponly=True, samesite="strict")

    def _notice(self, request: Request) -> dict[str, str] | None:
        """Return the message that is shown for ten seconds after a form; None if there is none, and for a script that
        loads a page for its regions: the message waits for the page that is shown."""
        if REGIONS_HEADER in request.headers:
            return None
        seal, _, notice = request.cookies.get(NOTICE_COOKIE, "").partition(".")
        if not self._is_sealed(_notice_purpose(session_token(request)), notice, seal):
            return None
        key, about, run = json.loads(unquote(notice))
        return {"text": _say(request)(key, about=about), "run": run}

    # Views and their forms

    def _view(self, view: PageView) -> Callable[[Request], Awaitable[Response]]:
        async def show(request: Request) -> Response:
            return await self._view_response(request, await view.show(self._asked(request, {})), view)

        return show

    def _form(self, act: Act, view: PageView | None = None) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            done = await act(self._asked(request, await self._checked_form(request)))
            if isinstance(done, PageContent):
                return await self._view_response(request, done, view)
            response = RedirectResponse(own_path(done.to), 303, HEADERS)
            if done.notice:
                self._keep_notice(response, session_token(request), done)
            return response

        return answer

    async def _checked_form(self, request: Request) -> Mapping[str, list[str]]:
        form = await _form(request)
        if not is_form_code(session_token(request), form.get("csrf", [""])[0]):
            raise Forbidden("The form is of another session; load the page again and repeat it.")
        return form

    def _asked(self, request: Request, form: Mapping[str, list[str]]) -> PageRequest:
        caller: Caller = request.state.caller
        language = _language(request)

        async def call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
            return await self._calls.call(caller, name, arguments)

        async def page_sessions() -> frozenset[str]:
            return await self._calls.page_session_names(caller)

        return PageRequest(
            path=request.url.path,
            parameters=request.path_params,
            query=_fields(request.url.query),
            form=form,
            caller=caller,
            now=self._calls.runtime.engine(caller).now(),
            zone=self._zone,
            language=language,
            say=say_in(language),
            call=call,
            page_sessions=page_sessions,
        )

    # Answers

    async def _to_review(self, caller: Caller) -> int:
        """Return how many decisions wait for the user, as Review counts them: once after a change, and once a minute,
        since what is read or expires is no change."""
        if not caller.may(WRITE):
            return 0
        engine = self._calls.runtime.engine(caller)
        last = await to_thread.run_sync(last_change, engine, limiter=self._calls.places.lookups)
        state = last, engine.now() // MINUTE
        counted = self._to_review_by_user.get(caller.user)
        if counted is None or counted[0] != state:
            counted = state, await count_to_review(partial(self._calls.call, caller))
            if len(self._to_review_by_user) >= _MOST_COUNTED:
                self._to_review_by_user.clear()
            self._to_review_by_user[caller.user] = counted
        return counted[1]

    async def _view_response(self, request: Request, page: PageContent, view: PageView | None) -> Response:
        values = self._values(request, page, view)
        if "to_review" not in page.values:
            values["to_review"] = await self._to_review(request.state.caller)
        # A list takes milliseconds, in which the event loop would answer nobody.
        text = await to_thread.run_sync(rendered, page.template, values, limiter=self._calls.places.rendering)
        return _html(text, page, values)

    def _response(self, request: Request, page: PageContent, headers: Mapping[str, str] | None = None) -> Response:
        """A short page, of which no thread need be taken."""
        values = self._values(request, page, None)
        return _html(rendered(page.template, values), page, values, headers)

    def _values(self, request: Request, page: PageContent, view: PageView | None) -> dict[str, Any]:
        """Return the values of the layout and of the page."""
        caller: Caller | None = getattr(request.state, "caller", None)
        language = _language(request)
        theme = request.cookies.get(THEME_COOKIE, "")
        return {
            "t": say_in(language),
            "language": language,
            "theme": theme if theme in THEMES else THEMES[0],
            "title": page.title,
            "caller": caller,
            "may_write": caller is not None and caller.may("memory:write:user"),
            "rail": [entry for entry in VIEWS if entry.icon and caller and caller.may(entry.permission)],
            "view": view.name if view else "",
            "has_pane": view is not None and view.has_pane and page.status == 200,
            "store": self._calls.runtime.store_name,
            "to_review": 0,
            "csrf": form_code(session_token(request)) if caller else "",
            "address": _address(request) if request.method == "GET" else "/",
            "question": request.query_params.get("q", ""),
            "notice": self._notice(request) if caller else None,
            "now": self._calls.runtime.engine(caller).now(),
            "zone": self._zone,
            "seal": lambda text: self._seal("certificate", text),
            **page.values,
        }

    def _error_page(
        self,
        request: Request,
        status: int,
        code: str,
        message: str,
        headers: Mapping[str, str] | None = None,
        *,
        sentence: str = "",
    ) -> Response:
        """An error as a page. `sentence` is in the reader's language, and stands in the place of the message."""
        title = _say(request)(f"error_status.{status}" if status in STATUSES else "error.title")
        values = {"code": code, "message": message, "sentence": sentence}
        page = PageContent(template="error.html", title=title, values=values, status=status)
        return self._response(request, page, headers)

    def _shown_errors(
        self, answer: Callable[[Request], Awaitable[Response]], missing: str = ""
    ) -> Callable[[Request], Awaitable[Response]]:
        """The same, with the errors of operations as pages. `missing` is the message where nothing has the name in the
        address: the operation's own sentence leads to other operations, which a person at the page does not call."""

        async def shown(request: Request) -> Response:
            try:
                return await answer(request)
            except PicomemError as error:
                sentence = _say(request)(missing) if missing and isinstance(error, NotFound) else ""
                headers, message = error_headers(error), remote_sentence(error)
                return self._error_page(request, error.status, error.code, message, headers, sentence=sentence)

        return shown

    async def _static(self, request: Request) -> Response:
        known = static_files().get(request.path_params["name"])
        if known is None:
            raise NotFound("There is no such file of the page; load the page again.")
        # Its address has the version of all of them, so that a browser keeps none that is old.
        return Response(known[0], headers={**HEADERS, "Cache-Control": "public, max-age=86400"}, media_type=known[1])


def wants_page(headers: Mapping[str, str]) -> bool:
    """Return whether a browser asks, which shows a page to a person."""
    return "text/html" in headers.get("accept", "")


def _html(
    text: str, page: PageContent, values: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> HTMLResponse:
    response = HTMLResponse(text, page.status, {**HEADERS, **(headers or {})})
    if values["notice"]:
        response.delete_cookie(NOTICE_COOKIE, path="/", httponly=True, samesite="strict")
    return response


async def _form(request: Request) -> Mapping[str, list[str]]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise InvalidInput("A form of the page is sent as application/x-www-form-urlencoded; use the page.")
    return _fields((await request.body()).decode("utf-8", "replace"))


def _fields(text: str) -> dict[str, list[str]]:
    try:
        fields = parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="replace")
    except ValueError as error:
        raise InvalidInput(f"A request has at most {_MOST_FIELDS:,} fields; choose fewer at once.") from error
    return {name: [value.replace("\r\n", "\n") for value in values] for name, values in fields.items()}


def _address(request: Request) -> str:
    return own_path(request.url.path + (f"?{request.url.query}" if request.url.query else ""))


def _language(request: Request) -> str:
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    return chosen if chosen in LANGUAGES else preferred_language(request.headers.get("accept-language", ""))


def _say(request: Request) -> Say:
    return say_in(_language(request))


def _notice_purpose(session: str) -> str:
    return f"notice {form_code(session)}"
