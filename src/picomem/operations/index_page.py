"""The operation that prints the always-loaded index page: index."""

from __future__ import annotations

from picomem.engine.current_index_page import index_account
from picomem.engine.engine import Engine
from picomem.engine.past_sessions import unknown_project
from picomem.index_page.page import IndexPage
from picomem.light_dataclass import dataclass, field, replace
from picomem.operations.memory_views import MemoryView, memory_view
from picomem.operations.operation import Operation, option
from picomem.operations.presentation import (
    Block,
    Heading,
    Presentation,
    PresentedEntry,
    Sentence,
    Table,
    Text,
    Verbatim,
)
from picomem.paths import check_folder_of, named_path

_MOST_OMITTED = 200  # entries that did not fit the index page and are listed


@dataclass(frozen=True, slots=True)
class IndexRequest:
    budget: int | None = option("maximum number of tokens (default 1500)", None, least=200, most=20_000)
    project: str = option("the page for this project", "")
    agent: str = option("the page for this agent", "")
    lines: bool = option("say the tokens of each line as well, and which entries did not fit", False)
    export: str = option("write it to this file as well, such as memory/MEMORY-INDEX.md", "", tool=None, path=True)


@dataclass(frozen=True, slots=True)
class IndexLineView:
    """A line of the page with its tokens; `id` and `origin` are those of the memory that it is of, or empty."""

    text: str
    tokens: int
    id: str
    origin: str


@dataclass(frozen=True, slots=True)
class IndexResult:
    """`lines` are there where the request asks for them, and with them the most important 200 of the memories that did
    not fit. `warnings` says if nothing belongs to the project; an agent may name one before anything is known of it."""

    page: str
    tokens: int
    budget: int
    entries: int
    left_out: int
    lines: list[IndexLineView] = field(default_factory=list)
    omitted: list[MemoryView] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def index(engine: Engine, request: IndexRequest) -> IndexResult:
    """Print the always-loaded index page: what an agent should know before the first question."""
    scope = engine.scope.narrowed(project=request.project, agent=request.agent)
    warnings = [] if engine.caller.is_agent else unknown_project(engine, request.project)
    if request.export:
        check_folder_of(named_path(request.export))
        engine.export_index(named_path(request.export), budget=request.budget, scope=scope)
    if not request.lines:
        return _index_result(engine.index(budget=request.budget, scope=scope), warnings)
    account = index_account(engine, scope, request.budget, _MOST_OMITTED)
    now = engine.now()
    lines = [
        IndexLineView(
            line.text,
            line.tokens,
            line.memory.id if line.memory else "",
            line.memory.origin.value if line.memory else "",
        )
        for line in account.lines
    ]
    omitted = [memory_view(memory, now) for memory in account.omitted]
    return replace(_index_result(account.page, warnings), lines=lines, omitted=omitted)


def _index_result(page: IndexPage, warnings: list[str]) -> IndexResult:
    return IndexResult(page.text, page.tokens, page.budget, page.entries, page.left_out, warnings=warnings)


def _present_index_page(result: IndexResult) -> Presentation:
    total = Sentence(f"({result.tokens:,} of {result.budget:,} tokens)")
    if not result.lines:
        return Presentation(blocks=(Verbatim(result.page), total), warnings=tuple(result.warnings))
    blocks: list[Block] = [
        Table(("tokens", "line"), tuple((f"{line.tokens:,}", line.text) for line in result.lines)),
        total,
    ]
    if result.omitted:
        blocks.append(Heading("Did not fit"))
        blocks += [PresentedEntry(memory.key, (Text(memory.content, 2),)) for memory in result.omitted]
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.warnings))


OPERATIONS = (
    Operation(
        name="index",
        group="use",
        run=index,
        present=_present_index_page,
        reply=lambda result: result.page,
        permission="memory:read:user",
        example="picomem index --budget 1200",
        read_only=True,
        idempotent=True,
        resource="index",
    ),
)
