"""Conversations made up by Hypothesis: with tool calls answered, late, in part or never, and rows missing."""

from __future__ import annotations

from hypothesis import strategies as st

from picomem.records.kinds import Origin
from picomem.records.session import Message, Role, Summary, ToolCall
from picomem.sessions.context_window import Budgets, Known
from picomem.sessions.pairs import message_tokens

WORDS = ("boat", "harbour", "灯塔", "naïve_path/to.py", "<tag>", "Ünïcödé", "🛶", "\n\n## Heading", "x" * 40)
_ORIGINS = {Role.USER: Origin.USER, Role.ASSISTANT: Origin.AGENT, Role.TOOL: Origin.TOOL, Role.SYSTEM: Origin.AGENT}


def message(seq: int, role: Role, content: str, calls: tuple[str, ...] = (), answers: str = "") -> Message:
    asked = tuple(ToolCall(id_, "look", f'{{"at": "{id_}"}}') for id_ in calls)
    return Message(
        session_id="s",
        seq=seq,
        id=f"m{seq}",
        role=role,
        content=content,
        tool_calls=asked,
        tool_call_id=answers,
        origin=_ORIGINS[role],
        tokens=message_tokens(content, asked),
        created_at=seq,
    )


_TEXTS = [" ".join([word] * times) for word in WORDS for times in (1, 7, 60, 400)]
TEXTS = st.sampled_from([*_TEXTS, " ".join(WORDS), " ".join(WORDS * 30)])


@st.composite
def talk(draw: st.DrawFn, most: int = 24) -> list[Message]:
    """Messages in their order. A result stands behind its call, or later, or nowhere; some rows are gone."""
    messages: list[Message] = []
    late: list[str] = []

    def say(role: Role, content: str, calls: tuple[str, ...] = (), answers: str = "") -> None:
        messages.append(message(len(messages) + 1, role, content, calls, answers))

    for step in range(draw(st.integers(0, most))):
        kind = draw(st.sampled_from(["user", "assistant", "calls", "calls", "late", "system"]))
        if kind == "calls":
            calls = tuple(f"c{step}.{number}" for number in range(draw(st.integers(1, 3))))
            say(Role.ASSISTANT, "", calls)
            for call in calls:
                if draw(st.booleans()):
                    say(Role.TOOL, draw(TEXTS), answers=call)
                else:
                    late.append(call)
        elif kind == "late":
            if late and draw(st.booleans()):
                say(Role.TOOL, draw(TEXTS), answers=late.pop(draw(st.integers(0, len(late) - 1))))
        else:
            say(Role(kind), draw(TEXTS))
    gone = draw(st.sets(st.integers(1, most), max_size=2)) if draw(st.booleans()) else set()
    return [message for message in messages if message.seq not in gone]


def summaries(last: int) -> st.SearchStrategy[Summary | None]:
    made = st.builds(
        lambda words, origin, covered: Summary(
            session_id="s",
            text=words,
            origin=origin,
            message_count=covered,
            covered_seq=covered,
            created_at=0,
            updated_at=0,
        ),
        TEXTS,
        st.sampled_from([Origin.AGENT, Origin.WEB]),
        st.integers(0, max(1, last)),
    )
    return st.none() | made


KNOWN = st.lists(
    st.builds(
        Known, st.sampled_from(["boats", "home", "tea", "lamp_colour", "x"]), TEXTS, st.sampled_from(list(Origin))
    ),
    max_size=9,
)
BUDGETS = st.builds(
    Budgets,
    memory=st.integers(400, 3_000),
    turn=st.integers(400, 3_000),
    messages=st.integers(1, 25),
    memories=st.integers(0, 7),
    heading=st.sampled_from(["## Memory Context", "## 记忆"]),
)
