"""Nothing is overwritten by a guess: what may contradict stays beside the other, linked; reviewing settles it."""

from __future__ import annotations

import pytest
from tests.engine_parts import to_review

from picomem.engine.engine import Engine
from picomem.engine.review import decide_on
from picomem.errors import Forbidden, InvalidInput
from picomem.memory.review_items import ReviewVerdict
from picomem.operations.table import operation
from picomem.records.memory import CONTRADICTS, Memory
from picomem.records.scope import Scope

OLD, NEW, QUESTION = "The job queue is Redis", "We use Postgres for the job queue", "what is the job queue?"


def _linked(engine: Engine) -> tuple[Memory, Memory]:
    older = engine.remember(OLD, key="queue_old").memory
    newer = engine.remember(NEW, key="queue_new").memory
    assert older and newer
    return older, newer


@pytest.mark.requirement("X20")
def test_what_other_projects_say_in_the_same_words_hides_no_contradiction_of_this_one(engine: Engine) -> None:
    for number in range(20):
        engine.remember(f"The service port is {4000 + number}", scope=Scope("local", project=f"other{number}"))
    mine = Scope("local", project="mine")
    older = engine.remember("The service port is 9001", scope=mine).memory
    newer = engine.remember("The service port is 9002", scope=mine).memory
    assert older and newer and f"{CONTRADICTS}{older.id}" in newer.related
    assert engine.remember("The service port is 9002.", scope=mine).merged_with == newer.id


@pytest.mark.requirement("X20")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I like long commit messages", "I hate long commit messages"),
        ("I like the dark theme", "I dislike the dark theme"),
        ("Always squash before merging", "Never squash before merging"),
        ("We use Jenkins for the nightly builds", "We no longer use Jenkins for the nightly builds"),
        ("The parser is written in C", "The parser is written in C++"),
        ("The tool is written in F", "The tool is written in F#"),
        ("The customer has the Pro plan", "The customer has the Pro+ plan"),
        ("The staging database listens on port 5433", "The staging database listens on port 6432"),
        ("我喜欢很长的提交说明", "我讨厌很长的提交说明"),
    ],
)
def test_an_opposite_or_another_value_is_stored_beside_the_older_and_comes_first(
    engine: Engine, old: str, new: str
) -> None:
    older, done = engine.remember(old).memory, engine.remember(new)
    assert older and done.memory
    assert (done.decision, {memory.content for memory in engine.memories()}) == ("add", {old, new})
    hits = [hit for hit in engine.recall(old).hits if hit.source == "memory"]
    assert [hit.text for hit in hits] == [new, old]
    assert hits[1].remark == "older statement, perhaps outdated"
    assert done.memory.contradicts == (older.id,)
    page = engine.index().text
    assert f": {new}; before: {old}\n" in page or f"- {new}; before: {old}\n" in page


@pytest.mark.requirement("X20")
def test_only_a_key_that_someone_gave_replaces(engine: Engine) -> None:
    engine.remember("The wiki is hosted on Confluence", key="wiki")
    added = engine.remember("The wiki is hosted on BookStack")
    assert added.decision == "add"
    replaced = engine.remember("The wiki is hosted on BookStack", key="wiki")
    assert replaced.decision == "supersede"


def test_a_suggested_key_that_is_taken_gives_way(engine: Engine) -> None:
    first = engine.remember("My name is Ann").memory
    second = engine.remember("My name is Anna").memory
    assert first and second and first.key != second.key


def test_statements_about_different_things_both_stay(engine: Engine) -> None:
    engine.remember("Anna keeps the keys of the boat house")
    engine.remember("Piet moved to the flat above the bakery")
    assert len(engine.memories()) == 2
    assert to_review(engine) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Don't add dependencies without asking me first", "Energy in Wh as bigint please, never floats"),
        ("Never deploy on Fridays", "Always use tabs, not spaces"),
    ],
)
@pytest.mark.parametrize("kind", ["instruction", "fact"])
def test_two_rules_that_share_no_word_are_two_memories(engine: Engine, one: str, other: str, kind: str) -> None:
    engine.remember(one, kind=kind)
    engine.remember(other, kind=kind)

    assert {memory.content for memory in engine.memories()} == {one, other}
    assert to_review(engine) == []


def test_what_may_contradict_stays_beside_the_other_and_recall_puts_the_newer_first(engine: Engine) -> None:
    older, newer = _linked(engine)
    assert newer.contradicts == (older.id,)
    hits = engine.recall(QUESTION).hits
    assert [hit.id for hit in hits] == [newer.id, older.id]
    assert [hit.remark for hit in hits] == ["", "older statement, perhaps outdated"]
    assert "older statement, perhaps outdated" in hits[1].why
    page = engine.index().text
    assert f"{NEW}; before: {OLD}\n" in page


def test_a_doubt_is_told_by_the_key_of_the_other_memory(engine: Engine) -> None:
    older, _ = _linked(engine)
    for name, arguments in (("why", {"id": "queue_new"}), ("history", {"name": "queue_new"})):
        verb = operation(name)
        result = verb.call(engine, verb.request(**arguments))
        assert result.contradicted == {older.id: "queue_old"}
        assert "may contradict queue_old" in str(verb.presentation(result))
        assert older.id not in str(verb.presentation(result))


