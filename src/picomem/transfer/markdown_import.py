"""Markdown memory as typed entries: `MEMORY.md`, `USER.md`, `memory/**/*.md`. All but `migrate_file` is pure.

    file → headings, list items and paragraphs → one offer each, with the heading as tag → the gate

What hosts write beside an entry is understood: OpenClaw's `<!-- importance: 9 -->`, `<!-- project: … -->` and
`<!-- observed: 2026-07-27 | status: active -->` (an entry that is `superseded` is left behind), a day in the file's
name, nanobot's `[YYYY-MM-DD HH:MM]` before an entry. Code, tables, quotations and front matter are no memories.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from datetime import tzinfo
from pathlib import Path

from picomem.clock import Micros, parse_iso
from picomem.errors import InvalidInput, InvalidTime, NotFound
from picomem.light_dataclass import dataclass, replace
from picomem.memory.decide import Offer
from picomem.memory.remember import Remembered, Writer
from picomem.memory.text_cleaning import Cleaner
from picomem.paths import is_folder, is_regular, read_text, status_of
from picomem.policy.content_kind import kind_of
from picomem.records.kinds import Kind, Origin, Source
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.text.memory_keys import suggest_key

_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t#]*")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.+)")
_COMMENT = re.compile(r"<!--\s*(.{0,500}?)\s*-->", re.DOTALL)
_STAMP = re.compile(r"\[(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d))?\]\s*")
_DAY = re.compile(r"(?<!\d)(\d{4}-\d\d-\d\d)(?!\d)")
_LARGEST = 4 << 20  # bytes; a larger file is no notes

# What a heading says about what stands under it. The words of an entry itself decide where it says nothing.
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (Kind.PREFERENCE, re.compile(r"(?i)prefer|likes|偏好|喜好")),
    (Kind.INSTRUCTION, re.compile(r"(?i)instruction|rule|guideline|always|convention|规则|约定|指令")),
    (Kind.DECISION, re.compile(r"(?i)decision|decided|决定|决策")),
    (Kind.PROJECT, re.compile(r"(?i)project|status|roadmap|todo|项目|进度")),
    (Kind.INSIGHT, re.compile(r"(?i)lesson|insight|learned|learnt|经验|教训")),
)


@dataclass(frozen=True, slots=True)
class MarkdownEntry:
    """One entry of a Markdown memory. `at` is when it was observed, if the file says so."""

    content: str
    kind: Kind
    tag: str
    importance: float
    project: str
    at: Micros | None
    line: int


def migrate_file(
    tx: Transaction, writer: Writer, scope: Scope, clean: Cleaner, path: Path, zone: tzinfo
) -> list[tuple[MarkdownEntry, Remembered]]:
    """Offer each entry of a file to memory; what became of each. What is known already is merged."""
    entries = read_entries(read_text(path, most=_LARGEST), path.name, zone)
    return [(entry, writer.remember(tx, offer_of(entry, scope, clean, writer.now))) for entry in entries]


def offer_of(entry: MarkdownEntry, scope: Scope, clean: Cleaner, now: Micros) -> Offer:
    """An entry as an offer. Hosts let their agents write these files, so it is an agent's, and must be worth it."""
    content = clean.text(entry.content)
    return Offer(
        scope=clean.owner(scope.narrowed(project=clean.text(entry.project)[:200])),
        content=content,
        kind=entry.kind,
        key=suggest_key(content, entry.kind.value),
        key_given=False,
        kind_given=True,
        importance=entry.importance,
        importance_given=entry.importance != 0.5,
        tags=clean.names([entry.tag], "tag"),
        origin=Origin.AGENT,
        source=Source.MIGRATION,
        valid_from=None if entry.at is None else min(entry.at, now),  # clocks elsewhere may be wrong
        explicit=False,
    )


def read_entries(text: str, name: str, zone: tzinfo) -> list[MarkdownEntry]:
    """The entries of a file called `name`, in order."""
    day = _DAY.search(name)
    base = _moment(day.group(1), "", zone) if day else None
    entries: list[MarkdownEntry] = []
    heading = ""
    for line, block, title in _blocks(text):
        if title:
            heading = title
            continue
        entry = _entry(block, heading, base, line, zone)
        if entry is not None:
            entries.append(entry)
    return entries


