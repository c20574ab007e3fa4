"""The central operation: recall. It has its own module, so that a hook loads nothing else."""

from __future__ import annotations

import shlex
from typing import Any

from picomem.engine.audience import cites_sources
from picomem.engine.engine import Engine
from picomem.engine.past_sessions import hit_sessions, unknown_project, whole_session
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass, replace
from picomem.operations.inert_results import fenced, fenced_turn
from picomem.operations.operation import ChatCommand, Operation, given_filters, option
from picomem.operations.presentation import (
    Block,
    Heading,
    Presentation,
    PresentedEntry,
    Sentence,
    Text,
    attributed,
    between,
    day,
    instant,
    moment,
    plural,
    window,
)
from picomem.operations.recall_views import AnswerView, HitSessionView, HitView, answer_view, group_hits, standing_out
from picomem.records.caller import READ_SESSIONS
from picomem.records.hit import Answer, HitSession
from picomem.records.kinds import Kind, Origin, Priority

# The source designs' two categories beside our kinds: everything durable, and what was said.
CATEGORIES = (*Kind, "knowledge", "timeline")
_FILTERS = tuple(
    "kind priority tag origin file failed since until time_window known_since as_of valid_at project session".split()
)
_MOST_FILES = 5  # of a session


@dataclass(frozen=True, slots=True)
class RecallRequest:
    query: str = option("the question, in any words", positional=True, free_text=True)
    kind: tuple[str, ...] = option(
        "only memories of this kind; repeatable", choices=CATEGORIES, short="-t", tool="category", many=True
    )
    priority: str | None = option("only memories of this priority or above", None, choices=tuple(Priority))
    tag: str = option("only entries with this tag; of past sessions those of this branch too", "")
    origin: tuple[str, ...] = option(
        "only entries of this origin; tool, web and other imply include_untrusted; repeatable",
        choices=tuple(Origin),
        tool=None,
        many=True,
    )
    file: str = option("only episodes in which an agent touched this file: a path, or a part of one", "")
    failed: bool = option("only episodes in which a test or a command of an agent's failed", False)
    limit: int | None = option("maximum number of hits", None, short="-n", least=1, rows=True)
    token_budget: int | None = option("token budget of all hits together", None, least=1)
    min_confidence: float | None = option(
        "0–1: answers below this confidence are “nothing found” (0: off)", None, least=0, most=1
    )
    since: int | str | None = option("held or said not before: a date, words like 30d, or Unix milliseconds", None)
    until: int | str | None = option("held or said not after: a date, words like yesterday, or Unix milliseconds", None)
    time_window: str | None = option("held or said in a span of time: 30d, last week, 2026-05", None)
    known_since: int | str | None = option("stored not before, whenever it was said: a date, or words like 30d", None)
    as_of: str | None = option("what was believed at this time", None)
    valid_at: str | None = option("what was true at this time", None)
    project: str = option("only this project and what belongs to no project", "")
    all_projects: bool = option("at a terminal: ask all projects, not first that of the folder", False, tool=None)
    session: str = option("only this session, and memories of no session; the beginning of its id is enough", "")
    include_context: bool = option("include why each memory matters", False)
    include_transcripts: bool = option("search past sessions too", True)
    include_notes: bool = option("search the notes if nothing certain is found", True)
    include_untrusted: bool = option("include text from tools, the web or other people", False)
    now: str | None = option("when the question is asked, for “yesterday” (default now)", None, tool=None)


def recall(engine: Engine, request: RecallRequest) -> AnswerView:
    """Search long-term memory and past sessions for what is known about a question.

    Returns scored entries within a token budget, with pointers into past sessions, the search methods that answered,
    and the confidence.
    """
    answer = engine.recall(request.query, **asked_of_engine(engine, request))
    if not engine.caller.is_agent:  # an agent names the project where it works, also before anything is known of it
        answer = replace(answer, warnings=(*unknown_project(engine, request.project), *answer.warnings))
    else:
        answer = replace(answer, hits=tuple(replace(hit, parts=()) for hit in answer.hits))
    sessions = _hit_sessions(engine, answer)
    filters = [] if answer.hits or answer.left_out else given_filters(request, _FILTERS)
    is_limited = request.limit is not None
    return answer_view(answer, sessions, is_cited=cites_sources(engine), is_limited=is_limited, filters=filters)


