"""What the agent sees: the index page line by line with its tokens, and what a hook would put beside a prompt."""

from __future__ import annotations

from typing import Any

from picomem.operations.index_page import IndexResult
from picomem.operations.injecting import PromptContextResult
from picomem.page.page_view import PageContent, PageRequest, PageView
from picomem.page.svg_marks import BudgetPart, budget_bar, threshold_bar


async def show(asked: PageRequest) -> PageContent:
    """The index page of the project and the agent in the address, and what goes beside the prompt in `prompt`."""
    say = asked.say
    whose = {name: asked.asked(name) for name in ("project", "agent") if asked.asked(name)}
    index = IndexResult(**await asked.call("index", {**whose, "lines": True}))
    known = await asked.call("projects", {})
    prompt = asked.asked("prompt")
    values: dict[str, Any] = {
        "index": index,
        "bar": index_bar(index, asked),
        "project": asked.asked("project"),
        "agent": asked.asked("agent"),
        "projects": known["projects"],
        "agents": known["agents"],
        "prompt": prompt,
        "context": None,
    }
    if prompt.strip():
        arguments = {"prompt": prompt, **{name: value for name, value in whose.items() if name == "project"}}
        context = PromptContextResult(**await asked.call("prompt-context", arguments))
        values |= {
            "context": context,
            "threshold": threshold_bar(
                context.relevance,
                context.min_relevance,
                say("agent.relevance", value=f"{context.relevance:.2f}", least=f"{context.min_relevance:.2f}"),
            ),
        }
    return PageContent(template="agent.html", title=say("agent.title"), values=values)


def index_bar(index: IndexResult, asked: PageRequest) -> str:
    """The budget as one bar: each line's share, entries by their origin, the rest of the page, and what is free."""
    parts = [
        BudgetPart(
            line.origin or "fixed", line.tokens, f"{line.text[:80]} · {asked.say('search.tokens', count=line.tokens)}"
        )
        for line in index.lines
        if line.text
    ]
    title = asked.say("agent.used", count=index.tokens, budget=index.budget)
    return budget_bar(parts, index.budget, title)


VIEW = PageView(
    name="agent",
    path="/agent",
    show=show,
    permission="memory:read:user",
    icon="M2 12S6 5 12 5s10 7 10 7-4 7-10 7S2 12 2 12Zm10 3a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z",
    key="a",
    has_pane=True,
)
