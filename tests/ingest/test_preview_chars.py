"""The bound of an episode's preview is a setting (O5)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.engine_parts import change_settings

from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.light_dataclass import replace
from picomem.settings import load
from picomem.settings_tables import IngestSettings

WORDS = " ".join(f"Mooring {number} of the harbor is checked." for number in range(60))


def test_an_episode_has_no_more_of_its_transcript_than_the_setting_says(engine: Engine, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    said = [{"role": "user", "content": text} for text in (WORDS, "One.", "Two.")]
    talk.write_text("".join(json.dumps(line) + "\n" for line in said), "utf-8")
    settings = replace(engine.settings, ingest=IngestSettings(preview_chars=600))
    change_settings(engine, settings)
    engine.ingest([talk])
    episodes = [engine.show(hit.id) for hit in engine.timeline()]
    assert 300 < max(len(episode.preview) for episode, _, _ in episodes) <= 600
    assert {opened.state for _, _, opened in episodes} == {"open"}
    with talk.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"role": "user", "content": WORDS.replace("harbor", "quay")}) + "\n")
    engine.ingest([talk])
    assert max(len(engine.show(hit.id)[0].preview) for hit in engine.timeline()) <= 600


@pytest.mark.parametrize("wrong", ["499", "1501"])
def test_a_bound_that_the_requirement_does_not_allow_is_refused(wrong: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.touch()
    with pytest.raises(InvalidInput, match="between 500 and 1500"):
        load({"PICOMEM_INGEST_PREVIEW_CHARS": wrong}, file)
    assert load({"PICOMEM_INGEST_PREVIEW_CHARS": "500"}, file).ingest.preview_chars == 500
