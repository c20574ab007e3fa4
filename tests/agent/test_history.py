"""Our messages as a model's, and back: nothing that was said is lost, and calls keep their results."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ImageUrl,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from tests.sessions.talks import message, talk

from picomem.agent.message_conversion import UNREADABLE, to_model, to_said
from picomem.light_dataclass import replace
from picomem.records.kinds import Origin
from picomem.records.session import Message, NewMessage, Role, ToolCall
from picomem.sessions.pairs import NO_RESULT, OpenCalls, check_said, grouped


def window_of(messages: list[Message]) -> list[Message]:
    """As a window hands messages out: in groups, without old system messages."""
    groups, _ = grouped([spoken for spoken in messages if spoken.role is not Role.SYSTEM])
    return [spoken for group in groups for spoken in group.messages]


@given(talk())
def test_what_goes_to_a_model_comes_back_the_same(messages: list[Message]) -> None:
    shown = window_of(messages)
    back = to_said(to_model(shown))
    assert [(spoken.role, spoken.content, spoken.tool_calls, spoken.tool_call_id) for spoken in back] == [
        (spoken.role, spoken.content, spoken.tool_calls, spoken.tool_call_id) for spoken in shown
    ]
    if back:
        check_said(back, OpenCalls())  # the log takes it


@given(talk())
def test_every_result_stands_in_the_request_behind_its_call(messages: list[Message]) -> None:
    made = to_model(window_of(messages))
    waiting: list[str] = []
    for sent in made:
        if isinstance(sent, ModelResponse):
            assert not waiting
            waiting = [part.tool_call_id for part in sent.tool_calls]
        else:
            answered = [part.tool_call_id for part in sent.parts if isinstance(part, ToolReturnPart)]
            assert sorted(answered) == sorted(waiting)
            waiting = []
    assert not waiting
    assert all(type(a) is not type(b) or isinstance(a, ModelResponse) for a, b in pairwise(made))


names = st.text(max_size=12)
responses = st.lists(
    st.builds(TextPart, st.text(max_size=20))
    | st.builds(ThinkingPart, st.text(max_size=20))
    | st.builds(ToolCallPart, names, st.text(max_size=20) | st.dictionaries(names, st.integers()), names),
    max_size=4,
)


@given(st.lists(responses, max_size=6), st.randoms())
def test_whatever_a_model_writes_can_be_stored_and_is_answered_by_its_results(made: list, random) -> None:
    talk = []
    for parts in made:
        response = ModelResponse(parts=parts)
        results = [ToolReturnPart(part.tool_name, "yes", part.tool_call_id) for part in response.tool_calls]
        random.shuffle(results)
        talk += [ModelRequest(parts=[UserPromptPart("and?")]), response, ModelRequest(parts=results)]
    said = to_said(talk)
    if said:
        check_said(said, OpenCalls())
    calls = [call.id for spoken in said for call in spoken.tool_calls]
    assert sorted(spoken.tool_call_id for spoken in said if spoken.role is Role.TOOL) == sorted(calls)
    texts = ["".join(part.content for part in parts if isinstance(part, TextPart)) for parts in made]
    assert [text for text in texts if text.strip()] == [
        spoken.content for spoken in said if spoken.role is Role.ASSISTANT and spoken.content.strip()
    ]


def test_a_result_says_where_its_text_came_from() -> None:
    call = replace(message(1, Role.ASSISTANT, "", ("c1",)), tool_calls=(ToolCall("c1", "fetch"),))
    page = replace(message(2, Role.TOOL, "A page.", answers="c1"), origin=Origin.WEB)
    (_, request) = to_model([call, page])
    part: Any = request.parts[0]
    assert (part.tool_name, part.metadata) == ("fetch", {"origin": "web"})
    assert to_model([call, page]) == to_model([call, page])


def test_a_call_whose_result_never_came_is_answered_and_arguments_that_are_no_object_are_handed_on_whole() -> None:
    call = replace(message(1, Role.ASSISTANT, "Let me look.", ("c1",)), tool_calls=(ToolCall("c1", "look", '{"at": '),))
    response, request = to_model(window_of([call]))
    assert isinstance(response, ModelResponse)
    assert response.tool_calls[0].args_as_dict() == {UNREADABLE: '{"at": '}
    part: Any = request.parts[0]
    assert NO_RESULT in part.content


def test_a_picture_leaves_a_mark_and_thinking_leaves_nothing() -> None:
    asked = ModelRequest(parts=[UserPromptPart(["What is this?", ImageUrl("https://example.org/a.png")])])
    said = to_said([asked, ModelResponse(parts=[ThinkingPart("hm"), TextPart("A boat.")])])
    assert said == [
        NewMessage(role=Role.USER, content="What is this?\n[image-url]"),
        NewMessage(role=Role.ASSISTANT, content="A boat."),
    ]
