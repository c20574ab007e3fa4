"""What the page of a project says was heard in passing: its likeliest suggestions, and what they may replace.

Of statements on one subject the page has the newest, with the one before it, so that a wrong pair hides nothing. The
newer one may itself be too unlikely to be suggested: “Priya took over from Tom” says little without what it changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from picomem.memory.index_page import Heard
from picomem.memory.suggestions import Suggestion, undecided
from picomem.records.kinds import Kind
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.text.likeness import Subjects
from picomem.text.terms import query_terms

MOST_HEARD = 16  # of a page
_MOST_READ = 400  # episodes, the latest
_LEAST = 0.4  # estimate of what stands on a page, where nobody asked for it
_LIKE = 0.2  # two sentences that share so much stand in one line, and both can be read there


class HeardInPassing(NamedTuple):
    """What was heard in a project, the newest first, and the ids of memories that some of it may replace."""

    lines: Sequence[Heard]
    outdated: frozenset[str]


def heard_in_passing(tx: Transaction, scope: Scope, memories: Iterable[Memory]) -> HeardInPassing:
    """What was heard in the scope's project beside the memories of its page."""
    stated = [one for one in undecided(tx, scope, _MOST_READ) if one.project == scope.project or _is_of_user(one)]
    return decide(stated, [memory for memory in memories if memory.origin.trusted])


def decide(stated: Sequence[Suggestion], memories: Sequence[Memory]) -> HeardInPassing:
    """Choose the lines among the sentences that seem to state something. Pure."""
    by_id = {one.id: one for one in stated}
    known = {memory.id: memory for memory in memories}
    terms = {one.id: query_terms(one.text) for one in stated} | {
        memory.id: query_terms(memory.content) for memory in memories
    }
    subjects = Subjects(terms)
    likely = sorted((one for one in stated if one.estimate >= _LEAST), key=lambda one: (-one.estimate, one.id))
    lines: dict[str, Heard] = {}
    outdated: set[str] = set()
    for one in sorted(likely[: 2 * MOST_HEARD], key=lambda one: (one.at or 0, one.id)):
        near = {id_ for id_, likeness in subjects.near(one.id).items() if likeness >= _LIKE}
        of_memory = [known[id_] for id_ in near & known.keys()]
        if any(memory.valid_from >= (one.at or 0) for memory in of_memory):
            continue  # it is in memory, or what is there is newer
        outdated |= {memory.id for memory in of_memory}
        newer = max(
            (other for id_ in near & by_id.keys() if _may_replace(one, other := by_id[id_])),
            key=lambda other: (other.estimate, other.at or 0),
            default=None,
        )
        if newer is None:
            lines.setdefault(one.id, Heard(one.text, one.at))
        else:
            lines.pop(one.id, None)
            lines[newer.id] = Heard(newer.text, newer.at, one.text)
    best = sorted(lines, key=lambda id_: (-by_id[id_].estimate, id_))[:MOST_HEARD]
    ordered = sorted((lines[id_] for id_ in best), key=lambda heard: (-(heard.at or 0), heard.text))
    return HeardInPassing(ordered, frozenset(outdated))


def _may_replace(older: Suggestion, other: Suggestion) -> bool:
    is_later = (other.at or 0) > (older.at or 0) and other.session != older.session
    return is_later and other.project == older.project


def _is_of_user(one: Suggestion) -> bool:
    """Return whether a sentence tells how its user likes to work, whatever the project."""
    return one.kind is Kind.PREFERENCE and one.estimate >= _LEAST
