"""What a view of the page is: a path, a function from a request to a page, and functions for the forms that it posts.

A view calls operations and turns their results into the values of a template. It decides nothing about memory.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import tzinfo
from typing import Any
from urllib.parse import urlencode

from picomem.clock import Micros
from picomem.errors import Conflict
from picomem.light_dataclass import dataclass, field
from picomem.page.message_catalog import Say
from picomem.records.caller import Caller

CallOperation = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
Values = Mapping[str, Sequence[str]]

WRITE = "memory:write:user"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """What a browser asks for.

    `parameters` are the parts of the path, `query` and `form` the fields by name. `call` runs an operation for
    the caller, as the API does, and raises what the operation raises; the values of its result are views.
    `page_sessions` gives the names that stand on changes which the user made on this page. `say` gives texts in the
    reader's language.
    """

    path: str
    parameters: Mapping[str, str]
    query: Values
    form: Values
    caller: Caller
    now: Micros
    zone: tzinfo
    language: str
    say: Say
    call: CallOperation
    page_sessions: Callable[[], Awaitable[frozenset[str]]]

    def asked(self, name: str) -> str:
        """A field of the address, or an empty text."""
        return _first(self.query, name)

    def sent(self, name: str) -> str:
        """A field of the form, or an empty text."""
        return _first(self.form, name)

    @property
    def may_write(self) -> bool:
        return self.caller.may(WRITE)

    @property
    def address(self) -> str:
        """The path with its query, as a link that shows the same again."""
        return address_of(self.path, self.query)

    def address_with(self, **changes: str) -> str:
        """The same address with other fields; an empty value leaves a field out."""
        fields = {name: values for name, values in self.query.items() if name not in changes}
        return address_of(self.path, {**fields, **{name: [value] for name, value in changes.items() if value}})


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContent:
    """What is answered: a template of this package, and its values. `view` in the layout is the name of the view."""

    template: str
    title: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """Where the browser goes after a form: a path of ours. `notice` is a key of the messages, shown there for ten
    seconds with `about` in its place; `run` is the run or the change that its button undoes."""

    to: str
    notice: str = ""
    about: str = ""
    run: str = ""


Show = Callable[[PageRequest], Awaitable[PageContent]]
Act = Callable[[PageRequest], Awaitable[Redirect | PageContent]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """A view.

    `path` may have parameters, as `/memory/{id}`. `actions` are the forms that it posts, by their paths; each has
    passed the check for forgery. `permission` is what its operation needs. A view with an `icon` (an SVG path in a box
    of 24 units) stands in the rail, labelled by the message `rail.NAME`; `key` goes there after `g`. On a phone
    those with `is_tab` stand in the bar, and the others behind it. With `has_pane` what the list names opens beside it.
    `missing` is the message for an address that names something that is not there.
    """

    name: str
    path: str
    show: Show
    permission: str
    actions: Mapping[str, Act] = field(default_factory=dict)
    icon: str = ""
    key: str = ""
    missing: str = ""
    is_tab: bool = False
    has_pane: bool = False


def address_of(path: str, fields: Values) -> str:
    """A path with a query of these fields; empty values are left out."""
    pairs = [(name, value) for name, values in fields.items() for value in values if value]
    return f"{path}?{urlencode(pairs)}" if pairs else path


def own_path(text: str) -> str:
    """A path of this server, to go back to; `/` where the text is none."""
    is_ours = text.startswith("/") and not text.startswith("//") and "\\" not in text and text.isprintable()
    return text if is_ours and len(text) <= _LONGEST_PATH else "/"


_LONGEST_PATH = 4_000


def _first(values: Values, name: str) -> str:
    given = values.get(name)
    return given[0] if given else ""


# The button “Undo”, wherever it stands: it takes back a change or a run, and can be taken back itself.

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
