"""Remember, forget, expire: read what is known, let `decide` decide, write it down.

Every function works inside the caller's transaction, and whatever it writes (versions, full text, vectors, lineage,
the change) is part of it. A version is never edited: it is closed, and the next one opened.

How a version is replaced. What is believed about one memory are its versions with `known_to` open. Say version 1
holds "lives in Paris", true since January, and on 3 May we learn "lives in Berlin, since 1 May". Then, known from
3 May on:

    version 1   Paris    true from January          known until 3 May     (closed, otherwise untouched)
    version 2   Paris    true from January to 1 May known from 3 May
    version 3   Berlin   true from 1 May            known from 3 May

so that "what did we believe on 2 May" and "what was true in April" both have an answer. A correction ("it never was
Paris") opens only version 3, true from January. What is learned late ("in 2019 it was Rome") opens a version for that
time and leaves the present alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from math import fsum
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command, all_of
from picomem.errors import NotFound
from picomem.light_dataclass import dataclass, field, replace
from picomem.memory.decide import NOBODY, Offer, Outcome, concerns, decide, decide_at_path
from picomem.policy.gate import Verdict, judge, judge_names, lines_with_keys, listed_statements, retells
from picomem.policy.own_output import AnswerPiece, is_repeated
from picomem.policy.refusal import Refusal
from picomem.provenance.statements import Grounds
from picomem.recall.lexical_search import Corpus, WordMatches, match_statement
from picomem.recall.memory_hits import without_captured
from picomem.recall.question import Question, statement
from picomem.recall.rank import best_by_words
from picomem.records.ids import new_id
from picomem.records.kinds import CHANGE_DECISIONS, CHANGE_VERBS, Decision, Kind, Origin
from picomem.records.memory import Change, Memory, Parent
from picomem.records.scope import Scope
from picomem.store import row_counts
from picomem.store.connector import Transaction
from picomem.store.tables import audit, memories, memory_lineage
from picomem.text.likeness import SAME_SUBJECT, plain_words, say_the_same, subject_likeness
from picomem.text.memory_keys import LONGEST_KEY
from picomem.text.terms import query_terms, terms
from picomem.text.tokens import count_tokens

if TYPE_CHECKING:
    from typing import Unpack

EXPIRED = CodedText("reason.expired")
_MOST_KNOWN = 8
_MOST_ALIKE = 2
_MOST_LISTED = 4  # lines of a list that are looked for among what is known
_COMMON = 200  # a word of more memories does not tell which of them are alike
_MOST_COMPARED = 1_000  # by the words that they share
_MOST_READ = 64
_READ_AT_ONCE = 12  # a few of the best may be archived or over
_EXCERPT = 200  # characters of a refused text that its change keeps, so that `why` can say what was refused

StoreVector = Callable[[Transaction, Memory], None]


@dataclass(frozen=True, slots=True)
class Remembered:
    """The result of an offer. `memory` is the version that now represents it; None if it was refused."""

    decision: Decision
    reason: str
    change_id: str
    memory: Memory | None = None
    merged_with: str = ""


class ChangeSubject(TypedDict, total=False):
    """What a recorded change is about; see `Change`."""

    memory_id: str
    before: int | None
    after: int | None
    candidate: str
    undoes: str


@dataclass(slots=True)
class Writer:
    """The author, time and run of writes, and the maker of vectors. One for each call of a verb."""

    actor: str
    now: Micros
    verb: str = "remember"
    run: str = field(default_factory=new_id)
    idempotency_key: str = ""  # of the request, where its caller gave one; see records/memory.py
    request_hash: str = ""
    store_vector: StoreVector | None = None
    recalled: tuple[str, ...] = ()  # recently returned texts; see memory/echo_guard.py
    returned_pieces: tuple[AnswerPiece, ...] = ()  # what the latest answers to agents were made of
    returned_memories: frozenset[str] = frozenset()  # the ids of those that were recalled lately
    sources: tuple[Parent, ...] = ()  # what all that it writes was made from: the message that an agent answers
    said: str = ""  # what that message says: an agent that retells it repeats no recall, whatever was recalled
    persons: Grounds = NOBODY  # what the person states for whom an agent writes
    stated: Grounds = NOBODY  # that, and what the person stated in turns that were recalled
    is_group: bool = False  # others read what becomes of an offer: it shows nothing of memories made from past sessions

    def remember(self, tx: Transaction, offer: Offer, parents: Sequence[Parent] = ()) -> Remembered:
        """Put an offer through gate, match and decision, and apply what was decided."""
        parents = [*parents, *(source for source in self.sources if source not in parents)]
        verdict = self.verdict_of(offer)
        if offer.path:
            return self._remember_at_path(tx, offer, verdict, parents)
        if verdict.keep and not self.is_group and _is_printed(tx, offer, self.now):
            verdict = Verdict(False, Refusal.RECALLED, Refusal.RECALLED.reason)
        if self.is_group:
            offer = replace(offer, key=_key_in_group(tx, offer))
        same_key = self._under_its_key(tx, offer) if verdict.keep else None
        if same_key is not None and not offer.key_given and not say_the_same(offer.content, same_key.content):
            # The key was only suggested, and something else stands under it.
            offer = replace(offer, key=memories.free_key(tx, offer.scope, offer.key))
            same_key = None
        is_compared = verdict.keep and same_key is None
        known = _known(tx, offer, self.now, self.is_group) if is_compared else KnownMemories([], [], [])
        retold = self._retold(offer, known.sharing_words)
        outcome = retold or decide(offer, verdict, same_key, known.concerned, known.alike, self.now, self.persons)
        if outcome.offer is not None and offer.origin.trusted and not outcome.offer.origin.trusted:
            new = outcome.offer
            verdict = self.judged(new.content, new.kind, new.origin, explicit=new.explicit)
            outcome = outcome if verdict.keep else decide(offer, verdict, None, [], [], self.now)
        return self._apply(tx, offer, outcome, parents)

    def verdict_of(self, offer: Offer) -> Verdict:
        """The verdict of the gate on all that an offer would store."""
        if offer.path:
            # An agent that arranges its texts reads them first: they may come back.
            verdict = judge(offer.content, kind=offer.kind, origin=offer.origin, explicit=offer.explicit)
        else:
            verdict = self.judged(offer.content, offer.kind, offer.origin, explicit=offer.explicit, around=offer.around)
        if verdict.keep and offer.context:
            # Why a thing matters is read by models as well: what may not be content may not be context.
            verdict = self.judged(offer.context, offer.kind, offer.origin, explicit=True)
        if verdict.keep:
            scope = offer.scope
            names = judge_names((scope.project, scope.agent, scope.session, *offer.tags, *offer.related), offer.origin)
            verdict = verdict if names.keep else names
        return verdict

    def _remember_at_path(
        self, tx: Transaction, offer: Offer, verdict: Verdict, parents: Sequence[Parent]
    ) -> Remembered:
        standing = memories.by_path(tx, offer.scope, offer.path)
        if standing is not None and standing.expired(self.now):
            self.forget(tx, standing.scope, standing.id, EXPIRED, "expire")
            standing = None
        if verdict.keep:
            offer = replace(offer, key=memories.free_key(tx, offer.scope, offer.key))
        return self._apply(tx, offer, decide_at_path(offer, verdict, standing), parents)

    def _retold(self, offer: Offer, known: Sequence[Memory]) -> Outcome | None:
        """The decision on an agent's offer that says no more than a memory which was recalled lately, in its words:
        nothing is written. None where it is no such offer."""
        if offer.origin is not Origin.AGENT or offer.key_given or not self.returned_memories:
            return None
        words = set(plain_words(offer.content))
        for memory in known:
            is_its_words = memory.id in self.returned_memories and words <= set(plain_words(memory.content))
            if is_its_words and retells(offer.content, memory.content):
                reason = CodedText("reason.recalled_says_it", key=memory.key)
                return Outcome(Decision.MERGE, reason, memory)
        return None

    def _under_its_key(self, tx: Transaction, offer: Offer) -> Memory | None:
        """The version under an offer's key that holds when the offer does."""
        memory = memories.by_key(tx, offer.scope, offer.key)
        if memory is not None and memory.expired(self.now):
            # Nobody has tidied yet: what has expired says nothing about the offer, and must not date it.
            self.forget(tx, memory.scope, memory.id, EXPIRED, "expire")
            return None
        return memory and _holding(tx, memory, max(self.now, offer.valid_from or self.now))

    def judged(self, text: str, kind: Kind, origin: Origin, *, explicit: bool, around: str = "") -> Verdict:
        """The verdict of the gate. A person who repeats a text means it. Anyone else may echo the result of a
        recall, unless the person stated the text."""
        if origin is Origin.USER or (self.said and retells(text, self.said)) or self._was_stated(text):
            return judge(text, kind=kind, origin=origin, explicit=explicit, around=around)
        if is_repeated(text, self.returned_pieces):
            return Verdict(False, Refusal.RECALLED, Refusal.RECALLED.reason)
        return judge(text, kind=kind, origin=origin, explicit=explicit, recalled=self.recalled, around=around)

    def _was_stated(self, text: str) -> bool:
        return bool(self.recalled or self.returned_pieces) and self.stated.hold(text)

    def _apply(self, tx: Transaction, offer: Offer, outcome: Outcome, parents: Sequence[Parent]) -> Remembered:
        scope, old = offer.scope, outcome.memory
        if outcome.decision is Decision.REFUSE:
            excerpt = offer.content[:_EXCERPT]
            if not offer.explicit and audit.was_refused(tx, scope, outcome.reason, excerpt):
                return Remembered(Decision.REFUSE, outcome.reason, "")
            change = self.record(tx, scope, outcome.decision, outcome.reason, candidate=excerpt)
            memory_lineage.add_lineage(tx, scope, "change", change.id, 0, parents, change.id)
            return Remembered(Decision.REFUSE, outcome.reason, change.id)
        if outcome.offer is None:
            assert old is not None
            change = self.record(tx, scope, outcome.decision, outcome.reason, memory_id=old.id)
            again = [replace(parent, role="repeated") for parent in parents]
            memory_lineage.add_lineage(tx, scope, "memory", old.id, old.version, again, change.id)
            return Remembered(outcome.decision, outcome.reason, change.id, old, old.id)
        if old is None:
            memory = self._first_version(outcome.offer)
            change = self.record(tx, scope, Decision.ADD, outcome.reason, memory_id=memory.id, after=1)
            memory = self.open_version(tx, replace(memory, change_id=change.id), parents)
            return Remembered(Decision.ADD, outcome.reason, change.id, memory)
        memory = self._next_version(tx, old, outcome, parents)
        merged = old.id if outcome.decision is Decision.MERGE else ""
        return Remembered(outcome.decision, outcome.reason, memory.change_id, memory, merged)

    def _next_version(self, tx: Transaction, old: Memory, outcome: Outcome, parents: Sequence[Parent]) -> Memory:
        offer = outcome.offer
        assert offer is not None
        since = self.now if offer.valid_from is None else offer.valid_from
        until = old.valid_to if old.valid_to is None or since < old.valid_to else None
        if outcome.decision is Decision.MERGE:  # it was always so, and perhaps from before on
            since = old.valid_from if offer.valid_from is None else min(old.valid_from, offer.valid_from)
        elif since < old.valid_from:  # about a time before the old version, which stays as it is
            until = old.valid_from
        return self.replace_version(
            tx, old, _fields(offer), since, outcome.decision, outcome.reason, parents, until=until
        )

    def replace_version(
        self,
        tx: Transaction,
        old: Memory,
        fields: dict[str, object],
        since: Micros,
        decision: str,
        reason: str,
        parents: Sequence[Parent] = (),
        *,
        until: Micros | None = None,
    ) -> Memory:
        """Open the version that holds from `since` on, or to `until`, with some fields different from `old`; see the
        head."""
        replaced = memories.believed_since(tx, old.scope, old.id, since, until)
        kept = [part for version in replaced for part in _outside(version, since, until)]
        latest = memories.last_version(tx, old.scope, old.id)
        opened = latest + len(kept) + 1
        change = self.record(
            tx,
            old.scope,
            decision,
            reason,
            memory_id=old.id,
            before=old.version if old in replaced else None,
            after=opened,
        )
        memory = replace(
            old,
            version=opened,
            known_from=self.now,
            known_to=None,
            valid_from=since,
            valid_to=until,
            change_id=change.id,
            **fields,  # type: ignore[arg-type]
        )
        memory = replace(memory, tokens=count_tokens(memory.content))
        self._shorten(tx, replaced, kept, latest, change.id)
        replaces = [Parent(kind="memory", id=old.id, role="replaced", version=version.version) for version in replaced]
        return self.open_version(tx, memory, [*parents, *replaces])

    def forget(self, tx: Transaction, scope: Scope, memory_id: str, reason: str, decision: str = "archive") -> Change:
        """Archive a memory: all that is believed of it is closed, nothing is deleted. Raises NotFound."""
        believed = memories.believed_versions(tx, scope, memory_id)
        if not believed:
            raise NotFound(CodedText("failure.already_archived", name=memory_id, command=Command("history", memory_id)))
        said = reason or CodedText("reason.asked")
        change = self.record(tx, scope, decision, said, memory_id=memory_id, before=believed[-1].version)
        for version in believed:
            memories.close(tx, version, self.now, change.id)
        return change

    def end(self, tx: Transaction, memory: Memory, at: Micros, reason: str, decision: str) -> Change:
        """End what is believed of a memory at a time: before it, it held. Where it held at no earlier time, archive it.
        Raises NotFound."""
        ended = memories.believed_since(tx, memory.scope, memory.id, at)
        kept = [part for version in ended for part in _outside(version, at, None)]
        if not kept:
            return self.forget(tx, memory.scope, memory.id, reason, decision)
        latest = memories.last_version(tx, memory.scope, memory.id)
        after = latest + len(kept)
        change = self.record(
            tx, memory.scope, decision, reason, memory_id=memory.id, before=ended[-1].version, after=after
        )
        self._shorten(tx, ended, kept, latest, change.id)
        return change

    def _shorten(
        self, tx: Transaction, replaced: Sequence[Memory], kept: Sequence[Memory], latest: int, change_id: str
    ) -> None:
        """Close versions, and open what is kept of them, numbered on from `latest`."""
        for version in replaced:
            memories.close(tx, version, self.now, change_id)
        for number, part in enumerate(kept, latest + 1):
            past = replace(part, version=number, known_from=self.now, change_id=change_id)
            self.open_version(tx, past, [Parent(kind="memory", id=part.id, role="replaced", version=part.version)])

    def expire(self, tx: Transaction, scope: Scope) -> list[Memory]:
        """Archive what has expired (O19); what was archived."""
        gone = {memory.id: memory for memory in memories.expired(tx, scope, self.now)}
        for memory in gone.values():
            self.forget(tx, scope, memory.id, EXPIRED, "expire")
        return list(gone.values())

    def vouch(self, tx: Transaction, memory: Memory) -> None:
        """Put on record that a damaged row was repaired, and is kept as it reads now."""
        reason = all_of(CodedText("reason.hash"), CodedText("reason.kept_as_it_reads"))
        self.record(tx, memory.scope, "repair", reason, memory_id=memory.id, after=memory.version)

    def _first_version(self, offer: Offer) -> Memory:
        return Memory(
            id=new_id(),
            version=1,
            scope=offer.scope,
            valid_from=self.now if offer.valid_from is None else offer.valid_from,
            known_from=self.now,
            created_at=self.now,
            tokens=count_tokens(offer.content),
            change_id="",
            path=offer.path,
            **_fields(offer),  # type: ignore[arg-type]
        )

    def open_version(self, tx: Transaction, memory: Memory, parents: Sequence[Parent]) -> Memory:
        """Store a version with what is derived from it."""
        memory = memories.insert(tx, memory, parents)
        if self.store_vector is not None and memory.searchable:
            self.store_vector(tx, memory)
        return memory

    def record(
        self,
        tx: Transaction,
        scope: Scope,
        decision: str,
        reason: str,
        **about: Unpack[ChangeSubject],
    ) -> Change:
        """Put a decision on record."""
        assert self.verb in CHANGE_VERBS and decision in CHANGE_DECISIONS, (self.verb, decision)
        change = Change(
            id="",
            run=self.run,
            at=self.now,
            actor=self.actor,
            verb=self.verb,
            decision=str(decision),
            reason=reason,
            idempotency_key=self.idempotency_key,
            request_hash=self.request_hash,
            **about,
        )
        return audit.record(tx, scope, change)


