"""Vector search: that it finds what comparing each vector finds, and that it keeps up with the store."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import pytest
from tests.cases import each_case
from tests.cost import cost
from tests.databases import chosen

from picomem.engine.engine import Engine
from picomem.models.embedder import quantised
from picomem.models.static_embedder import StaticEmbedder
from picomem.recall import vector_search
from picomem.recall.vector_search import VectorSearch, likely, sign_codes
from picomem.records.scope import Scope
from picomem.store.connector import EVERYONE, Connector
from picomem.store.sqlite.connector import SqliteConnector
from picomem.store.tables import vector_rows

LOCAL = Scope("local")
DIMENSIONS = 256


def _units(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def _talked_of(count: int, seed: int) -> np.ndarray:
    """Unit vectors about a thousand topics, with something that all have in common, as texts' vectors have."""
    source = np.random.default_rng(seed)
    topics = np.random.default_rng(0).standard_normal((1_000, DIMENSIONS)) + 0.3
    return _units(topics[source.integers(0, 1_000, count)] + 1.5 * source.standard_normal((count, DIMENSIONS)))


def test_the_likely_ones_hold_nearly_all_of_the_nearest() -> None:
    rows, asked = _talked_of(60_000, 1), _talked_of(20, 2)
    codes = sign_codes(rows)
    kept = 0
    for question in asked:
        nearest = np.argpartition(-(rows @ question), 50)[:50]
        kept += int(np.isin(nearest, likely(codes, question, 2_000)).sum())
    assert kept / (50 * len(asked)) >= 0.99


@each_case("dimensions", [1, 7, 64, 100, 384])
def test_signs_serve_vectors_of_any_length(dimensions: int) -> None:
    rows = _units(np.random.default_rng(3).standard_normal((9_000, dimensions)))
    for count in (1, 50, 9_000, 20_000):
        chosen = likely(sign_codes(rows), rows[17], count)
        assert len(set(chosen.tolist())) == min(count, 9_000)
    if dimensions >= 64:
        assert 17 in likely(sign_codes(rows), rows[17], 1)


class _Given:
    """An embedder whose vectors are given: the text is the number of a row."""

    name = "given"
    local = True
    reads_sentences = False

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return self.rows[[int(text) for text in texts]]

    def embed_question(self, text: str) -> np.ndarray:
        return self.embed([text])[0]

    def trust(self, text: str) -> float:
        return 1.0


@pytest.fixture
def leg(monkeypatch: pytest.MonkeyPatch) -> VectorSearch:
    monkeypatch.setattr(vector_search, "EXACT", 3_000)
    monkeypatch.setattr(vector_search, "_SAMPLE", 1_024)
    monkeypatch.setattr(vector_search, "_PAGE", 700)
    return VectorSearch(_Given(_talked_of(6_000, 4)))


def _put(connector: Connector, leg: VectorSearch, docs: dict[int, int], scope: Scope = LOCAL) -> None:
    """Store vectors: by document, the number of the row."""
    with connector.write(scope) as tx:
        for doc, number in docs.items():
            scale, vector = quantised(leg.embedder.embed([str(number)])[0])
            vector_rows.put(tx, scope, "episode", "given", doc, scale, vector)


def _asked(
    connector: Connector, leg: VectorSearch, number: int, count: int = 40, scope: Scope = LOCAL
) -> vector_search.Cosines:
    with connector.read() as tx:
        return leg.nearest(tx, scope, "episode", str(number), count)


def test_what_is_held_keeps_up_with_writes_above_below_and_gone(db: Path, leg: VectorSearch) -> None:
    """Whatever was written, a leg that looked on finds what one that comes new finds; below and above EXACT."""
    with closing(chosen().connect(db)) as connector, closing(chosen().connect(db)) as other:
        steps = [
            {doc: doc for doc in range(2, 1_000, 2)},
            {2_000: 2_000},  # above all
            {5: 5, 7: 7},  # below, new
            {4: 5_701, 2_000: 5_702},  # below and the last, again
            {doc: doc for doc in range(2_001, 5_500)},  # past EXACT
            {4: 5_703, 9: 5_704, 5_600: 5_705},
        ]
        for docs in steps:
            _put(other, leg, docs)
            for number in (*list(docs.values())[:3], 17):
                known, fresh = _asked(connector, leg, number), _asked(connector, VectorSearch(leg.embedder), number)
                assert known == fresh
                assert number == 17 or max(known.nearest, key=lambda doc: known.nearest[doc]) in docs
        with other.write(LOCAL) as tx:
            for doc in (5_600, 4, 5, 2_001):
                vector_rows.remove(tx, LOCAL, "episode", doc)
        assert (
            _asked(connector, leg, 5_703).all.documents
            == _asked(connector, VectorSearch(leg.embedder), 17).all.documents
        )
        assert 4 not in _asked(connector, leg, 5_703).nearest
        with other.write(LOCAL) as tx:
            for doc in range(2_002, 5_500):
                vector_rows.remove(tx, LOCAL, "episode", doc)
        assert _asked(connector, leg, 17) == _asked(connector, VectorSearch(leg.embedder), 17)


