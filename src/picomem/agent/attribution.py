"""Attribution of the words in a run: those of the person, and those of tools other than memory's. Pure.

A model that has read a page may offer its content as its own words, or reworded. So while texts of tools are in its
context, what it stores counts as its own only if the person stated it, or if memory already knew it and showed it
(`SpokenTexts`). Otherwise it has the origin of the tools, whatever the model claims
and however it is worded. A mail that the person pasted is text of others.

Tool output reaches a model in four ways: as a result, as a result that asks for another try, as content beside the
result that a provider gets in the user's place, and from a tool that the provider runs itself. Memory's own tools fence
untrusted text when they quote it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    NativeToolReturnPart,
    TextContent,
    ToolReturnPart,
    UserPromptPart,
)

from picomem.light_dataclass import dataclass
from picomem.operations.offer_origins import SpokenTexts
from picomem.provenance.statements import Grounds
from picomem.provenance.whose_words import pasted_words
from picomem.records.kinds import Origin
from picomem.records.untrusted_fence import quoted_in, without_quoted
from picomem.text.terms import terms

ORIGIN = "origin"  # in a result's metadata, which no provider gets: where its text came from
_LONGEST = 200_000  # characters of one result that are compared: a model's window holds no more


@dataclass(frozen=True, slots=True)
class ContextTexts:
    """The words in a model's context: those of the person, and `spoken` of all speakers."""

    persons: Grounds
    spoken: SpokenTexts

    @classmethod
    def of(
        cls, messages: Sequence[ModelMessage], asked: str, shown: str, heard: Sequence[tuple[Origin, str]]
    ) -> ContextTexts | None:
        """`asked` is what the person says now, `shown` what memory put into the prompt, `heard` what `heard_in` finds
        in the messages. None where no other tool has spoken."""
        if not heard:
            return None
        said = [text_of(part.content) for message in messages for part in prompts_of(message, asked)]
        said = list(dict.fromkeys((asked, *said)))
        others = [*heard, *((Origin.OTHER, theirs) for text in said if (theirs := pasted_words(text)))]
        known = Grounds(known=map(_statement, without_quoted(shown).splitlines()))
        persons = Grounds(said)
        spoken = SpokenTexts((persons, known), tuple((origin, frozenset(terms(text))) for origin, text in others))
        return cls(persons, spoken)

    def origin_of(self, text: str) -> Origin:
        """The origin of a statement's words."""
        return self.spoken.origin_of(text)

    def mentioned(self, text: str) -> bool:
        """Return whether the person has said a word of it."""
        return not self.persons.terms.isdisjoint(terms(text))


def heard_in(messages: Iterable[ModelMessage], asked: str, own_tools: Collection[str]) -> list[tuple[Origin, str]]:
    """The untrusted texts in these messages, each once, with its origin."""
    return list(dict.fromkeys(heard for message in messages for heard in _heard(message, asked, own_tools)))


def _heard(message: ModelMessage, asked: str, own_tools: Collection[str]) -> Iterator[tuple[Origin, str]]:
    parts = results_of(message, asked) if isinstance(message, ModelRequest) else message.parts
    for part in parts:
        if isinstance(part, NativeToolReturnPart):
            yield Origin.TOOL, part.model_response_str()[:_LONGEST]
        elif isinstance(part, ToolReturnPart):
            text = part.model_response_str(wrap_if_error=False)[:_LONGEST]
            if part.tool_name not in own_tools:
                yield origin_of(part), text
            else:
                yield from quoted_in(text)


def origin_of(part: ToolReturnPart) -> Origin:
    """The origin of a result's text: from its metadata, or else a tool."""
    said = part.metadata.get(ORIGIN) if isinstance(part.metadata, dict) else None
    return Origin(said) if said in list(Origin) else Origin.TOOL


def results_of(message: ModelRequest, asked: str = "") -> list[ToolReturnPart]:
    """The results in a request. What a tool gave beside its result stands behind that, in the user's place, and is
    taken as part of the last one; but what the person `asked` is theirs wherever it stands."""
    results = [part for part in message.parts if isinstance(part, ToolReturnPart)]
    persons = prompts_of(message, asked)
    beside = [part for part in message.parts if isinstance(part, UserPromptPart) and part not in persons]
    if not (results and beside):
        return results
    *first, last = results
    texts = [last.model_response_str(wrap_if_error=False), *(text_of(part.content) for part in beside)]
    whole = ToolReturnPart(
        last.tool_name, "\n".join(texts), last.tool_call_id, metadata=last.metadata, outcome=last.outcome
    )
    return [*first, whole]


def prompts_of(message: ModelMessage, asked: str = "") -> list[UserPromptPart]:
    """Return the texts that the person says in a message. Beside a result it is theirs where a run of pydantic-ai's did
    not make the message (`message_conversion.to_model` did), or where it is what they `asked`."""
    if isinstance(message, ModelResponse):
        return []
    prompts = [part for part in message.parts if isinstance(part, UserPromptPart)]
    if message.run_id is None or not any(isinstance(part, ToolReturnPart) for part in message.parts):
        return prompts
    return [part for part in prompts if asked and text_of(part.content) == asked]


def text_of(content: str | Iterable[Any]) -> str:
    """The text of a prompt, with a mark for each file in it."""
    if isinstance(content, str):
        return content
    return "\n".join(_text_of_item(item) for item in content)


def _statement(line: str) -> str:
    """What a line of memory's says, without its key."""
    return re.sub(r"^- \S+(?: \([^()]*\))?: ", "", line)


def _text_of_item(item: Any) -> str:
    if isinstance(item, str):
        return item
    return item.content if isinstance(item, TextContent) else f"[{getattr(item, 'kind', 'file')}]"
