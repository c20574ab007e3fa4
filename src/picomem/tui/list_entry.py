"""Entries of the lists: what stands in their lines. Pure values, made from results of operations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from picomem.coded_text import value_of
from picomem.light_dataclass import dataclass
from picomem.operations.inert_results import inert
from picomem.operations.memory_views import MemoryView
from picomem.operations.presentation import attributed, day, plural
from picomem.operations.recall_views import AnswerView, HitSessionView, HitView
from picomem.operations.reviewing import SuggestionView, WaitingView
from picomem.operations.sessions import ListedSession


@dataclass(frozen=True, slots=True)
class ListEntry:
    """One entry of a list. The first line has the `title`, what is said `about` it and, at the right, `aside`; the text
    follows. `marks` are offsets in `text`. `section` stands above the first entry of those that share it. `share`,
    from 0 to 1, is drawn as a bar. `opens` names the operation that shows the whole of it, with the values of its
    request."""

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
    standing = [memory.kind]
    standing += ["pinned"] if memory.pinned else []
    standing += ["archived"] if memory.archived else []
    standing += [memory.project] if memory.project else []
    return ListEntry(
        id=memory.id,
        title=memory.key,
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
    about = [memory.kind, *([memory.project] if memory.project else [])]
    marks: tuple[tuple[int, int], ...] = ()
    if older is not None:
        section = "May contradict each other"
        about.append(f"newer than {older.key}")
        marks = ((len(text) + 1, len(text) + len(_OR_STILL)),)
        text += f"{_OR_STILL} {attributed(older.content, older.origin)}"
    else:
        section = "Not from you"
    return ListEntry(
        id=f"{memory.id} {older.id}" if older else memory.id,
        title=memory.key,
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
        title=suggestion.text,
        about=" · ".join(filter(None, ["suggestion", suggestion.kind, suggestion.project])),
        aside=day(suggestion.at)[:10] if suggestion.at else "",
        section="Said in passing",
        memory=suggestion.id,
        opens=("show", (("episode", suggestion.episode),)),
    )


def hit_entries(result: AnswerView) -> list[ListEntry]:
    """The hits of an answer. Those of a session stand together; the group with the best hit comes first."""
    answer = inert(result)
    sessions = {(session.transcript, session.session): session for session in answer.sessions}
    groups: dict[tuple[str, str, str], list[HitView]] = {}
    for hit in answer.hits:
        is_spoken = hit.source == "episode"
        group = (hit.source, hit.transcript if is_spoken else "", hit.session if is_spoken else "")
        groups.setdefault(group, []).append(hit)
    entries = []
    for (source, transcript, session), hits in groups.items():
        section = _section(source, sessions.get((transcript, session)))
        entries += [_hit_entry(hit, section, answer.question) for hit in hits]
    return entries


def _section(source: str, session: HitSessionView | None) -> str:
    if source == "memory":
        return "Memories"
    if source == "note":
        return "Notes"
    if session is None:
        return "Past sessions"
    title = attributed(session.title, session.origin) or "A session without a title"
    about = (session.host, session.project, day(session.at)[:10] if session.at else "")
    return "  ".join([title, " · ".join(filter(None, about))])


def _hit_entry(hit: HitView, section: str, question: str) -> ListEntry:
    shown = attributed(hit.text, hit.origin)
    ahead = len(shown) - len(hit.text)
    titles = {"memory": hit.key, "note": hit.id}
    opens: dict[str, tuple[str, tuple[tuple[str, Any], ...]]] = {
        "memory": ("why", (("id", hit.id),)),
        "episode": ("show", (("episode", hit.id), ("query", question))),
    }
    about = [hit.kind] if hit.kind and hit.source == "memory" else []
    about += [_turns(hit)] if hit.source == "episode" and hit.turns else []
    return ListEntry(
        id=f"{hit.source} {hit.id}",
        title=titles.get(hit.source) or hit.role,
        about=" · ".join([*about, hit.why]),
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