@pytest.mark.parametrize(
    ("verdict", "left"),
    [
        (ReviewVerdict.KEEP, {OLD, NEW}),
        (ReviewVerdict.SUPERSEDE, {NEW}),
        (ReviewVerdict.MERGE, {NEW}),
        (ReviewVerdict.DISCARD, {OLD}),
    ],
)
def test_each_decision_on_a_pair_is_one_change_that_can_be_undone(
    engine: Engine, verdict: ReviewVerdict, left: set[str]
) -> None:
    older, newer = _linked(engine)
    (item,) = to_review(engine)
    assert item.older and (item.memory.id, item.older.id) == (newer.id, older.id)
    assert "may outdate" in item.reason
    before = len(engine.changes(100))
    change, _ = decide_on(engine, "queue_new", verdict)
    assert len(engine.changes(100)) == before + 1
    assert {memory.content for memory in engine.memories()} == left
    assert to_review(engine) == []
    engine.undo(change.id)
    assert {memory.content for memory in engine.memories()} == {OLD, NEW}
    assert len(to_review(engine)) == 1


def test_nothing_else_is_decided_on(engine: Engine) -> None:
    engine.remember(OLD, key="queue")
    with pytest.raises(InvalidInput, match="no pending decision"):
        decide_on(engine, "queue", ReviewVerdict.KEEP)
    with pytest.raises(InvalidInput, match="what to do with it"):
        operation("review").call(engine, operation("review").request(name="queue"))
    agent = engine.acting_as("agent", agent=True)
    with pytest.raises(Forbidden, match="A person decides"):
        operation("review").call(agent, operation("review").request(name="queue", verdict="keep"))


def test_an_agents_change_of_what_a_person_stated_is_linked_and_not_applied(engine: Engine) -> None:
    engine.remember(OLD, key="queue_old")
    engine.acting_as("agent", agent=True).remember(NEW, key="queue_new", origin="agent")
    assert {memory.content for memory in engine.memories()} == {OLD, NEW}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sanne waters the plants on the balcony.", "Simon waters the plants on the balcony."),
        ("Tower 3 has a lift", "Tower 4 has a lift"),
        ("The frontend team meets in the attic.", "The backend team meets in the attic."),
        ("The bakery opens at seven.", "The bakery closes at seven."),
        ("开发环境放在二楼机房。", "生产环境放在二楼机房。"),
        ("Put a space before a colon in French texts.", "Do not put a space before a colon in French texts."),
    ],
)
def test_statements_that_differ_in_a_value_are_never_one_and_the_same(engine: Engine, one: str, other: str) -> None:
    engine.remember(one)
    assert engine.remember(other, origin="agent").decision != "merge"
    assert other in [memory.content for memory in engine.memories()]


def test_a_key_that_someone_chose_is_a_subject_of_its_own(engine: Engine) -> None:
    engine.remember("The project wiki is hosted on Confluence", key="wiki_of_the_team")
    done = engine.remember("The project wiki has moved from Confluence to BookStack", key="wiki_of_the_guild")
    assert done.decision == "add"
    assert {memory.key for memory in engine.memories()} == {"wiki_of_the_guild", "wiki_of_the_team"}
    assert "may outdate" in done.reason


def test_what_came_from_others_is_reviewed_when_asked_for_and_only_once(engine: Engine) -> None:
    engine.remember("Anna keeps the keys of the boat house")
    engine.remember("The vendor says that port 5433 is blocked", key="vendor_port", origin="web")
    engine.remember("The scan reports two open ports", key="scan", origin="tool")
    assert to_review(engine) == []
    assert [item.memory.key for item in to_review(engine, untrusted=True)] == ["scan", "vendor_port"]
    change, _ = decide_on(engine, "vendor_port", ReviewVerdict.KEEP)
    decide_on(engine, "scan", ReviewVerdict.DISCARD)
    assert to_review(engine, untrusted=True) == []
    assert [memory.origin for memory in engine.memories() if memory.key == "vendor_port"] == ["web"]
    with pytest.raises(InvalidInput, match="no pending decision"):
        decide_on(engine, "vendor_port", ReviewVerdict.KEEP)
    engine.undo(change.id)
    assert [item.memory.key for item in to_review(engine, untrusted=True)] == ["vendor_port"]


@pytest.mark.requirement("X2", "X15")
def test_a_person_says_of_any_two_memories_that_one_replaces_the_other(engine: Engine) -> None:
    engine.remember("The team meets in the blue room", key="room", since="2026-01-10")
    engine.remember("Standups are held on deck seven", key="standup", since="2026-03-01")
    assert to_review(engine) == []
    review = operation("review")
    done = review.call(engine, review.request(name="standup", verdict="supersede", other="room"))
    assert [memory.key for memory in engine.memories()] == ["standup"]
    earlier = engine.recall("where does the team meet, in which room?", valid_at="2026-02-01").hits
    assert [hit.key for hit in earlier] == ["room"]
    assert [memory.key for memory in engine.memories(valid_at="2026-02-01")] == ["room"]
    assert done.change is not None
    engine.undo(done.change.id)
    assert {memory.key for memory in engine.memories()} == {"room", "standup"}
    assert engine.doctor().healthy


def test_a_memory_replaces_a_later_one_where_a_person_says_so(engine: Engine) -> None:
    engine.remember("The team meets in the blue room", key="room", since="2026-01-10")
    engine.remember("Standups are held on deck seven", key="standup", since="2026-03-01")
    decide_on(engine, "room", ReviewVerdict.SUPERSEDE, "standup")
    assert [memory.key for memory in engine.memories()] == ["room"]
    assert {memory.key for memory in engine.memories(valid_at="2026-03-02")} == {"room", "standup"}
    with pytest.raises(InvalidInput, match="cannot replace itself"):
        decide_on(engine, "room", ReviewVerdict.SUPERSEDE, "room")
