"""`python -m benchmarks inject`: what the prompt hook puts beside prompts, unasked (X16).

The prompts are typed in a later session of the developer whose sessions and memories are stored.
Some have an answer there, most have none. Each is given to what the hook runs, with the default settings:

- useful      of the prompts with an answer: those that get an entry which helps
- in context  those, and the ones for which such an entry stands on the index page with which their session began
- useless     of the prompts without one: those that get anything at all. A near miss asks for what was talked of, in
              a detail that was not; it is counted, and shown by itself too, for it is the hard case, as orders are that
              need something remembered and do not say so
- tokens      spent on a prompt, on average over all of them

The four `held out` sets are of other developers than the seven (training/data) whose prompts shaped the weights and the
threshold, and their three writers saw neither those nor the weights. The curve shows both shares for other thresholds,
with and without the two hard kinds: orders that need something remembered, and near misses.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.share_curves import ShareAxis, drawn_shares
from picomem.injection.prompt_context import AgentPrompt, hits_block, recalled
from picomem.injection.relevance import relevance
from picomem.light_dataclass import dataclass
from picomem.paths import write_whole
from picomem.settings_tables import HookSettings
from picomem.text.tokens import count_tokens
from question_sets.tables import markdown, plain
from training.injection_sets import InjectionStore, Prompt

_DATA = Path(__file__).parent / "data" / "injection"
SETS = {
    "held out": _DATA / "held_out.jsonl",
    "held out 2": _DATA / "held_out_2.jsonl",
    "held out 3": _DATA / "held_out_3.jsonl",
    "held out 4": _DATA / "held_out_4.jsonl",
}
_ALL = "all"
_HARD_TOO = "with hard kinds"
_HARD = {True: "order", False: "near-miss"}  # of prompts with an answer, and without one
_STEPS = 100  # thresholds of the curve


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one prompt would get: how sure that is to help, whether it does, and its tokens; and whether the index page
    of the session's begin helps."""

    kind: str
    language: str
    answerable: bool
    relevance: float
    helps: bool
    tokens: int
    on_index_page: bool

    def gets_something(self, threshold: float) -> bool:
        return self.tokens > 0 and self.relevance >= threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The prompts of one kind in a set: how many get something, how many something that helps, tokens a prompt."""

    name: str
    kind: str
    answerable: bool
    prompts: int
    injected: float
    useful: float
    in_context: float
    tokens: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The shares at a threshold."""

    name: str
    threshold: float
    useful: float
    useless: float
    tokens: float


@dataclass(frozen=True, slots=True)
class InjectionReport:
    threshold: float
    shares: list[Share]
    curve: list[CurvePoint]


def run(names: Iterable[str] = SETS, progress: Callable[[str], None] = lambda _: None) -> InjectionReport:
    """Measure; half a minute."""
    settings = HookSettings()
    shares: list[Share] = []
    curve: list[CurvePoint] = []
    held_out: list[Judgement] = []
    for name in names:
        judged = judgements(name, settings, progress)
        shares += _shares(name, judged, settings.min_relevance)
        curve += _curve(name, [row for row in judged if not _is_hard(row)])
        held_out += judged
    shares += _shares(_ALL, held_out, settings.min_relevance)
    curve += _curve(_ALL, [row for row in held_out if not _is_hard(row)])
    curve += _curve(_HARD_TOO, held_out)
    return InjectionReport(settings.min_relevance, shares, curve)


def judgements(name: str, settings: HookSettings, progress: Callable[[str], None]) -> list[Judgement]:
    """What each prompt of a set would get if no threshold held it back."""
    with tempfile.TemporaryDirectory(prefix="picomem-bench-") as folder:
        progress(f"{name}: reading the sessions")
        store = InjectionStore(SETS[name], Path(folder))
        try:
            made = []
            for number, prompt in enumerate(store.prompts):
                if number % 100 == 0:
                    progress(f"{name}: prompt {number} of {len(store.prompts)}")
                made.append(_judged(store, prompt, settings.token_budget))
            return made
        finally:
            store.close()


