"""Entries of the lists: what stands in their lines. Pure values, made from results of operations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from picomem.coded_text import value_of
from picomem.light_dataclass import dataclass, replace
from picomem.operations.inert_results import inert
from picomem.operations.memory_views import MemoryView
from picomem.operations.overview import OverviewResult
from picomem.operations.presentation import attributed, day, plural, step
from picomem.operations.recall_views import AnswerView, HitGroup, HitView, group_hits, memories_first
from picomem.operations.reviewing import SuggestionView, WaitingView
from picomem.operations.sessions import ListedSession


@dataclass(frozen=True, slots=True)
class ListEntry:
    """One entry of a list. The first line has the `title`, what is said `about` it and, at the right, `aside`; the text
    follows. Without a title the text leads, and that line stands below it. `marks` are offsets in `text`. `section`
    stands above the first entry of those that share it. `share`, from 0 to 1, is drawn as a bar. `opens` names the
    operation that shows the whole of it, with the values of its request."""

    id: str
    title: str
    about: str = ""
    aside: str = ""
    text: str = ""
    marks: tuple[tuple[int, int], ...] = ()
    section: str = ""
    share: float | None = None
    is_past: bool = False
    memory: str = ""  # the id, where it is a memory
    opens: tuple[str, tuple[tuple[str, Any], ...]] | None = None


def memory_entry(view: MemoryView) -> ListEntry:
    """A memory in a list of memories."""
    memory = inert(view)
    standing = [memory.key, memory.kind]
    standing += ["pinned"] if memory.pinned else []
    standing += ["archived"] if memory.archived else []
    standing += [memory.project] if memory.project else []
    return ListEntry(
        id=memory.id,
        title="",
        about=" · ".join(standing),
        aside=day(memory.said_at)[:10],
        text=attributed(memory.content, memory.origin),
        is_past=memory.archived,
        memory=memory.id,
        opens=("why", (("id", memory.id),)),
    )


_OR_STILL = " or still:"  # between the newer statement of a pair and the older one


def review_entry(view: WaitingView) -> ListEntry:
    """Something to decide; of two statements the newer one, with the older one below it."""
    waiting = inert(view)
    memory, older = waiting.memory, waiting.older
    text = attributed(memory.content, memory.origin)
    about = [memory.key, memory.kind, *([memory.project] if memory.project else [])]
    marks: tuple[tuple[int, int], ...] = ()
    if older is not None:
        section = "May be outdated"
        about.append(f"newer than {older.key}")
        marks = ((len(text) + 1, len(text) + len(_OR_STILL)),)
        text += f"{_OR_STILL} {attributed(older.content, older.origin)}"
    else:
        section = "From elsewhere"
    return ListEntry(
        id=f"{memory.id} {older.id}" if older else memory.id,
        title="",
        about=" · ".join(about),
        aside=day(memory.said_at)[:10],
        text=text,
        marks=marks,
        section=section,
        memory=memory.id,
        opens=("why", (("id", memory.id),)),
    )


def suggestion_entry(view: SuggestionView) -> ListEntry:
    """A sentence that may be worth remembering."""
    suggestion = inert(view)
    return ListEntry(
        id=suggestion.id,
        title="",
        about=" · ".join(filter(None, ["suggestion", suggestion.kind, suggestion.project])),
        text=suggestion.text,
        aside=day(suggestion.at)[:10] if suggestion.at else "",
        section="Heard in passing",
        memory=suggestion.id,
        opens=("show", (("episode", suggestion.episode),)),
    )


def overview_entries(result: OverviewResult) -> list[ListEntry]:
    """What holds in a project, its last sessions with what came of them, and what changed."""
    seen = inert(result)
    where = f" in {seen.project}" if seen.project else ""
    entries = [replace(memory_entry(memory), section=f"What holds{where}") for memory in seen.holds]
    for outcome in seen.sessions:
        session = outcome.session
        about = (session.host, plural(len(outcome.memories), "memory", "memories"))
        entries.append(
            ListEntry(
                id=f"session {session.session}",
                title=attributed(session.title, session.origin) or "A session without a title",
                about=" · ".join(about),
                aside=day(session.at)[:10],
                text=" · ".join(memory.content for memory in outcome.memories),
                section=f"Last sessions{where}",
                opens=("timeline", (("session", session.session),)),
            )
        )
    for listed in seen.changes:
        change = listed.change
        entries.append(
            ListEntry(
                id=f"change {change.id}",
                title="",
                about=" · ".join(filter(None, (step(change), change.key))),
                aside=day(change.at),
                text=listed.after or listed.before or change.reason,
                section="What changed",
                is_past=bool(listed.before and not listed.after),
                memory=change.memory_id,
                opens=("why", (("id", change.memory_id),)) if change.memory_id else None,
            )
        )
    return entries


def hit_entries(result: AnswerView) -> list[ListEntry]:
    """The hits of an answer: memories first, and those of a session together."""
    answer = inert(result)
    return [
        _hit_entry(hit, _section(group), answer.question)
        for group in memories_first(group_hits(answer.hits, answer.sessions))
        for hit in group.hits
    ]


def _section(group: HitGroup) -> str:
    session = group.session
    if group.source != "episode":
        return "Memories" if group.source == "memory" else "Notes"
    if session is None:
        return "Past sessions"
    title = attributed(session.title, session.origin) or "A session without a title"
    about = (session.host, session.project, day(session.at)[:10] if session.at else "")
    return "  ".join([title, " · ".join(filter(None, about))])


def _hit_entry(hit: HitView, section: str, question: str) -> ListEntry:
    shown = attributed(hit.text, hit.origin)
    ahead = len(shown) - len(hit.text)
    opens: dict[str, tuple[str, tuple[tuple[str, Any], ...]]] = {
        "memory": ("why", (("id", hit.id),)),
        "episode": ("show", (("episode", hit.id), ("query", question))),
    }
    about = {"memory": [hit.key, hit.kind], "note": [hit.id]}.get(hit.source, [])
    about += [_turns(hit)] if hit.source == "episode" and hit.turns else []
    return ListEntry(
        id=f"{hit.source} {hit.id}",
        title=hit.role if hit.source == "episode" else "",
        about=" · ".join(filter(None, [*about, hit.why])),
        aside=day(hit.at)[:10] if hit.at and hit.source != "episode" else "",  # a session's section has its date
        text=shown,
        marks=tuple((start + ahead, end + ahead) for start, end in hit.marks),
        section=section,
        share=hit.score,
        memory=hit.id if hit.source == "memory" else "",
        opens=opens.get(hit.source),
    )


def _turns(hit: HitView) -> str:
    first, last = hit.turns[0], hit.turns[-1]
    return f"turn {first}" if first == last else f"turns {first}–{last}"


def episode_entries(episodes: Iterable[HitView]) -> list[ListEntry]:
    """Episodes of the timeline, by the session and day in which they were said."""
    entries = []
    for episode in map(inert, episodes):
        pointer = value_of(episode.citation, "where") or episode.citation or episode.session[:8]
        when = day(episode.at)
        section = "  ".join(filter(None, (when[:10], pointer, f"[{episode.project}]" if episode.project else "")))
        about = [_turns(episode)] if episode.turns else []
        about += [plural(len(episode.actions), "action")] if episode.actions else []
        entries.append(
            ListEntry(
                id=episode.id,
                title=f"{when[11:]} {episode.role}".strip(),
                about=" · ".join(about),
                text=attributed(episode.text, episode.origin),
                section=section,
                opens=("show", (("episode", episode.id),)),
            )
        )
    return entries


def session_entry(listed: ListedSession) -> ListEntry:
    """A conversation with PicoBot."""
    session = inert(listed.session)
    return ListEntry(
        id=session.id,
        title=session.title or "(nothing was said yet)",
        about=" · ".join([session.channel, plural(listed.messages, "message")]),
        aside=day(session.last_active_at),
        text=session.id,
        is_past=bool(session.archived_at),
        opens=("messages", (("session", session.id),)),
    )
