"""The report of an ingest: progress while it runs, and the result at the end."""

from __future__ import annotations

from pathlib import Path

from picomem.light_dataclass import dataclass, field, fields


@dataclass(slots=True)
class IngestProgress:
    """The progress of an ingest; `bytes_done` of `bytes_total` over all files."""

    files_total: int = 0
    files_done: int = 0
    bytes_total: int = 0
    bytes_done: int = 0
    path: str = ""
    episodes: int = 0


@dataclass(slots=True)
class Report:
    """The result of an ingest.

    `skipped` counts what was passed over, by reason; `problems` are files and why; `unread` counts the problems because
    of which something was not read. `requests` counts what was asked to be remembered, and `decisions` what became of
    that, all under the id `run`, which is empty where there were none. `withheld` and `released` count the transcripts
    that a host's send policy withholds, or releases, from now on.
    """

    files: int = 0
    unchanged: int = 0
    turns: int = 0
    episodes: int = 0
    updated: int = 0
    repeated: int = 0
    rewritten: int = 0
    bytes: int = 0
    redacted: int = 0
    requests: int = 0
    decisions: dict[str, int] = field(default_factory=dict)
    run: str = ""
    without_vector: int = 0
    hosts: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    unread: int = 0
    withheld: int = 0
    released: int = 0

    def fail(self, path: Path, problem: object) -> None:
        """Note that a file, or a part of it, was not read, and why."""
        sentence = str(problem)
        self.problems.append(sentence if str(path) in sentence else f"{path}: {sentence}")
        self.unread += 1

    def add(self, other: Report) -> None:
        """Add what another report counts."""
        for name in (attribute.name for attribute in fields(Report)):
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, dict):
                for reason, count in theirs.items():
                    mine[reason] = mine.get(reason, 0) + count
            else:
                setattr(self, name, (mine or theirs) if name == "run" else mine + theirs)

    def passed_over(self, counts: dict[str, int], before: dict[str, int]) -> None:
        """Add what a reader counted since `before`."""
        for reason, count in counts.items():
            if count > before.get(reason, 0):
                self.skipped[reason] = self.skipped.get(reason, 0) + count - before.get(reason, 0)