class KnownMemories(NamedTuple):
    """Memories that hold now, or are to hold later, and share words with an offer, best first: of any project, and
    those that its owner, or one around it, holds; and those of these that seem to speak of its subject."""

    sharing_words: list[Memory]
    concerned: list[Memory]
    alike: list[Memory]


def _known(tx: Transaction, offer: Offer, now: Micros, is_group: bool) -> KnownMemories:
    total = row_counts.memories_written(tx, offer.scope).searchable
    question = statement(offer.content)
    if not total or not question.words:
        return KnownMemories([], [], [])
    corpus = Corpus(tx, offer.scope, "memory", total)
    matches = match_statement(corpus, question, _COMMON)
    best = best_by_words(_with_common_words(corpus, matches), _MOST_COMPARED)
    known = _read_best(tx, offer.scope, best, now, is_group)
    if all(concerns(offer, memory) for memory in known):
        return KnownMemories(known, known, _alike(corpus, question, matches.counts, offer, known))
    # What other projects say in the same words takes no place of what this one says, and makes no word of it common.
    around = memories.docs_around(tx, offer.scope, best)
    concerned = _read_best(tx, offer.scope, around, now, is_group)
    counts = {
        term: len(matches.weights[term].keys() & around) if term in matches.weights else count
        for term, count in matches.counts.items()
    }
    corpus = replace(corpus, documents=corpus.documents - len(best) + len(around))
    return KnownMemories(known, concerned, _alike(corpus, question, counts, offer, concerned))


