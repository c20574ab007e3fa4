"""The chat turn as an operation: a user's message in, the events of the turn while it runs, the answer at the end.

It is not part of `operations`, because PicoBot is built on top of them; `app.operations` is the table of both.
pydantic-ai is loaded when a turn begins.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from anyio import to_thread

from picomem.agent.events import EVENTS, Notice, Tell, TurnResult
from picomem.coded_text import CodedText
from picomem.engine.audience import redaction
from picomem.engine.engine import Engine
from picomem.errors import GeneratorFailed, InvalidInput, StoreError
from picomem.light_dataclass import dataclass
from picomem.models.provider import ModelChoice, chat_choice, model_of, open_chat_model
from picomem.operations.operation import Operation, option
from picomem.operations.presentation import Presentation, Sentence, Verbatim
from picomem.records.session import Channel
from picomem.settings import load

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from picomem.agent.loop import PicoBot


_NOT_INSTALLED = CodedText("warning.no_agent_library")


@dataclass(frozen=True, slots=True)
class ChatTurn:
    message: str = option("what the user says", positional=True)
    session: str = option("go on with this conversation; the beginning of its id is enough (default: a new one)", "")
    channel: str = option("where a new conversation takes place", Channel.TUI.value, choices=tuple(Channel))


async def chat_turn(engine: Engine, request: ChatTurn, tell: Tell) -> TurnResult:
    """Say something to PicoBot, which remembers, and get its answer; its text and tool calls are reported as they come.

    The model is the one of the settings. After the answer, what is due in the user's conversations is consolidated.
    """
    bot = await open_bot(engine, request.session, await open_model(engine), Channel(request.channel))
    turn = await bot.turn(request.message, tell)
    for notice in await settle(bot):
        await tell(Notice(notice))
    return turn


@dataclass(frozen=True, slots=True)
class ChatModelRequest:
    pass


@dataclass(frozen=True, slots=True)
class ChatModelResult:
    """The model that PicoBot talks with; `problem` says what is missing where there is none."""

    provider: str
    model: str
    problem: str


def chat_model(engine: Engine, _request: ChatModelRequest) -> ChatModelResult:
    """Say which model PicoBot talks with, or how to set one up. Nothing is connected to."""
    try:
        chosen = chat_choice(engine.settings)
    except InvalidInput as error:
        return ChatModelResult("", "", error.message)
    problem = "" if find_spec("pydantic_ai") else _NOT_INSTALLED
    return ChatModelResult(chosen.provider, chosen.model, problem)


@dataclass(frozen=True, slots=True)
class TryModelRequest:
    pass


@dataclass(frozen=True, slots=True)
class TriedModel:
    """The model of the settings as they are now, and what it answered. `is_used` is false where this process began with
    another one, and has to be started anew."""

    provider: str
    model: str
    answer: str
    is_used: bool


async def try_model(engine: Engine, _request: TryModelRequest) -> TriedModel:
    """Ask the model of the settings for one word, and say what it answers.

    The settings are read anew. Raises InvalidInput where none is set, and GeneratorFailed where it does not answer.
    """
    check_installed()
    from pydantic_ai.direct import model_request  # noqa: PLC0415 - an extra
    from pydantic_ai.exceptions import AgentRunError  # noqa: PLC0415 - an extra
    from pydantic_ai.messages import ModelRequest  # noqa: PLC0415 - an extra

    from picomem.agent.loop import failure  # noqa: PLC0415 - an extra

    chosen = chat_choice(await to_thread.run_sync(load))
    try:
        reply = await model_request(model_of(chosen), [ModelRequest.user_text_prompt("Say one word: ready")])
    except AgentRunError as error:
        raise GeneratorFailed(failure(error, redaction(engine))) from error
    return TriedModel(chosen.provider, chosen.model, (reply.text or "").strip()[:200], _is_used(engine, chosen))


def _is_used(engine: Engine, chosen: ModelChoice) -> bool:
    try:
        return chat_choice(engine.settings) == chosen
    except InvalidInput:
        return False


async def open_model(engine: Engine) -> Model:
    """The model of the settings. Raises InvalidInput where PicoBot's libraries are missing, or no model is set."""
    check_installed()
    return await to_thread.run_sync(open_chat_model, engine.settings)


async def open_bot(engine: Engine, session: str, model: Model, channel: Channel = Channel.TUI) -> PicoBot:
    """PicoBot in the conversation of that id; in a new one on `channel` if it is empty. Raises NotFound for an unknown
    one."""
    return await to_thread.run_sync(_bot, engine, session, model, channel)


async def settle(bot: PicoBot) -> list[str]:
    """After an answer, what is due in the user's conversations; the notices for the person."""
    try:
        return await bot.settle()
    except StoreError as error:
        return [str(error)]  # the answer stands; what is due waits


def check_installed() -> None:
    """Raise InvalidInput where PicoBot's libraries are missing."""
    try:
        import pydantic_ai  # noqa: F401, PLC0415 - an extra
    except ModuleNotFoundError:
        raise InvalidInput(_NOT_INSTALLED) from None


def _bot(engine: Engine, session: str, model: Model, channel: Channel) -> PicoBot:
    from picomem.agent.loop import PicoBot  # noqa: PLC0415 - an extra

    return PicoBot(model, engine, session=session, channel=channel)


def _told_model(result: ChatModelResult) -> str:
    return result.problem or f"PicoBot talks with {result.model} of {result.provider}."


def _told_trial(tried: TriedModel) -> str:
    return f"{tried.model} of {tried.provider} answers: {tried.answer}"


OPERATIONS = (
    Operation(
        name="chat-model",
        group="look",
        run=chat_model,
        present=lambda result: Presentation(blocks=(Sentence(_told_model(result)),)),
        reply=lambda result: _told_model(result),
        permission="memory:read:session",
        example="picomem chat-model",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="try-model",
        group="look",
        run=try_model,
        present=lambda tried: Presentation(blocks=(Sentence(_told_trial(tried)),)),
        reply=lambda tried: _told_trial(tried),
        permission="memory:write:session",
        example="picomem try-model",
        asynchronous=True,
    ),
    Operation(
        name="chat",
        group="use",
        run=chat_turn,
        present=lambda turn: Presentation(blocks=(Verbatim(turn.answer),)),
        reply=lambda turn: turn.answer,
        permission="memory:write:session",
        answer_permissions=("memory:read:session", "memory:read:user"),
        example='picomem chat "What do you know about the staging database?"',
        creates=True,
        asynchronous=True,
        events=EVENTS,
        converses=True,
    ),
)
