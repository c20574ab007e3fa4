"""How the answer to a question is presented."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text
from picomem.operations.presentations.wording import attributed, day, plural

if TYPE_CHECKING:
    from picomem.operations.views import AnswerView, HitView


def answer(result: AnswerView) -> Presentation:
    blocks: list[Block] = [_entry(number, hit) for number, hit in enumerate(result.hits, 1)]
    if not result.hits and not result.left_out:
        blocks.append(Sentence("Nothing was found."))
    if result.time_phrase:
        blocks.append(Sentence(f"Looked at “{result.time_phrase}”: {day(result.since)} to {day(result.until)} UTC."))
    budget = f" of {result.token_budget:,}" if result.token_budget else ""
    legs = ", ".join(f"{leg} {state}" for leg, state in result.legs.items())
    blocks.append(Text(f"confidence {result.confidence:.2f} · {result.tokens:,}{budget} tokens · {legs}"))
    left_out = f"{plural(result.left_out, 'more hit')} did not fit the budget; --token-budget raises it."
    return Presentation(
        blocks=tuple(blocks),
        warnings=tuple(result.warnings),
        next_steps=(left_out,) if result.left_out > 0 else (),
    )


def _entry(number: int, hit: HitView) -> PresentedEntry:
    context = [Text(f"why it matters: {hit.context}")] if hit.context else []
    name = {"memory": hit.key, "note": day(hit.at)}.get(hit.source, hit.id)
    account = Text(f"{hit.score:.2f} · {hit.why} · {name}")
    actions = [Text(f"· {action}", 2) for action in hit.actions]
    return PresentedEntry(_heading(hit), (_text(hit), *actions, *context, account), number)


def _text(hit: HitView) -> Text:
    shown = attributed(hit.text, hit.origin)
    ahead = len(shown) - len(hit.text)
    return Text(shown, marks=tuple((start + ahead, end + ahead) for start, end in hit.marks))


def _heading(hit: HitView) -> str:
    if hit.source == "memory":
        citation = f"  {hit.citation}" if hit.citation else ""
        return f"{hit.key}  ({hit.kind}, {day(hit.at)[:10]}){citation}" + "".join(f"  #{tag}" for tag in hit.tags)
    if hit.source == "note":
        return f"note {hit.id}"
    speaker = "" if hit.role in ("user", "assistant") else f"{hit.role}: "
    project = f"  [{hit.project}]" if hit.project else ""
    return f"{speaker}{hit.citation or 'said ' + day(hit.at)[:10]}{project}"
