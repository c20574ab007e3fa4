"""`python -m benchmarks distil STORY…`: what distilling makes of sessions if the model is never wrong.

A story is a folder with transcripts and `truth.json`, which says what lasts of them: for each statement the message and
the words that say it, and what it replaces. The sessions are read in one after another, and a scripted model that
answers from the truth distils each. What is missing then is lost by picomem and not by the model: lines that it is not
shown, quotes and replacements that are refused, memories that the page does not show. Measured is the page of each
project:

- true        of what is true at the end, what stands on the page
- outdated    lines that say what is true no more, as if it were current
- distilled   memories that were made of the model's answers, and facts of it that were refused
- tokens      that the model would have been shown, on average for a session
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from picomem.app import open_engine
from picomem.consolidation_runner import Consolidated, consolidate_transcripts, reconcile
from picomem.injection.prompt_context import index_of_project
from picomem.light_dataclass import dataclass, field
from picomem.models.generator import (
    CallBudget,
    DoubtedPair,
    Fact,
    KnownMemory,
    Material,
    PairRelation,
    PairVerdict,
    Proposal,
)
from picomem.models.prompt_and_reply import instructions, prompt
from picomem.records.kinds import Kind
from picomem.records.session import Role
from picomem.records.spend import Spend
from picomem.text.likeness import holds_words
from picomem.text.terms import terms
from picomem.text.tokens import count_tokens
from question_sets.tables import plain

_SAYS = 0.6  # of a statement's words, in a text that says it
_MARKS = ("outdated", "replaced")  # on a line that says it is old


@dataclass(frozen=True, slots=True)
class StoryReport:
    """What distilling made of a story; `true` counts what is true for each project at its end."""

    story: str
    sessions: int
    on_page: int
    true: int
    outdated: int
    lines: int
    memories: int
    refused: dict[str, int]
    tokens_of_session: int
    missing: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DistillingReport:
    """The report of every story."""

    stories: list[StoryReport]


class TruthfulModel:
    """A model that knows what lasts of a story, and quotes it."""

    name = "truth"

    def __init__(self, truth: dict[str, Any]) -> None:
        self._statements: dict[str, dict[str, Any]] = {said["id"]: said for said in truth["statements"]}
        self.tokens = 0

    async def propose(self, material: Material, budget: CallBudget) -> Proposal:
        """The statements that the material says; each replaces what it puts out of date."""
        self.tokens += count_tokens(instructions(material, with_schema=True)) + count_tokens(prompt(material))
        await budget.reserve(Spend(1))
        lines = [line for line in material.lines if line.role is Role.USER]
        replaced = partial(self._replaced, known=material.known)
        facts = [
            Fact(
                "",
                said["statement"],
                0.5,
                Kind(said["kind"]),
                said["quote"],
                line.number,
                replaced(said),
                said["scope"] == "user",
            )
            for said in self._statements.values()
            for line in lines
            if said["relation"] != "repeat" and holds_words(line.text, said["quote"])
        ]
        asked = lines[0].text if lines else "(nothing)"
        return Proposal(facts=tuple(facts), timeline=f"Asked: {' '.join(asked.split())[:300]}")

    async def judge(self, pairs: Sequence[DoubtedPair], budget: CallBudget) -> tuple[PairVerdict, ...]:
        """How the statements of each pair stand to each other."""
        await budget.reserve(Spend(1))
        return tuple(PairVerdict(self._relation(pair), "it says so") for pair in pairs)

    def says(self, text: str, said: dict[str, Any]) -> bool:
        """Return whether a text says a statement."""
        return any(_says(text, form) for form in (said["statement"], said["quote"]))

    def _replaced(self, said: dict[str, Any], known: Sequence[KnownMemory]) -> str:
        older = self._statements.get(said["of"] or "")
        if older is None or self._id_of_newer(older) != said["id"]:
            return ""
        return next((memory.key for memory in known if self.says(memory.content, older)), "")

    def _relation(self, pair: DoubtedPair) -> PairRelation:
        newer = {id_ for id_, said in self._statements.items() if self.says(pair.newer.content, said)}
        older = [said for said in self._statements.values() if self.says(pair.older.content, said)]
        ended = any(self._id_of_newer(said) in newer for said in older)
        return PairRelation.REPLACES if ended else PairRelation.BOTH_HOLD

    @staticmethod
    def _id_of_newer(said: dict[str, Any]) -> str:
        return said.get("replaced_by") or (said.get("covered_by_refinement") and said.get("refined_by")) or ""


def run(folders: Sequence[Path], progress: Callable[[str], None]) -> DistillingReport:
    """Distil and measure the stories in these folders."""
    stories = []
    for folder in folders:
        progress(folder.name)
        with tempfile.TemporaryDirectory(prefix="picomem-distil-") as work:
            stories.append(_measured(folder, Path(work)))
    return DistillingReport(stories)


def distil(database: Path, transcripts: Iterable[tuple[Path, str]], model: TruthfulModel) -> list[Consolidated]:
    """Read transcripts in and distil each at its end, in their order; with each its folder."""
    done = []
    for transcript, folder in transcripts:
        with open_engine(str(database), folder=folder, create=True, embedder="none") as engine:
            engine.ingest([transcript])
            done += anyio.run(partial(consolidate_transcripts, engine, model, force=True))
            anyio.run(reconcile, engine, model)
    return done


def render(report: DistillingReport) -> str:
    """The report as a table, and what is missing on the pages."""
    header = ("story", "true on the page", "outdated", "lines", "memories", "refused", "tokens a session")
    rows = [
        (
            story.story,
            f"{story.on_page}/{story.true} {story.on_page / max(story.true, 1):.2f}",
            f"{story.outdated}",
            f"{story.lines}",
            f"{story.memories}",
            f"{sum(story.refused.values())}",
            f"{story.tokens_of_session:,}",
        )
        for story in report.stories
    ]
    reasons = sum((Counter(story.refused) for story in report.stories), Counter[str]())
    refused = "\n".join(f"  {count} × {reason}" for reason, count in reasons.most_common())
    missing = "\n".join(f"  {story.story}: {said}" for story in report.stories for said in story.missing)
    table = "\n".join(plain([header, *rows], left=1))
    return f"{table}\n\nRefused:\n{refused}\n\nNot on the page:\n{missing}"


def _measured(folder: Path, work: Path) -> StoryReport:
    truth = json.loads((folder / "truth.json").read_text())
    home, database = work / "home", work / "memory.db"
    places = {name: project["cwd"].replace(truth["home"], str(home)) for name, project in truth["projects"].items()}
    for name, project in truth["projects"].items():
        git = Path(places[name]) / ".git"
        git.mkdir(parents=True)
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        (git / "config").write_text(f'[remote "origin"]\n\turl = {project["remote"]}\n')
    transcripts = []
    for session in sorted(truth["sessions"], key=lambda session: session["no"]):
        copy = work / "transcripts" / Path(session["file"]).name
        copy.parent.mkdir(exist_ok=True)
        copy.write_text((folder / session["file"]).read_text().replace(truth["home"], str(home)))
        transcripts.append((copy, places[session["project"]]))
    model = TruthfulModel(truth)
    done = distil(database, transcripts, model)
    refused = Counter(reason for outcome in done for applied in outcome.runs for _, reason in applied.turned_down)
    pages = {name: _page(database, place) for name, place in places.items()}
    said = {statement["id"]: statement for statement in truth["statements"]}
    missing = [
        f"{name}: {said[id_]['statement']}"
        for name, true in truth["true_now"].items()
        for id_ in true
        if not any(model.says(line, said[id_]) for line in pages[name] if not _is_marked(line))
    ]
    outdated = [
        line
        for lines in pages.values()
        for line in lines
        if not _is_marked(line)
        and any(model.says(line, old) for old in said.values() if old["ended_at"])
        and not any(model.says(line, new) for new in said.values() if not new["ended_at"])
    ]
    true = sum(map(len, truth["true_now"].values()))
    return StoryReport(
        story=folder.name,
        sessions=len(transcripts),
        on_page=true - len(missing),
        true=true,
        outdated=len(outdated),
        lines=sum(map(len, pages.values())),
        memories=sum(outcome.memory is not None for item in done for run in item.runs for _, _, outcome in run.offered),
        refused=dict(refused),
        tokens_of_session=model.tokens // max(len(transcripts), 1),
        missing=missing,
    )


def _page(database: Path, folder: str) -> list[str]:
    with open_engine(str(database), folder=folder, embedder="none") as engine:
        return [line for line in index_of_project(engine, folder).splitlines() if line.startswith("- ")]


def _is_marked(line: str) -> bool:
    return any(mark in line for mark in _MARKS)


def _says(text: str, statement: str) -> bool:
    wanted = set(terms(statement))
    return holds_words(text, statement) or len(wanted & set(terms(text))) >= _SAYS * max(len(wanted), 1)
