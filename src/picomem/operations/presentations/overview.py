"""The presentation of an overview: days, projects and agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.operations.presentation import Block, Heading, Presentation, Sentence, Table, Text
from picomem.operations.presentations.wording import nothing_matches

if TYPE_CHECKING:
    from picomem.operations.overview import DaysResult, ProjectsResult


def days(result: DaysResult) -> Presentation:
    if result.filters:
        return Presentation(blocks=(Sentence(nothing_matches("episode", result.filters)),))
    if not result.days:
        return Presentation(blocks=(Sentence("Nothing was said then; `picomem ingest` reads past sessions."),))
    rows = tuple((counted.day, f"{counted.episodes:,}") for counted in result.days)
    return Presentation(blocks=(Table(("day", "episodes"), rows),))


def projects(result: ProjectsResult) -> Presentation:
    blocks: list[Block] = []
    for heading, names in (("Projects", result.projects), ("Agents", result.agents)):
        if names:
            blocks += [Heading(heading), *(Text(name, 1) for name in names)]
    if not blocks:
        blocks.append(Sentence("Nothing belongs to any project yet; `picomem ingest` reads past sessions."))
    return Presentation(blocks=tuple(blocks))
