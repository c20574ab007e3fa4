"""What was said in passing is a suggestion: a pointer into the transcript, and no memory until a person says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from picomem import Caller, open_runtime
from picomem.cli.presented_text import text_of
from picomem.engine.engine import Engine
from picomem.engine.review import decide_on, waiting_suggestions
from picomem.errors import InvalidInput, NotFound
from picomem.index_page.page import HEARD_TITLE
from picomem.memory.review_items import ReviewVerdict
from picomem.memory.suggestions import MOST_OF_A_SESSION
from picomem.operations.table import operation
from picomem.records.caller import READ

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
    page = engine.index().text
    assert page.index(HEARD_TITLE) < page.index(KEPT)


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


@pytest.mark.requirement("X14")
def test_ingest_and_status_count_the_suggestions_that_are_listed(engine: Engine, tmp_path: Path) -> None:
    rules = [f"We always keep the {thing} in the {place} because it is colder there." for thing, place in _THINGS]
    lines = [{"role": "user", "content": rule, "timestamp": "2026-05-01T09:00:00Z"} for rule in rules]
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    verb = operation("ingest")
    done = verb.call(engine, verb.request(paths=(str(path),)))
    listed = operation("suggestions").call(engine, operation("suggestions").request(limit=100))
    assert done.suggestions == listed.total == engine.status().suggestions == len(listed.suggestions) > 0
    assert f"{listed.total} sentences may be worth remembering" in text_of(verb, done)
    assert "worth remembering" not in text_of(verb, verb.call(engine, verb.request(paths=(str(path),))))


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


TWO_YEARS = "We keep orders for two years, then they get anonymised."
TEN_YEARS = "We keep orders for ten years now, not for two."


def _heard(engine: Engine) -> list[str]:
    lines = engine.index().text.partition(f"{HEARD_TITLE}\n")[2].partition("\n\n")[0]
    return lines.splitlines()


@pytest.mark.requirement("O9")
def test_the_page_has_of_two_statements_the_newer_one_with_the_one_before(engine: Engine, tmp_path: Path) -> None:
    _say(engine, tmp_path, TWO_YEARS, day=1)
    assert _heard(engine) == [f"- 2026-05-01: {TWO_YEARS[:-1]}"]
    _say(engine, tmp_path, TEN_YEARS, day=2)
    assert _heard(engine) == [f"- 2026-05-02: {TEN_YEARS[:-1]}; before: {TWO_YEARS[:-1]}"]


@pytest.mark.requirement("O9")
def test_what_a_person_decided_on_leaves_that_part_of_the_page(engine: Engine, tmp_path: Path) -> None:
    _say(engine, tmp_path, SAID, day=1)
    _say(engine, tmp_path, TWO_YEARS, day=2)
    kept, discarded = waiting_suggestions(engine)  # the latest first
    decide_on(engine, kept.id, ReviewVerdict.KEEP)
    decide_on(engine, discarded.id, ReviewVerdict.DISCARD)
    assert _heard(engine) == []
    assert kept.text in engine.index().text


@pytest.mark.requirement("O9")
def test_a_memory_is_marked_on_the_page_where_something_newer_was_heard_of_its_subject(
    engine: Engine, tmp_path: Path
) -> None:
    engine.remember(TWO_YEARS, key="orders", since="2026-04-01")
    assert f"- 2026-04-01: {TWO_YEARS}" in engine.index().text
    _say(engine, tmp_path, TEN_YEARS, day=2)
    page = engine.index().text
    assert f"- 2026-04-01 (perhaps outdated): {TWO_YEARS}" in page
    assert page.index(HEARD_TITLE) < page.index(TEN_YEARS[:-1])


@pytest.mark.requirement("O9", "P4")
def test_a_caller_who_may_not_read_sessions_gets_nothing_of_them_on_the_page(tmp_path: Path) -> None:
    with open_runtime(tmp_path / "memory.db", embedder="none") as runtime:
        engine = runtime.engine()
        _say(engine, tmp_path, SAID)
        assert KEPT in engine.index().text
        assert HEARD_TITLE not in runtime.engine(Caller(permissions=frozenset([READ]))).index().text
        assert KEPT in engine.index().text
