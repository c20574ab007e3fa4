"""The sentences of real coding sessions, as numbers: what a classifier observes of each, and its label.

    python -m training.real_sentences PATH     reads labelled sentences, and writes data/real_sentences.npz

A line of the file is JSON: `person`, `origin` (only `typed` counts), `said`, `durable` (`no`, `maybe`, `sure`). The
words of people stay out of this repository: the signals, the hashed words and the static vectors are kept, from which
no sentence can be read. Read it anew whenever `policy/sentence_signals.py` observes something else.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from picomem.light_dataclass import dataclass
from picomem.policy.sentence_signals import observe
from training.fitting import Table, Words, table

FILE = "real_sentences.npz"
BUCKETS = 4096  # for hashed words, as of the classifier


@dataclass(frozen=True, slots=True)
class RealSentences:
    """Observed sentences, whether each lasts, and the number of the person who typed it."""

    observed: Table
    is_durable: np.ndarray
    person: np.ndarray


def load(folder: Path, part: int = 1) -> RealSentences:
    """Every `part`-th of the kept sentences."""
    kept = np.load(folder / FILE)
    count = len(kept["durable"])
    words = Words(kept["rows"].astype(np.int64), kept["buckets"].astype(np.int64), kept["weights"], count, BUCKETS)
    whole = Table(tuple(kept["names"].tolist()), kept["signals"].astype(float), words, kept["meaning"] / 127.0)
    chosen = np.arange(0, count, part)
    return RealSentences(whole.of(chosen), kept["durable"][chosen].astype(int), kept["person"][chosen].astype(int))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m training.real_sentences", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("path", type=Path, help="labelled sentences, JSON lines")
    chosen = parser.parse_args(arguments)
    lines = [json.loads(line) for line in chosen.path.read_text("utf-8").splitlines()]
    lines = [line for line in lines if line["origin"] == "typed"]
    observed = table(observe(line["said"] for line in lines), BUCKETS)
    people = sorted({line["person"] for line in lines})
    np.savez_compressed(
        Path(__file__).parent / "data" / FILE,
        names=np.array(observed.names),
        signals=observed.signals.astype(np.float32),
        rows=observed.words.rows.astype(np.int32),
        buckets=observed.words.buckets.astype(np.int16),
        weights=observed.words.weights.astype(np.float32),
        meaning=np.round(observed.meaning * 127).astype(np.int8),
        durable=np.array([line["durable"] != "no" for line in lines], np.int8),
        person=np.array([people.index(line["person"]) for line in lines], np.int8),
    )
    sys.stdout.write(f"{len(lines):,} sentences of {len(people)} people\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
