"""Operations that fill a store from files, and say what of it is shown: ingest, withhold, tag, migrate."""

from __future__ import annotations

import os
from collections import Counter

from picomem.engine.engine import Engine
from picomem.engine.review import count_suggestions
from picomem.errors import InvalidInput, NotFound
from picomem.ingest.discovery import default_places
from picomem.light_dataclass import asdict, dataclass
from picomem.operations.operation import Operation, Progressing, option
from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Table, Text, counts, plural
from picomem.paths import home_folder, named_path, status_of
from picomem.transfer.markdown_import import left_out

_MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class IngestRequest:
    paths: tuple[str, ...] = option(
        "files or folders (default: where the agents keep theirs)", positional=True, many=True, tool=None, path=True
    )


@dataclass(frozen=True, slots=True)
class IngestResult:
    """`hosts` counts the files by format; `skipped` what was passed over, by reason; `problems` says which files
    could not be read, and why, and `unread` how many of these mean that something was not read. `requests` counts what
    was asked to be remembered, and `decisions` what became of that; `suggestions` counts all that wait for a decision
    now; `run` is what `changes` lists and `undo` takes back, empty where nothing was asked for. `kept` counts
    the copies of transcripts that were made or brought up to date. `withheld` and `released` count the transcripts
    that a host's send policy withholds, or releases, from now on."""

    files: int
    unchanged: int
    rewritten: int
    hosts: dict[str, int]
    turns: int
    episodes: int
    updated: int
    repeated: int
    requests: int
    suggestions: int
    decisions: dict[str, int]
    run: str
    without_vector: int
    redacted: int
    bytes: int
    skipped: dict[str, int]
    problems: list[str]
    unread: int
    places: list[str]
    kept: int
    withheld: int
    released: int


def ingest(engine: Engine, request: IngestRequest, progress: Progressing | None = None) -> IngestResult:
    """Read new sessions from the transcripts of Claude Code, Codex, OpenClaw and others.

    Requests to remember something become memories if they pass the gate. Other sentences that look worth remembering
    are suggestions (see `suggestions`). `undo` takes back the memories of one ingest.
    """
    from picomem.engine.transcripts import keep_transcripts  # noqa: PLC0415 - `picomem mcp` starts without it

    if any(not path.strip() for path in request.paths):
        # An empty variable in a script must not read the folder that it happens to run in.
        raise InvalidInput("A path is empty; name a file or folder, or leave it out for where the agents keep theirs.")
    places = request.paths or default_places(home_folder(), os.environ)
    report = engine.ingest(
        places, progress=(lambda state: progress(state.bytes_done, state.bytes_total, state.path)) if progress else None
    )
    engine.tidy(when_due=True)
    kept = keep_transcripts(engine)
    if kept is not None:
        report.problems += kept.problems
    if request.paths and not report.files and report.problems:
        missing = all(map(_is_missing, request.paths))
        raise (NotFound if missing else InvalidInput)("Nothing to ingest: " + "; ".join(report.problems))
    values = asdict(report)
    names = [place if isinstance(place, str) else f"{place.host}: {place.folder}" for place in places]
    made = kept.made if kept else 0
    return IngestResult(**values, suggestions=count_suggestions(engine), places=names, kept=made)


def _is_missing(path: str) -> bool:
    try:
        return status_of(named_path(path)) is None
    except InvalidInput:
        return False


@dataclass(frozen=True, slots=True)
class WithholdRequest:
    session: str = option("the session's id, or the beginning of it", positional=True)
    release: bool = option("show it again", False)


@dataclass(frozen=True, slots=True)
class WithholdResult:
    transcripts: int
    released: bool


def withhold(engine: Engine, request: WithholdRequest) -> WithholdResult:
    """Hide a past session from recall, timeline, show and why; or show it again.

    A session that OpenClaw's send policy denies is hidden by itself when its transcript is read.
    """
    return WithholdResult(engine.withhold(request.session, release=request.release), request.release)


@dataclass(frozen=True, slots=True)
class TagRequest:
    episode: str = option("the episode's id, or the beginning of it", positional=True)
    tags: tuple[str, ...] = option(
        "a tag; repeatable, replaces the tags it has; an empty one removes them all", many=True
    )


@dataclass(frozen=True, slots=True)
class TagResult:
    """The episode's id, and the tags that it has now."""

    episode: str
    tags: list[str]


def tag(engine: Engine, request: TagRequest) -> TagResult:
    """Give an episode of a past session tags, by which recall and timeline find it."""
    if not request.tags:
        raise InvalidInput("Give a tag; an empty one removes the tags that the episode has.")
    tagged = engine.tag(request.episode, request.tags)
    return TagResult(tagged.id, list(tagged.tags))


@dataclass(frozen=True, slots=True)
class MigrateRequest:
    paths: tuple[str, ...] = option("Markdown files, or folders of them", positional=True, many=True, path=True)


@dataclass(frozen=True, slots=True)
class MigratedEntry:
    path: str
    line: int
    decision: str
    reason: str
    key: str
    content: str


@dataclass(frozen=True, slots=True)
class MigrateResult:
    """`decisions` counts what became of the entries; `left_out` says which files of a folder were not read, and why."""

    files: int
    decisions: dict[str, int]
    entries: list[MigratedEntry]
    left_out: list[str]