def asked_of_engine(engine: Engine, request: RecallRequest) -> dict[str, Any]:
    """Return the arguments of `Engine.recall` that a request asks for, besides the question."""
    now = moment(request.now, engine.now(), engine.zone) or engine.now()
    span = window(request.time_window, now, engine.zone)
    if span and (request.since or request.until):
        raise InvalidInput("Give a time window, or since and until; not both.")
    since, until = (span.since, span.until) if span else between(request.since, request.until, now, engine.zone)
    kinds = set(request.kind)
    durable = kinds - {"timeline"}
    return {
        "limit": request.limit,
        "token_budget": request.token_budget,
        "min_confidence": request.min_confidence,
        "kinds": [] if "knowledge" in kinds else sorted(durable),
        "priority": request.priority,
        "tag": request.tag,
        "file": request.file,
        "failed": request.failed,
        "since": since,
        "until": until,
        "known_since": moment(request.known_since, now, engine.zone),
        "as_of": instant(request.as_of, now, engine.zone),
        "valid_at": instant(request.valid_at, now, engine.zone),
        "include_context": request.include_context,
        "include_memories": not kinds or bool(durable),
        # Only memories have a priority.
        "include_transcripts": request.include_transcripts
        and (not kinds or "timeline" in kinds)
        and not request.priority,
        "include_notes": request.include_notes and not request.origin,
        "origins": request.origin,
        "include_untrusted": request.include_untrusted or any(not Origin(name).trusted for name in request.origin),
        "include_retold": True,
        "scope": engine.scope.narrowed(project=request.project, session=whole_session(engine, request.session)),
        "now": now,
    }


def _hit_sessions(engine: Engine, answer: Answer) -> list[HitSession]:
    """Return the sessions of the hits, for people who may read them. An agent reads the hits themselves: titles, and
    the parts of scores, would cost it tokens."""
    is_shown = not engine.caller.is_agent and engine.caller.may(READ_SESSIONS)
    return hit_sessions(engine, answer.hits) if is_shown else []


def _recalled(answer: AnswerView) -> str:
    """The plan's reply, with the confidence, the score of each hit, episodes by their citation, and the warnings; text
    that nobody trusted wrote is fenced as data."""
    # A warning that quotes may quote a word that nobody trusted wrote; it is left to the structured result.
    warnings = [f"! {warning}" for warning in answer.warnings if "“" not in warning]
    if not answer.hits:
        if answer.left_out:
            return f"The best match does not fit the budget of {answer.token_budget} tokens; raise token_budget."
        return "\n".join(["No matching memories found.", *warnings])
    lines = []
    for hit in answer.hits:
        text = fenced_turn(hit.text, hit.origin, hit.role)
        score = f"[score: {hit.score:.2f}]" + (f" [{hit.remark}]" if hit.remark else "")
        if hit.source == "memory":
            about = f"[{hit.kind}] [importance: {hit.importance:.1f}] {score}"
            lines.append(f"- {fenced(hit.key, hit.origin)} {about}: {text}")
            if hit.context:
                lines.append(f"  ({fenced(hit.context, hit.origin)})")
        elif hit.source == "note":
            lines.append(f"- note {hit.id} {score}: {text}")
        else:
            place = f"; {hit.citation}" if hit.citation else ""
            lines.append(f"- episode {hit.id} [{fenced(hit.role[:40], hit.origin)}{place}] {score}: {text}")
            lines += [f"  {fenced(action, hit.origin)}" for action in hit.actions]
            lines += [f"  {fenced(outcome, Origin.TOOL)}" for outcome in hit.outcomes]
    heading = f"Found {plural(len(answer.hits), 'memory', 'memories')} (confidence {answer.confidence:.2f}):"
    left_out = f"({answer.left_out} more did not fit the budget of {answer.token_budget} tokens)"
    return "\n".join([heading, *lines, *([left_out] if answer.left_out > 0 else []), *warnings])


def _present_answer(result: AnswerView) -> Presentation:
    shown = result.hits if result.is_limited else standing_out(result.hits)[0]  # all where a person named a limit
    blocks: list[Block] = _grouped(result, shown)
    if not result.hits and not result.left_out:
        only = f" Only what matches --{' --'.join(result.filters)} was searched." if result.filters else ""
        blocks.append(Sentence(f"Nothing was found.{only}"))
    if result.time_phrase:
        blocks.append(Sentence(f"Looked at “{result.time_phrase}”: {day(result.since)} to {day(result.until)} UTC."))
    budget = f" of {result.token_budget:,}" if result.token_budget else ""
    legs = ", ".join(f"{leg} {state}" for leg, state in result.legs.items())
    # What each way of searching found; ranking, the score and the budget leave fewer.
    candidates = f"candidates: {legs}"
    blocks.append(Text(f"confidence {result.confidence:.2f} · {result.tokens:,}{budget} tokens · {candidates}"))
    weaker = len(result.hits) - len(shown)
    pronoun = "it scores" if weaker == 1 else "they score"
    unseen = [f"{weaker} more with -n {len(result.hits)} ({pronoun} less than half of the best)."] if weaker else []
    if result.left_out > 0:
        unseen.append(f"{plural(result.left_out, 'more hit')} did not fit the budget; --token-budget raises it.")
    return Presentation(
        blocks=tuple(blocks), warnings=tuple(result.warnings), next_steps=(*unseen, *_opening(result, shown))
    )


