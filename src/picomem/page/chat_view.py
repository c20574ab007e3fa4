"""Chat with PicoBot: its conversations, the messages of one, and a form to say something.

A script (static/chat.mjs) sends over the socket and shows the answer as it comes; without scripts the forms post.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from picomem.agent.turns import ChatModelResult
from picomem.errors import PicomemError
from picomem.light_dataclass import dataclass, replace
from picomem.operations.sessions import CallView, MessagesResult, MessageView, SessionsResult
from picomem.page.page_view import ARCHIVED_SESSION, PageContent, PageRequest, PageView, Redirect
from picomem.records.session import Channel

_MESSAGES = 50
_SESSIONS = 30
_MAY_TALK = "memory:write:session"


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call of a tool, with its answer; None while it has none, or where that is not on this page."""

    call: CallView
    answer: MessageView | None


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message with the tools that were called in it."""

    message: MessageView
    calls: list[ShownCall]


async def show_sessions(asked: PageRequest) -> PageContent:
    """The conversations, the one that was active last first, and a form to begin one."""
    return await _sessions_page(asked)


async def show_session(asked: PageRequest) -> PageContent:
    """The messages of one conversation, the latest at the end."""
    return await _session_page(asked, asked.asked("cursor"))


async def begin(asked: PageRequest) -> Redirect | PageContent:
    """Say something in a new conversation."""
    return await _said(asked, "")


async def say(asked: PageRequest) -> Redirect | PageContent:
    """Say something in this conversation."""
    return await _said(asked, asked.parameters["id"])


async def try_model(asked: PageRequest) -> PageContent:
    """Ask the model of the settings for a word, and say what came of it."""
    try:
        tried = await asked.call("try-model", {})
    except PicomemError as error:
        page = await _sessions_page(asked, {"trial_problem": error.message, "trial_code": error.code})
        return replace(page, status=error.status)
    return await _sessions_page(asked, {"tried": tried})


async def rename(asked: PageRequest) -> Redirect:
    """Give the conversation another title."""
    session = asked.parameters["id"]
    await asked.call("rename-session", {"session": session, "title": asked.sent("title")})
    return Redirect(to=f"/chat/{session}", notice="notice.session_renamed")


async def archive(asked: PageRequest) -> Redirect:
    """Take the conversation out of the list."""
    done = await asked.call("archive-session", {"session": asked.parameters["id"]})
    session = done["session"]
    return Redirect(
        to="/chat", notice="notice.session_archived", about=session.title, run=f"{ARCHIVED_SESSION}{session.id}"
    )


async def restore(asked: PageRequest) -> Redirect:
    """Take the conversation out of the archive."""
    session = asked.parameters["id"]
    done = await asked.call("archive-session", {"session": session, "restore": True})
    return Redirect(to=f"/chat/{session}", notice="notice.session_restored", about=done["session"].title)


async def _said(asked: PageRequest, session: str) -> Redirect | PageContent:
    """Wait for the answer, and show the conversation with it; or what was said again, with the problem."""
    message = asked.sent("message")
    arguments = {"message": message, "session": session, "channel": Channel.WEBSOCKET.value}
    try:
        turn = await asked.call("chat", arguments)
    except PicomemError as error:
        problem = {"problem": error.message, "problem_code": error.code, "draft": message}
        page = await (_session_page(asked, "", problem) if session else _sessions_page(asked, problem))
        return replace(page, status=error.status)
    return Redirect(to=f"/chat/{turn['session']}#end")


async def _sessions_page(asked: PageRequest, problem: dict[str, Any] | None = None) -> PageContent:
    is_archived = bool(asked.asked("archived"))
    arguments = {"archived": is_archived, "limit": _SESSIONS, "cursor": asked.asked("cursor")}
    listed = SessionsResult(**await asked.call("sessions", arguments))
    values = {
        **await _composer(asked),
        **(problem or {}),
        "sessions": listed.sessions,
        "damaged": len(listed.damaged),
        "is_archived": is_archived,
        "further": asked.address_with(cursor=listed.cursor) if listed.cursor else "",
        "say_path": "/chat/say",
    }
    return PageContent(template="chat.html", title=asked.say("chat.title"), values=values)


async def _session_page(asked: PageRequest, cursor: str, problem: dict[str, Any] | None = None) -> PageContent:
    name = asked.parameters["id"]
    result = MessagesResult(**await asked.call("messages", {"session": name, "last": _MESSAGES, "cursor": cursor}))
    session = result.session
    path = f"/chat/{session.id}"
    values = {
        **await _composer(asked),
        **(problem or {}),
        "session": session,
        "heading": session.title or asked.say("chat.untitled"),
        "messages": with_calls(result.messages),
        "before": result.before,
        "damaged": len(result.damaged),
        "earlier": f"{path}?cursor={result.cursor}" if result.cursor else "",
        "latest": path if cursor else "",
        "say_path": f"{path}/say",
    }
    return PageContent(template="chat_session.html", title=session.title or asked.say("chat.title"), values=values)


async def _composer(asked: PageRequest) -> dict[str, Any]:
    """What the form to say something needs."""
    model = ChatModelResult(**await asked.call("chat-model", {}))
    may_talk = asked.caller.may(_MAY_TALK)
    return {
        "model": model,
        "may_talk": may_talk,
        "can_talk": may_talk and not model.problem,
        "problem": "",
        "problem_code": "",
        "tried": None,
        "trial_problem": "",
        "trial_code": "",
        "draft": "",
    }


def with_calls(messages: Sequence[MessageView]) -> list[ShownMessage]:
    """The messages, each call with its answer. An answer whose call is on the page before stands by itself."""
    called = {call.id for message in messages for call in message.tool_calls}
    answers = {message.tool_call_id: message for message in messages if message.tool_call_id in called}
    return [
        ShownMessage(message, [ShownCall(call, answers.get(call.id)) for call in message.tool_calls])
        for message in messages
        if not message.tool_call_id or message.tool_call_id not in called
    ]


LIST = PageView(
    name="chat",
    path="/chat",
    show=show_sessions,
    permission="memory:read:session",
    actions={"/chat/say": begin, "/chat/try-model": try_model},
    icon="M4 5h16v11H10l-5 4v-4H4z",
    key="c",
)
VIEW = PageView(
    name="chat",
    path="/chat/{id}",
    show=show_session,
    permission="memory:read:session",
    actions={
        "/chat/{id}/say": say,
        "/chat/{id}/rename": rename,
        "/chat/{id}/archive": archive,
        "/chat/{id}/restore": restore,
    },
    missing="error.no_conversation",
)
