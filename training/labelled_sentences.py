"""The sentences of coding sessions, as numbers: what a classifier observes of each, and its label.

    python -m training.labelled_sentences PATH [--story FOLDER ...]     writes data/labelled_sentences.npz

A line of the file is JSON: `person`, `origin` (only `typed` counts), `said`, `durable` (`no`, `maybe`, `sure`). A story
is a folder with the transcripts of an invented person, and `truth.json`, which quotes what lasts. The words stay out of
this repository: the signals, the hashed words and the static vectors are kept, from which no sentence can be read. Read
them anew whenever `policy/durability.py` observes something else.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from picomem.light_dataclass import dataclass
from picomem.policy.durability import find_sentences, observe
from picomem.records.kinds import Origin
from picomem.records.transcript import Turn
from training.fitting import Table, Words, table

FILE = "labelled_sentences.npz"
BUCKETS = 4096  # for hashed words, as of the classifier


@dataclass(frozen=True, slots=True)
class LabelledSentences:
    """Observed sentences, whether each lasts, and the number of the person who typed it."""

    observed: Table
    is_durable: np.ndarray
    person: np.ndarray


class _Line(NamedTuple):
    person: str
    said: str
    is_durable: bool


def load(folder: Path, part: int = 1) -> LabelledSentences:
    """Every `part`-th of the kept sentences."""
    kept = np.load(folder / FILE)
    count = len(kept["durable"])
    words = Words(kept["rows"].astype(np.int64), kept["buckets"].astype(np.int64), kept["weights"], count, BUCKETS)
    whole = Table(tuple(kept["names"].tolist()), kept["signals"].astype(float), words, kept["meaning"] / 127.0)
    chosen = np.arange(0, count, part)
    return LabelledSentences(whole.of(chosen), kept["durable"][chosen].astype(int), kept["person"][chosen].astype(int))


def _of_people(path: Path) -> Iterator[_Line]:
    for line in map(json.loads, path.read_text("utf-8").splitlines()):
        if line["origin"] == "typed":
            yield _Line(line["person"], line["said"], line["durable"] != "no")


def _of_story(folder: Path) -> Iterator[_Line]:
    """The sentences of a story's person. Narrow statements, of which to keep one is no error, are left out."""
    truth = json.loads((folder / "truth.json").read_text("utf-8"))
    quoted: defaultdict[str, list[str]] = defaultdict(list)  # by message
    for statement in truth["statements"]:
        quoted[statement["message"]].append(statement["quote"])
    for session in truth["sessions"]:
        for record in map(json.loads, (folder / session["file"]).read_text("utf-8").splitlines()):
            said = _typed(record)
            if not said:
                continue
            kept, narrow = _places(said, quoted[record["uuid"]]), _places(said, truth["maybe"])
            turn = Turn(index=0, role="user", text=said, at=None, origin=Origin.USER, start=0, end=1)
            for sentence in find_sentences(turn, []):
                is_kept, is_narrow = (
                    any(sentence.start < end and start < sentence.end for start, end in places)
                    for places in (kept, narrow)
                )
                if is_kept or not is_narrow:
                    yield _Line(folder.name, sentence.text, is_kept)


def _places(text: str, quotes: Iterable[str]) -> list[tuple[int, int]]:
    """Where the quotes begin and end that a text holds."""
    return [(place, place + len(quote)) for quote in quotes if (place := text.find(quote)) >= 0]


def _typed(record: Mapping[str, Any]) -> str:
    """The text of a record that the person typed; empty for any other."""
    if record.get("type") != "user" or record.get("isMeta"):
        return ""
    content = record["message"]["content"]
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content if block["type"] == "text")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m training.labelled_sentences", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("path", type=Path, help="labelled sentences, JSON lines")
    parser.add_argument("--story", type=Path, nargs="*", default=[], help="folders of stories")
    chosen = parser.parse_args(arguments)
    lines = [*_of_people(chosen.path), *(line for folder in chosen.story for line in _of_story(folder))]
    observed = table(observe(line.said for line in lines), BUCKETS)
    people = sorted({line.person for line in lines})
    np.savez_compressed(
        Path(__file__).parent / "data" / FILE,
        names=np.array(observed.names),
        signals=observed.signals.astype(np.float32),
        rows=observed.words.rows.astype(np.int32),
        buckets=observed.words.buckets.astype(np.int16),
        weights=observed.words.weights.astype(np.float32),
        meaning=np.round(observed.meaning * 127).astype(np.int8),
        durable=np.array([line.is_durable for line in lines], np.int8),
        person=np.array([people.index(line.person) for line in lines], np.int8),
    )
    sys.stdout.write(f"{len(lines):,} sentences of {len(people)} people\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