def _opening(result: AnswerView, shown: list[HitView]) -> list[str]:
    """Return how to read on where the words of the question stand, to be copied as it is."""
    first = next((hit.id for hit in shown if hit.source == "episode"), "")
    question = shlex.quote(" ".join(result.question.split()))
    return [f"Read on at a hit: picomem show {first} --query {question}"] if first else []


def _grouped(result: AnswerView, shown: list[HitView]) -> list[Block]:
    """The hits by group, each below the heading of its group."""
    groups = group_hits(shown, result.sessions)
    blocks: list[Block] = []
    number = 0
    for group in groups:
        if group.session:
            blocks.append(_session_heading(group.session, is_cited=bool(group.hits[0].citation)))
        elif len(groups) > 1 and group.source != "episode":
            blocks.append(Heading("── memories" if group.source == "memory" else "── notes"))
        for hit in group.hits:
            number += 1
            blocks.append(_entry(number, hit, group.session))
    return blocks


def _session_heading(session: HitSessionView, *, is_cited: bool) -> Heading:
    """Return the heading of a session's hits: `── Why is it slow?  (claude-code 8463c716, 2026-04-07)  [harbor]`."""
    title = attributed(session.title, session.origin) or "A session without a title"
    project = session.project + (f", in {session.folder}" if session.folder else "")
    pointer = f"{session.host} {session.session[:8]}".strip() if is_cited else ""
    about = ", ".join(filter(None, (pointer, day(session.at)[:10] if session.at else "")))
    parts = (f"── {title}", f"({about})" if about else "", f"[{project}]" if project else "")
    named = ", ".join(session.files[:_MOST_FILES])
    more = len(session.files) - _MOST_FILES
    files = f"files: {named}" + (f" and {more} more" if more > 0 else "")
    return Heading("  ".join(filter(None, parts)), files if session.files else "")


def _entry(number: int, hit: HitView, session: HitSessionView | None) -> PresentedEntry:
    context = [Text(f"why it matters: {hit.context}")] if hit.context else []
    name = {"memory": hit.key, "note": day(hit.at)}.get(hit.source, hit.id)
    account = Text(f"{hit.score:.2f} · {hit.why} · {name}")
    actions = [Text(f"· {action}", 2) for action in hit.actions]
    outcomes = [Text(f"→ {attributed(outcome, 'tool')}", 2) for outcome in hit.outcomes]
    return PresentedEntry(_heading(hit, session), (_text(hit), *actions, *outcomes, *context, account), number)


def _text(hit: HitView) -> Text:
    shown = attributed(hit.text, hit.origin)
    ahead = len(shown) - len(hit.text)
    return Text(shown, marks=tuple((start + ahead, end + ahead) for start, end in hit.marks))


def _heading(hit: HitView, session: HitSessionView | None) -> str:
    tags = "".join(f"  #{tag}" for tag in hit.tags)
    project = tags + (f"  [{hit.project}]" if hit.project else "")
    if hit.source == "memory":
        citation = f"  {hit.citation}" if hit.citation else ""
        return f"{hit.key}  ({hit.kind}, {day(hit.at)[:10]}){citation}{project}"
    if hit.source == "note":
        return f"note {hit.id}"
    if session:
        return _said_by(hit) + tags
    speaker = "" if hit.role in ("user", "assistant") else f"{hit.role}: "
    return f"{speaker}{hit.citation or 'said ' + day(hit.at)[:10]}{project}"


def _said_by(hit: HitView) -> str:
    """Return who said it and when, below the heading of its session: `user, 2026-04-07 09:00, turn 12`."""
    first, last = hit.turns[0], hit.turns[-1]
    turns = f"turn {first}" if first == last else f"turns {first}–{last}"
    branch = ", on an abandoned branch" if hit.abandoned else ""
    return f"{hit.role}, {day(hit.at)}" + (f", {turns}{branch}" if hit.citation else "")


OPERATIONS = (
    Operation(
        name="recall",
        rpc_method="memory.search",
        group="use",
        run=recall,
        present=_present_answer,
        reply=_recalled,
        permission="memory:read:user",
        example='picomem recall "which port does staging use?" --project harbor',
        tool="memory_recall",
        read_only=True,
        idempotent=True,
        default_tool=True,
        in_groups=True,
        has_answer=lambda answer: bool(answer.hits or answer.left_out),
        chat_commands=(
            ChatCommand("memory", "what memory finds for them", argument="query", placeholder="WORDS", example="tea"),
        ),
    ),
)
