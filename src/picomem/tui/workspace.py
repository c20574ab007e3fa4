"""What the screens share: the runner of operations, and the changes that this person has made."""

from __future__ import annotations

from asyncio import Lock
from typing import Any

from picomem.light_dataclass import dataclass, field
from picomem.tui.operation_runner import OperationRunner


@dataclass(slots=True)
class Workspace:
    """`changes` are the ids of changes that `u` takes back, the latest last. `edition` grows with each change of the
    store, so that a screen knows that what it shows is old. `no_model` says why nobody can talk here, in a sentence
    with the remedy; empty where a model is set. `in_turn` lets one change follow another in the order of the keys."""

    runner: OperationRunner
    user: str
    no_model: str = ""
    in_turn: Lock = field(default_factory=Lock)
    changes: list[str] = field(default_factory=list)
    edition: int = 0

    async def changed(self, memory: str) -> None:
        """Note the change that was just made to a memory."""
        recorded = await self.runner.call("changes", name=memory, limit=1)
        self.changes += [listed.change.id for listed in recorded.changes]
        self.edition += 1

    def note_change(self, result: Any) -> None:
        """Note that an operation has changed the store; its result says which change that was, if one can be undone."""
        change = getattr(result, "change", None)
        self.changes += [change.run] if change else []
        self.edition += 1

    async def undo(self) -> str:
        """Take the latest change back; a sentence about it. Raises what `undo` raises."""
        if not self.changes:
            return "There is nothing to undo here; `picomem changes` lists all changes."
        result = await self.runner.call("undo", change=self.changes[-1])
        self.changes.pop()
        self.edition += 1
        keys = ", ".join(dict.fromkeys(step.key for step in result.undone if step.key))
        return f"Undone: {keys or 'the consolidation'} is as it was before."
