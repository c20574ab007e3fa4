"""Decides when recall also searches the notes (O11, O12). Pure, except for the search itself.

That is when recall found nothing, when it is unsure, and when its store is down.

Notes are the last resort, because only their words are known: no kind, no time, no project and no author. So they
answer only questions that need none of these. They come after everything else, with their own scores, in the rest of
the budget or in a third of it, and the answer says that they were searched, and why.

Their origin is "other", because anyone who may write to the folder could have written them. They are returned anyway,
because the person named the folder in the settings, but they are fenced, and never enter the index page or memory. If
past sessions are excluded (`include_transcripts` off, as in a group), notes are too.
"""

from __future__ import annotations

from collections.abc import Callable

from picomem.coded_text import CodedText
from picomem.errors import StoreError
from picomem.light_dataclass import replace
from picomem.notes.note_search import NoteHit, Notes
from picomem.recall.confidence import confidence, signs_of
from picomem.recall.filters import Wanted
from picomem.recall.hits import HIT_OVERHEAD
from picomem.recall.question import Question
from picomem.recall.rank import within_budget
from picomem.records.hit import Answer, Hit
from picomem.records.kinds import Origin

UNSURE = 0.5  # below this confidence it is likelier than not that the answer is not among the hits
MIN_SCORE = 0.25  # a section that holds less than a quarter of the question is no answer to it
_SHARE = 1 / 3  # of places and tokens: what notes may take from hits that recall is not sure of


def answered(recall: Callable[[], Answer], notes: Notes, question: Question, wanted: Wanted) -> Answer:
    """Recall's answer, with notes where it falls short. Where notes apply, it raises nothing that the store raises."""
    if not applies(wanted):
        return recall()
    try:
        answer = recall()
    except StoreError as error:
        answer = _without_store(question, wanted, error)
        said = CodedText("warning.notes_without_store")
    else:
        if not answer.hits and not answer.left_out:
            said = CodedText("warning.notes_as_nothing_found")
        elif answer.confidence < UNSURE:
            said = CodedText("warning.notes_as_unsure")
        else:
            return replace(answer, legs={**answer.legs, "notes": "not needed"})
    result = notes.search(question, wanted.limit, MIN_SCORE)
    answer = with_notes(answer, result.hits, wanted, question.text)
    legs = {**answer.legs, "notes": f"{len(result.hits)}" + (" from the files" if result.searched == "files" else "")}
    return replace(answer, legs=legs, warnings=(*answer.warnings, said, *result.warnings))


def applies(wanted: Wanted) -> bool:
    """Return whether notes may answer at all: they have no kind, tag or time by which they could be told apart."""
    asked = wanted.filters
    narrowed = (asked.kinds, asked.priority, asked.tag, asked.limits_time, asked.valid_at is not None)
    return asked.include_memories and asked.include_transcripts and not any(narrowed)


def with_notes(answer: Answer, notes: list[NoteHit], wanted: Wanted, asked: str) -> Answer:
    """The answer with notes after its hits, within its limit and its budget; as sure as the surer of both."""
    places = max(wanted.limit - len(answer.hits), int(wanted.limit * _SHARE))
    hits = [note_hit(note) for note in notes[:places]]
    others = list(answer.hits[: wanted.limit - len(hits)])
    budget = wanted.token_budget
    if budget is not None:
        room = max(budget - sum(hit.tokens for hit in others), int(budget * _SHARE))
        hits = hits[: within_budget([hit.tokens for hit in hits], room)]
        left = budget - sum(hit.tokens for hit in hits)
        others = list(answer.hits[: wanted.limit - len(hits)])
        others = others[: within_budget([hit.tokens for hit in others], left)]
    every = (*others, *hits)
    sure = answer.confidence if answer.hits or answer.left_out else 0.0
    best = max((signs_of(asked, hit.score, hit.text) for hit in hits), key=confidence, default=None)
    if best and confidence(best) > sure:
        answer, sure = replace(answer, signs=best), confidence(best)
    return replace(
        answer,
        hits=every,
        confidence=sure,
        tokens=sum(hit.tokens for hit in every),
        left_out=answer.left_out + min(len(answer.hits) + len(notes), wanted.limit) - len(every),
    )


def note_hit(note: NoteHit) -> Hit:
    """A note as a hit of recall. Its citation is its name for `read_note`, with the lines."""
    return Hit(
        source="note",
        id=note.citation,
        text=note.section.text,
        score=note.score,
        why=note.why,
        origin=Origin.OTHER,
        tokens=note.tokens + HIT_OVERHEAD,
        at=note.modified_at or None,
        citation=note.citation,
    )


def _without_store(question: Question, wanted: Wanted, error: StoreError) -> Answer:
    return Answer(
        question=question.text[:400],
        hits=(),
        confidence=0.0,
        legs={"store": f"failed: {error}"},
        tokens=0,
        token_budget=wanted.token_budget,
    )
