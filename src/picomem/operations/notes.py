"""Two operations on notes, with the tool names, parameters and results that OpenClaw's agents know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.engine.audience import cites_sources
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, NotFound, StoreError
from picomem.light_dataclass import dataclass
from picomem.operations.inert_results import fenced, fenced_turn
from picomem.operations.operation import Operation, option
from picomem.operations.presentation import Presentation, PresentedEntry, Sentence, Text, Verbatim
from picomem.records.caller import READ_SESSIONS, SESSIONS_NOT_READ
from picomem.records.hit import Hit
from picomem.records.kinds import Origin

if TYPE_CHECKING:
    from picomem.notes.note_search import NoteHit

_MOST_RESULTS = 50
_EXIT_CODES = {"not_found": NotFound.exit_code, "error": InvalidInput.exit_code}  # by status
_NO_WIKI = "There is no wiki here; the corpora are memory (the notes) and sessions."


@dataclass(frozen=True, slots=True)
class SearchNotesRequest:
    query: str = option("the question, in any words", positional=True, free_text=True)
    max_results: int = option(
        f"results at most, up to {_MOST_RESULTS}", 6, short="-n", tool="maxResults", least=1, most=_MOST_RESULTS
    )
    min_score: float = option("minimum score, 0–1", 0.25, tool="minScore", least=0, most=1)
    corpus: str = option(
        "where to look: notes (memory), past sessions, or all", "memory", choices=("memory", "wiki", "all", "sessions")
    )


@dataclass(frozen=True, slots=True)
class NoteView:
    """One result. `path` and the lines open it with memory_get; of a past session they are its episode, which
    memory_show opens, and its turns."""

    path: str
    startLine: int  # noqa: N815 - OpenClaw's names
    endLine: int  # noqa: N815
    score: float
    snippet: str
    source: str
    citation: str
    heading: str
    origin: str


@dataclass(frozen=True, slots=True)
class SearchNotesResult:
    """Best first. `searchMode` is "fts-only" or, where a vector took part, "hybrid"; `warning` says what could not be
    searched."""

    provider: str
    searchMode: str  # noqa: N815
    results: list[NoteView]
    warning: str


def search_notes(engine: Engine, request: SearchNotesRequest) -> SearchNotesResult:
    """Search the Markdown notes of the configured workspaces: MEMORY.md, memory/**/*.md and extra paths.

    Ask memory_recall first; this is for what is written in notes only. Changed files are read before it answers.
    """
    results: list[NoteView] = []
    warnings: list[str] = []
    cited = cites_sources(engine)
    if request.corpus in ("memory", "all"):
        answer = engine.search_notes(request.query, limit=request.max_results, min_score=request.min_score)
        results += [_note_view(hit, cited) for hit in answer.hits]
        warnings += answer.warnings
    if request.corpus in ("sessions", "all") and not engine.caller.may(READ_SESSIONS):
        warnings.append(SESSIONS_NOT_READ)
    elif request.corpus in ("sessions", "all"):
        try:
            said = engine.recall(
                request.query, limit=request.max_results, include_memories=False, include_notes=False
            ).hits
            results += [_session_view(hit, cited) for hit in said if hit.score >= request.min_score]
        except StoreError as error:
            warnings.append(f"Past sessions were not searched: {error}")
    if request.corpus == "wiki":
        warnings.append(_NO_WIKI)
    results.sort(key=lambda result: -result.score)
    hybrid = request.corpus in ("sessions", "all") and engine.embedder_name != "none"
    return SearchNotesResult(
        engine.embedder_name, "hybrid" if hybrid else "fts-only", results[: request.max_results], " ".join(warnings)
    )


@dataclass(frozen=True, slots=True)
class ReadNoteRequest:
    path: str = option("the note's path, as memory_search gives it", positional=True)
    first_line: int = option("the first line, counted from 1", 1, tool="from", least=1)
    lines: int | None = option("maximum number of lines (default: as many as one call returns)", None, least=1)
    corpus: str = option("where it lies", "memory", choices=("memory", "wiki", "all"))


@dataclass(frozen=True, slots=True)
class ReadNoteResult:
    """`status` is "ok"; or "not_found" or "error", with a `message`. Where it is `truncated`, `nextFrom` is the line
    at which to go on, if there is one; a line that is too long ends with a mark that says where the rest is."""

    status: str
    path: str
    text: str
    startLine: int  # noqa: N815
    lines: int
    truncated: bool
    nextFrom: int | None  # noqa: N815
    message: str
    origin: str


def read_note(engine: Engine, request: ReadNoteRequest) -> ReadNoteResult:
    """Read lines of a note, from the file itself, by the path that memory_search gives."""
    try:
        if request.corpus == "wiki":
            raise NotFound(_NO_WIKI)
        excerpt = engine.read_note(request.path, first_line=request.first_line, lines=request.lines)
    except (InvalidInput, NotFound) as error:
        status = "not_found" if isinstance(error, NotFound) else "error"
        return ReadNoteResult(status, request.path, "", request.first_line, 0, False, None, str(error), Origin.OTHER)
    more = excerpt.more_from
    return ReadNoteResult(
        status="ok",
        path=excerpt.name,
        text=excerpt.text,
        startLine=excerpt.first_line,
        lines=excerpt.lines,
        truncated=more is not None or excerpt.cut,
        nextFrom=more,
        message="",
        origin=Origin.OTHER,
    )


def _note_view(hit: NoteHit, cited: bool) -> NoteView:
    section = hit.section
    return NoteView(
        path=hit.name,
        startLine=section.first_line,
        endLine=section.last_line,
        score=hit.score,
        snippet=section.text,
        source="memory",
        citation=hit.citation if cited else "",
        heading=section.heading,
        origin=Origin.OTHER.value,
    )


def _session_view(hit: Hit, cited: bool) -> NoteView:
    first, last = hit.turns or (0, 0)
    return NoteView(
        path=f"episode:{hit.id}",
        startLine=first + 1,
        endLine=last + 1,
        score=hit.score,
        snippet=hit.text,
        source="sessions",
        citation=hit.citation if cited else "",
        heading="",
        origin=hit.origin.value,
    )


def _searched(result: SearchNotesResult) -> str:
    lines = [
        f"- {note.path}#L{note.startLine}-L{note.endLine} [score: {note.score:.2f}]: "
        + fenced_turn(note.snippet, note.origin)
        for note in result.results
    ]
    head = f"Found {len(lines)} notes:" if lines else "No matching notes found."
    return "\n".join([head, *lines, *([result.warning] if result.warning else [])])


def _read(result: ReadNoteResult) -> str:
    if result.status != "ok":
        return f"{result.status}: {result.message}"
    more = f"\n(more from line {result.nextFrom})" if result.nextFrom else ""
    return fenced(result.text, result.origin) + more


def _present_found_notes(result: SearchNotesResult) -> Presentation:
    entries = tuple(_entry(number, note) for number, note in enumerate(result.results, 1))
    return Presentation(
        blocks=entries or (Sentence("Nothing was found."),), warnings=(result.warning,) if result.warning else ()
    )


def _entry(number: int, note: NoteView) -> PresentedEntry:
    heading = f"{note.path}  line {note.startLine}" + (f"  ({note.heading})" if note.heading else "")
    return PresentedEntry(heading, (Text(note.snippet), Text(f"{note.score:.2f}")), number)


def _present_note_lines(result: ReadNoteResult) -> Presentation:
    if result.status != "ok":
        return Presentation(blocks=(Sentence(result.message),))
    more = f"(--first-line {result.nextFrom} goes on)"
    return Presentation(blocks=(Verbatim(result.text),), next_steps=(more,) if result.nextFrom else ())


OPERATIONS = (
    Operation(
        name="search-notes",
        group="use",
        run=search_notes,
        present=_present_found_notes,
        reply=_searched,
        permission="memory:read:user",
        example='picomem search-notes "which port does staging use?"',
        tool="memory_search",
        read_only=True,
        idempotent=True,
        of_notes=True,
    ),
    Operation(
        name="read-note",
        group="use",
        run=read_note,
        present=_present_note_lines,
        reply=_read,
        permission="memory:read:user",
        example="picomem read-note memory/2026-05-03.md --first-line 10 --lines 20",
        tool="memory_get",
        read_only=True,
        idempotent=True,
        of_notes=True,
        exit_code=lambda result: _EXIT_CODES.get(result.status, 0),
    ),
)
