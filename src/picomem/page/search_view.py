"""Search: what is known about a question, why each hit is one, and what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from picomem.clock import parse_iso
from picomem.light_dataclass import dataclass
from picomem.operations.recall_views import AnswerView, HitView, group_hits, memories_first, standing_out
from picomem.operations.table import operation
from picomem.page.html_rendering import exactly
from picomem.page.message_catalog import Say
from picomem.page.page_view import PageContent, PageRequest, PageView
from picomem.provenance.requests import is_question
from picomem.records.kinds import Kind, Origin

FILTERS = ("kind", "origin", "project", "tag", "as_of", "valid_at", "weak")
_LIMIT = 20
_BUDGET = 8_000  # tokens; a person reads on where an agent would pay for it
_WEAK_BELOW = 0.3  # a confidence at which the answer is hardly one
_SURE_FROM = 0.6


@dataclass(frozen=True, slots=True)
class LegState:
    """A way of searching, with what came of it; `is_well` is false for one that failed or saw a part only."""

    name: str
    state: str
    is_well: bool
    is_off: bool


async def show(asked: PageRequest) -> PageContent:
    """The answer to the question in `q`; without one, what to ask."""
    asked.caller.require(operation("recall").permission, "recall")
    question = asked.asked("q").strip()
    say = asked.say
    values: dict[str, Any] = {
        "filters": {name: asked.asked(name) for name in FILTERS},
        "is_filtered": any(asked.asked(name) for name in FILTERS if name != "weak"),
        "kinds": [kind.value for kind in Kind],
        "origins": [origin.value for origin in Origin],
        "answer": None,
    }
    if not question:
        return PageContent(template="search.html", title=say("search.title"), values=values)
    arguments: dict[str, Any] = {"query": question, "limit": _LIMIT, "token_budget": _BUDGET, "include_context": True}
    arguments |= {name: [asked.asked(name)] for name in ("kind", "origin") if asked.asked(name)}
    arguments |= {name: asked.asked(name) for name in ("project", "tag", "as_of", "valid_at") if asked.asked(name)}
    answer = AnswerView(**await asked.call("recall", arguments))
    values |= answer_values(answer, asked)
    return PageContent(template="search.html", title=f"{question[:60]} · {say('search.title')}", values=values)


def answer_values(answer: AnswerView, asked: PageRequest) -> dict[str, Any]:
    """What the template needs to know of an answer."""
    strong, weak = standing_out(answer.hits)
    shown, folded = ([*strong, *weak], []) if asked.asked("weak") else (strong, weak)
    return {
        "answer": answer,
        "groups": [
            (group, *with_questions_apart(group.hits)) for group in memories_first(group_hits(shown, answer.sessions))
        ],
        "shown": len(shown),
        "weaker": len(folded),
        "legs": [leg_state(name, state) for name, state in answer.legs.items()],
        "sureness": sureness(answer.confidence),
        "window": window_text(answer, asked),
        "all_address": asked.address_with(weak="1"),
    }


def with_questions_apart(hits: Sequence[HitView]) -> tuple[list[HitView], list[HitView]]:
    """The hits of a group, and apart from them the questions of the user whose replies are among them: each reply
    stands where its question would."""
    scores = {hit.id: hit.score for hit in hits}
    apart: list[HitView] = []
    in_turn = sorted((hit for hit in hits if hit.source == "episode" and hit.turns), key=lambda hit: hit.turns[0])
    for said, reply in pairwise(in_turn):
        if said.role == "user" and is_question(said.text) and reply.role != "user":
            scores[reply.id] = max(said.score, reply.score)
            apart.append(said)
    if not apart:
        return list(hits), []
    return sorted((hit for hit in hits if hit not in apart), key=lambda hit: -scores[hit.id]), apart


def leg_state(name: str, state: str) -> LegState:
    """What came of a way of searching."""
    return LegState(name, state, "failed" not in state and "partial" not in state, state == "off")


def sureness(confidence: float) -> str:
    """The confidence as a word: the message `search.LEVEL`."""
    return "unsure" if confidence < _WEAK_BELOW else "sure" if confidence >= _SURE_FROM else "fair"


def window_text(answer: AnswerView, asked: PageRequest) -> str:
    """The time that the question names, as a sentence."""
    say: Say = asked.say
    if not answer.time_phrase or answer.since is None or answer.until is None:
        return ""
    since, until = (exactly(parse_iso(at), asked.zone) for at in (answer.since, answer.until))
    return say("search.window", phrase=answer.time_phrase, since=since, until=until)


VIEW = PageView(
    name="search",
    path="/search",
    show=show,
    permission="memory:read:user",
    icon="M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13Zm4.7 11.2L20 20",
    key="s",
    has_pane=True,
)
