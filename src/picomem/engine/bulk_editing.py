"""Changes several memories in the same way, in one transaction and one run, which one undo reverts."""

from __future__ import annotations

from collections.abc import Sequence

from picomem.coded_text import CodedText, Command
from picomem.engine.engine import Engine
from picomem.errors import Forbidden, InvalidInput
from picomem.light_dataclass import dataclass
from picomem.memory.name_lookup import resolve
from picomem.memory.revise import revised
from picomem.records.kinds import Origin
from picomem.records.memory import Memory

ARCHIVE, PIN, UNPIN = ACTIONS = ("archive", "pin", "unpin")


@dataclass(frozen=True, slots=True)
class EditedTogether:
    """The run, the memories as they were before, and those in which there was nothing to change."""

    run: str
    changed: list[Memory]
    unchanged: list[Memory]


def edit_together(engine: Engine, names: Sequence[str], action: str, reason: str = "") -> EditedTogether:
    """Archive, pin or unpin memories, all of them or none.

    Raises NotFound or Conflict for a name, InvalidInput where nothing would change, and Forbidden for an agent.
    """
    if engine.caller.is_agent:
        raise Forbidden(CodedText("failure.only_person_edits_many", command=Command("bulk-edit")))
    context = engine._context
    said = context.cleaner().text(reason)

    def edit() -> EditedTogether:
        with context.connector.write(engine.scope) as tx:
            writer = context.writer("forget" if action == ARCHIVE else "revise")
            owner = context.owner(None)
            meant = list({memory.id: memory for memory in (resolve(tx, owner, name) for name in names)}.values())
            done = EditedTogether(writer.run, [], [])
            for memory in meant:
                if action == ARCHIVE:
                    writer.forget(tx, engine.scope, memory.id, said)
                elif memory.pinned == (action == PIN):
                    done.unchanged.append(memory)
                    continue
                else:
                    fields: dict[str, object] = {"pinned": action == PIN}
                    revised(tx, writer, memory, fields, Origin.USER, None, False, said)
                done.changed.append(memory)
            if not done.changed:
                raise InvalidInput("Nothing is to be changed: all of them are so already.")
            return done

    done = context.deleting(edit)
    context.settle()
    return done
