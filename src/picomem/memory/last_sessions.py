"""What the page of a project says was done last time: what was asked in its latest sessions, and what came of it.

What came of a session is its summary, where the host or a consolidation wrote one; or else what the record says without
a model: commits, the latest tests, the files that were changed, and the question that the agent ended with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from picomem.memory.index_page import LastSession
from picomem.recall.hit_sessions import session_title, touched_files
from picomem.records.episode import TESTS_FAILED, TESTS_PASSED, Episode, Transcript
from picomem.records.scope import Scope
from picomem.store import episodes
from picomem.store.connector import Transaction

_MOST_COMMITS, _MOST_FILES = 2, 3
_MOST_READ = 60  # episodes of a session, the latest
_SHOWN_NAME = 8  # characters of a session's id
_LONGEST_SUBJECT = 72  # characters of a commit's first line
# The message of a commit in a line of ingest/actions.py, which has no line breaks.
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
