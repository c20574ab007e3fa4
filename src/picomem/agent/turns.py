"""The chat turn as an operation: a user's message in, the events of the turn while it runs, the answer at the end.

It is not part of `operations`, because PicoBot is built on top of them; `app.operations` is the table of both.
pydantic-ai is loaded when a turn begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyio import to_thread

from picomem.agent.events import EVENTS, Notice, Tell, TurnResult
from picomem.errors import InvalidInput, StoreError
from picomem.light_dataclass import dataclass
from picomem.operations.operation import Operation, option
from picomem.operations.presentation import Presentation, Verbatim

if TYPE_CHECKING:
    from picomem.agent.loop import PicoBot
    from picomem.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class ChatTurn:
    message: str = option("what the user says", positional=True)
    session: str = option("go on with this conversation; the beginning of its id is enough (default: a new one)", "")


async def chat_turn(engine: Engine, request: ChatTurn, tell: Tell) -> TurnResult:
    """Say something to PicoBot, which remembers, and get its answer; its words and tool calls are told as they come.

    The model is the one of the settings. After the answer, what is due in the user's conversations is consolidated.
    """
    check_installed()
    bot = await to_thread.run_sync(_opened, engine, request.session)
    turn = await bot.turn(request.message, tell)
    try:
        notices = await bot.settle()
    except StoreError as error:
        notices = [str(error)]  # the answer stands; what is due waits
    for notice in notices:
        await tell(Notice(notice))
    return turn


def check_installed() -> None:
    """Raise InvalidInput where PicoBot's libraries are missing."""
    try:
        import pydantic_ai  # noqa: F401
    except ModuleNotFoundError:
        raise InvalidInput("PicoBot needs the extra `agent`: install picomem[agent], such as with pip.") from None


def _opened(engine: Engine, session: str) -> PicoBot:
    from picomem.agent.loop import PicoBot
    from picomem.models.provider import chat_choice, model_of

    return PicoBot(model_of(chat_choice(engine.settings)), engine, session=session)


OPERATIONS = (
    Operation(
        name="chat",
        group="use",
        request=ChatTurn,
        result=TurnResult,
        run=chat_turn,
        present=lambda turn: Presentation(blocks=(Verbatim(turn.answer),)),
        reply=lambda turn: turn.answer,
        permission="memory:write:session",
        example='picomem chat "What do you know about the staging database?"',
        creates=True,
        asynchronous=True,
        events=EVENTS,
    ),
)