def _read_best(tx: Transaction, scope: Scope, best: Sequence[int], now: Micros, is_group: bool) -> list[Memory]:
    """The first memories among the best that hold now, or are to hold later."""
    known: list[Memory] = []
    for start in range(0, min(len(best), _MOST_READ), _READ_AT_ONCE):
        docs = best[start : start + _READ_AT_ONCE]
        by_doc = {memory.doc: memory for memory in memories.by_docs(tx, scope, docs, [])}
        ranked = [by_doc[doc] for doc in docs if doc in by_doc]
        ranked = without_captured(tx, scope, ranked, []) if is_group else ranked
        known += [memory for memory in ranked if not memory.archived and not memory.over(now)]
        if len(known) >= _MOST_KNOWN:
            break
    return known[:_MOST_KNOWN]


def _with_common_words(corpus: Corpus, matches: WordMatches) -> dict[int, float]:
    """The weights of the documents that hold most of the rare words of an offer, with those of the common words that
    they hold. So what says the same word for word comes first, and no list of a common word's documents is read."""
    skipped = matches.skipped
    if not skipped:
        return matches.totals
    texts = corpus.texts(best_by_words(matches.totals, _MOST_READ))
    return {
        doc: matches.totals[doc] + fsum(matches.idf[term] for term in skipped.intersection(terms(text)))
        for doc, text in texts.items()
    }


