"""No text of others freezes memory (S10): each way on which one is read takes a time that grows with its length, at
least a megabyte a second, whatever it repeats. CI reads a twentieth of a megabyte of each, and over a store of every
third."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.amounts import amount
from tests.cases import each_case
from tests.cost import cost

from picomem.app import open_engine
from picomem.engine.engine import Engine
from picomem.engine.transfers import import_from
from picomem.errors import Refused
from picomem.hooks.hook_context import context_of
from picomem.hooks.hook_events import HookEvent
from picomem.ingest.noise import clean
from picomem.notes.sections import sections
from picomem.operations.list_arguments import list_meant
from picomem.page.markdown_rendering import markdown
from picomem.policy.durability import find_sentences, find_suggested
from picomem.policy.gate import judge, retells
from picomem.policy.redact import Redactor
from picomem.policy.refusal import LONGEST_CONTENT
from picomem.provenance.context_origins import ContextOrigins
from picomem.provenance.requests import find_requests
from picomem.provenance.statements import Grounds
from picomem.provenance.whose_words import own_words, told_apart
from picomem.provenance.wrapping import without_wrapping
from picomem.records.kinds import Kind, Origin
from picomem.records.transcript import Turn
from picomem.settings import Settings
from picomem.settings_tables import NotesSettings, RecallSettings
from picomem.text.terms import query_terms, terms
from picomem.text.tokens import count_tokens, cut_to_tokens
from picomem.transfer.import_format import import_format_named

pytestmark = pytest.mark.reliability("S10")

_SIZE = amount(50_000, 1_000_000)  # characters
_RATE = 1_000_000  # characters a second
_STORED = 0.3  # seconds for what a store does with a text besides
_HEAD = 0.6  # seconds for the part of a message that is told apart, however long the message is
_KNOWN = "We use Redis for the queues."
_SHAPES = (
    " ", "\t", "\n", "\n ", "\r\n", "\u3000", "\x00", "\u200b", "x", "x ", "é", "\u0301", "字", "： ", "1", "1. ", "- ", "*", "#", "|-|\n",
    "> \n", "<a ", "<a>", "</a>", "<<<", "`", "```\n", '"""', "“", "(", "[", "{", "\\", ". ", "A.", "@", "=", "key=", "a_", "http://",
    "2024-01-01 ", "2026-05-", "1:2 ", "On 1 a wrote ", "Bob wrote:\n> a\n", "From: a\n", "- a: b\n", "Hi Bob,\n", "SELECT a from b;\n", "[redacted:a]",
    "[redacted:aws-access-key:1a2b3c4d] ", "<system-reminder>", "say ", "remember that ", "forget that ", "not or and ", "I never use a. ", "I use red, not blue. ",
)  # fmt: skip
_TEXTS = {shape: shape * (_SIZE // len(shape)) + "z" for shape in _SHAPES}
_TEXTS["words"] = " ".join(f"w{number:x}" for number in range(_SIZE // 6))
_TEXTS["words in turn"] = " ".join(f"w{number ^ 1:x}" for number in range(_SIZE // 6))
_TEXTS["sentences"] = " ".join(f"paint boat w{number:x}." for number in range(_SIZE // 18))
_TEXTS["marks in disorder"] = "a" + "\u0301" * (_SIZE // 2) + "\u0323" * (_SIZE // 2)
_TEXTS["half-width marks in disorder"] = "ｶ" + "\u0323\uff9e" * (_SIZE // 2)
_SOME = _TEXTS if _SIZE > 50_000 else dict([*_TEXTS.items()][::3])

Read = Callable[[str], object]


def _offered(text: str, origin: Origin) -> object:
    """The gate's verdict of a text, and of what was cut from it, with the text as recalled just before."""
    judge(text, kind=Kind.FACT, origin=origin, explicit=False, around=text)
    part = text[:LONGEST_CONTENT]
    return judge(part, kind=Kind.FACT, origin=origin, explicit=False, recalled=[text[1:LONGEST_CONTENT]], around=text)


def _heard(text: str) -> object:
    context = ContextOrigins()
    context.person(text)
    context.text(Origin.WEB)
    return context.origin_of(_KNOWN), context.origin_of(text)


_READERS: dict[str, Read] = {
    "own words": own_words,
    "pieces": told_apart,
    "wrapping": without_wrapping,
    "markdown of the page": lambda text: markdown(text, [[0, 4]]),
    "requests": lambda text: find_requests(f"Remember that I like tea. {text} Remember that I use vim."),
    "suggestions": lambda text: find_suggested(
        [find_sentences(Turn(0, "user", text, None, Origin.USER, 0, 1), find_requests(text))]
    ),
    "statements of a message": lambda text: Grounds([f"We use Redis {text[:15_000]} for the queues.", text]).hold(
        _KNOWN
    ),
    "a statement": lambda text: Grounds([_KNOWN]).hold(text) or Grounds([_KNOWN]).hold(text[:LONGEST_CONTENT]),
    "a statement in its message": lambda text: Grounds([text]).hold(text[:LONGEST_CONTENT]),
    "a statement for another": lambda text: Grounds([text]).hold(text[:LONGEST_CONTENT], text[1:LONGEST_CONTENT]),
    "a request to forget": lambda text: Grounds([f"Forget that {text}"]).ask_to_forget("queue", text[:LONGEST_CONTENT]),
    "an agent's context": _heard,
    "the gate for a user": lambda text: _offered(text, Origin.USER),
    "the gate for an agent": lambda text: _offered(text, Origin.AGENT),
    "the gate for a page": lambda text: _offered(text, Origin.WEB),
    "a text told in another order": lambda text: retells(" ".join(text[:LONGEST_CONTENT].split()[::-1]), text),
    "redaction": Redactor(bytes(range(32))).redact,
    "terms": terms,
    "terms of a question": query_terms,
    "tokens": count_tokens,
    "a cut": lambda text: cut_to_tokens(text, 500),
    "noise": clean,
    "notes": sections,
    "a list": lambda text: list_meant(text, is_of_names=True),
}


class _Place(NamedTuple):
    """An open memory that knows something, and a folder for files."""

    engine: Engine
    folder: Path

    def agent(self, text: str) -> Engine:
        return self.engine.acting_as("bot", said=text, agent=True)

    def ingest(self, name: str, *records: dict[str, object]) -> None:
        path = self.folder / name / f"{len(list(self.folder.glob('*/*')))}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
        self.engine.ingest(path)


def _remembered(place: _Place, text: str) -> None:
    with suppress(Refused):
        place.engine.remember(text[:LONGEST_CONTENT], key="shape", importance=1.0)
    with suppress(Refused):
        place.engine.remember(text, context=text)
    place.engine.index()


def _repeated(place: _Place, text: str) -> None:
    with suppress(Refused):
        place.agent(f"{text} {_KNOWN}").remember(text[:LONGEST_CONTENT])


def _read_of_claude_code(place: _Place, text: str) -> None:
    common = {"sessionId": "s1", "cwd": "/home/ann/shop", "timestamp": "2026-05-03T10:00:00.000Z"}
    answer = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    place.ingest(
        "claude",
        {**common, "type": "user", "uuid": "u1", "message": {"role": "user", "content": text}},
        {**common, "type": "assistant", "uuid": "a1", "parentUuid": "u1", "message": answer},
    )


def _imported(place: _Place, text: str) -> None:
    path = place.folder / "mem0.json"
    path.write_text(json.dumps([{"id": "1", "memory": text[:LONGEST_CONTENT]}, {"id": "2", "memory": text}]))
    import_from(place.engine, path, import_format_named("mem0"))


def _noted(place: _Place, text: str) -> None:
    (place.folder / "notes" / "MEMORY.md").write_text(f"# Queues\n\n{text}\n")
    place.engine.search_notes("which queue?")


_WAYS_INTO_A_STORE: dict[str, Callable[[_Place, str], object]] = {
    "a question": lambda place, text: place.engine.recall(text),
    "a memory and the index page": _remembered,
    "a memory of an agent's": lambda place, text: place.agent(text).remember(_KNOWN),
    "an agent's repetition": _repeated,
    "a prompt": lambda place, text: context_of(
        place.engine, HookEvent(name="UserPromptSubmit", prompt=f"Which queue? {text}")
    ),
    "a transcript of Claude Code": lambda place, text: _read_of_claude_code(place, text[: len(text) // 2]),  # twice
    "a plain transcript": lambda place, text: place.ingest("plain", {"role": "user", "content": text}),
    "an import": _imported,
    "a note": _noted,
}


@pytest.fixture
def place(db: Path, tmp_path: Path) -> Iterator[_Place]:
    (tmp_path / "notes").mkdir()
    notes = NotesSettings((str(tmp_path / "notes"),), ())
    settings = Settings(recall=RecallSettings(embedder="none", timezone="UTC"), notes=notes)
    with open_engine(db, settings=settings, project="shop") as engine:
        engine.remember(_KNOWN, key="queue")
        yield _Place(engine, tmp_path)


def _slow_shapes(read: Read, texts: dict[str, str], besides: float = 0.0) -> dict[str, tuple[float, float]]:
    """The shapes that take longer than their length allows: the seconds for the whole text, and for half of it."""
    slow: dict[str, tuple[float, float]] = {}
    read(_KNOWN)  # compiles what is compiled at its first use
    for shape, text in texts.items():
        quick = len(text) / _RATE + besides
        spent = cost(partial(read, text), quick)
        if spent > quick:
            half = cost(partial(read, text[len(text) // 2 :]), _HEAD)  # the end is the only word of some
            if spent > max(_HEAD + besides, quick) or spent > 3 * half + 0.05:
                slow[shape] = (spent, half)
    return slow


@each_case("name", _READERS)
def test_a_text_is_read_in_a_time_that_grows_with_its_length(name: str) -> None:
    assert _slow_shapes(_READERS[name], _TEXTS) == {}


@pytest.mark.parametrize("name", _WAYS_INTO_A_STORE)
def test_a_text_goes_into_a_store_and_to_a_question_in_a_time_that_grows_with_its_length(
    name: str, place: _Place
) -> None:
    assert _slow_shapes(partial(_WAYS_INTO_A_STORE[name], place), _SOME, _STORED) == {}
