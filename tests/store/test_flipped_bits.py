"""R10: whatever bit of the file flips, and wherever the file is cut, no verb answers wrongly without a word of it.

Each case copies a store, damages one place of the copy, and runs every verb on it. A verb may answer as before; answer
less and say that rows are damaged; or raise one of our errors. An answer that differs and says nothing is allowed only
where the verb cannot know, and then `doctor` must have findings. Pytest's `--log-cli-level=INFO` shows how
many of which there were.
"""

from __future__ import annotations

import json
import logging
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from tests.amounts import amount
from tests.sqlite_file import connection_of

from picomem.engine.engine import Engine
from picomem.errors import PicomemError
from picomem.light_dataclass import asdict, dataclass, field
from picomem.records.session import NewMessage, Role

pytestmark = [
    pytest.mark.reliability("R10"),
    pytest.mark.sqlite_file("flips bits of the file"),
]

Result = TypeVar("Result")

FLIPS = amount(60, 2_000)
QUESTIONS = ("amber harbour ledgers", "who tuned the violins", "bronze lighthouse, walnut orchards", "velvet curtain")
MEMORIES = {
    "harbour": "The amber harbour keeps its ledgers in a dry cellar",
    "lighthouse": "A bronze lighthouse warns the herring fleet at dusk",
    "orchard": "Walnut orchards prefer quiet tractors and long winters",
    "cafe": "Das Café am Löwenplatz öffnet um sieben, sagt Zoë",
    "ferry": "The southern ferry rusts beside the quay since spring",
}


@dataclass(slots=True)
class Reply:
    """What a verb gave: its answer, and whether it said that something is wrong."""

    answer: object
    told: bool


@dataclass(slots=True)
class Outcome:
    """What came of the cases, how many errors of ours verbs raised, and which answers were wrong and silent."""

    cases: Counter = field(default_factory=Counter)
    errors: int = 0
    faults: list[str] = field(default_factory=list)