def markdown_files(paths: list[Path]) -> list[Path]:
    """The Markdown files among these files and folders. Raises NotFound for a path that is not there, and InvalidInput
    for one that holds none."""
    gathered: list[Path] = []
    for path in paths:
        if status_of(path) is None:
            raise NotFound(f"There is no file or folder {path}; name MEMORY.md or the folder that holds it.")
        try:
            files = markdown_below(path) if is_folder(path) else [path] if is_regular(path) else []
        except OSError as error:
            raise InvalidInput(f"{path} cannot be searched for Markdown files: {error.strerror}.") from error
        files = [file for file in files if not file.is_symlink() and _is_note(file)]
        if not files:
            raise InvalidInput(f"{path} is not a Markdown file and contains none; name MEMORY.md or its folder.")
        gathered += files
    return list(dict.fromkeys(gathered))


def markdown_below(folder: Path) -> list[Path]:
    """The Markdown files below a folder, by name, without those that nobody keeps as notes (`is_of_a_program`)."""
    files: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not is_of_a_program(name)]
        files += [Path(place) / name for name in names if name.endswith(".md")]
    return sorted(files)


def is_of_a_program(folder: str) -> bool:
    """Return whether a folder of this name holds a program's files: its trash and its settings, or a package."""
    return folder.startswith(".") or folder == "node_modules"


def left_out(paths: Iterable[Path]) -> list[str]:
    """The Markdown files in these folders that are not taken over, and why."""
    files = sorted({file for path in paths if is_folder(path) for file in markdown_below(path)})
    links = [file for file in files if file.is_symlink()]
    large = [file for file in files if file not in links and is_regular(file) and not _is_note(file)]
    return [
        *(f"{file} is larger than {_LARGEST >> 20} MiB; split it." for file in large),
        *(f"{file} is a link; name the file that it leads to." for file in links),
    ]


def _is_note(file: Path) -> bool:
    status = status_of(file)
    return status is not None and stat.S_ISREG(status.st_mode) and status.st_size <= _LARGEST


def _blocks(text: str) -> Iterator[tuple[int, str, str]]:
    """(line, text, heading): list items with the lines that belong to them, and paragraphs."""
    fenced = front = False
    pending: list[str] = []
    first = 0
    for number, line in enumerate([*text.replace("\r\n", "\n").split("\n"), ""], 1):
        stripped = line.strip()
        if number == 1 and stripped == "---":
            front = True
            continue
        if front:
            front = stripped != "---"
            continue
        fence = stripped.startswith(("```", "~~~"))
        heading = _HEADING.fullmatch(stripped)
        item = _ITEM.fullmatch(line)
        ends = fence or fenced or heading or item or not stripped or stripped.startswith(("|", ">"))
        if ends and pending:
            yield first, " ".join(pending), ""
            pending = []
        if fence:
            fenced = not fenced
        elif fenced or stripped.startswith(("|", ">")):
            continue
        elif heading:
            yield number, "", heading.group(2)
        elif item or stripped:
            if not pending:
                first = number
            pending.append(item.group(1).strip() if item else stripped)


def _entry(block: str, heading: str, base: Micros | None, line: int, zone: tzinfo) -> MarkdownEntry | None:
    notes = dict(
        part.split(":", 1) for comment in _COMMENT.findall(block) for part in comment.split("|") if ":" in part
    )
    notes = {name.strip().lower(): value.strip() for name, value in notes.items()}
    content = " ".join(_COMMENT.sub(" ", block).split())
    stamp = _STAMP.match(content)
    if stamp:
        base = _moment(stamp.group(1), stamp.group(2) or "", zone) or base
        content = content[stamp.end() :]
    if not content or notes.get("status") == "superseded":
        return None
    observed = _moment(notes.get("observed", ""), "", zone)
    entry = MarkdownEntry(
        content, kind_of(content), _tag(heading), 0.5, notes.get("project", ""), observed or base, line
    )
    if entry.kind is Kind.FACT:
        entry = replace(entry, kind=next((kind for kind, words in _KINDS if words.search(heading)), Kind.FACT))
    if notes.get("importance", "").isdigit():
        entry = replace(entry, importance=min(10, int(notes["importance"])) / 10)
    return entry


def _moment(day: str, clock: str, zone: tzinfo) -> Micros | None:
    if not day:
        return None
    try:
        return parse_iso(f"{day}T{clock}" if clock else day, zone)
    except InvalidTime:
        return None


def _tag(heading: str) -> str:
    return re.sub(r"[^\w]+", "-", heading.lower()).strip("-")[:64]
