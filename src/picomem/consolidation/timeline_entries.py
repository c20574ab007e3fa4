"""The texts of a timeline entry, each within an episode's preview. Pure.

If no generator produced an entry, the entry consists of the messages themselves (A11).
"""

from __future__ import annotations

from picomem.consolidation.material import Part
from picomem.consolidation.proposal_checks import CheckedProposal, worst

RAW = "[RAW]"
_LONGEST_PREVIEW = 1_500  # characters of an episode
_LONGEST_SUMMARY = 4_000  # characters


def entry(stamp: str, timeline: str) -> list[str]:
    """The texts of an entry, each under its time; only a raw one has several."""
    if not timeline.startswith(RAW):
        return [f"[{stamp}] {timeline}"[:_LONGEST_PREVIEW]]
    room = _LONGEST_PREVIEW - len(stamp) - len(RAW) - 4
    body = timeline.removeprefix(RAW).strip()
    return [f"[{stamp}] {RAW} {piece}" for piece in _pieces(body, room)]


def raw(part: Part) -> CheckedProposal:
    """The entry of a part without a generator: the new messages as they are, long ones cut."""
    lines = [line for line in part.lines if line.fresh]
    said = "\n".join(f"{line.role}: {line.text}" for line in lines)
    numbers = f"messages {part.first} to {part.last}, without words of anybody's"
    return CheckedProposal(
        facts=(),
        invalidate=(),
        timeline=f"{RAW} {said or numbers}",
        summary=_with_earlier(part, said or numbers),
        origin=worst([line.origin for line in part.lines] + ([part.summary.origin] if part.summary else [])),
    )


def _with_earlier(part: Part, said: str) -> str:
    """A summary without a generator: the one before, and the beginning of what is covered now."""
    if not part.covers:
        return ""
    earlier = part.summary.text if part.summary else ""
    return f"{earlier}\n{RAW} {said}".strip()[-_LONGEST_SUMMARY:]


def _pieces(text: str, room: int) -> list[str]:
    """A text in pieces, cut where a line or a word ends."""
    pieces = []
    while len(text) > room:
        head = text[:room]
        cut = max(head.rfind("\n"), head.rfind(" "))
        cut = cut if cut > room // 2 else room
        pieces.append(text[:cut].strip())
        text = text[cut:].strip()
    return [*pieces, text] if text or not pieces else pieces
