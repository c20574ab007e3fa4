"""Operations that move memory between programs: export and import, for the operator at the machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from typing import cast

from picomem.engine.engine import Engine
from picomem.engine.transfers import export_lines, export_to, import_from
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass, field
from picomem.operations.operation import Operation, Progressing, option
from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text, plural
from picomem.operations.presentation import counts as counts_of
from picomem.operations.recall_views import view_of
from picomem.paths import named_path, status_of
from picomem.transfer.export_file import ExportFormat
from picomem.transfer.import_format import guessed_format, import_format_named

# Those of transfer/formats/, which this module does not load: a test compares them.
IMPORT_FORMATS = (
    "basic-memory", "chatgpt", "claude", "claude-code", "claude-mem", "codex", "letta", "markdown", "mcp-memory",
    "mem0", "nanobot", "openclaw", "picobot", "picomem",
)  # fmt: skip


_MOST_REASONS = 20


@dataclass(frozen=True, slots=True)
class ExportRequest:
    path: str = option("the file to write (default: standard output)", "", positional=True, path=True)
    format: str | None = option(
        "JSON lines that picomem imports, a page to read, or the graph of an agent in the file format of MCP's "
        "server-memory (default: a page for *.md, else lines)",
        None,
        choices=("picomem", "markdown", "mcp-memory"),
    )

    @property
    def chosen_format(self) -> ExportFormat:
        """The format that was named, or that the name of the file shows."""
        return cast("ExportFormat", self.format or ("markdown" if self.path.lower().endswith(".md") else "picomem"))


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The content of the file; `damaged` rows were left out."""

    path: str
    format: str
    memories: int
    versions: int
    sessions: int
    messages: int
    damaged: int
    bytes: int


def export(engine: Engine, request: ExportRequest) -> ExportResult:
    """Write all memories of the user, with their versions, and the conversations with PicoBot to a file.

    A purge finds the file and writes it again from what is left. Episodes are left out: they are read again from the
    transcripts that they point to.
    """
    if not request.path.strip():
        raise InvalidInput("An export without a file goes to standard output as lines, not as a result; name a file.")
    path = named_path(request.path)
    counts = export_to(engine, path, request.chosen_format)
    status = status_of(path)
    return ExportResult(
        path=str(path),
        format=request.chosen_format,
        memories=counts.memories,
        versions=counts.versions,
        sessions=counts.sessions,
        messages=counts.messages,
        damaged=counts.damaged,
        bytes=status.st_size if status else 0,
    )


