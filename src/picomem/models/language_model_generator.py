"""A generator that asks a language model through pydantic-ai.

It requests a structured answer in one of three modes, but never by a tool call, which small models do badly:

    schema      the JSON schema is part of the request, and provider and server enforce it
    object      the request asks for a JSON object, and the prompt contains the schema
    prompted    only the prompt contains the schema

It begins with the strictest mode that the model supports. If the server refuses a request, the next mode is tried. If
an answer cannot be read, the model gets the error, in the next mode. So there are at most three calls, and the mode
that worked is remembered. An answer that was cut off is requested once more, in the next mode, because a small model
under a schema may repeat itself endlessly. Failures that another call cannot mend end it at once: a time-out, a
refusal, a rejected key.

The client does not retry by itself, and the whole call has one deadline. If a server reports no tokens, our own
tokenizer counts them. A call that may have been answered without us receiving it counts with its maximum cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from socket import gaierror
from typing import Any, Generic

import anyio
from pydantic_ai import direct, exceptions
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition

from picomem.errors import GeneratorFailed
from picomem.models.generator import CallBudget, DoubtedPair, Material, PairVerdict, Proposal
from picomem.models.pair_question import pair_question
from picomem.models.prompt_and_reply import Answer, ModelTask, again, consolidation_question, no_answer_within
from picomem.models.provider import ModelChoice
from picomem.records.spend import Spend
from picomem.text.tokens import count_tokens

_CALLS = 3  # for one proposal, at most
_SCHEMA, _OBJECT, _PROMPTED = range(3)
_REJECTED = frozenset({400, 404, 415, 422, 501})  # a server that does not know what was asked for
_FRAME = 200  # tokens of a request that are not in its texts


class LanguageModelGenerator:
    """The generator of a system with a model."""

    def __init__(self, model: Model, choice: ModelChoice) -> None:
        self.name = f"{choice.provider}:{choice.model}"
        self._model = model
        self._choice = choice
        self._mode = _strictest_mode(model)

    async def propose(self, material: Material, budget: CallBudget) -> Proposal:
        """Ask, and read what it answers. Raises GeneratorFailed."""
        return await self._answer(consolidation_question(material), budget)

    async def judge(self, pairs: Sequence[DoubtedPair], budget: CallBudget) -> tuple[PairVerdict, ...]:
        """Ask which of the pairs still hold. Raises GeneratorFailed."""
        return await self._answer(pair_question(pairs), budget)

    async def _answer(self, question: ModelTask[Answer], budget: CallBudget) -> Answer:
        asking = _Asking(self._model, self._choice, question, budget, self._mode)
        try:
            async with self._model:
                answer = await asking.answer()
        except GeneratorFailed as error:
            raise GeneratorFailed(f"{self.name}: {error}") from error
        self._mode = asking.mode
        return answer


class _Asking(Generic[Answer]):
    """One question, asked in up to three modes."""

    def __init__(
        self, model: Model, choice: ModelChoice, question: ModelTask[Answer], budget: CallBudget, mode: int
    ) -> None:
        self._model = model
        self._choice = choice
        self._question = question
        self._budget = budget
        self._answer = ""  # the one that could not be used, and why
        self._problem = ""
        self._cut_off = False
        self.mode = mode

    async def answer(self) -> Answer:
        failure = GeneratorFailed()
        for _ in range(_CALLS):
            try:
                response = await self._response()
            except _Rejected as error:
                failure = GeneratorFailed(str(error))
                if self.mode == _PROMPTED:
                    break
                self.mode += 1
                continue
            if response.finish_reason == "length":
                failure = GeneratorFailed(f"the answer was cut off at {self._question.output_tokens:,} tokens.")
                if self.mode == _PROMPTED or self._cut_off:
                    break
                self._cut_off = True
                self.mode += 1
                continue
            if response.finish_reason == "content_filter":
                raise GeneratorFailed("the provider's filter withheld the answer.")
            try:
                return self._question.read(response.text or "")
            except GeneratorFailed as error:
                failure = error
                self._answer, self._problem = (response.text or "")[:2_000], str(error)
                self.mode = min(self.mode + 1, _PROMPTED)
        raise failure

    async def _response(self) -> ModelResponse:
        """One call. Raises _Rejected if another mode may work, and GeneratorFailed if none will."""
        messages = self._messages()
        given = self._given()
        seconds = self._choice.timeout_secs
        spend = unheard = Spend(1, given, self._question.output_tokens)
        if not await self._budget.reserve(unheard):
            raise GeneratorFailed("the limit of tokens leaves no room for a call.")
        try:
            # The library's deadline is of the request; ours is of whatever else may hang.
            with anyio.fail_after(seconds + 5):
                response = await direct.model_request(
                    self._model,
                    messages,
                    model_settings={
                        "max_tokens": self._question.output_tokens,
                        "request_timeout": float(seconds),
                        "timeout": float(seconds),
                        "max_retries": 0,
                        "temperature": 0.0,
                        "thinking": False,  # it would be paid for, and use up the room for the answer
                    },
                    model_request_parameters=self._parameters(),
                )
            spend = _spent(response, given)
        except exceptions.UserError as error:
            spend = Spend()  # it was said before anything was sent
            raise _Rejected(self._told(str(error))) from error
        except (exceptions.AgentRunError, OSError, ValueError) as error:  # ValueError: an answer of another kind
            known, failure = self._failure(error)
            spend = known or spend
            raise failure from error
        else:
            return response
        finally:
            if spend is not unheard:  # else it may have been answered unheard: what was reserved is what it cost
                await self._budget.settle(spend)

    def _failure(self, error: Exception) -> tuple[Spend | None, Exception]:
        """What a failed call cost, None if nobody knows, and the error to raise."""
        if isinstance(error, exceptions.ModelHTTPError):
            told = self._told(f"the server answered {error.status_code} ({_body(error.body)})")
            return Spend(1), _Rejected(told) if error.status_code in _REJECTED else GeneratorFailed(told)
        if isinstance(error, exceptions.ModelRequestTimeout | exceptions.ModelTimeoutError | TimeoutError):
            return None, GeneratorFailed(no_answer_within(self._choice.timeout_secs, self._choice.timeout_setting))
        if isinstance(error, exceptions.ContentFilterError):
            return None, GeneratorFailed("the provider's filter withheld the answer.")
        if _was_never_reached(error):
            return Spend(), GeneratorFailed("nobody answers at its address; is the server running?")
        return None, GeneratorFailed(self._told(f"the call failed ({error})"))

    def _messages(self) -> list[ModelMessage]:
        first = ModelRequest(parts=[SystemPromptPart(self._task()), UserPromptPart(self._question.prompt)])
        if not self._problem:
            return [first]
        answered = ModelResponse(parts=[TextPart(self._answer or "(nothing)")])
        return [first, answered, ModelRequest(parts=[UserPromptPart(again(self._problem))])]

    def _given(self) -> int:
        return sum(map(count_tokens, (self._task(), self._question.prompt, self._answer))) + _FRAME

    def _task(self) -> str:
        return self._question.task if self.mode == _SCHEMA else self._question.task_with_schema

    def _parameters(self) -> ModelRequestParameters:
        if self.mode == _PROMPTED:
            return ModelRequestParameters()
        # A server of one's own holds a model to the whole schema anyway; "strict" would take the bounds out of it.
        schema = OutputObjectDefinition(
            json_schema=self._question.schema, name=self._question.name, strict=not self._choice.is_own_server
        )
        if self.mode == _SCHEMA:
            return ModelRequestParameters(output_mode="native", output_object=schema, prompted_output_template=False)
        return ModelRequestParameters(output_mode="prompted", output_object=schema, prompted_output_template=False)

    def _told(self, text: str) -> str:
        """Describe a failure without the key, which some servers repeat."""
        text = " ".join(text.split())[:300]
        return f"{text.replace(self._choice.key, '…') if self._choice.key else text}."


class _Rejected(Exception):
    """The server does not take a request of this kind."""


def _strictest_mode(model: Model) -> int:
    """Return the strictest mode that a model supports."""
    profile: Any = model.profile
    if profile.get("supports_json_schema_output", False):
        return _SCHEMA
    return _OBJECT if profile.get("supports_json_object_output", False) else _PROMPTED


def _spent(response: ModelResponse, estimate: int) -> Spend:
    """Return the cost of a call by the server's count, or else by ours."""
    given, taken = response.usage.input_tokens, response.usage.output_tokens
    return Spend(1, given or estimate, taken or count_tokens(response.text or ""))


def _body(body: object) -> str:
    """The sentence in an error's body, as OpenAI, Ollama and Anthropic write it; a page or rubbish is nothing."""
    if isinstance(body, dict):
        error = body.get("error", body)
        said = error.get("message") if isinstance(error, dict) else error
        return str(said)[:200]
    return ""


def _was_never_reached(error: BaseException) -> bool:
    """Return whether no connection was made, so that nothing can have been sent."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, ConnectionRefusedError | gaierror):
        seen = seen.__cause__ or seen.__context__
    return seen is not None
