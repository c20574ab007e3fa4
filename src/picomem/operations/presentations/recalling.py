"""The presentation of the answer to a question."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from picomem.operations.presentation import Block, Heading, Presentation, PresentedEntry, Sentence, Text
from picomem.operations.presentations.wording import attributed, day, plural
from picomem.recall.final_scores import count_above_cutoff

if TYPE_CHECKING:
    from picomem.operations.recall_views import AnswerView, HitSessionView, HitView

_MOST_FILES = 5  # of a session


def answer(result: AnswerView) -> Presentation:
    shown = _standing_out(result)
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


def _standing_out(result: AnswerView) -> list[HitView]:
    """The hits that people are shown: all where they named a limit. Notes have scores of their own and stay."""
    if result.is_limited:
        return result.hits
    scored = [hit for hit in result.hits if hit.source != "note"]
    weaker = scored[count_above_cutoff([hit.score for hit in scored]) :]
    return [hit for hit in result.hits if hit not in weaker]


def _opening(result: AnswerView, shown: list[HitView]) -> list[str]:
    """Return how to read on where the words of the question stand, to be copied as it is."""
    first = next((hit.id for hit in shown if hit.source == "episode"), "")
    question = shlex.quote(" ".join(result.question.split()))
    return [f"Read on at a hit: picomem show {first} --query {question}"] if first else []


def _grouped(result: AnswerView, shown: list[HitView]) -> list[Block]:
    """The hits of a session stand together, below what they share; memories and notes do as well. The group with the
    best hit comes first."""
    groups: dict[tuple[str, str, str], list[HitView]] = {}
    for hit in shown:
        is_spoken = hit.source == "episode"
        group = (hit.source, hit.transcript if is_spoken else "", hit.session if is_spoken else "")
        groups.setdefault(group, []).append(hit)
    sessions = {("episode", session.transcript, session.session): session for session in result.sessions}
    blocks: list[Block] = []
    number = 0
    for group, hits in groups.items():
        session = sessions.get(group)
        if session:
            blocks.append(_session_heading(session, is_cited=bool(hits[0].citation)))
        elif len(groups) > 1 and group[0] != "episode":
            blocks.append(Heading("── memories" if group[0] == "memory" else "── notes"))
        for hit in hits:
            number += 1
            blocks.append(_entry(number, hit, session))
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
