"""A store of an older schema, with rows in it, opens and answers as one that was made today."""

from __future__ import annotations

import gzip
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.store.old_stores import as_version_1, filled

from picomem.errors import StoreError
from picomem.memory.agent_files import FileWrite, StoredFile, Written
from picomem.models.static_embedder import StaticEmbedder
from picomem.records.kinds import Origin

pytestmark = pytest.mark.sqlite_file("migrates the schema of a file")

QUESTIONS = ("walnut ledgers of the harbour", "violins for the concert", "who mends the lute")


def _answers(engine) -> dict[str, list]:
    """The hits, without their order: which sentences are worth knowing is estimated when a transcript is read, and a row
    of the first version has no such estimate."""
    return {question: sorted((hit.text, hit.why) for hit in engine.recall(question).hits) for question in QUESTIONS}


@pytest.mark.requirement("X1")
def test_a_store_of_the_first_version_is_migrated_with_its_rows(tmp_path, open_engine, monkeypatch, disagreements):
    new, old = tmp_path / "new.db", tmp_path / "old.db"
    filled(new, tmp_path, open_engine)
    engine = open_engine(new, embedder=StaticEmbedder())
    expected = _answers(engine)
    engine.close()
    as_version_1(new, old, open_engine, monkeypatch)
    engine = open_engine(old, embedder=StaticEmbedder())
    assert {finding.check for finding in engine.doctor().findings} == {"full text"}
    assert engine.doctor(repair=True).healthy
    assert _answers(engine) == expected
    assert engine.status().episodes == 30
    assert engine.remember("Ilse keeps the cellar keys", key="cellar").memory
    assert engine.recall("cellar keys").hits[0].key == "cellar"
    engine.close()
    assert disagreements(old) == []


@pytest.mark.requirement("X1", "X2")
def test_a_row_that_was_damaged_before_its_migration_is_so_afterwards(tmp_path, open_engine, monkeypatch):
    """The new hash is made of what a row says, so it must not be made for one that says something else by now."""
    new, old = tmp_path / "new.db", tmp_path / "old.db"
    filled(new, tmp_path, open_engine)
    as_version_1(new, old, open_engine, monkeypatch)
    with closing(apsw.Connection(str(old))) as connection:
        connection.execute(
            "UPDATE memories SET content = 'The harbour keeps its walnut ledgers wet' WHERE key = 'harbour'"
        )
        connection.execute("UPDATE episodes SET preview = CAST(x'c328' AS TEXT) WHERE first_turn = 0")
        connection.execute("UPDATE changes SET reason = 'x' WHERE decision = 'add'")
    engine = open_engine(old)
    damaged: list[str] = []
    assert [memory.key for memory in engine.memories(damaged=damaged)] == ["lute"]
    assert len(damaged) == 1
    assert engine.changes(damaged=[]) == []
    problems = [finding.problem for finding in engine.doctor().findings if finding.check == "row"]
    assert len(problems) == 4, problems


@pytest.fixture
def left_by_schema_6(db: Path, open_engine) -> Path:
    """A store that the last program with schema 6 made. Mia and Ann each revised a memory, ingested a transcript and
    began a conversation; Tom's purge of everything was stopped in the middle; two leases were held."""
    db.write_bytes(gzip.decompress((Path(__file__).parent / "stores/schema_0006.db.gz").read_bytes()))
    return _with_new_full_text(db, open_engine)


def _with_new_full_text(db: Path, open_engine) -> Path:
    """Have full text made anew: the program that made the store had closed versions in it."""
    engine = open_engine(db, embedder=StaticEmbedder())
    with pytest.raises(StoreError, match="doctor --repair"):
        engine.remember("The crane is red")
    engine.doctor(repair=True)
    engine.close()
    return db


def _docs(db: Path) -> list[tuple[int, str]]:
    with closing(apsw.Connection(str(db))) as connection:
        rows = connection.execute("SELECT doc, user_id FROM memories UNION ALL SELECT doc, user_id FROM episodes")
        return sorted((int(str(doc)), str(user)) for doc, user in rows)


