"""The format of OpenAI's chat completions: requests of clients, and the documents that they receive. Pure.

Unsupported features are refused with a sentence: tools of the client, several answers, JSON, pictures. The settings
decide the sampling of answers (`temperature`, `max_tokens`, …) and the model, so these parameters are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass
from picomem.records.session import NewMessage, Role

MODEL = "picobot"
_INSTRUCTING = ("system", "developer")
_CREATED = 1_793_491_200  # 1 November 2026: a client may keep a model by it, so it is the same each time
_PASSED_OVER = ("tool", "function")  # the results of a client's own tools, in the history of another model
_TEXT_PARTS = ("text", "input_text", "output_text")
_REFUSED = {
    "tools": "PicoBot has tools of its own; send none.",
    "functions": "PicoBot has tools of its own; send none.",
    "logprobs": "PicoBot gives no probabilities.",
    "audio": "PicoBot answers in text alone.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A request: the new message, the history before it, and the instructions of the client."""

    asked: str
    history: tuple[NewMessage, ...] = ()
    instructions: str = ""
    session: str = ""
    user: str = ""
    is_streamed: bool = False
    with_usage: bool = False


def request_of(body: Mapping[str, Any], session: str = "") -> ChatRequest:
    """The request that a body is; `session` is the one that a header names. Raises InvalidInput."""
    if not _text(body.get("model") or "", "model"):
        raise InvalidInput(f"The request names no model; send “model”: “{MODEL}”.")
    for name, sentence in _REFUSED.items():
        if body.get(name):
            raise InvalidInput(f"“{name}” is not supported: {sentence}")
    if body.get("n") not in (None, 1):
        raise InvalidInput("“n” is not supported: PicoBot gives one answer.")
    kind = _object(body, "response_format").get("type", "text")
    if kind != "text":
        raise InvalidInput("“response_format” is not supported: PicoBot answers in text.")
    said, instructions = _messages(body.get("messages"))
    if not said or said[-1].role is not Role.USER:
        raise InvalidInput("The last message must be the user's: it is the one that PicoBot answers.")
    if not said[-1].content.strip():
        raise InvalidInput("The last message is empty; write something.")
    named = _object(body, "metadata").get("session", "")
    return ChatRequest(
        asked=said[-1].content,
        history=tuple(message for message in said[:-1] if message.content.strip()),
        instructions="\n\n".join(instructions),
        session=session or _text(named, "metadata.session"),
        user=_text(body.get("user") or "", "user"),
        is_streamed=_switch(body, "stream"),
        with_usage=_switch(_object(body, "stream_options"), "include_usage"),
    )


def models() -> dict[str, Any]:
    """The list of models."""
    return {"object": "list", "data": [model()]}


def model() -> dict[str, Any]:
    """The one model."""
    return {"id": MODEL, "object": "model", "created": _CREATED, "owned_by": "picomem"}


class Reply:
    """The documents of one answer."""

    def __init__(self, reply_id: str, created: int, session: str) -> None:
        self._head = {"id": f"chatcmpl-{reply_id}", "created": created, "model": MODEL}
        self._session = session

    def whole(self, text: str, usage: tuple[int, int], notices: Sequence[str]) -> dict[str, Any]:
        """The answer as one document; `usage` are the tokens of the prompts and of the answers."""
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        further = {"usage": _usage(usage), "picomem": self._about(notices)}
        return {**self._head, "object": "chat.completion", "choices": [choice], **further}

    def first(self) -> dict[str, Any]:
        """The chunk before the first words."""
        return self._chunk({"role": "assistant", "content": ""})

    def words(self, text: str) -> dict[str, Any]:
        """The next words."""
        return self._chunk({"content": text})

    def last(self, usage: tuple[int, int] | None, notices: Sequence[str]) -> list[dict[str, Any]]:
        """The chunks behind the last words, with the usage if the client wants it."""
        end = {**self._chunk({}, "stop"), "picomem": self._about(notices)}
        return [end] if usage is None else [end, {**self._chunk({}), "choices": [], "usage": _usage(usage)}]

    def _about(self, notices: Sequence[str]) -> dict[str, Any]:
        return {"session": self._session, "notices": list(notices)}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._head, "object": "chat.completion.chunk", "choices": [choice]}


def _usage(usage: tuple[int, int]) -> dict[str, int]:
    prompt, completion = usage
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _messages(given: Any) -> tuple[list[NewMessage], list[str]]:
    """Return the messages and the instructions."""
    if not isinstance(given, list) or not given:
        raise InvalidInput("“messages” is a list of at least one message.")
    said: list[NewMessage] = []
    instructions: list[str] = []
    for place, message in enumerate(given):
        if not isinstance(message, dict):
            raise InvalidInput(f"messages[{place}] is an object with role and content.")
        role = message.get("role")
        if role in _PASSED_OVER:
            continue
        text = _content(message.get("content"), f"messages[{place}].content")
        if role in _INSTRUCTING:
            instructions.append(text)
        elif role in (Role.USER, Role.ASSISTANT):
            said.append(NewMessage(role=Role(role), content=text))
        else:
            raise InvalidInput(f"The role of messages[{place}] is one of system, developer, user, assistant and tool.")
    return said, instructions


def _content(content: Any, where: str) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise InvalidInput(f"{where} is a text, or a list of parts.")
    texts = []
    for part in content:
        if not isinstance(part, dict) or part.get("type") not in _TEXT_PARTS:
            raise InvalidInput(f"{where} has a part that is no text; PicoBot reads text alone.")
        texts.append(_text(part.get("text"), f"{where} of a part"))
    return "".join(texts)


def _object(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidInput(f"“{name}” is an object.")
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"“{name}” is a text.")
    return value


def _switch(body: Mapping[str, Any], name: str) -> bool:
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise InvalidInput(f"“{name}” is true or false.")
    return bool(value)
