from __future__ import annotations

from collections import Counter
from random import Random

from benchmarks.prose import Prose, made_up_words
from picomem.ingest.episode_packing import LONGEST_PREVIEW
from question_sets.fts5_baseline import STOP_WORDS


def texts(prose: Prose, count: int) -> list[str]:
    return [prose.text(prose.topic()) for _ in range(count)]


def test_the_same_seed_gives_the_same_texts_and_questions():
    one, other = Prose(3), Prose(3)
    said = texts(one, 20)
    assert said == texts(other, 20)
    assert [one.question(text) for text in said] == [other.question(text) for text in said]
    assert texts(Prose(4), 20) != said


def test_made_up_words_differ_and_end_in_a_consonant():
    words = made_up_words(Random(1), 500)
    assert len(set(words)) == 500
    assert all(word[-1] not in "aeiou" for word in words)


def test_frequencies_are_those_of_real_text():
    words = " ".join(texts(Prose(1), 2_000)).replace(".", "").split()
    counts = Counter(words)
    functions = sum(counts[word] for word in STOP_WORDS)
    commonest = max(count for word, count in counts.items() if word not in STOP_WORDS)
    assert 0.3 < functions / len(words) < 0.45
    assert 0.002 < commonest / len(words) < 0.01
    assert sum(count == 1 for count in counts.values()) > len(counts) / 10


def test_a_text_fits_a_preview_unless_its_length_is_named():
    prose = Prose(1)
    assert max(map(len, texts(prose, 500))) <= LONGEST_PREVIEW
    assert len(prose.text(prose.topic(), 1_000).split()) == 1_000


def test_a_talk_comes_back_to_its_topic():
    prose = Prose(1)
    topic = prose.topic()
    said = prose.text(topic, 70).replace(".", "").split()
    assert sum(word in topic for word in said) == 10


def test_a_question_is_about_words_of_its_text():
    prose = Prose(1)
    text = prose.text(prose.topic(), 60)
    asked = [word for word in prose.question(text).rstrip("?").split() if word not in STOP_WORDS | {"say"}]
    assert len(asked) == 5
    assert set(asked) <= set(text.replace(".", "").split())