def _alike(
    corpus: Corpus, question: Question, counts: Mapping[str, int], offer: Offer, known: Sequence[Memory]
) -> list[Memory]:
    """The memories that seem to speak of an offer's subject, the likeliest first, at most `_MOST_ALIKE`. Untrusted text
    is not compared with trusted text: its words prove nothing about it."""
    comparable = {
        memory.id: query_terms(memory.content) for memory in known if memory.origin.trusted == offer.origin.trusted
    }
    rarity = corpus.rarities({*chain(*comparable.values())}, question, counts)
    likeness = {
        memory.id: subject_likeness(question.words, comparable[memory.id], rarity.__getitem__)
        for memory in known
        if memory.id in comparable
    }
    alike = [memory for memory in known if likeness.get(memory.id, 0.0) >= SAME_SUBJECT]
    return sorted(alike, key=lambda memory: -likeness[memory.id])[:_MOST_ALIKE]


def _is_printed(tx: Transaction, offer: Offer, now: Micros) -> bool:
    """Return whether a line of an agent's offer is a memory behind its key, or in a list, as an answer or an index page
    holds it."""
    if offer.origin is Origin.USER:
        return False
    for key, said in lines_with_keys(offer.content).items():
        for owner in dict.fromkeys((offer.scope, replace(offer.scope, project=""))):
            memory = memories.by_key(tx, owner, key)
            if memory is not None and say_the_same(said, memory.content):
                return True
    return any(
        say_the_same(said, memory.content)
        for said in listed_statements(offer.content)[:_MOST_LISTED]
        for memory in _known(tx, replace(offer, content=said), now, is_group=False).sharing_words
    )