def _judged(store: InjectionStore, prompt: Prompt, budget: int) -> Judgement:
    typed = AgentPrompt(prompt.text, session="new")
    answer, hits = recalled(store.engine(prompt.project), typed)
    sure = relevance(typed.asked, answer, hits)
    text, ids = hits_block(hits, budget)
    helps = any(store.helps(hit, prompt) for hit in hits[: len(ids)])
    return Judgement(
        kind=prompt.kind,
        language=prompt.language,
        answerable=bool(prompt.answers),
        relevance=sure,
        helps=helps,
        tokens=count_tokens(text) if ids else 0,
        on_index_page=store.begins_with_help(prompt),
    )


def _shares(name: str, judged: Sequence[Judgement], threshold: float) -> Iterator[Share]:
    """By kind and by language, and all together."""
    for answerable in (True, False):
        rows = [row for row in judged if row.answerable == answerable]
        groups = {kind: [row for row in rows if row.kind == kind] for kind in dict.fromkeys(row.kind for row in rows)}
        groups |= {
            f"language {language}": [row for row in rows if row.language == language] for language in ("en", "zh")
        }
        groups[f"all but {_HARD[answerable]}"] = [row for row in rows if not _is_hard(row)]
        for kind, group in (groups | {"all": rows}).items():
            if group:
                yield _share(name, kind, group, threshold)


def _share(name: str, kind: str, rows: Sequence[Judgement], threshold: float) -> Share:
    given = [row for row in rows if row.gets_something(threshold)]
    return Share(
        name=name,
        kind=kind,
        answerable=rows[0].answerable,
        prompts=len(rows),
        injected=len(given) / len(rows),
        useful=sum(row.helps for row in given) / len(rows),
        in_context=sum(row.on_index_page or (row.helps and row.gets_something(threshold)) for row in rows) / len(rows),
        tokens=sum(row.tokens for row in given) / len(rows),
    )


def _is_hard(row: Judgement) -> bool:
    return row.kind == _HARD[row.answerable]


def _curve(name: str, judged: Sequence[Judgement]) -> Iterator[CurvePoint]:
    answerable = [row for row in judged if row.answerable]
    others = [row for row in judged if not row.answerable]
    for step in range(_STEPS + 1):
        threshold = step / _STEPS
        known, unknown = _share(name, "", answerable, threshold), _share(name, "", others, threshold)
        yield CurvePoint(name, threshold, known.useful, unknown.injected, _share(name, "", judged, threshold).tokens)


def draw(report: InjectionReport, out: Path) -> None:
    """Write a picture of the curves of all sets together: what is useful at each share of what is useless."""
    curves = {
        name: sorted(
            (point for point in report.curve if point.name == name), key=lambda point: (point.useless, point.useful)
        )
        for name in (_ALL, _HARD_TOO)
    }
    picture = drawn_shares(
        {name: [(point.useless, point.useful) for point in points] for name, points in curves.items()},
        {
            name: next((point.useless, point.useful) for point in points if point.threshold == report.threshold)
            for name, points in curves.items()
        },
        ShareAxis("prompts without an answer that get something", 0.3),
        ShareAxis("prompts with an answer that get something useful", 1.0),
    )
    write_whole(out, picture)


def render(report: InjectionReport, *, as_markdown: bool = False) -> str:
    """The report as tables."""
    rows = [["set", "prompts", "n", "injected", "useful", "in context", "tokens"]]
    rows += [
        [
            share.name,
            share.kind + (", with an answer" if share.answerable else ", without"),
            f"{share.prompts}",
            f"{share.injected:.2f}",
            *((f"{share.useful:.2f}", f"{share.in_context:.2f}") if share.answerable else "––"),
            f"{share.tokens:.0f}",
        ]
        for share in report.shares
    ]
    curve = [["set", "threshold", "useful", "injected without an answer", "tokens a prompt"]]
    curve += [
        [point.name, f"{point.threshold:.2f}", f"{point.useful:.2f}", f"{point.useless:.2f}", f"{point.tokens:.0f}"]
        for point in report.curve
        if round(100 * point.threshold) % 10 == 0
    ]
    tables = [markdown(rows), markdown(curve)] if as_markdown else [plain(rows, left=2), plain(curve, left=1)]
    return "\n".join([*tables[0], "", f"threshold: {report.threshold}", "", *tables[1]])