@pytest.mark.sqlite_file("counts the pages that SQLite reads")
def test_reading_on_reads_only_what_is_new(db: Path, leg: VectorSearch) -> None:
    with closing(SqliteConnector(db)) as connector, closing(SqliteConnector(db)) as other:
        _put(other, leg, {doc: doc for doc in range(1, 2_000)})
        _asked(connector, leg, 17)
        with connector.read():
            steps = connector._reader().status(apsw.SQLITE_DBSTATUS_CACHE_MISS)[0]
        _put(other, leg, {2_000: 2_000, 3: 5_000})
        assert _asked(connector, leg, 2_000).all.documents == 2_000
        assert leg._held[("local", "episode")].space.rewrites == 1
        assert connector._reader().status(apsw.SQLITE_DBSTATUS_CACHE_MISS)[0] - steps < 60  # of 150 pages


def test_who_has_not_asked_for_longest_is_forgotten_first(
    db: Path, leg: VectorSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        vector_search, "_ALL", 3_000_000
    )  # of 1,000 vectors, as floats, as stored and as signs: 1.3 million
    users = [Scope(name) for name in ("ana", "ben", "eva")]
    with closing(chosen().connect(db)) as connector:
        for number, user in enumerate(users):
            _put(connector, leg, {doc: doc for doc in range(1_000 * number, 1_000 * number + 1_000)}, user)
        first = [_asked(connector, leg, 17, scope=user) for user in users[:2]]
        _asked(connector, leg, 18, scope=users[0])
        _asked(connector, leg, 17, scope=users[2])
        assert [user for user, _ in leg._held] == ["ana", "eva"]
        assert [_asked(connector, leg, 17, scope=user) for user in users[:2]] == first


@pytest.mark.sqlite_file("bounds the time of SQLite's own statements")
def test_a_question_does_not_cost_more_when_many_other_users_have_asked(db: Path, leg: VectorSearch) -> None:
    users = [Scope(f"user-{number}") for number in range(1_500)]
    with closing(chosen().connect(db)) as connector:
        with connector.write(EVERYONE) as tx:
            scale, vector = quantised(leg.embedder.embed(["17"])[0])
            for user in users:
                vector_rows.put(tx, user, "episode", "given", 1, scale, vector)
        for user in users:
            _asked(connector, leg, 17, scope=user)
        assert cost(lambda: [_asked(connector, leg, 17, scope=users[0]) for _ in range(50)], 0.006) < 0.006


_WRITER = """
import sys
from pathlib import Path
import picomem
with picomem.open(sys.argv[1], user="local", embedder="static") as engine:
    engine.ingest([Path(sys.argv[2])])
"""


def test_what_another_process_reads_is_found_by_meaning_at_once(db: Path, tmp_path: Path, open_engine) -> None:
    """An episode that another process stores, lengthens and follows up, seen by an engine that has asked before."""
    engine: Engine = open_engine(db, embedder=StaticEmbedder())
    path = tmp_path / "talk.jsonl"
    said = [
        ("user", "The server was restarted at noon."),
        ("assistant", "The orchestra needs new strings."),
        ("assistant", "Cats, dogs."),
        ("user", "Which fertiliser do tomatoes like?"),
    ]
    questions = ["symphony musicians violin", "hamster paws veterinary", "soil greenhouse seedlings"]
    for count, question in enumerate(questions, 2):
        path.write_text("".join(json.dumps({"role": role, "content": text}) + "\n" for role, text in said[:count]))
        subprocess.run([sys.executable, "-c", _WRITER, chosen().named(db), str(path)], check=True, timeout=60)
        answer = engine.recall(question)
        assert answer.legs["episodes by words"] == "0"
        assert said[count - 1][1] in answer.hits[0].text, answer