def _fill(engine: Engine, folder: Path) -> None:
    for key, content in MEMORIES.items():
        engine.remember(content, key=key, context=f"told by the {key} keeper", tags=[f"{key}tag"], related=["quay"])
    engine.revise("harbour", "The amber harbour keeps its ledgers in a dry attic")
    engine.forget("ferry")
    engine.remember("hello there")
    turns = [
        f"{'Seventeen violins were tuned' if number % 3 == 0 else 'A velvet curtain hides the stage door'} on day {number}"
        for number in range(18)
    ]
    for name, said in (("talk", turns), ("gone", turns[:2])):
        lines = [
            {
                "role": "user" if number % 2 == 0 else "assistant",
                "content": f"{text} ({name})",
                "timestamp": 1_777_000_000,
            }
            for number, text in enumerate(said)
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        engine.ingest([folder / f"{name}.jsonl"])
    session = engine.sessions().create(title="Tuesday")
    for number in range(6):
        role = Role.USER if number % 2 == 0 else Role.ASSISTANT
        engine.sessions().append(session.id, NewMessage(role=role, content=f"Message {number} about the quay"))
    engine.index()


def _verbs(engine: Engine) -> dict[str, Callable[[], Reply]]:
    """Everything that reads, as values that compare."""

    def recall(question: str) -> Reply:
        answer = engine.recall(question)
        told = any("damaged" in warning for warning in answer.warnings) or any(
            "failed" in leg for leg in answer.legs.values()
        )
        return Reply([asdict(hit) for hit in answer.hits], told)

    def listed(archived: bool) -> Reply:
        damaged: list[str] = []
        return Reply([asdict(memory) for memory in engine.memories(archived=archived, damaged=damaged)], bool(damaged))

    def timeline() -> Reply:
        damaged: list[str] = []
        return Reply([asdict(hit) for hit in engine.timeline(damaged=damaged)], bool(damaged))

    def changes() -> Reply:
        damaged: list[str] = []
        return Reply([(asdict(change), key) for change, key in engine.changes(damaged=damaged)], bool(damaged))

    def conversations() -> Reply:
        page = engine.sessions().page()
        loaded = [engine.sessions().load(session.id) for session, _ in page.sessions]
        told = bool(page.damaged) or any(conversation.damaged for conversation in loaded)
        return Reply(
            ([asdict(session) for session, _ in page.sessions], [asdict(conversation) for conversation in loaded]), told
        )

    def show() -> Reply:
        hits = engine.timeline(damaged=[])
        if not hits:
            return Reply(None, False)
        episode, transcript, opened = engine.show(hits[0].id)
        return Reply((asdict(episode), transcript and asdict(transcript), asdict(opened)), opened.state != "open")

    def index() -> Reply:
        text = engine.index().text
        return Reply(text, "damaged" in text)

    named = {f"recall {question}": lambda question=question: recall(question) for question in QUESTIONS}
    return {
        **named,
        "memories": lambda: listed(False),
        "archived": lambda: listed(True),
        "history": lambda: Reply([asdict(version) for version in engine.history("harbour")], False),
        "why": lambda: Reply(asdict(engine.why("harbour")), False),
        "timeline": timeline,
        "changes": changes,
        "sessions": conversations,
        "show": show,
        "index": index,
    }


def _writes(engine: Engine, folder: Path, session: str) -> dict[str, Callable[[], object]]:
    return {
        "remember": lambda: engine.remember("Ilse keeps the keys of the granary", key="granary"),
        "revise": lambda: engine.revise("lighthouse", "A bronze lighthouse warns the herring fleet at dawn"),
        "forget": lambda: engine.forget("orchard"),
        "ingest": lambda: engine.ingest([folder / "talk.jsonl"]),
        "append": lambda: engine.sessions().append(
            session, NewMessage(role=Role.USER, content="One more about the quay")
        ),
        "undo": lambda: [engine.undo(change.id) for change, _ in engine.changes(1, damaged=[])],
        "purge": lambda: engine.purge(session="gone", wait_seconds=0.1),
        "purge old": lambda: engine.purge(older_than=1, wait_seconds=0.1),
        "purge all": lambda: engine.purge(everything=True, wait_seconds=0.1),
    }


def _damaged(data: bytes, rng: random.Random) -> tuple[str, bytes]:
    """The bytes with one bit flipped, or cut short, and what was done to them."""
    if rng.random() < 0.1:
        length = rng.randrange(1, len(data))
        return f"cut to {length}", data[:length]
    copy, place, bit = bytearray(data), rng.randrange(len(data)), rng.randrange(8)
    while rng.random() < 0.9 and not data[place]:  # most of a small file is empty, and nothing there can go wrong
        place = rng.randrange(len(data))
    copy[place] ^= 1 << bit
    return f"bit {bit} of byte {place}", bytes(copy)


def _run(call: Callable[[], Result], outcome: Outcome, what: str) -> Result | None:
    """The result of a verb; None where it raised one of our errors, which is an answer too. Any other ends the test."""
    try:
        return call()
    except PicomemError:
        outcome.errors += 1
        return None
    except BaseException as error:
        error.add_note(what)
        raise


@pytest.mark.requirement("X2")
@pytest.mark.timeout(100 + 2 * FLIPS)
def test_no_verb_answers_wrongly_and_silently_on_a_damaged_file(tmp_path, open_engine, clock):
    whole = tmp_path / "whole.db"
    engine = open_engine(whole)
    _fill(engine, tmp_path)
    engine.close()
    start = clock.now
    engine = open_engine(whole)
    expected = {name: call().answer for name, call in _verbs(engine).items()}
    session = engine.sessions().page().sessions[0][0].id
    engine.close()
    data, outcome = whole.read_bytes(), Outcome()
    for number in range(FLIPS):
        rng = random.Random(f"R10 {number}")
        what, bytes_now = _damaged(data, rng)
        folder = tmp_path / "case"
        folder.mkdir()
        path = folder / "memory.db"
        path.write_bytes(bytes_now)
        clock.now = start
        try:
            outcome.cases[
                _case(f"case {number} ({what})", path, tmp_path, open_engine, expected, session, outcome, rng)
            ] += 1
        finally:
            shutil.rmtree(folder)
    logging.getLogger("picomem.tests").info("%d cases: %s", FLIPS, outcome)
    assert outcome.faults == []


def _case(what: str, path: Path, folder: Path, open_engine, expected: dict, session: str, outcome: Outcome, rng) -> str:
    engine = _run(lambda: open_engine(path), outcome, f"{what}: open")
    if not isinstance(engine, Engine):
        return "does not open"
    connection_of(engine).pragma("synchronous", 0)  # nobody pulls the plug here
    unsaid, told = _read(engine, what, expected, outcome)
    diagnosis = _run(engine.doctor, outcome, f"{what}: doctor")
    findings = [] if diagnosis is None else diagnosis.findings
    if unsaid and diagnosis is not None and not findings:
        outcome.faults.append(f"{what}: silent in {unsaid}")
    kind = "harmless" if not (unsaid or told or findings) else "told when read" if not unsaid else "told by the doctor"
    if not (unsaid or told) and findings:
        kind = "answers unharmed, found by the doctor"
    writes = _writes(engine, folder, session)
    if rng.random() < 0.5:
        for name, call in writes.items():
            _run(call, outcome, f"{what}: {name}")
    repaired = _run(lambda: engine.doctor(repair=True), outcome, f"{what}: repair")
    if repaired is not None and repaired.healthy:
        again = _run(engine.doctor, outcome, f"{what}: doctor again")
        if again is None or again.findings:
            outcome.faults.append(f"{what}: called repaired, and {again and again.findings}")
    engine.close()
    return kind


def _read(engine: Engine, what: str, expected: dict, outcome: Outcome) -> tuple[list[str], bool]:
    """The verbs that answered otherwise and did not say so; and whether any said something."""
    unsaid, told = [], False
    for name, call in _verbs(engine).items():
        said = _run(call, outcome, f"{what}: {name}")
        if said is None:
            told = True
        elif isinstance(said, Reply):
            told = told or said.told
            if said.answer != expected[name] and not said.told:
                unsaid.append(name)
    return unsaid, told
