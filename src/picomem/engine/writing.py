"""Makes the writer of memories for a caller, and finds what the person behind an agent has stated."""

from __future__ import annotations

from picomem.clock import DAY
from picomem.engine.caller_context import CallerContext
from picomem.memory.decide import NOBODY
from picomem.memory.remember import Writer
from picomem.provenance.statements import Grounds
from picomem.records.kinds import Origin
from picomem.records.scope import Scope
from picomem.store.tables.recent_turns import with_words


def make_writer(context: CallerContext, verb: str, actor: str = "", origin: Origin | None = None) -> Writer:
    """The writer of a verb; of text of the user's own, which `origin` may say it is, nobody asks who stated it."""
    made_by = context.vectors()
    returned = context.returned_texts()
    persons = NOBODY if origin is Origin.USER else persons_of(context)
    return Writer(
        actor=actor or context.caller.signature,
        now=context.clock(),
        verb=verb,
        store_vector=made_by.store_memory if made_by else None,
        recalled=returned.texts(),
        returned_pieces=returned.pieces(),
        returned_memories=returned.memories(),
        sources=context.sources,
        said=context.said,
        persons=persons,
        stated=persons.joined(returned.users_own()) if context.caller.is_agent else persons,
        is_group=context.is_group,
    )


def persons_of(context: CallerContext) -> Grounds:
    """The statements of the person for whom an agent acts: what they say now, or else their turns of the last day."""
    if context.said or not context.caller.is_agent:
        return Grounds([context.said])
    return Grounds(find=lambda words, share: _find_turns(context, words, share))


def statements_of(context: CallerContext) -> Grounds:
    """The user's statements in their turns of the last day, and in those that were recalled."""
    return Grounds(context.returned_texts().users_own(), lambda words, share: _find_turns(context, words, share))


def _find_turns(context: CallerContext, words: frozenset[str], share: float) -> list[str]:
    """The user's turns of the last day that hold a share of some words."""
    with context.connector.read() as tx:
        turns = with_words(tx, Scope(context.scope.user), context.clock() - DAY, words, share)
    return [turn.summary or turn.preview for turn in turns]
