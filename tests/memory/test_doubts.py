"""A statement that changed is superseded where that is sure, and linked where it is not; reviewing settles the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from picomem.engine.engine import Engine
from picomem.engine.review import decide_on, to_review
from picomem.errors import Forbidden, InvalidInput, Refused
from picomem.memory.relation import CONTRADICTS, SUPERSEDES, SUPERSEDES_IN_PASSING, judge_pair
from picomem.memory.review_items import ReviewVerdict
from picomem.operations.table import operation
from picomem.policy.durability import LEAST, SURE, judge_sentence
from picomem.records.kinds import Source
from picomem.records.memory import Memory

# Which of these the classifier is unsure of changes when it is trained again; some always are.
PAIRS = [
    ("The team lead is Carla", "Bertram leads the team", "who leads the team?"),
    ("The queue is Redis", "We use Postgres for the queue", "what do we use for the queue?"),
    ("Lunch is at noon", "Lunch is at one", "when is lunch?"),
    ("Decided on 14 April: the job queue runs on Redis", "The job queue uses PostgreSQL", "what is the job queue?"),
    ("The archive is kept in Bonn", "The archive is in Mainz", "where is the archive?"),
]
OLD, NEW, QUESTION = next(
    (old, new, question) for old, new, question in PAIRS if CONTRADICTS <= judge_pair(old, new).supersedes < SUPERSEDES
)
# Two that are captured as candidates, of which the second probably outdates the first.
LIKELY = next(
    (f"Our {server} runs in {one}.", f"Our {server} runs in {other}.")
    for server in ("staging server", "build server", "mail server", "print server", "database")
    for one, other in (("Frankfurt", "Dublin"), ("Ghent", "Bruges"), ("Porto", "Braga"), ("Lyon", "Nantes"))
    if all(LEAST <= judge_sentence(f"Our {server} runs in {city}.").shares["durable"] < SURE for city in (one, other))
    and SUPERSEDES
    <= judge_pair(f"Our {server} runs in {one}", f"Our {server} runs in {other}").supersedes
    < SUPERSEDES_IN_PASSING
)
PASSING = next(
    said
    for said in (
        "The boiler is serviced by a firm in Ghent.",
        "The garage door code changes in May.",
        "We stopped using the old kiln.",
    )
    if LEAST <= judge_sentence(said).shares["durable"] < SURE
)


def _linked(engine: Engine) -> tuple[Memory, Memory]:
    older = engine.remember(OLD, key="queue_old").memory
    newer = engine.remember(NEW, key="queue_new").memory
    assert older and newer
    return older, newer


def test_a_statement_that_moved_on_is_superseded_with_the_signals_as_the_reason(engine: Engine) -> None:
    first = engine.remember("The project wiki is hosted on Confluence")
    done = engine.remember("The project wiki has moved from Confluence to BookStack")
    assert done.decision == "supersede"
    assert [memory.content for memory in engine.memories()] == [
        "The project wiki has moved from Confluence to BookStack"
    ]
    assert "(" in done.reason and first.memory.key in done.reason
    assert done.reason in [change.reason for change in engine.why(done.memory.key).changes]


def test_statements_that_name_different_addresses_are_not_the_same_one(engine: Engine) -> None:
    engine.remember("The staging API is at api-stg.acme.example")
    done = engine.remember("Staging API address is now stg.acme.example")
    assert "already known" not in done.reason


def test_what_ended_is_not_taken_for_what_is(engine: Engine) -> None:
    engine.remember("We used to deploy the harbour API by hand")
    engine.remember("We deploy the harbour API by hand")
    assert "We deploy the harbour API by hand" in [memory.content for memory in engine.memories()]


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
    assert page.index("queue_new") < page.index("queue_old (perhaps outdated)")


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
    assert "may outdate" in item.reason and "(" in item.reason
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


# ------------------------------------------------------------------------------------------- captured statements


def _say(engine: Engine, folder: Path, *messages: str) -> None:
    import json

    for number, said in enumerate(messages):
        at = f"2026-05-0{number + 1}T09:00:00Z"
        rows = [
            {"role": "user", "content": said, "timestamp": at},
            {"role": "assistant", "content": "ok", "timestamp": at},
        ]
        path = folder / f"talk{len(list(folder.iterdir()))}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        engine.ingest([path])


def test_what_is_said_in_passing_waits_as_a_candidate_outside_of_the_index_page(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    _say(engine, folder, f"{PASSING} Can you fix the failing test in line 12?")
    (memory,) = engine.memories()
    assert memory.content == PASSING.rstrip(".")
    assert memory.source is Source.CAPTURED and memory.expires_at is not None
    assert memory.key not in engine.index().text
    (change,) = engine.why(memory.key).changes
    signals = judge_sentence(PASSING).reasons
    assert signals and change.reason.endswith(f"captured by its signals: {'; '.join(signals)}")
    (hit,) = [hit for hit in engine.recall(PASSING).hits if hit.source == "memory"]
    assert hit.remark == "said in passing, not confirmed"
    change, _ = decide_on(engine, memory.key, ReviewVerdict.KEEP)
    assert change.decision == "confirm"
    (kept,) = engine.memories()
    assert kept.expires_at is None and not kept.is_candidate
    assert memory.key in engine.index().text


def test_a_candidate_that_is_said_again_is_confirmed(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    _say(engine, folder, PASSING)
    assert engine.memories()[0].is_candidate
    _say(engine, folder, f"{PASSING} Please look at the layout now.")
    (memory,) = engine.memories()
    assert not memory.is_candidate and memory.expires_at is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann reports to Bob", "Bob reports to Ann"),
        ("The staging database replicates to production", "The production database replicates to staging"),
    ],
)
def test_a_statement_whose_words_exchange_their_places_is_no_repetition(engine: Engine, one: str, other: str) -> None:
    engine.remember(one)
    assert engine.remember(other).decision == "add"
    assert {memory.content for memory in engine.memories()} == {one, other}


def test_a_candidate_is_linked_to_another_that_it_probably_but_not_certainly_outdates(
    engine: Engine, tmp_path: Path
) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    older, newer = LIKELY
    assert SUPERSEDES <= judge_pair(older.rstrip("."), newer.rstrip(".")).supersedes < SUPERSEDES_IN_PASSING
    _say(engine, folder, older)
    _say(engine, folder, newer)
    memories = {memory.content: memory for memory in engine.memories()}
    assert all(memory.is_candidate for memory in memories.values()) and len(memories) == 2
    assert memories[newer.rstrip(".")].contradicts == (memories[older.rstrip(".")].id,)
    texts = [hit.text.rstrip(".") for hit in engine.recall(f"what does {older[:-1]}?").hits]
    assert texts.index(newer.rstrip(".")) < texts.index(older.rstrip("."))


@pytest.mark.parametrize("named", [0, 1])
def test_to_keep_a_pair_confirms_the_candidates_in_it(engine: Engine, tmp_path: Path, named: int) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    for said in LIKELY:
        _say(engine, folder, said)
    before = engine.memories()
    key = next(memory.key for memory in before if memory.content == LIKELY[named].rstrip("."))
    assert len(to_review(engine)) == 3  # the pair, and both of it as candidates
    change, _ = decide_on(engine, key, ReviewVerdict.KEEP)
    assert to_review(engine) == []
    assert [(memory.is_candidate, memory.expires_at) for memory in engine.memories()] == [(False, None)] * 2
    engine.undo(change.run)
    assert len(to_review(engine)) == 3
    assert {memory.expires_at for memory in engine.memories()} == {memory.expires_at for memory in before}


@pytest.mark.parametrize("verdict", [ReviewVerdict.SUPERSEDE, ReviewVerdict.MERGE])
@pytest.mark.parametrize("named", [0, 1])
def test_to_say_that_the_newer_of_a_pair_is_right_confirms_it(
    engine: Engine, tmp_path: Path, named: int, verdict: ReviewVerdict
) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    for said in LIKELY:
        _say(engine, folder, said)
    before = {memory.key: memory for memory in engine.memories()}
    key = next(memory.key for memory in before.values() if memory.content == LIKELY[named].rstrip("."))
    change, _ = decide_on(engine, key, verdict)
    assert change.decision == verdict.value
    assert to_review(engine) == []
    (kept,) = engine.memories()
    assert kept.content == LIKELY[1].rstrip(".")
    assert (kept.is_candidate, kept.expires_at) == (False, None)
    assert kept.key in engine.index().text
    engine.undo(change.run)
    assert len(to_review(engine)) == 3
    assert {memory.key: memory.expires_at for memory in engine.memories()} == {
        name: memory.expires_at for name, memory in before.items()
    }


def test_a_pair_whose_newer_statement_is_confirmed_already_is_settled_by_one_change(engine: Engine) -> None:
    engine.remember(OLD)
    later = engine.remember(NEW).memory
    assert later and later.contradicts
    before = len(engine.changes(100))
    decide_on(engine, later.key, ReviewVerdict.SUPERSEDE)
    assert len(engine.changes(100)) == before + 1
    assert [memory.version for memory in engine.memories()] == [later.version]


def test_to_keep_a_candidate_that_may_contradict_a_known_memory_is_one_change(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    known = engine.remember(LIKELY[0], since="2026-01-02").memory
    assert known
    _say(engine, folder, LIKELY[1])
    (candidate,) = (memory for memory in engine.memories() if memory.is_candidate)
    assert candidate.contradicts == (known.id,)
    before = len(engine.changes(100))
    change, _ = decide_on(engine, candidate.key, ReviewVerdict.KEEP)
    assert len(engine.changes(100)) == before + 1 and to_review(engine) == []
    engine.undo(change.id)
    assert len(to_review(engine)) == 2


def test_a_candidate_that_an_agent_offers_as_a_fact_is_confirmed_as_the_person_said_it(
    engine: Engine, tmp_path: Path
) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    _say(engine, folder, PASSING)
    (candidate,) = engine.memories()
    agent = engine.acting_as("agent", agent=True)
    done = agent.remember(candidate.content, key="offered", kind="decision", tags=["offered"], origin="agent")
    assert done.decision == "merge" and done.reason.endswith("it is no longer a candidate")
    (memory,) = engine.memories()
    assert not memory.is_candidate and memory.expires_at is None
    kept = ("key", "content", "kind", "tags", "origin", "importance", "context", "valid_from")
    assert [getattr(memory, name) for name in kept] == [getattr(candidate, name) for name in kept]


def test_a_candidate_that_a_web_page_repeats_stays_one(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    _say(engine, folder, PASSING)
    (candidate,) = engine.memories()
    engine.remember(candidate.content, origin="web")
    assert engine.memories()[0].is_candidate


def test_the_items_of_a_numbered_list_are_memories_of_their_own(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    rules = [f"Rule {number}: every test has one assertion about prices" for number in range(1, 5)]
    _say(engine, folder, *(f"{rule}." for rule in rules))
    assert {memory.content for memory in engine.memories()} == set(rules)
    assert all(not memory.contradicts for memory in engine.memories())


def test_an_order_for_one_piece_of_work_is_not_captured(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    _say(
        engine,
        folder,
        "Research how all our teams in Lisbon and Porto lint their Elixir code.",
        "Fix all the tests that our Redis queue broke in the billing service.",
    )
    assert engine.memories() == []


@pytest.mark.parametrize(
    "junk",
    [
        "No durable facts came up in this conversation.",
        "The user asked the assistant to shorten the second paragraph.",
        "I fixed the import and all tests are green now.",
    ],
)
def test_junk_that_an_agent_offers_is_refused_and_a_person_may_store_it(engine: Engine, junk: str) -> None:
    with pytest.raises(Refused):
        engine.remember(junk, origin="agent")
    assert engine.remember(junk).decision == "add"


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


def test_a_decision_that_names_what_it_leaves_behind_is_at_least_a_doubt(engine: Engine) -> None:
    older = engine.remember(
        "We decided to use Jenkins for the nightly builds because it runs in the cellar anyway"
    ).memory
    newer = engine.remember(
        "We've decided to move the nightly builds from Jenkins to Buildkite with two agents, because a failed agent must not "
        "lose the report of the evening"
    )
    assert newer.decision == "supersede" or older.key in newer.reason
    first = engine.recall("what runs the nightly builds?").hits[0]
    assert first.text.startswith("We've decided to move")


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
