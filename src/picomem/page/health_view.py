"""Health: background work, what the models cost, sizes, what was read last, and the doctor."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from picomem.clock import to_datetime
from picomem.errors import Conflict, NotFound
from picomem.health.store_status import SPENDING_DAYS
from picomem.light_dataclass import dataclass
from picomem.operations.background import JobView
from picomem.page.page_view import PageContent, PageRequest, PageView, Redirect, own_path

DOCTOR = "memory:write:global"  # what the operation needs, because it reads the rows of every user
_JOBS = 50
_STATES = {"failed": 0, "running": 1, "waiting": 2, "cancelled": 3, "done": 4}  # the order in which they are shown


@dataclass(frozen=True, slots=True)
class HostEntry:
    """What was read of a host: how many files and turns, their size, and when something new was read."""

    host: str
    files: int
    turns: int
    megabytes: float
    read_at: str


async def show(asked: PageRequest) -> PageContent:
    """How the store and its background work do."""
    return await _page(asked, None)


async def examine(asked: PageRequest) -> PageContent:
    """Let the doctor look at everything, and rebuild what is derived where the form asks for a repair."""
    return await _page(asked, await asked.call("doctor", {"repair": asked.sent("repair") == "1"}))


async def cancel_job(asked: PageRequest) -> Redirect:
    """Stop a job, or let it run again."""
    back, name = own_path(asked.sent("back")), asked.sent("name")
    resume = asked.sent("resume") == "1"
    try:
        await asked.call("cancel-job", {"name": name, "resume": resume})
    except (Conflict, NotFound):
        return Redirect(to=back, notice="notice.job_went_on", about=name)
    return Redirect(to=back, notice="notice.job_resumed" if resume else "notice.job_cancelled", about=name)


async def _page(asked: PageRequest, diagnosis: Mapping[str, Any] | None) -> PageContent:
    status = await asked.call("status", {})
    listed = await asked.call("jobs", {"limit": _JOBS, "cursor": asked.asked("cursor")})
    days = days_of(asked, status["spent_by_day"])
    values = {
        "status": status,
        "memories": sum(status["memories"].values()),
        "jobs": sorted(listed["jobs"], key=_place),
        "next": asked.address_with(cursor=listed["cursor"]) if listed["cursor"] else "",
        "days": days,
        "spent": sum(tokens for _, tokens in days),
        "hosts": [
            HostEntry(host, held["files"], held["turns"], held["bytes"] / 1e6, status["read_at"].get(host, ""))
            for host, held in status["transcripts"].items()
        ],
        "may_examine": asked.caller.may(DOCTOR),
        "diagnosis": diagnosis,
        "may_purge": asked.caller.may("memory:purge:user"),
    }
    return PageContent(template="health.html", title=asked.say("health.title"), values=values)


def days_of(asked: PageRequest, spent: Mapping[str, int]) -> list[tuple[str, int]]:
    """Each of the last days (UTC), the earliest first, with the tokens spent on it."""
    today = to_datetime(asked.now).date()
    dates = [f"{today - timedelta(days=back):%Y-%m-%d}" for back in reversed(range(SPENDING_DAYS))]
    return [(date, spent.get(date, 0)) for date in dates]


def _place(job: JobView) -> tuple[int, str]:
    return _STATES.get(job.state, len(_STATES)), job.name


VIEW = PageView(
    name="health",
    path="/status",
    show=show,
    permission="memory:read:user",
    actions={"/status/cancel-job": cancel_job, "/status/examine": examine},
    icon="M3 12h4l2.5-6 5 12 2.5-6h4",
    key="y",
)
