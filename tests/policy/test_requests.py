"""Requests to remember: which are found, what they come to, and what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cost import cost

from benchmarks.gate_lines import FRESH, HELD_OUT, TUNED, Lines, Request
from picomem.policy.requests import LONGEST_CONTENT, Candidate, find_requests
from picomem.records.kinds import Kind
from picomem.text.memory_keys import check_key


def only(text: str) -> Candidate:
    (candidate,) = find_requests(text)
    return candidate


def contents(text: str) -> list[str]:
    return [candidate.content for candidate in find_requests(text)]


# ------------------------------------------------------------------------------------------ the labelled lines


@pytest.mark.requirement("P9")
@pytest.mark.parametrize(
    ("lines", "precision", "recall"),
    [
        pytest.param(TUNED, 1.0, 0.98, id="tuned"),
        pytest.param(HELD_OUT, 1.0, 0.97, id="held-out"),
        pytest.param(FRESH, 0.9, 0.95, id="fresh"),
    ],
)
def test_precision_and_recall_of_requests_do_not_fall(lines: Lines, precision: float, recall: float) -> None:
    right = [_is_right(request) for request in lines.requests]
    count = sum(len(find_requests(text)) for text in [*lines.silent, *(r.text for r in lines.requests)])
    assert sum(right) / count >= precision
    assert sum(right) / len(right) >= recall


def _is_right(request: Request) -> bool:
    requests = [(candidate.content, candidate.kind) for candidate in find_requests(request.text)]
    return (request.content, request.kind) in requests


@pytest.mark.parametrize("text", [*TUNED.silent, *HELD_OUT.silent], ids=lambda text: text[:40])
def test_what_asks_for_nothing_gives_nothing(text: str) -> None:
    assert find_requests(text) == []


# ------------------------------------------------------------------------------------------------- the content


@pytest.mark.requirement("P9")
@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Merk dir bitte: Die Staging-Datenbank läuft auf Port 5433.", "Die Staging-Datenbank läuft auf Port 5433"),
        ("Bitte merke dir, dass unsere Rechnungen am Monatsende gehen.", "unsere Rechnungen am Monatsende gehen"),
        ("Ok, notiere dir für später: Deploys gehen dienstags raus.", "Deploys gehen dienstags raus"),
        ("Vergiss nicht, dass die Tests eine eigene Datenbank brauchen", "die Tests eine eigene Datenbank brauchen"),
        ("Note for later: the staging database listens on 5433.", "the staging database listens on 5433"),
        ("Reminder for next time: our deploys go out on Tuesdays", "our deploys go out on Tuesdays"),
        ("Recuerda que el puerto de pruebas es 5433", "el puerto de pruebas es 5433"),
        ("Souviens-toi que les tests ont leur propre base", "les tests ont leur propre base"),
    ],
)
def test_a_request_in_other_words_or_another_language_is_found(text: str, content: str) -> None:
    assert [request.content.rstrip(".").casefold() for request in find_requests(text)] == [content.casefold()]


@pytest.mark.parametrize(
    "text",
    [
        "Merkst du dir eigentlich, was ich sage?",
        "Ich merke, dass die Tests langsamer sind",
        "The note for later sections is in the appendix",
        "Speichere die Datei und starte den Server neu",
        "Denk daran nicht weiter, mach einfach weiter",
        "Notes for the meeting are in the wiki",
    ],
)
def test_words_like_a_request_in_another_language_ask_for_nothing(text: str) -> None:
    assert find_requests(text) == []


def test_a_cue_that_is_only_a_cue_is_dropped_and_one_with_meaning_is_kept() -> None:
    fact = only("remember that the staging DB is on port 5433")
    assert fact.content == "The staging DB is on port 5433"
    assert (fact.kind, fact.key, fact.cue) == (Kind.FACT, "staging_db_port", "remember that")
    rule = only("ok, from now on use uv.")
    assert (rule.content, rule.kind, rule.cue) == ("From now on, use uv", Kind.INSTRUCTION, "from now on")


def test_the_span_is_the_request_in_the_text() -> None:
    text = "Fix the import. Please remember that Dana owns billing. Thanks!"
    candidate = only(text)
    assert text[candidate.start : candidate.end] == "remember that Dana owns billing."


def test_several_requests_come_in_their_order() -> None:
    text = "I prefer tea. Is it late? Never call before nine. My name is Ada."
    assert contents(text) == ["I prefer tea", "Never call before nine", "My name is Ada"]
    assert contents("- Always sign commits\n- Never rebase shared branches") == [
        "Always sign commits",
        "Never rebase shared branches",
    ]


def test_a_list_after_a_colon_belongs_to_the_request() -> None:
    text = "Remember:\n- no force pushes\n- always squash\n\nNow fix the build."
    assert contents(text) == ["- no force pushes\n- always squash"]
    assert contents("Please remember this:\nThe key rotates weekly.") == ["The key rotates weekly"]


def test_remember_that_alone_means_the_sentence_before() -> None:
    assert contents("Our cluster has nine nodes. Remember that.") == ["Our cluster has nine nodes"]
    assert contents("Is it up? Remember that.") == []
    assert contents("Remember that.") == []


def test_only_the_one_sentence_is_taken_and_inner_stops_do_not_end_it() -> None:
    text = "Remember that Python 3.11, e.g. on app.example.com, is the floor. The build is red."
    assert contents(text) == ["Python 3.11, e.g. on app.example.com, is the floor"]


def test_code_and_quotes_inside_a_request_stay_in_its_content() -> None:
    assert contents('Always run `make lint` before "git push".') == ['Always run `make lint` before "git push"']


def test_a_wrapped_line_is_one_sentence() -> None:
    text = "Please remember that the nightly export of the invoicing service\nruns at three and takes an hour."
    assert contents(text) == ["The nightly export of the invoicing service runs at three and takes an hour"]


def test_a_long_request_is_cut_between_clauses_and_a_long_list_between_lines() -> None:
    candidate = only("Remember that " + "the first shelf holds old maps, " * 40)
    assert len(candidate.content) <= LONGEST_CONTENT
    assert candidate.content.endswith("maps…")
    listed = only("Remember:\n" + "- one of the many rules of the house\n" * 30)
    assert len(listed.content) <= LONGEST_CONTENT
    assert listed.content.endswith("house…")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Remember that I prefer window seats.", Kind.PREFERENCE),
        ("Remember: never deploy on Fridays", Kind.INSTRUCTION),
        ("Remember that we decided to use Go.", Kind.DECISION),
        ("Remember that Dana lives in Oslo.", Kind.FACT),
        ("From now on the API listens on port 80.", Kind.FACT),
        ("记住我们决定用 Go", Kind.DECISION),
        ("记住不要在周五发布", Kind.INSTRUCTION),
    ],
)
def test_the_kind_follows_what_is_to_be_remembered(text: str, kind: Kind) -> None:
    assert only(text).kind is kind


def test_what_was_asked_for_in_so_many_words_weighs_more() -> None:
    assert only("Remember that I prefer window seats.").importance > only("I prefer window seats.").importance


def test_a_name_has_a_key_that_a_later_name_takes_over() -> None:
    assert only("my name is Ada").key == only("我叫王伟").key == "user_name"
    assert only("call me Al").key == "preferred_name"


# ------------------------------------------------------------------------------------------- where it stands


def test_traditional_characters_and_curly_apostrophes_are_read() -> None:
    assert contents("請記住我對花生過敏") == ["我對花生過敏"]
    assert contents("Don’t forget that Dana is away.") == ["Dana is away"]


@pytest.mark.parametrize(
    "text",
    [
        "```\nRemember that x is 1.\n```",
        "~~~text\nRemember that x is 1.",
        "> Remember that x is one.",
        "`Remember that x is one.`",
        "“Remember that x is one.”",
        "'Remember that x is one.'",
        "「记住我住在杭州」",
    ],
)
def test_what_is_shown_is_not_said(text: str) -> None:
    assert find_requests(text) == []


def test_what_follows_something_shown_is_said() -> None:
    assert contents("> Remember that x is one.\n\nRemember that y is two.") == ["Y is two"]
    assert contents("```\nx\n```\nRemember that y is two.") == ["Y is two"]


def test_of_a_long_text_only_the_ends_are_read() -> None:
    filler = "The report goes on about the harbour. " * 200
    ask = "Remember that Dana owns billing. "
    assert contents(ask + filler) == ["Dana owns billing"]
    assert contents(filler + ask) == ["Dana owns billing"]
    assert contents(filler + ask + filler) == []


def test_a_sentence_that_the_cut_breaks_is_left_out() -> None:
    assert contents("Remember that " + "a" * 5_000) == []
    assert contents("x" * 5_000 + " Remember that Dana owns billing") == []


def test_a_fence_that_opens_in_the_unread_middle_is_known_at_the_end() -> None:
    text = "Look.\n" + "words and words\n" * 300 + "```\n" + "code\n" * 100 + "Never do this.\n" + "```\n"
    assert len(text) > 4_000
    assert find_requests(text) == []


# ------------------------------------------------------------------------------------------- hostile text


CUES = [
    "remember that ",
    "from now on ",
    "always ",
    "记住",
    "以后",
    "我叫",
    "I prefer ",
    ": ",
    "\n- ",
    "\n",
    ".",
    "?",
    '"',
    "`",
    "```",
    "> ",
]
PIECES = st.lists(st.one_of(st.sampled_from(CUES), st.text(st.characters(exclude_categories=()), max_size=12)))


@given(PIECES.map("".join))
@settings(max_examples=300)
def test_every_candidate_is_clean_and_lies_in_the_text(text: str) -> None:
    end = 0
    for request in find_requests(text):
        assert end <= request.start < request.end <= len(text)
        assert 0 < len(request.content) <= LONGEST_CONTENT
        assert request.content == request.content.strip()
        assert check_key(request.key) == request.key
        assert 0 <= request.importance <= 1
        end = request.end


@pytest.mark.parametrize(
    "piece",
    [
        "remember that ",
        "from now on, ",
        "always",
        "\n",
        " ",
        '"',
        "“",
        "' ",
        "```\n",
        "~~~\n```\n",
        "> x\n",
        "记住",
        "- a: b\n",
        "oh, ",
    ],
)
def test_a_megabyte_of_hostile_text_is_read_at_once(piece: str) -> None:
    for size, limit in ((4_000, 0.2), (1_000_000, 1.0)):
        text = piece * (size // len(piece))
        assert cost(lambda text=text: find_requests(text), limit) < limit
