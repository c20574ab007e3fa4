"""Of what was said in passing on one subject the newest stands first, and the older one behind it is marked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from picomem.engine.engine import Engine
from picomem.recall.recency import OUTDATED

OLDER = "we pay with paylane, not cardo, their sandbox keys are in .env.local"
NEWER = "we dropped paylane and pay with cardo now, the fees were too high"
ASKED = "which sandbox keys do we use?"


def _say(engine: Engine, folder: Path, said: str, day: int, *, cwd: str = "", name: str = "") -> None:
    path = folder / f"{name or f'talk{day}'}.jsonl"
    rows = [
        {"role": role, "content": text, "timestamp": f"2026-05-{day:02}T09:0{minute}:00Z"}
        | ({"cwd": cwd} if cwd else {})
        for minute, (role, text) in enumerate([("user", said), ("assistant", "ok")])
    ]
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    assert not engine.ingest([path]).problems


def _answer(
    engine: Engine, question: str, until: str | None = None, as_of: str | None = None, valid_at: str | None = None
) -> list[tuple[str, str]]:
    hits = engine.recall(question, until=until, as_of=as_of, valid_at=valid_at).hits
    return [(hit.text.lower(), hit.remark) for hit in hits if hit.text != "ok"]


@pytest.mark.requirement("X20")
def test_a_newer_statement_stands_before_the_older_one_though_the_question_finds_only_that(
    engine: Engine, tmp_path: Path
) -> None:
    _say(engine, tmp_path, OLDER, 1)
    assert _answer(engine, ASKED) == [(OLDER, "")]
    _say(engine, tmp_path, NEWER, 9)
    assert _answer(engine, ASKED) == [(NEWER, ""), (OLDER, OUTDATED)]


def test_the_order_of_reading_sessions_decides_nothing(engine: Engine, tmp_path: Path) -> None:
    _say(engine, tmp_path, NEWER, 9)
    _say(engine, tmp_path, OLDER, 1)
    assert _answer(engine, ASKED) == [(NEWER, ""), (OLDER, OUTDATED)]


def test_a_memory_that_was_asked_for_earlier_is_marked_beside_a_newer_statement(engine: Engine, tmp_path: Path) -> None:
    _say(engine, tmp_path, f"please remember: {OLDER}", 1)
    (memory,) = engine.memories()
    _say(engine, tmp_path, NEWER, 9)
    assert [remark for _, remark in _answer(engine, ASKED)[:2]] == ["", OUTDATED]
    assert _answer(engine, ASKED)[0][0] == NEWER
    assert [kept.content for kept in engine.memories()] == [memory.content]


def test_what_follows_in_the_same_session_replaces_nothing(engine: Engine, tmp_path: Path) -> None:
    _say(engine, tmp_path, OLDER, 1, name="one")
    _say(engine, tmp_path, NEWER, 2, name="one")
    assert (OLDER, "") in _answer(engine, ASKED)


@pytest.mark.parametrize("options", [{"until": "2026-05-05"}, {"as_of": "2099-01-01"}, {"valid_at": "2026-05-05"}])
def test_a_question_about_another_time_gets_what_was_said_then(
    engine: Engine, tmp_path: Path, options: dict[str, str]
) -> None:
    _say(engine, tmp_path, OLDER, 1)
    _say(engine, tmp_path, NEWER, 9)
    assert (OLDER, "") in _answer(engine, ASKED, **options)


def test_a_session_that_its_user_withheld_replaces_nothing(engine: Engine, tmp_path: Path) -> None:
    _say(engine, tmp_path, OLDER, 1)
    _say(engine, tmp_path, NEWER, 9)
    engine.withhold(engine.recall("fees too high").hits[0].session)
    assert _answer(engine, ASKED) == [(OLDER, "")]


def test_what_states_something_goes_before_an_order_with_the_same_words(engine: Engine, tmp_path: Path) -> None:
    _say(engine, tmp_path, "We always deploy the harbour by hand", 1)
    for day, order in enumerate(["look at the harbour deploy", "run the harbour deploy again", "show me the log"], 2):
        _say(engine, tmp_path, order, day)
    assert _answer(engine, "how is the harbour deploy done?")[0][0].startswith("we always deploy")
