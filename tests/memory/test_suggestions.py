"""What was said in passing is a suggestion: a pointer into the transcript, and no memory until a person says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from picomem.engine.engine import Engine
from picomem.engine.review import decide_on, waiting_suggestions
from picomem.errors import InvalidInput, NotFound
from picomem.memory.review_items import ReviewVerdict
from picomem.memory.suggestions import MOST_OF_A_SESSION
from picomem.operations.table import operation

SAID = "We always deploy the harbour API by hand because the pipeline has no access to the cluster."
KEPT = SAID.rstrip(".")


def _say(engine: Engine, folder: Path, *messages: str, day: int = 1) -> None:
    rows = [
        {"role": role, "content": said, "timestamp": f"2026-05-{day:02}T09:{number:02}:00Z"}
        for number, message in enumerate(messages)
        for role, said in (("user", message), ("assistant", "ok"))
    ]
    path = folder / f"talk{day}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    engine.ingest([path])


@pytest.mark.requirement("X20")
def test_what_is_said_in_passing_is_no_memory_and_is_suggested_where_it_was_said(
    engine: Engine, tmp_path: Path
) -> None:
    _say(engine, tmp_path, f"{SAID} Can you fix the failing test in line 12?")
    assert engine.memories() == []
    (suggestion,) = waiting_suggestions(engine)
    assert (suggestion.text, suggestion.session != "") == (KEPT, True)
    _, _, opened = engine.show(suggestion.episode_id)
    assert SAID in "\n".join(turn.text for turn in opened.turns)
    assert KEPT not in engine.index().text


def test_a_person_keeps_a_suggestion_and_undo_brings_it_back(engine: Engine, tmp_path: Path) -> None:
    _say(engine, tmp_path, SAID)
    (suggestion,) = waiting_suggestions(engine)
    change, _ = decide_on(engine, suggestion.id, ReviewVerdict.KEEP)
    (memory,) = engine.memories()
    assert (memory.content, memory.origin, memory.valid_from) == (KEPT, "user", memory.known_from)
    assert waiting_suggestions(engine) == []
    engine.undo(change.run)
    assert (engine.memories(), waiting_suggestions(engine)) == ([], [suggestion])


def test_a_person_discards_a_suggestion_and_undo_brings_it_back(engine: Engine, tmp_path: Path) -> None:
    _say(engine, tmp_path, SAID)
    (suggestion,) = waiting_suggestions(engine)
    change, _ = decide_on(engine, suggestion.id, ReviewVerdict.DISCARD)
    assert (engine.memories(), waiting_suggestions(engine)) == ([], [])
    engine.undo(change.run)
    assert waiting_suggestions(engine) == [suggestion]


def test_a_suggestion_is_kept_or_discarded_and_nothing_else(engine: Engine, tmp_path: Path) -> None:
    _say(engine, tmp_path, SAID)
    (suggestion,) = waiting_suggestions(engine)
    with pytest.raises(InvalidInput, match="kept or discarded"):
        decide_on(engine, suggestion.id, ReviewVerdict.MERGE)
    with pytest.raises(NotFound, match="picomem suggestions"):
        decide_on(engine, f"{suggestion.episode_id}:999", ReviewVerdict.KEEP)


def test_the_same_said_again_on_another_day_raises_the_estimate(engine: Engine, tmp_path: Path) -> None:
    _say(engine, tmp_path, SAID)
    (once,) = waiting_suggestions(engine)
    _say(engine, tmp_path, "By the way, we deploy the harbour API by hand, the pipeline has no access.", day=2)
    again = next(one for one in waiting_suggestions(engine) if one.id == once.id)
    assert again.estimate > once.estimate


def test_a_session_suggests_a_handful_at_most(engine: Engine, tmp_path: Path) -> None:
    rules = [f"We always keep the {thing} in the {place} because it is colder there." for thing, place in _THINGS]
    _say(engine, tmp_path, *rules)
    assert 0 < len(waiting_suggestions(engine)) <= MOST_OF_A_SESSION


_THINGS = [
    ("wine", "cellar"),
    ("milk", "larder"),
    ("seed", "shed"),
    ("film", "vault"),
    ("wax", "attic"),
    ("yeast", "box"),
]


@pytest.mark.requirement("X5")
def test_a_purged_session_suggests_nothing(engine: Engine, tmp_path: Path) -> None:
    _say(engine, tmp_path, SAID)
    (suggestion,) = waiting_suggestions(engine)
    engine.purge(session=suggestion.session)
    assert waiting_suggestions(engine) == []


def test_the_operation_lists_suggestions_by_pages(engine: Engine, tmp_path: Path) -> None:
    for day in (1, 2, 3):
        _say(engine, tmp_path, SAID, day=day)
    verb = operation("suggestions")
    first = verb.call(engine, verb.request(limit=2))
    rest = verb.call(engine, verb.request(limit=2, cursor=first.cursor))
    assert (first.total, len(first.suggestions), len(rest.suggestions), rest.cursor) == (3, 2, 1, "")
    assert {view.text for view in [*first.suggestions, *rest.suggestions]} == {KEPT}
    assert first.suggestions[0].at == "2026-05-03T09:00:00Z"
