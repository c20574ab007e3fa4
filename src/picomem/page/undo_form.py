"""The button “Undo”, wherever it stands: it takes back a change or a run, and can be taken back itself."""

from __future__ import annotations

from picomem.errors import Conflict
from picomem.page.page_view import PageRequest, Redirect, own_path

_MOST_NAMED = 3  # keys of memories in a note
ARCHIVED_SESSION = "archived-session:"  # before the id of a conversation; archiving one is no change of memory


async def undo(asked: PageRequest) -> Redirect:
    """Undo what the field `change` names, and go back to the path in `back`."""
    back = own_path(asked.sent("back"))
    if asked.sent("change").startswith(ARCHIVED_SESSION):
        session = asked.sent("change").removeprefix(ARCHIVED_SESSION)
        done = await asked.call("archive-session", {"session": session, "restore": True})
        return Redirect(to=back, notice="notice.session_restored", about=done["session"].title)
    try:
        done = await asked.call("undo", {"change": asked.sent("change")})
    except Conflict:
        return Redirect(to=back, notice="notice.cannot_undo")
    keys = list(dict.fromkeys(step.key for step in done["undone"] if step.key))
    about = ", ".join(keys) if len(keys) <= _MOST_NAMED else asked.say("memories.count", count=len(keys))
    return Redirect(to=back, notice="notice.undone", about=about, run=done["run"])
