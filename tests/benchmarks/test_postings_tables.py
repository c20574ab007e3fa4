"""FTS5 and both postings tables fulfil `Search` alike: the same changes give the same answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from random import Random

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import amount
from tests.cases import each_case

from benchmarks.postings_tables import PostingBlocks, PostingRows
from picomem.records.scope import Scope
from picomem.store.search import Document, Search
from picomem.store.sql_statements import schema
from picomem.store.sqlite.transaction import SqliteTransaction

pytestmark = pytest.mark.sqlite_file("compares SQLite's full text with tables")

SOURCES = ("memory", "episode", "note")
USERS = (Scope("ann"), Scope("bob"))
WORDS = ["teapot", "teapots", "kiln", "getUserName", "3.11.7", "café", "茶壺の話", "茶", "the", "harbour-master", "te"]

_texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
_documents = st.tuples(st.sampled_from(USERS), st.sampled_from(SOURCES), _texts, _texts, st.booleans())
_asked = ["teapot", "kiln", "get", "getusernam", "3·11·7", "cafe", "茶", "茶壺", "harbourmast", "t", "nowher"]


@contextmanager
def _implementations() -> Iterator[list[Search]]:
    with ExitStack() as opened:

        def connection() -> apsw.Connection:
            return opened.enter_context(closing(apsw.Connection(":memory:")))

        plain = connection()
        plain.execute(schema("search_sqlite"))
        rows, blocks = PostingRows(connection()), PostingBlocks(connection())
        rows.create()
        blocks.create()
        yield [SqliteTransaction(plain, Path(":memory:")).search, rows, blocks]


def _answers(search: Search) -> list[object]:
    """All that can be asked, in one list. Scores are kept apart, because their last digits may differ."""
    answers: list[object] = [search.size(source) for source in SOURCES]
    for source in SOURCES:
        for scope in USERS:
            answers += list(search.counts(scope, source, _asked).items())
            near = search.terms_near(scope, source, [term[:2] for term in _asked], 3)
            answers += [(head, list(terms.items())) for head, terms in near.items()]
            for term in _asked:
                answers += [sorted(scores) for scores in search.scores(scope, source, [(term, 1.0)])]
                answers.append(sorted(search.scores_of_prefix(scope, source, term, 1.0)))
    return [*answers, search.has_term_with("eapo"), search.has_term_with("壺")]


def _scores(search: Search) -> list[float]:
    answers = (
        scores
        for source in SOURCES
        for scope in USERS
        for term in _asked
        for scores in (*search.scores(scope, source, [(term, 3.0)]), search.scores_of_prefix(scope, source, term, 3.0))
    )
    return [score for scores in answers for _, score in sorted(scores.items())]


@settings(max_examples=amount(20, 5_000))
@given(st.lists(_documents, max_size=30))
def test_the_same_documents_give_the_same_answers(made: list[tuple[Scope, str, str, str, bool]]) -> None:
    stored = [
        # An episode has no name.
        (scope, source, Document(doc, body, "" if source == "episode" else name), is_removed)
        for doc, (scope, source, body, name, is_removed) in enumerate(made, 1)
    ]
    with _implementations() as searches:
        for search in searches:
            for scope, source, document, _ in stored:
                search.add(scope, source, [document])
            for scope, source, document, is_removed in stored:
                if is_removed:
                    search.remove(scope, source, [document])
        plain, *others = searches
        expected, scores = _answers(plain), _scores(plain)
        left = {
            source: [
                (scope, document) for scope, kept, document, is_removed in stored if kept == source and not is_removed
            ]
            for source in SOURCES
        }
        for search in others:
            assert _answers(search) == expected
            assert _scores(search) == pytest.approx(scores, rel=1e-6)
        for search in searches:
            assert all(search.holds(source, left[source]) for source in SOURCES)


def test_an_index_that_holds_other_words_than_the_documents_is_noticed() -> None:
    ann = USERS[0]
    with _implementations() as searches:
        for search in searches:
            search.add(ann, "memory", [Document(1, "the teapot is glazed", "teapot"), Document(2, "a kiln")])
            assert search.holds(
                "memory", [(ann, Document(1, "the teapot is glazed", "teapot")), (ann, Document(2, "kiln"))]
            )
            assert not search.holds("memory", [(ann, Document(1, "the teapot is glazed", "teapot"))])
            assert not search.holds("memory", [(ann, Document(1, "the teapot", "teapot")), (ann, Document(2, "kiln"))])
            search.clear("memory")
            assert search.holds("memory", [])
            assert search.size("memory") == 0


@each_case("seed", range(3))
def test_a_term_of_a_thousand_documents_survives_changes_in_any_order(seed: int) -> None:
    """Enough postings for several blocks of one term, which are added late, removed and added again."""
    random = Random(seed)
    documents = [Document(doc, " ".join(random.choices(WORDS, k=5))) for doc in range(1, 1001)]
    late = random.sample(documents, 50)
    gone = random.sample([document for document in documents if document not in late], 200)
    with _implementations() as searches:
        for search in searches:
            search.add(USERS[0], "episode", [document for document in documents if document not in late])
            search.remove(USERS[0], "episode", gone)
            for document in late:
                search.add(USERS[0], "episode", [document])
            search.add(USERS[0], "episode", gone[:100])
        plain, *others = searches
        for search in others:
            assert _answers(search) == _answers(plain)
            assert _scores(search) == pytest.approx(_scores(plain), rel=1e-6)
        kept = [(USERS[0], document) for document in documents if document not in gone[100:]]
        assert [search.holds("episode", kept) for search in searches] == [True, True, True]
