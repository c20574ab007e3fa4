"""Recall asks the notes when it is empty-handed, unsure, or its store is down, and says so."""

from __future__ import annotations

import pytest

from picomem.errors import NotADatabase
from picomem.notes.recall_fallback import UNSURE
from picomem.records.kinds import Origin


def _sources(answer) -> list[str]:
    return [hit.source for hit in answer.hits]


@pytest.mark.requirement("O11")
def test_recall_that_finds_nothing_answers_from_the_notes_and_says_so(open_notes):
    answer = open_notes().recall("heron queue")
    (hit,) = answer.hits
    assert (hit.source, hit.citation, hit.origin) == ("note", "memory/2026-05-03.md#L1-L4", Origin.OTHER)
    assert answer.legs["notes"] == "1"
    assert "Recall found nothing, so the notes were searched as well." in answer.warnings
    assert answer.confidence >= 0.5 and not any("probably not known" in said for said in answer.warnings)
    assert answer.tokens == hit.tokens


@pytest.mark.requirement("O11")
def test_recall_that_is_sure_does_not_look_at_the_notes(open_notes):
    engine = open_notes()
    engine.remember("The heron queue replaced the old queue", key="queue")
    answer = engine.recall("heron queue")
    assert answer.confidence >= UNSURE
    assert _sources(answer) == ["memory"]
    assert answer.legs["notes"] == "not needed"


@pytest.mark.requirement("O11")
def test_recall_that_is_unsure_puts_the_notes_after_what_it_has(open_notes):
    engine = open_notes()
    engine.remember("The queue of tomorrow is short", key="queue")
    answer = engine.recall("heron decided green tea queue")
    assert _sources(answer) == ["memory", "note"]
    assert "Recall is not sure, so the notes were searched as well." in answer.warnings
    assert answer.confidence >= engine.recall("heron decided green tea queue", kinds=["fact"]).confidence > 0


@pytest.mark.requirement("O11")
def test_a_note_that_answers_exactly_makes_the_answer_sure(open_notes, workspace):
    workspace.write("memory/port.md", "# Staging\n\nThe staging database listens on port 5433.\n")
    engine = open_notes()
    engine.remember("The staging area of the theatre is behind the curtain", key="theatre")
    question = "On which port does the staging database listen?"
    alone = engine.recall(question, include_notes=False)
    assert alone.confidence < UNSURE
    answer = engine.recall(question)
    note = next(hit for hit in answer.hits if hit.source == "note")
    assert note.score > 0.9 and answer.confidence > 0.8
    assert not any("probably not known" in said for said in answer.warnings)


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("budget", [10, 60, 150, 400, 2_000])
def test_with_notes_the_limit_and_the_budget_still_hold(limit, budget, open_notes, workspace):
    engine = open_notes()
    for number in range(12):
        engine.remember(f"The queue of day {number} was {number} long, said plot{number}", key=f"queue_{number}")
        workspace.write(f"memory/n{number}.md", f"# Note {number}\n\nHeron and tea by the queue, egret{number}\n" * 3)
    answer = engine.recall("heron decided green tea queue ibis", limit=limit, token_budget=budget)
    assert len(answer.hits) <= limit
    assert sum(hit.tokens for hit in answer.hits) == answer.tokens <= budget
    assert answer.left_out >= 0
    assert _sources(answer) == sorted(_sources(answer))  # what memory has comes first
    if limit >= 3 and budget == 2_000:
        assert set(_sources(answer)) == {"memory", "note"}


@pytest.mark.parametrize(
    "narrowed",
    [
        {"kinds": ["decision"]},
        {"priority": "high"},
        {"tag": "x"},
        {"since": "2026-01-01"},
        {"as_of": "2026-05-01"},
        {"valid_at": "2026-05-01"},
        {"include_transcripts": False},
        {"include_notes": False},
    ],
)
def test_notes_answer_only_what_asks_for_no_kind_time_or_tag_and_may_see_sessions(narrowed, open_notes):
    answer = open_notes().recall("heron queue", **narrowed)
    assert answer.hits == ()
    assert "notes" not in answer.legs


@pytest.mark.requirement("O12")
def test_without_a_store_recall_answers_from_the_files_and_says_so(open_notes, tmp_path):
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database at all")
    engine = open_notes(path=broken)
    answer = engine.recall("heron queue")
    assert _sources(answer) == ["note"]
    assert answer.legs == {
        "store": f"failed: {broken} is not a database; name another file with --db.",
        "notes": "1 from the files",
    }
    assert "The store could not answer, so the notes were searched as well." in answer.warnings
    for call in (engine.status, lambda: engine.remember("The heron moved"), engine.index):
        with pytest.raises(NotADatabase):
            call()
    assert broken.read_bytes() == b"no database at all"


@pytest.mark.requirement("O12")
def test_a_store_that_is_there_again_is_used_again(open_notes, tmp_path):
    path = tmp_path / "later.db"
    path.write_bytes(b"no database at all")
    engine = open_notes(path=path)
    assert "store" in engine.recall("heron queue").legs
    path.unlink()
    engine.remember("The heron queue replaced the old queue", key="queue")
    assert _sources(engine.recall("heron queue")) == ["memory"]


@pytest.mark.requirement("O12")
def test_without_notes_a_broken_store_is_an_error_on_opening(open_notes, tmp_path):
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database at all")
    with pytest.raises(NotADatabase):
        open_notes(path=broken, paths=())


@pytest.mark.requirement("X7")
def test_notes_enter_neither_the_index_page_nor_memory(open_notes):
    engine = open_notes()
    engine.recall("heron queue")
    engine.search_notes("staging port")
    assert engine.memories() == []
    page = engine.index().text
    assert "heron" not in page
    assert "5433" not in page


@pytest.mark.requirement("O11")
def test_a_note_says_why_it_is_a_hit_in_the_words_of_the_question(open_notes, workspace):
    workspace.write("memory/espresso.md", "# Espresso\n\nThe machines were descaled in the Cafe.\n")
    (hit,) = open_notes().recall("are the espresso machines at the Café descaled?").hits
    assert set(hit.why.removeprefix("words: ").split(", ")) == {"espresso", "machines", "Café", "descaled"}