@pytest.mark.requirement("X1")
def test_a_store_of_schema_6_opens_with_everything_in_it(left_by_schema_6, open_engine, disagreements) -> None:
    for user, place in (("mia", "harbour"), ("ann", "orchard")):
        engine = open_engine(left_by_schema_6, user=user, embedder=StaticEmbedder())
        assert {memory.key: memory.content for memory in engine.memories()} == {
            "ledgers": f"The {place} keeps its ledgers in a dry attic",
            "lute": f"{user.title()} mends the lute on Fridays",
        }
        assert any(memory.content.endswith("in a dry cellar") for memory in engine.history("ledgers"))
        assert engine.recall("who mends the lute").hits[0].text == f"{user.title()} mends the lute on Fridays"
        hits = engine.recall(f"which violin was tuned beside the {place}").hits
        assert {hit.text for hit in hits if hit.source == "episode"} >= {
            f"Violin 3 of {user} was tuned beside the {place}"
        }
        assert engine.status().episodes == 6
        ((session, _),) = engine.sessions().page().sessions
        assert session.title == f"Tuesday of {user}"
        assert [message.content for message in engine.sessions().load(session.id).messages] == [f"Is the {place} open?"]
        assert [change.verb for change, _ in engine.changes()][-1] == "remember"
        assert {finding.check for finding in engine.doctor().findings} == {"purge"}
        engine.close()
    tom = open_engine(left_by_schema_6, user="tom")
    assert tom.status().purge_unfinished
    assert tom.memories() == []
    assert tom.purge().finished
    assert tom.doctor().findings == []
    tom.close()
    assert disagreements(left_by_schema_6) == []


@pytest.mark.requirement("X1", "X11")
def test_what_is_stored_after_a_migration_gets_no_number_a_second_time(left_by_schema_6, open_engine) -> None:
    before = _docs(left_by_schema_6)
    for user in ("ann", "tom", "mia", "eve", "ann"):  # in any order, of old users and new ones
        with open_engine(left_by_schema_6, user=user) as engine:
            engine.remember(f"{user.title()} keeps the cellar keys, says entry {len(engine.memories())}")
    stored = _docs(left_by_schema_6)
    assert set(before) < set(stored)
    added = set(stored) - set(before)
    assert len({doc for doc, _ in stored}) == len(stored)
    assert min(doc for doc, _ in added) > 30  # the last number that the old program had given out
    ranges = {user: {doc >> 32 for doc, owner in added if owner == user} for _, user in added}
    assert ranges == {"ann": {0}, "tom": {1}, "mia": {2}, "eve": {3}}


@pytest.mark.requirement("X1")
def test_an_old_lease_does_not_keep_a_new_program_out(left_by_schema_6, open_engine) -> None:
    with open_engine(left_by_schema_6, user="ann", embedder=StaticEmbedder()) as ann:
        assert ann.embed().waiting == 0
    with closing(apsw.Connection(str(left_by_schema_6))) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM meta")}
        assert names == {"redaction_key", "terms_version", "docs_before_ranges"}


@pytest.fixture
def left_by_schema_9(db: Path) -> Path:
    """A store that the last program with schema 9 made, which told files by the wording of their rows. An agent wrote
    main/MEMORY.md twice, moved a list, deleted old.md, and wrote torn.md, whose row was edited since. A person kept a
    memory about a file cabinet, and gave a reason that reads like that of an operation."""
    db.write_bytes(gzip.decompress((Path(__file__).parent / "stores/schema_0009.db.gz").read_bytes()))
    return db


@pytest.mark.requirement("X1")
def test_files_of_schema_9_have_their_paths_and_operations_in_columns(left_by_schema_9, open_engine, disagreements):
    engine = open_engine(_with_new_full_text(left_by_schema_9, open_engine))
    files = engine.files()
    assert files.paths() == ["lists/groceries.md", "main/MEMORY.md"]
    memory = files.read("main/MEMORY.md")
    assert memory == StoredFile(
        "main/MEMORY.md", "# Plan\n- name: Ann\n- city: Bergen\n", memory.version, "run-1:call-2", Origin.AGENT
    )
    again = files.write("x", "y", expected=None, operation=FileWrite("run-1:call-2", "append to main/MEMORY.md"))
    assert again == Written(memory.version, existed=True, replayed=True)
    assert files.done(FileWrite("run-1:call-4", "delete old.md")) == Written(None, existed=True, replayed=True)
    assert "asked for" not in " ".join(
        change.reason for change, _ in engine.changes(50, damaged=[]) if change.idempotency_key
    )
    engine.close()
    assert disagreements(left_by_schema_9) == []


@pytest.mark.requirement("X1")
def test_what_only_reads_like_a_file_of_schema_9_stays_as_it_is(left_by_schema_9, open_engine) -> None:
    engine = open_engine(left_by_schema_9)
    (cabinet,) = engine.history("cabinet")
    assert (cabinet.path, cabinet.context) == ("", "the file cabinet was moved")
    (forgotten,) = [
        change for change, key in engine.changes(50, damaged=[]) if key == "deeds" and change.verb == "forget"
    ]
    assert forgotten.reason == "deleted as a whole (asked for 0123456789abcdef)"
    assert forgotten.idempotency_key == ""
    assert [finding.problem for finding in engine.doctor().findings if finding.check == "row"] != []
    damaged: list[str] = []
    assert "a page that is damaged later" not in [memory.content for memory in engine.memories(damaged=damaged)]
    assert len(damaged) == 1
