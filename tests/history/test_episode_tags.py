"""Tags of episodes: a person gives them, a host says the branch, and recall and timeline are limited to them."""

from __future__ import annotations

import json

import pytest

from picomem.errors import InvalidInput
from picomem.operations.table import operation


@pytest.fixture
def engine(open_engine, db, tmp_path):
    engine = open_engine(db)
    talk = tmp_path / "talk.jsonl"
    said = ("The harbour crane is yellow", "The harbour pier is painted in May", "The harbour lock is oiled in June")
    lines = [
        {"role": "user", "content": text, "timestamp": f"2026-04-0{day}T09:00:00Z"} for day, text in enumerate(said, 1)
    ]
    talk.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    engine.ingest([talk])
    return engine


def _call(engine, verb, **fields):
    asked = operation(verb)
    return asked.call(engine, asked.request(**fields))


@pytest.mark.requirement("O5")
def test_an_episode_is_found_by_the_tags_that_a_person_gave_it(engine):
    pier = next(hit for hit in engine.timeline() if "pier" in hit.text)
    assert _call(engine, "tag", episode=pier.id[:23], tags=("release", 'a "quoted" one')).tags == [
        "release",
        'a "quoted" one',
    ]
    for tag in ("release", 'a "quoted" one'):
        (shown,) = _call(engine, "timeline", tag=tag).episodes
        assert (shown.id, shown.tags) == (pier.id, ["release", 'a "quoted" one'])
        assert [hit.id for hit in _call(engine, "recall", query="harbour", tag=tag).hits] == [pier.id]
    assert "release" in {word for hit in engine.recall("release").hits for word in hit.tags}  # a tag is searched
    assert not _call(engine, "timeline", tag="relea").episodes
    assert engine.doctor().findings == []

    (change,) = [listed.change for listed in _call(engine, "changes").changes if listed.change.verb == "tag"]
    with pytest.raises(InvalidInput, match="set them again"):
        engine.undo(change.id)
    assert _call(engine, "tag", episode=pier.id, tags=("",)).tags == []
    assert not _call(engine, "timeline", tag="release").episodes
    assert not engine.recall("release").hits
    assert engine.doctor().findings == []
    with pytest.raises(InvalidInput):
        _call(engine, "tag", episode=pier.id)


@pytest.mark.requirement("O5")
def test_the_tags_of_an_episode_stay_when_it_is_read_anew_and_go_when_it_is_purged(engine, tmp_path):
    lock = next(hit for hit in engine.timeline() if "lock" in hit.text)
    engine.tag(lock.id, ["zeppelin"])
    talk = tmp_path / "talk.jsonl"
    line = {"role": "user", "content": "The harbour master is Ilse", "timestamp": "2026-04-05T09:00:00Z"}
    talk.write_text(talk.read_text("utf-8") + json.dumps(line) + "\n", "utf-8")
    engine.ingest([talk])
    assert [hit.id for hit in engine.timeline(tag="zeppelin")] == [lock.id]
    engine.purge(everything=True)
    assert not engine.recall("zeppelin").hits
    assert engine.doctor().findings == []


@pytest.mark.requirement("O5")
def test_the_branch_that_a_host_says_is_a_tag(open_engine, db, tmp_path):
    engine = open_engine(db)
    session = {"sessionId": "8463c716-0000-4000-8000-000000000000", "cwd": "/harbour", "version": "2.0.0"}
    records = [
        {**session, "type": "user", "uuid": f"u{day}", "parentUuid": None, "gitBranch": branch,
         "timestamp": f"2026-04-0{day}T09:00:00.000Z", "message": {"role": "user", "content": f"Paint the {branch} pier"}}
        for day, branch in enumerate(("main", "spring"), 1)
    ]  # fmt: skip
    talk = tmp_path / "8463c716-0000-4000-8000-000000000000.jsonl"
    talk.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    engine.ingest([talk])
    assert [hit.text for hit in engine.timeline(tag="spring")] == ["Paint the spring pier"]
