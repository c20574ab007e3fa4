"""Purge: erase for good. A GET shows what would go; a form erases it, with the word typed and the confirmation code.

The proof is shown once, in the answer of the form: a purge of everything ends the session of the page as well, so there
is nobody left who could ask for it later. For the same reason the form that downloads the certificate holds it with the
server's seal, and needs no session.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from picomem.clock import iso
from picomem.errors import Conflict, Forbidden, InvalidInput
from picomem.light_dataclass import asdict, dataclass
from picomem.operations.purging import ScanView
from picomem.page.page_view import PageContent, PageRequest, PageView, Redirect, address_of

PERMISSION = "memory:purge:user"
CHOICES = ("session", "older_than", "everything")  # the fields of the request, of which one is given
COUNTED = (
    "transcripts",
    "episodes",
    "sessions",
    "messages",
    "summaries",
    "memories",
    "versions of memories",
    "refused texts",
    "tokens",
    "grants",
    "accepted senders",
)
_LISTED = 100  # memories, or sessions, on a page of a dry run
_LATEST = 6  # sessions to choose from
_MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class SessionToChoose:
    """A session that may be erased: its id, what it is about, and when it was active last."""

    id: str
    about: str
    at: str | None


async def show(asked: PageRequest) -> PageContent:
    """What can be erased; or, with a choice in the address, what would go, and a form that confirms it."""
    if not asked.caller.may(PERMISSION):
        raise Forbidden("This session of the page may not erase; open the page with `picomem open` to do so.")
    if any(asked.query.get(name) for name in CHOICES):
        return await _dry_run(asked, {name: asked.asked(name) for name in CHOICES})
    unfinished = (await asked.call("status", {}))["purge_unfinished"]
    values = {"is_unfinished": unfinished, "latest": await _latest_sessions(asked)}
    return PageContent(template="purge.html", title=asked.say("purge.title"), values=values)


async def run(asked: PageRequest) -> PageContent | Redirect:
    """Erase what the form names, if the word is typed and the code is that of what would go now."""
    chosen = {name: asked.sent(name) for name in CHOICES}
    if asked.sent("answer") != "yes":
        return Redirect(to="/purge", notice="notice.nothing_purged")
    if asked.sent("word").strip().casefold() != asked.say("purge.word").casefold():
        return await _dry_run(asked, chosen, "purge.wrong_word", status=400)
    try:
        done = await asked.call("purge", {**_arguments(chosen), "confirmation": asked.sent("confirmation")})
    except Conflict:
        return await _dry_run(asked, chosen, "purge.changed", status=Conflict.status)
    return _proof(asked, chosen, done)


async def finish(asked: PageRequest) -> PageContent:
    """Remove what an interrupted purge has left."""
    return _proof(asked, {}, await asked.call("purge", {}))


async def _dry_run(
    asked: PageRequest, chosen: Mapping[str, str], problem: str = "", *, status: int = 200
) -> PageContent:
    planned = await asked.call("purge", {**_arguments(chosen), "dry_run": True})
    first = asked.asked("first")
    start = int(first) if first.isdecimal() and len(first) <= _MOST_DIGITS else 0
    counts = planned["counts"]
    longest = max(len(planned["sessions"]), len(planned["memories"]))
    choice = next(name for name in CHOICES if chosen.get(name))
    values = {
        "chosen": chosen,
        "choice": choice,
        "problem": problem,
        "counts": [(name.replace(" ", "_"), counts[name]) for name in COUNTED if name in counts],
        "sessions": planned["sessions"][start : start + _LISTED],
        "memories": planned["memories"][start : start + _LISTED],
        "earlier": _part_address(chosen, choice, start - _LISTED) if start else "",
        "later": _part_address(chosen, choice, start + _LISTED) if start + _LISTED < longest else "",
        "refuses_programs": bool(counts.get("tokens")),
        "warnings": planned["left"],
        "confirmation": planned["confirmation"],
    }
    return PageContent(template="purge_plan.html", title=asked.say("purge.title"), values=values, status=status)


def _part_address(chosen: Mapping[str, str], choice: str, first: int) -> str:
    """The address of the dry run with another part of its list."""
    return address_of("/purge", {choice: [chosen[choice]], "first": [str(max(0, first))]})


def _proof(asked: PageRequest, chosen: Mapping[str, str], done: Mapping[str, Any]) -> PageContent:
    scan: ScanView | None = done["scan"]
    is_clean = not done["may_remain"] and (scan is None or not (scan.found or scan.postings or scan.unread))
    is_over = bool(chosen.get("everything") and done["change_id"])
    values: dict[str, Any] = {
        "done": done,
        "scan": scan,
        "is_clean": is_clean,
        "strings_found": sum(scan.found.values()) if scan else 0,
        "certificate": _certificate(asked, done) if done["change_id"] else "",
        "is_over": is_over,
        # The session went with everything else, so nothing else on the page would answer.
        **({"caller": None} if is_over else {}),
    }
    return PageContent(template="purge_proof.html", title=asked.say("purge.title"), values=values)


def _certificate(asked: PageRequest, done: Mapping[str, Any]) -> str:
    """The JSON document that says what was erased and what the search of the files found. Its text is ASCII, because a
    path may hold what no form can send."""
    scan: ScanView | None = done["scan"]
    told = {name: value for name, value in done.items() if name not in ("memories", "sessions", "confirmation")}
    content = {"user": asked.caller.user, "at": iso(asked.now), **told, "scan": asdict(scan) if scan else None}
    return json.dumps(content, indent=2) + "\n"


def _arguments(chosen: Mapping[str, str]) -> dict[str, Any]:
    """The choice as arguments of the operation. Raises InvalidInput unless the days are a number."""
    arguments: dict[str, Any] = {}
    if session := chosen.get("session"):
        arguments["session"] = session
    if days := chosen.get("older_than"):
        if not (days.isascii() and days.isdecimal() and len(days) <= _MOST_DIGITS):
            raise InvalidInput(f"“{days[:40]}” is not a number of days; give one such as 90.")
        arguments["older_than"] = int(days)
    if chosen.get("everything"):
        arguments["everything"] = True
    return arguments


async def _latest_sessions(asked: PageRequest) -> list[SessionToChoose]:
    """The sessions that were active last: conversations with PicoBot, and those of transcripts."""
    talks = (await asked.call("sessions", {"limit": _LATEST}))["sessions"]
    latest = {
        talk.session.id: SessionToChoose(talk.session.id, talk.session.title, talk.session.last_active_at)
        for talk in talks
    }
    listed = await asked.call("timeline", {"limit": 10 * _LATEST})
    titles = {session.session: session.title for session in listed["sessions"]}
    for hit in listed["episodes"]:
        if hit.session:
            about = titles.get(hit.session) or hit.text
            latest.setdefault(hit.session, SessionToChoose(hit.session, about, hit.at))
    return sorted(latest.values(), key=lambda session: session.at or "", reverse=True)[:_LATEST]


VIEW = PageView(
    name="purge",
    path="/purge",
    show=show,
    permission=PERMISSION,
    actions={"/purge/run": run, "/purge/finish": finish},
    missing="error.no_session",
)
