"""Makes the file of synonyms (picomem/text/synonyms.txt) from the lists in data/synonyms.

    python -m training.synonyms             writes the file into the package

A line of a list is a group: `word, phrase | 中文, 词`, or `general word > kind, kind`; the README there says which
belong together. A group of which less than two entries have terms of their own is left out.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from picomem.text.synonyms import FILE
from picomem.text.terms import is_cjk, query_terms
from training.examples import DATA

LISTS = DATA / "synonyms"


def groups(lines: Iterable[str]) -> Iterator[str]:
    """The lines of the file for those of a list. Raises ValueError at a line that is none of the forms."""
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        general, is_general, kinds = line.partition(">")
        parts = [_entries(part) for part in ((general, kinds) if is_general else (line,))]
        if ("|" in general and is_general) or not all(parts):
            raise ValueError(f"This line is no group: {line!r}")
        if is_general:
            yield "\t".join([*parts[0], ">", *parts[1]])
        elif len(parts[0]) > 1:
            yield "\t".join(parts[0])


def file_of(listed: Sequence[str]) -> str:
    """The file that lists these groups: see picomem/text/synonyms.py."""
    places: dict[str, list[str]] = {}
    place = 0
    for group in listed:
        for entry in group.partition("\t>\t")[0].split("\t"):
            places.setdefault(entry, []).append(str(place))
        place += len(f"{group}\n".encode())
    index = sorted(f"{entry}\t{','.join(of_entry)}" for entry, of_entry in places.items())
    return "\n".join([*index, "", *listed, ""])


def _entries(text: str) -> list[str]:
    """The entries of a part of a line, each once, as they stand in the file."""
    written = (entry.strip() for entry in re.split(r"[,|]", text))
    return list(dict.fromkeys(entry for entry in map(_entry, written) if entry))


def _entry(written: str) -> str:
    """Chinese as it is; of other words the terms. Left out is a mixture of both, and a phrase of which a single term is
    left, as “not” of “not there”."""
    if is_cjk(written):
        return written if all(map(is_cjk, written)) else ""
    terms = query_terms(written)
    return "" if len(terms) == 1 and " " in written else " ".join(terms)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.synonyms", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--to", type=Path, default=FILE, help="where the file is written")
    chosen = parser.parse_args(arguments)
    lines = (line for path in sorted(LISTS.glob("*.txt")) for line in path.read_text("utf-8").splitlines())
    chosen.to.write_text(file_of(list(dict.fromkeys(groups(lines)))), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