def _holding(tx: Transaction, memory: Memory, at: Micros) -> Memory:
    """The version of a memory that is believed to hold at a time; where none does, its open-ended one."""
    holding = memories.believed_since(tx, memory.scope, memory.id, at, at + 1)
    return holding[0] if holding else memory


def _key_in_group(tx: Transaction, offer: Offer) -> str:
    """The key of an offer if the group may know of the memory under it; otherwise a key that is the same whether a
    memory was under the first or not."""
    own = f"{offer.key[: LONGEST_KEY - 10]}_group"
    for key in (offer.key, own):
        memory = memories.by_key(tx, offer.scope, key)
        if memory is not None and without_captured(tx, offer.scope, [memory], []):
            return key
    return memories.free_key(tx, offer.scope, own)


def _outside(version: Memory, since: Micros, end: Micros | None) -> list[Memory]:
    """The rest of a version's time without [since, end): the part before, the part after."""
    parts = [replace(version, valid_to=since)] if version.valid_from < since else []
    if end is not None and (version.valid_to is None or version.valid_to > end):
        parts.append(replace(version, valid_from=end))
    return parts


def _fields(offer: Offer) -> dict[str, object]:
    return {
        "key": offer.key,
        "kind": offer.kind,
        "content": offer.content,
        "context": offer.context,
        "importance": offer.importance,
        "pinned": offer.pinned,
        "tags": offer.tags,
        "related": offer.related,
        "origin": offer.origin,
        "source": offer.source,
        "expires_at": offer.expires_at,
    }