def exported_lines(engine: Engine, request: ExportRequest) -> Generator[str] | None:
    """The lines of an export that names no file."""
    if request.path:
        return None
    return export_lines(engine, request.chosen_format)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    format: str = option(
        f"the program that it comes from, where the file does not tell ({', '.join(IMPORT_FORMATS)})",
        "",
        positional=True,
    )
    path: str = option("the file or folder", positional=True, path=True)
    dry_run: bool = option("only count what would become of each entry", False)


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The outcome of an import: `new` memories, memories that were `changed`, entries that are `known` already, were
    `purged` here before, or are here in another form (`differing`); `refused` and `unreadable` by reason.
    `conversations`, their `messages` and the `episodes` made of these are new ones; `passed_over` counts what is
    neither a memory nor a message. `problems` names the first entries that were not taken; `users` are those of a file
    that is of several. `run` is what `undo` takes back, empty where nothing was written."""

    format: str
    path: str
    dry_run: bool
    new: int
    changed: int
    known: int
    purged: int
    differing: int
    conversations: int
    messages: int
    episodes: int
    refused: dict[str, int]
    unreadable: dict[str, int]
    passed_over: dict[str, int]
    problems: list[str]
    users: list[str]
    run: str
    warnings: list[str] = field(default_factory=list)


def import_(engine: Engine, request: ImportRequest, progress: Progressing | None = None) -> ImportResult:
    """Import the memory of another program, or an export of picomem.

    Everything passes redaction and the write gate, and keeps its time and its origin. Importing the same file again
    adds nothing. `undo` takes the memories of one import back.
    """
    if not request.path.strip():
        raise InvalidInput("The path is empty; name a file or folder to import.")
    path = named_path(request.path)
    form = import_format_named(request.format) if request.format else guessed_format(path)
    if form.serves_all_users:
        engine.caller.require("memory:write:global", f"import {form.name}")
    run, report = import_from(engine, path, form, dry_run=request.dry_run, progress=progress)
    return view_of(
        ImportResult,
        report,
        format=form.name,
        path=str(path),
        dry_run=request.dry_run,
        conversations=report.sessions,
        refused=_most_common(report.refused),
        unreadable=_most_common(report.unreadable),
        passed_over=_most_common(report.passed_over),
        run="" if request.dry_run or not (report.new or report.changed) else run,
    )


def _most_common(reasons: Counter[str]) -> dict[str, int]:
    """The reasons that came most often: some name a memory, so there can be as many as entries."""
    shown = {reason: count for reason, count in reasons.most_common(_MOST_REASONS) if count}
    others = sum(reasons.values()) - sum(shown.values())
    return {**shown, "other reasons": others} if others else shown


def _present_export(result: ExportResult) -> Presentation:
    held = [plural(result.memories, "memory", "memories"), plural(result.versions, "version")]
    held += [plural(result.sessions, "conversation"), plural(result.messages, "message")]
    damaged = f"{plural(result.damaged, 'damaged row was', 'damaged rows were')} left out; run `picomem doctor`."
    steps = (f"`picomem import {result.path}` takes it in elsewhere.",) if result.format == "picomem" else ()
    return Presentation(
        blocks=(Sentence(f"{result.path}: {', '.join(held)}; {result.bytes / 1e6:,.1f} MB."),),
        warnings=(damaged,) if result.damaged else (),
        next_steps=steps,
    )


def _present_import(result: ImportResult) -> Presentation:
    counts = [
        plural(result.new, "new memory", "new memories"),
        f"{result.changed:,} changed",
        f"{result.known:,} known already",
        f"{sum(result.refused.values()):,} refused",
        f"{sum(result.unreadable.values()):,} unreadable",
    ]
    counts += [f"{result.differing:,} different here and left as they are"] if result.differing else []
    counts += [f"{result.purged:,} purged here and kept out"] if result.purged else []
    blocks: list[Block] = [Sentence("Nothing was stored; an import would find:")] if result.dry_run else []
    blocks.append(Sentence(f"{result.path} ({result.format}): {', '.join(counts)}."))
    if result.conversations or result.messages:
        said = f"{plural(result.conversations, 'new conversation')} and {plural(result.messages, 'new message')}"
        stay = " An undo leaves them; `picomem purge --session ID` erases one." if result.run else ""
        blocks.append(Sentence(f"{said}.{stay}"))
    if result.users:
        blocks.append(
            Sentence(f"They belong to {', '.join(result.users)}; `picomem sessions --user ID` lists those of one user.")
        )
    if result.passed_over:
        blocks.append(Sentence(f"Passed over: {counts_of(result.passed_over, number_first=False)}."))
    all_are_named = len(result.problems) >= sum(result.refused.values()) + sum(result.unreadable.values())
    for title, reasons in (("Refused:", result.refused), ("Unreadable:", result.unreadable)):
        if reasons and not all_are_named:
            texts = tuple(Text(f"{count:,}: {reason}") for reason, count in reasons.items())
            blocks.append(PresentedEntry(title, texts))
    if result.problems:
        title = "Not taken in:" if all_are_named else "The first of them:"
        blocks.append(PresentedEntry(title, tuple(map(Text, result.problems))))
    steps = (f"`picomem undo {result.run}` takes the memories back.",) if result.run else ()
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.warnings), next_steps=steps)


OPERATIONS = (
    Operation(
        name="export",
        group="maintain",
        run=export,
        lines=exported_lines,
        present=_present_export,
        reply=lambda result: f"{plural(result.memories, 'memory was', 'memories were')} exported to {result.path}.",
        permission="memory:read:user",
        example="picomem export memories.jsonl",
        read_only=True,
        idempotent=True,
        reads_local_files=True,
        operator=True,
    ),
    Operation(
        name="import",
        group="maintain",
        run=import_,
        present=_present_import,
        reply=lambda result: f"{result.new} new memories, {result.known} known already.",
        permission="memory:write:user",
        example="picomem import mem0 mem0.json --dry-run",
        creates=True,
        idempotent=True,
        long=True,
        exit_code=lambda result: 1 if result.unreadable else 0,
        reads_local_files=True,
        operator=True,
        progress_unit="bytes",
    ),
)
