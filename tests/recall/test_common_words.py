"""Issue 37, 2.3: what a question costs is bounded, however many documents hold its words."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from tests.databases import chosen

from benchmarks import common_words
from picomem.records.scope import Scope
from picomem.store import search
from picomem.store.search import MOST_DOCUMENTS, Document

MORE = 50
USER = Scope("ann")


def test_of_a_word_that_too_many_documents_hold_the_latest_are_weighed(tmp_path: Path) -> None:
    documents = (Document(number, "mast") for number in range(1, MOST_DOCUMENTS + MORE + 1))
    with closing(chosen().connect(tmp_path / "memory.db")) as connector, connector.write(USER) as tx:
        search.of(tx).add(USER, "episode", documents)
        (scores,) = search.of(tx).scores(USER, "episode", [("mast", 3.0)])
        begun = search.of(tx).scores_of_prefix(USER, "episode", "mas", 3.0)
    assert sorted(scores) == [*range(MORE + 1, MOST_DOCUMENTS + MORE + 1)]
    assert sorted(begun) == sorted(scores)
    # A document of average length that holds a term once has a score of 1, whatever the number of documents.
    assert {round(score, 6) for score in (*scores.values(), *begun.values())} == {3.0}


@pytest.mark.sqlite_file("fills a file")
def test_the_cost_of_common_words_is_measured() -> None:
    report = common_words.measure([20, 40], lambda _: None)
    assert [cost.question for cost in report.costs] == list(common_words.QUESTIONS)
    assert "| a word that all hold |" in common_words.render(report)
