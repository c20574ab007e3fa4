"""Which sentences of a turn look worth remembering, judged together with those of other turns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from picomem.policy.durability import find_sentences, find_suggested
from picomem.provenance.requests import find_requests
from picomem.records.kinds import Origin
from picomem.records.transcript import Turn

TEXTS = (
    "We decided to use Postgres for the portal. Can you look at line 3?",
    "thanks",
    "I'm allergic to peanuts — always check the menu. 我们以后一律用四个空格缩进。",
    "From now on never push to main without a review, because the site is built from it.",
    "",
)


def _user_says(text: str) -> Turn:
    return Turn(0, "user", text, None, Origin.USER, 0, 1)


@given(st.lists(st.sampled_from(TEXTS), max_size=6))
def test_the_sentences_of_many_turns_are_judged_as_those_of_each_turn_alone(texts: list[str]) -> None:
    turns = [find_sentences(_user_says(text), ()) for text in texts]

    together = find_suggested(turns)
    alone = [spans for turn in turns for spans in find_suggested([turn])]

    assert [[span[:2] for span in spans] for spans in together] == [[span[:2] for span in spans] for spans in alone]
    for one, other in zip(together, alone, strict=True):
        assert all(abs(a.estimate - b.estimate) < 1e-9 for a, b in zip(one, other, strict=True))


def test_a_standing_order_is_suggested_and_thanks_are_not() -> None:
    order, thanks = (find_sentences(_user_says(text), ()) for text in (TEXTS[3], TEXTS[1]))

    suggested = find_suggested([order, thanks])

    assert [[TEXTS[3][span.start : span.end] for span in spans] for spans in suggested] == [[TEXTS[3]], []]


def test_a_sentence_that_asks_outright_is_no_sentence_to_suggest() -> None:
    text = "Remember that we use Redis for the queues. My sister lives in Oslo with two kids."

    sentences = find_sentences(_user_says(text), find_requests(text))

    assert [sentence.text for sentence in sentences] == ["My sister lives in Oslo with two kids."]