def migrate(engine: Engine, request: MigrateRequest) -> MigrateResult:
    """Import the entries of Markdown memory (MEMORY.md, memory/*.md) as typed memories, through the write gate."""
    if not request.paths:
        raise InvalidInput("Name a Markdown file or a folder: picomem migrate MEMORY.md")
    paths = [named_path(path) for path in request.paths]
    done = engine.migrate(paths)
    entries = [
        MigratedEntry(
            path=str(path),
            line=entry.line,
            decision=result.decision.value,
            reason=result.reason,
            key=result.memory.key if result.memory else "",
            content=result.memory.content if result.memory else "",
        )
        for path, entry, result in done
    ]
    decisions = Counter(entry.decision for entry in entries)
    files = len({entry.path for entry in entries})
    return MigrateResult(files, dict(sorted(decisions.items())), entries, left_out(paths))


def _ingested(result: IngestResult) -> str:
    counted = [plural(result.files, "file read", "files read"), plural(result.episodes, "new episode")]
    return f"{', '.join([*counted, plural(result.requests, 'request', 'requests')])} to remember."


def _present_ingest(result: IngestResult) -> Presentation:
    blocks: list[Block] = []
    next_steps: list[str] = []
    if not result.files:
        blocks.append(PresentedEntry("No transcripts were found in:", tuple(map(Text, result.places))))
        next_steps.append("Name files or folders: picomem ingest PATH…")
    else:
        blocks += map(Sentence, _read(result))
        if set(result.decisions) - {"refuse"}:
            next_steps.append(
                f"`picomem changes --run {result.run}` shows them, `picomem undo {result.run}` takes them back."
            )
    if result.skipped:
        reasons = sorted(result.skipped.items(), key=lambda reason_and_count: -reason_and_count[1])
        blocks.append(Text(f"Passed over: {counts(reasons, number_first=False)}."))
    warnings = result.problems[:_MOST_PROBLEMS]
    if len(result.problems) > _MOST_PROBLEMS:
        warnings.append(f"and {len(result.problems) - _MOST_PROBLEMS:,} more; --json lists them all.")
    return Presentation(blocks=tuple(blocks), warnings=tuple(warnings), next_steps=tuple(next_steps))


def _read(result: IngestResult) -> list[str]:
    hosts = ", ".join(f"{count:,} of {host}" for host, count in result.hosts.items())
    sentences = [
        f"{plural(result.files, 'transcript')} ({hosts}), {result.unchanged:,} unchanged.",
        f"Read {result.bytes / 1e6:,.1f} MB: {plural(result.turns, 'turn')}, "
        f"{plural(result.episodes, 'new episode')}, {result.updated:,} grown or moved, "
        f"{result.repeated:,} known already.",
    ]
    if result.requests:
        became = counts(sorted(result.decisions.items()))
        sentences.append(f"{plural(result.requests, 'request')} to remember went through the gate: {became}.")
    if result.suggestions and (result.episodes or result.updated):
        sentences.append(f"{plural(result.suggestions, 'sentence')} may be worth remembering: `picomem suggestions`.")
    if result.redacted:
        sentences.append(f"{plural(result.redacted, 'secret was', 'secrets were')} redacted.")
    if result.kept:
        sentences.append(f"{plural(result.kept, 'transcript')} copied, to be kept when the original is deleted.")
    for count, verb in ((result.withheld, "withheld"), (result.released, "released")):
        if count:
            sentences.append(f"{plural(count, 'transcript')} {verb}, as the host's send policy says.")
    if result.rewritten:
        sentences.append(f"{plural(result.rewritten, 'transcript')} had been rewritten and was read anew.")
    return sentences


def _present_withheld(result: WithholdResult) -> Presentation:
    verb = "released" if result.released else "withheld"
    return Presentation(blocks=(Sentence(f"{plural(result.transcripts, 'transcript')} {verb}."),))


def _present_tagged(result: TagResult) -> Presentation:
    tags = " ".join(f"#{tag}" for tag in result.tags) or "no tags"
    return Presentation(blocks=(Sentence(f"Episode {result.episode[:13]}: {tags}."),))


def _present_migrated(result: MigrateResult) -> Presentation:
    rows = tuple(
        ("left", f"line {entry.line}: {entry.reason}") if entry.decision == "refuse" else (entry.decision, entry.key)
        for entry in result.entries
    )
    blocks: list[Block] = [Table(("decision", "entry"), rows)] if rows else []
    blocks.append(Sentence(f"{plural(result.files, 'file')}: {counts(result.decisions) or 'no entries'}."))
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.left_out))


OPERATIONS = (
    Operation(
        name="ingest",
        group="use",
        run=ingest,
        present=_present_ingest,
        reply=_ingested,
        permission="memory:write:user",
        example="picomem ingest ~/.claude/projects",
        tool="memory_ingest",
        idempotent=True,
        long=True,
        creates=True,
        exit_code=lambda result: 1 if result.unread else 0,
        reads_local_files=True,
        follow="keep following the files until stopped",
        progress_unit="bytes",
    ),
    Operation(
        name="withhold",
        group="erase",
        run=withhold,
        present=_present_withheld,
        reply=lambda result: f"{result.transcripts} transcripts {'released' if result.released else 'withheld'}.",
        permission="memory:write:session",
        example="picomem withhold 8463c716",
        idempotent=True,
    ),
    Operation(
        name="tag",
        group="correct",
        run=tag,
        present=_present_tagged,
        reply=lambda result: f"Episode {result.episode}: {', '.join(result.tags) or 'no tags'}.",
        permission="memory:write:session",
        example="picomem tag 01a20090-6145 --tag release",
        idempotent=True,
    ),
    Operation(
        name="migrate",
        group="maintain",
        run=migrate,
        present=_present_migrated,
        reply=lambda result: ", ".join(f"{count} {decision}" for decision, count in result.decisions.items()),
        permission="memory:write:user",
        example="picomem migrate ~/.openclaw/workspace/MEMORY.md",
        idempotent=True,
        creates=True,
        exit_code=lambda result: 1 if result.left_out else 0,
        reads_local_files=True,
    ),
)
