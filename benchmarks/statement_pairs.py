"""Statements to be repeated, and pairs of statements that look alike and differ."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.data_files import read_rows


class Told(NamedTuple):
    """`reworded` has the same words in another form or order, or fewer; `paraphrased` has others."""

    text: str
    reworded: str
    paraphrased: str


class ToldLater(NamedTuple):
    """An old statement and a new one; the new one says that the old one is over (`supersede`), the same (`duplicate`),
    more of it (`refine`), or something else (`independent`)."""

    relation: str
    old: str
    new: str


TOLD = tuple(Told(**row) for row in read_rows("statement_pairs/same"))
DIFFERENT = tuple((row["known"], row["other"]) for row in read_rows("statement_pairs/different"))
TOLD_LATER = tuple(ToldLater(**row) for row in read_rows("statement_pairs/told_later"))
