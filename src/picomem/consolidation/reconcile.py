"""Resolves doubts with a model: pairs of memories that may contradict each other.

The model only describes the relation of a pair; a clear answer becomes one change, which can be undone. A wrong answer
would archive something true, so a person decides the other cases (`picomem review`): pairs whose older memory a person
stated or pinned, pairs with text of others, and pairs about which the model is unsure. Unsure answers are recorded, so
no pair is paid for twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from picomem.clock import Clock, to_datetime
from picomem.coded_text import CodedText, rewritten, value_of
from picomem.light_dataclass import dataclass
from picomem.memory.remember import Writer
from picomem.memory.review_items import ReviewVerdict, pairs_waiting, settle_pair
from picomem.memory.text_cleaning import Cleaner
from picomem.models.generator import DoubtedPair, KnownMemory, PairRelation, PairVerdict
from picomem.records.memory import Change, Memory
from picomem.records.scope import Scope
from picomem.store.connector import Connector, Transaction
from picomem.store.tables import audit

MOST_PAIRS = 8  # that a model is asked about at once
UNSURE = "unsure"  # the decision on record where nothing was changed

_VERDICTS = {
    PairRelation.REPLACES: ReviewVerdict.SUPERSEDE,
    PairRelation.BOTH_HOLD: ReviewVerdict.KEEP,
    PairRelation.SAME: ReviewVerdict.MERGE,
}
Pair = tuple[Memory, Memory]  # the newer one first


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The outcome for a pair: the change, and the keys of both memories."""

    change: Change
    newer: str
    older: str


class Reconciler:
    """Reads and writes for the doubts of one user."""

    def __init__(
        self, connector: Connector, scope: Scope, cleaner: Cleaner, writer: Callable[[str], Writer], clock: Clock
    ) -> None:
        self._connector = connector
        self._scope = scope
        self._cleaner = cleaner
        self._writer = writer
        self._clock = clock

    def waiting(self) -> list[Pair]:
        """The pairs that a model may be asked about now, the latest first."""
        with self._connector.read() as tx:
            pairs = [pair for pair in self._doubted(tx) if may_be_asked(*pair) and not self._was_asked(tx, *pair)]
        pairs.sort(key=lambda pair: pair[0].known_from, reverse=True)
        return pairs[:MOST_PAIRS]

    def shown(self, pairs: Sequence[Pair]) -> list[DoubtedPair]:
        """Pairs as a model is shown them."""
        return [
            DoubtedPair(
                older=self._known(older), newer=self._known(newer), older_day=_day(older), newer_day=_day(newer)
            )
            for newer, older in pairs
        ]

    def apply(self, pairs: Sequence[Pair], verdicts: Sequence[PairVerdict], generator: str) -> list[Reconciled]:
        """Write what the model said of pairs that still are as they were shown to it."""
        writer = self._writer(f"reconciliation:{generator}")
        done = []
        with self._connector.write(self._scope) as tx:
            for (newer, older), verdict in zip(pairs, verdicts, strict=True):
                if (newer, older) in self._doubted(tx):
                    change = self._settled(tx, writer, newer, older, verdict, generator)
                    done.append(Reconciled(change, newer.key, older.key))
        return done

    def _settled(
        self, tx: Transaction, writer: Writer, newer: Memory, older: Memory, verdict: PairVerdict, generator: str
    ) -> Change:
        said = rewritten(verdict.reason, self._cleaner.text)
        because = {"generator": generator, "said": said} if said else {"generator": generator}
        end = "_because" if said else ""
        decided = _VERDICTS.get(verdict.relation)
        if decided is not None:
            return settle_pair(tx, writer, newer, older, decided, f"reason.reconciled{end}", **because)
        reason = CodedText(f"reason.unsure{end}", key=older.key, **because)
        return writer.record(tx, newer.scope, UNSURE, reason, memory_id=newer.id)

    def _doubted(self, tx: Transaction) -> list[Pair]:
        return pairs_waiting(tx, self._scope, self._clock())

    def _was_asked(self, tx: Transaction, newer: Memory, older: Memory) -> bool:
        since = max(newer.known_from, older.known_from)
        return any(
            change.decision == UNSURE and change.at >= since and value_of(change.reason, "key") == older.key
            for change in audit.of_memory(tx, newer.scope, newer.id, [])
        )

    def _known(self, memory: Memory) -> KnownMemory:
        shown = self._cleaner.shown(memory)
        return KnownMemory(shown.key, shown.content)


def may_be_asked(newer: Memory, older: Memory) -> bool:
    """Return whether a model's word on a pair counts."""
    return newer.origin.trusted and older.origin.trusted and not older.is_a_persons


def _day(memory: Memory) -> str:
    return f"{to_datetime(memory.valid_from):%Y-%m-%d}"
