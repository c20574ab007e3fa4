"""How people see the hits of an answer: those that stand out, and those of a session together. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from picomem.light_dataclass import dataclass
from picomem.operations.recall_views import HitSessionView, HitView
from picomem.recall.final_scores import count_above_cutoff

_SOURCES = {"memory": 0, "note": 1}  # their order; sessions come last


def standing_out(hits: Sequence[HitView]) -> tuple[list[HitView], list[HitView]]:
    """The hits that stand out, and the weaker ones; notes have scores of their own, and stay."""
    scored = [hit for hit in hits if hit.source != "note"]
    weak = scored[count_above_cutoff([hit.score for hit in scored]) :]
    return [hit for hit in hits if hit not in weak], weak


@dataclass(frozen=True, slots=True)
class HitGroup:
    """Hits of one source, and of one session, the best first."""

    source: str
    session: HitSessionView | None
    hits: list[HitView]


def group_hits(hits: Sequence[HitView], sessions: Sequence[HitSessionView]) -> list[HitGroup]:
    """The hits of a session together, below what they share, and so those among memories and notes. The group with the
    best hit comes first."""
    groups: dict[tuple[str, str, str], list[HitView]] = {}
    for hit in hits:
        is_spoken = hit.source == "episode"
        group = (hit.source, hit.transcript if is_spoken else "", hit.session if is_spoken else "")
        groups.setdefault(group, []).append(hit)
    known = {("episode", session.transcript, session.session): session for session in sessions}
    return [HitGroup(group[0], known.get(group), members) for group, members in groups.items()]


def memories_first(groups: Sequence[HitGroup]) -> list[HitGroup]:
    """Memories, then notes, then what was said."""
    return sorted(groups, key=lambda group: _SOURCES.get(group.source, len(_SOURCES)))
