"""An episode: its messages in the transcript that it comes from, with what was said before and after."""

from __future__ import annotations

from collections.abc import Sequence

from picomem.clock import parse_iso
from picomem.light_dataclass import dataclass
from picomem.operations.showing import NearbyEpisode, ShowResult, TurnView
from picomem.page.page_view import PageContent, PageRequest, PageView
from picomem.page.relative_time import exactly
from picomem.records.transcript import SUMMARY

_AROUND, _MOST_AROUND = 3, 20  # episodes on each side


@dataclass(frozen=True, slots=True)
class NearbyTurn:
    """A message beside the passage, and the id of the episode that it opens."""

    turn: TurnView
    episode: str


async def show(asked: PageRequest) -> PageContent:
    """The passage, marked, among the messages around it; `q` is what was searched for."""
    is_wide = bool(asked.asked("around"))
    arguments = {
        "episode": asked.parameters["id"],
        "query": asked.asked("q"),
        "around": _MOST_AROUND if is_wide else _AROUND,
        "all": bool(asked.asked("all")),
    }
    result = ShowResult(**await asked.call("show", arguments))
    episode, session = result.episode, result.session
    heading = (session.title if session else "") or asked.say("search.untitled")
    has_more = len(result.before) == _AROUND or len(result.after) == _AROUND
    values = {
        "episode": episode,
        "session": session,
        "heading": heading,
        "day": exactly(parse_iso(episode.at), asked.zone)[:10] if episode.at else "",
        "happened": result.happened,
        "state": result.state,
        "explanation": result.explanation,
        "is_summary": episode.role == SUMMARY,
        "passage": result.turns,
        "match": result.match if len(result.turns) > 1 else 0,
        "before": _turns_of(result.before),
        "after": _turns_of(result.after),
        "previous": result.before[-1].id if result.before else "",
        "next": result.after[0].id if result.after else "",
        "wider": asked.address_with(around="1") if has_more and not is_wide else "",
        "whole": asked.address_with(all="1"),
    }
    return PageContent(template="episode.html", title=heading, values=values)


def _turns_of(nearby: Sequence[NearbyEpisode]) -> list[NearbyTurn]:
    return [NearbyTurn(turn, episode.id) for episode in nearby for turn in episode.turns]


VIEW = PageView(
    name="episode",
    path="/episode/{id}",
    show=show,
    permission="memory:read:session",
    missing="error.no_episode",
)
