"""The owner of an entry. Every call on the store takes a scope; there is no unscoped read."""

from __future__ import annotations

from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass, replace
from picomem.text.storable import plain

LOCAL_USER = "local"
LONGEST = 256


@dataclass(frozen=True, slots=True)
class Scope:
    """An owner: a user, and perhaps an agent, a project and a session of that user.

    The empty string means "not narrowed". As the scope of a write it says where a memory belongs; as the scope
    of a read it admits what belongs to it and to the wider scopes around it, and where it is not narrowed,
    everything of the user.
    """

    user: str = LOCAL_USER
    agent: str = ""
    project: str = ""
    session: str = ""
    former_projects: tuple[str, ...] = ()  # other names of the project, for a read (store/tables/project_names.py)

    def __post_init__(self) -> None:
        if not self.user.strip():
            raise InvalidInput("A user id cannot be empty; leave it out to mean the local user.")
        for name in ("user", "agent", "project", "session"):
            value = getattr(self, name)
            # A name stands in lines that are read as such: in the index page, in a citation, at a terminal.
            if value and (len(value) > LONGEST or plain(value) != value or not value.isprintable()):
                raise InvalidInput(
                    f"The {name} id is longer than {LONGEST} characters or not a plain line of text; use a shorter "
                    "name."
                )

    def narrowed(self, **parts: str) -> Scope:
        """This scope with some parts set; a part that is given empty stays as it is."""
        given = {name: value for name, value in parts.items() if value}
        return replace(self, **given, former_projects=()) if given else self
