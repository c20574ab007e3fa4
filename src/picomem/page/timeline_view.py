"""The timeline: a year of days at a glance, and what was said on them; and one episode of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta, tzinfo
from math import ceil, log1p

from markupsafe import Markup, escape

from picomem.clock import parse_iso, to_datetime
from picomem.light_dataclass import dataclass
from picomem.operations.recall_views import HitSessionView, HitView
from picomem.operations.showing import NearbyEpisode, ShowResult, TurnView
from picomem.operations.timeline import TimelineResult
from picomem.page.html_rendering import exactly
from picomem.page.page_view import PageContent, PageRequest, PageView
from picomem.records.transcript import SUMMARY

_LIMIT = 50
_WEEKS = 52
_LONGEST_TEXT = 280  # characters
_FIRST_YEAR, _LAST_YEAR = 1970, 9998  # that the squares show
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """An episode, the time of day at which it began in the reader's zone, and the beginning of its text in one line.
    `parts` is how many episodes more the same message is, which is too long for one."""

    episode: HitView
    clock: str
    text: str
    parts: int


@dataclass(frozen=True, slots=True)
class SessionOfDay:
    """What was said in one session on one day, in the order in which it was said; `about` is None for a session whose
    record is gone."""

    about: HitSessionView | None
    rows: list[TimelineRow]


@dataclass(frozen=True, slots=True)
class TimelineDay:
    """A day, as `2026-04-06`, with the name of its weekday; both are empty where nobody knows when it was."""

    day: str
    weekday: str
    sessions: list[SessionOfDay]


async def show(asked: PageRequest) -> PageContent:
    """A page of the timeline: all, or of the day, project or session in the address."""
    narrowed = {name: asked.asked(name) for name in ("project", "session") if asked.asked(name)}
    day = asked.asked("day")
    arguments = {**narrowed, "limit": _LIMIT, "cursor": asked.asked("cursor")}
    arguments |= {"since": day, "until": day} if day else {}
    listed = TimelineResult(**await asked.call("timeline", arguments))
    today = to_datetime(asked.now, asked.zone).date()
    first, last = span_of_year(asked.asked("year"), day, today)
    by_project = {"project": narrowed["project"]} if "project" in narrowed else {}
    counted = await asked.call("days", {"since": first.isoformat(), "until": last.isoformat(), **by_project})
    counts = {known.day: known.episodes for known in counted["days"]}
    say = asked.say
    is_this_year = last == today
    values = {
        "days": grouped(listed.episodes, listed.sessions, asked.zone),
        "warnings": listed.warnings,
        "project": asked.asked("project"),
        "session": asked.asked("session"),
        "day": day,
        "projects": (await asked.call("projects", {}))["projects"],
        "earlier": asked.address_with(cursor=listed.cursor) if listed.cursor else "",
        "is_later_page": bool(asked.asked("cursor")),
        "said": sum(counts.values()),
        "said_days": len(counts),
        "first": first.isoformat(),
        "last": last.isoformat(),
        "picture": calendar_heatmap(
            first,
            last,
            counts,
            chosen=day,
            address=lambda name: asked.address_with(day=name, cursor=""),
            label=lambda name, count: say("timeline.on_day", count=count, day=name),
            month=lambda name: say(f"month.{name}"),
        ),
        "year_before": asked.address_with(year=str(first.year if is_this_year else first.year - 1), day="", cursor=""),
        "year_after": ""
        if is_this_year
        else asked.address_with(year="" if last.year + 1 >= today.year else str(last.year + 1), day="", cursor=""),
        "day_before": _day_link(asked, max((name for name in counts if name < day), default="") if day else ""),
        "day_after": _day_link(asked, min((name for name in counts if name > day), default="") if day else ""),
        "all_days": asked.address_with(day="", cursor="") if day else "",
        "is_filtered": bool(narrowed or day),
    }
    return PageContent(template="timeline.html", title=say("timeline.title"), values=values)


def span_of_year(year: str, day: str, today: date) -> tuple[date, date]:
    """The days that the squares show: those of a calendar year, or the year until today; the year of a chosen day that
    lies further back."""
    start = today - timedelta(weeks=_WEEKS, days=today.weekday())
    if not year and day and not start.isoformat() <= day <= today.isoformat():
        year = day[:4]
    if len(year) == 4 and year.isascii() and year.isdigit() and _FIRST_YEAR <= int(year) <= _LAST_YEAR:
        return date(int(year), 1, 1), date(int(year), 12, 31)
    return start, today


def grouped(episodes: Sequence[HitView], sessions: Sequence[HitSessionView], zone: tzinfo) -> list[TimelineDay]:
    """The episodes, latest first, as days, the latest first; of a day each session stands together, in the order in
    which it was said. A message of several episodes is one row, that of its first."""
    known = {(session.transcript, session.session): session for session in sessions}
    days: dict[str, dict[tuple[str, str], list[TimelineRow]]] = {}
    for episode in episodes:
        at = to_datetime(parse_iso(episode.at), zone) if episode.at else None
        text = " ".join((episode.text or ", ".join(episode.actions)).split())
        of_day = days.setdefault(f"{at:%Y-%m-%d}" if at else "", {})
        rows = of_day.setdefault((episode.transcript, episode.session), [])
        parts = 0
        if rows and episode.turns and rows[-1].episode.turns == episode.turns:
            parts = rows.pop().parts + 1
        rows.append(TimelineRow(episode, f"{at:%H:%M}" if at else "", text[:_LONGEST_TEXT], parts))
    return [
        TimelineDay(
            day,
            _WEEKDAYS[date.fromisoformat(day).weekday()] if day else "",
            [SessionOfDay(known.get(place), rows[::-1]) for place, rows in of_day.items()],
        )
        for day, of_day in days.items()
    ]


def _day_link(asked: PageRequest, day: str) -> str:
    return asked.address_with(day=day, cursor="") if day else ""


VIEW = PageView(
    name="timeline",
    path="/timeline",
    show=show,
    permission="memory:read:session",
    icon="M5 4v16M5 7h.01M5 12h.01M5 17h.01M9.5 7H19M9.5 12H19M9.5 17h6",
    key="t",
    is_tab=True,
    has_pane=True,
)


# A calendar heatmap: a year of days as small squares, a column a week, darker where more was said. Pure.

_STEP, _SIDE = 11, 9  # pixels
_TOP = 18  # pixels, for the names of the months
_LEVELS = 4
_LEAST_WEEKS = 3  # between the beginnings of two names of months, so that they do not touch
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def calendar_heatmap(
    first: date,
    last: date,
    counts: Mapping[str, int],
    *,
    chosen: str,
    address: Callable[[str], str],
    label: Callable[[str, int], str],
    month: Callable[[str], str],
) -> Markup:
    """The days from `first` to `last`.

    Those that have a count are links to their `address`; `label` says day and count on hover. The keyboard and screen
    readers pass over it, since the page has the same days as a list.
    """
    start = first - timedelta(days=first.weekday())
    most = max(counts.values(), default=0)
    squares: list[str] = []
    names: list[str] = []
    named = -_LEAST_WEEKS
    for number in range((last - first).days + 1):
        day = first + timedelta(days=number)
        week = (day - start).days // 7
        x, y = week * _STEP, _TOP + day.weekday() * _STEP
        if day.day == 1 and week - named >= _LEAST_WEEKS:
            named = week
            names.append(f'<text class="month" x="{x}" y="11">{escape(month(MONTHS[day.month - 1]))}</text>')
        name = day.isoformat()
        count = counts.get(name, 0)
        mark = " is-chosen" if name == chosen else ""
        shade = f"day day-{level(count, most)}{mark}"
        square = f'<rect class="{shade}" x="{x}" y="{y}" width="{_SIDE}" height="{_SIDE}" rx="2">'
        title = f"<title>{escape(label(name, count))}</title></rect>"
        if count:
            squares.append(f'<a href="{escape(address(name))}" tabindex="-1">{square}{title}</a>')
        else:
            squares.append(f"{square}{title}")
    width = ((last - start).days // 7 + 1) * _STEP
    height = _TOP + 7 * _STEP
    return Markup(
        f'<svg class="year" aria-hidden="true" viewBox="0 0 {width} {height}">{"".join(names)}{"".join(squares)}</svg>'
    )


def level(count: int, most: int) -> int:
    """How dark a day is, 0 to 4; steps of a logarithm, since a busy day has a hundred times as much as another."""
    return ceil(_LEVELS * log1p(count) / log1p(most)) if count > 0 else 0


# An episode: its messages in the transcript that it comes from, with what was said before and after.

_AROUND, _MOST_AROUND = 3, 20  # episodes on each side


@dataclass(frozen=True, slots=True)
class NearbyTurn:
    """A message beside the passage, and the id of the episode that it opens."""

    turn: TurnView
    episode: str


async def show_episode(asked: PageRequest) -> PageContent:
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


EPISODE = PageView(
    name="episode",
    path="/episode/{id}",
    show=show_episode,
    permission="memory:read:session",
    missing="error.no_episode",
)
