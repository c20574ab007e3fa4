"""What the page of a project says beside its memories: what was done last time, and what was heard in passing. The
first is what was asked in its latest sessions, and what came of it.

What came of a session is its summary, where the host or a consolidation wrote one; or else what the record says without
a model: commits, the latest tests, the files that were changed, and the question that the agent ended with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from picomem.index_page.page import Heard, LastSession
from picomem.memory.suggestions import Suggestion, undecided
from picomem.recall.hit_sessions import session_title, touched_files
from picomem.records.episode import TESTS_FAILED, TESTS_PASSED, Episode, Transcript
from picomem.records.kinds import Kind
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables import episodes
from picomem.text.likeness import Subjects
from picomem.text.terms import query_terms

_MOST_COMMITS, _MOST_FILES = 2, 3
_MOST_READ = 60  # episodes of a session, the latest
_SHOWN_NAME = 8  # characters of a session's id
_LONGEST_SUBJECT = 72  # characters of a commit's first line
# The message of a commit in a line of ingest/outcomes.py, which has no line breaks.
_COMMIT = re.compile(r"""\bgit commit\b[^|;&"']{0,80}-[a-z]*m ["'](?:\$\(cat <<\\?'?\w+'? )?([^"'\n]+)""")


def last_sessions(
    tx: Transaction, scope: Scope, sessions: Iterable[Transcript], said: Callable[[str], str]
) -> list[LastSession]:
    """The sessions as the page shows them; `said` makes of a text of theirs what may be shown of it. Of text of which
    nobody is trusted nothing is shown."""
    shown = []
    for session in sessions:
        title, origin = session_title(tx, scope, session, said)
        latest = episodes.end_of_session(tx, scope, session.id, _MOST_READ)
        outcome = outcome_of([episode for episode in latest if not session.took_back(episode.first_turn)])
        if title and origin.trusted and session.ended_at is not None:
            shown.append(LastSession(session.session[:_SHOWN_NAME], session.ended_at, title, said(outcome)))
    return shown


def outcome_of(latest: Sequence[Episode]) -> str:
    """What came of a session, by its latest episodes, the latest first; empty if nothing did. Pure."""
    trusted = [episode for episode in latest if episode.origin.trusted]
    for episode in trusted:
        if episode.category == "timeline":
            return episode.summary or episode.preview
    actions = [line for episode in reversed(trusted) for line in episode.actions.splitlines()]
    commits = _commits(actions)
    return "; ".join([*commits, *_tests(trusted), *([] if commits else _files(trusted)), *_open_question(trusted[:1])])


def _commits(actions: Iterable[str]) -> list[str]:
    subjects = dict.fromkeys(match[1].strip() for line in actions if (match := _COMMIT.search(line)))
    latest = list(subjects)[-_MOST_COMMITS:]
    return [f"committed “{_cut(subject)}”" for subject in latest]


def _tests(latest: Iterable[Episode]) -> list[str]:
    """How the last run of tests ended. The lines are picomem's own; those of the program itself follow them."""
    lines = [line for episode in latest for line in reversed(episode.outcomes.splitlines())]
    return [line for line in lines if line.startswith((TESTS_PASSED, TESTS_FAILED))][:1]


def _files(latest: Iterable[Episode]) -> list[str]:
    files = touched_files(episode.actions for episode in latest)
    more = f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
    return [f"worked on {', '.join(files[:_MOST_FILES])}{more}"] if files else []


def _open_question(last: Iterable[Episode]) -> list[str]:
    """What the agent asked last, where nobody answered."""
    for episode in last:
        line = episode.preview.rstrip().rpartition("\n")[2]
        if episode.role == "assistant" and line.endswith(("?", "？")):
            return [f"left open: “{_cut(line)}”"]
    return []


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SUBJECT else text[: _LONGEST_SUBJECT - 1].rstrip() + "…"


# What the page of a project says was heard in passing: its likeliest suggestions, and what they may replace.
#
# Of statements on one subject the page has the newest, with the one before it, so that a wrong pair hides nothing. The
# newer one may itself be too unlikely to be suggested: “Priya took over from Tom” says little without what it changes.

MOST_HEARD = 16  # of a page
_MOST_EPISODES = 400  # episodes, the latest
_LEAST = 0.4  # estimate of what stands on a page, where nobody asked for it
_LIKE = 0.2  # two sentences that share so much stand in one line, and both can be read there


class HeardInPassing(NamedTuple):
    """What was heard in a project, the newest first, and the ids of memories that some of it may replace."""

    lines: Sequence[Heard]
    outdated: frozenset[str]


def heard_in_passing(tx: Transaction, scope: Scope, memories: Iterable[Memory]) -> HeardInPassing:
    """What was heard in the scope's project beside the memories of its page."""
    stated = [one for one in undecided(tx, scope, _MOST_EPISODES) if one.project == scope.project or _is_of_user(one)]
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
