"""What was observed of one question that recall was asked."""

from __future__ import annotations

from picomem.light_dataclass import dataclass
from picomem.recall.confidence import SIGNS
from picomem.records.hit import Signs

ANSWERED = "answered"
LEFT_OPEN, NO_QUESTION = "left open", "no question"
UNANSWERABLE = ("the set's own", "of another case", "names exchanged", "answer taken out", LEFT_OPEN, NO_QUESTION)


@dataclass(frozen=True, slots=True)
class Observation:
    """One question: its set, its kind (ANSWERED or one of UNANSWERABLE), the size of a small haystack (0 of a whole
    one), the pattern of a prompt, whether some of its answer was among the first five hits, and the signs."""

    name: str
    kind: str
    size: int
    pattern: str
    found: bool
    signs: tuple[float, ...]


def numbers(signs: Signs) -> tuple[float, ...]:
    return tuple(round(getattr(signs, sign), 4) for sign in SIGNS)
