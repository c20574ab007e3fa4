"""Searches notes by their text, and opens them by name. `sections` splits them.

    files → listed → those that changed: opened → redacted → sections → the store, by words → hits

The files are the truth and belong to the person, so nothing here writes to them. Before a search the folders are
listed again and changed files are read; files that are gone or no longer configured are removed from the store.

If the store cannot be opened, read or written, the files themselves are searched, in memory, with the same scores.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property

from picomem.clock import Micros, parse_iso
from picomem.coded_text import CodedText
from picomem.errors import InvalidInput, InvalidTime, NotFound, StoreError
from picomem.light_dataclass import dataclass, field
from picomem.notes import safe_opening
from picomem.notes.sections import NotesFolder, place_of, places, sections, text_of
from picomem.policy.redact import Redactor
from picomem.recall.hits import asked_word
from picomem.recall.lexical_search import idf
from picomem.recall.question import Question
from picomem.records.ids import content_hash
from picomem.records.note import NoteFile, PlacedSection, Section
from picomem.records.scope import Scope
from picomem.settings_tables import NotesSettings
from picomem.store import search
from picomem.store.connector import BRIEF_WAIT, Connector, Transaction
from picomem.store.search import K1, SATURATION, B
from picomem.store.tables import note_rows as rows
from picomem.store.tables.note_rows import named
from picomem.text.terms import terms
from picomem.text.tokens import count_tokens
from picomem.version import __version__

# Ranks sections of notes for a question, by words. Pure.
#
# A section's score is the share of the question that it covers, with words weighted by their rarity among the notes
# (BM25's idf, as in recall): 1 for a section that contains all of it. If no word is found, the text of the question is
# searched as a substring.

NAME_WEIGHT = 2.0  # of a word in a heading or a file's name, beside one in the text
SUBSTRING_SCORE = 0.4  # a string that occurs somewhere inside other words says little


@dataclass(frozen=True, slots=True)
class Ranked:
    """One section by its number, with what made it a hit."""

    doc: int
    score: float
    why: str


def rank(question: Question, postings: Mapping[str, Mapping[int, float]], total: int) -> list[Ranked]:
    """The sections that hold terms of the question, the best first. `postings` has, by term, how much of it each
    section has (0–2.2)."""
    weights = {term: idf(total, len(postings.get(term, {}))) for term in (*question.terms, *postings)}
    whole = sum(weights.values())
    asked = question.written_words
    held: dict[int, dict[str, float]] = {}
    for term, scores in postings.items():
        for doc, score in scores.items():
            held.setdefault(doc, {})[term] = score
    order = []
    for doc, parts in held.items():
        covered = sum(weights[term] * min(1.0, score) for term, score in parts.items())
        much = sum(weights[term] * score for term, score in parts.items())
        heaviest = sorted(parts, key=lambda term: -weights[term])[:5]
        named = ", ".join(dict.fromkeys(asked_word(term, asked) for term in heaviest))
        order.append((covered, much, Ranked(doc, round(covered / whole, 4), f"words: {named}")))
    order.sort(key=lambda row: (-row[2].score, -row[1], row[2].doc))
    return [ranked for _, _, ranked in order]


def of_the_time(question: Question, paths: Iterable[tuple[int, str]]) -> dict[str, dict[int, float]]:
    """Sections (number and path) of files that are named after a day in the time that the question asks for, as if
    that time were a word in them: agents keep a file a day, and do not repeat the date in it."""
    time = question.time
    if time.window is None or not time.certain:
        return {}
    since, until = time.window.since, time.window.until
    scores = {doc: 1.0 for doc, path in paths if any(since <= noon < until for noon in _noons(path))}
    return {time.phrase: scores} if scores else {}


def _noons(path: str) -> Iterator[Micros]:
    """The days in a file's name, each by its noon in UTC, which lies in that day almost everywhere."""
    for day in re.findall(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)", path):
        try:
            yield parse_iso(f"{day}T12:00")
        except InvalidTime:
            continue


def by_substring(docs: Sequence[int]) -> list[Ranked]:
    return [Ranked(doc, SUBSTRING_SCORE, "contains the question") for doc in docs]


class UnindexedSections:
    """Sections that are in no index: what full text would say of them, from their text."""

    def __init__(self, sections: Sequence[PlacedSection]) -> None:
        self._sections = sections

    def postings(self, term: str, *, prefix: bool) -> dict[int, float]:
        scores: dict[int, float] = {}
        for number, (name, body, length) in enumerate(self._counted):
            frequency = NAME_WEIGHT * _frequency(name, term, prefix) + _frequency(body, term, prefix)
            if frequency:
                long = 1 - B + B * length / self._average
                scores[number] = frequency * SATURATION / (frequency + K1 * long)
        return scores

    def containing(self, text: str) -> list[int]:
        folded = text.lower()
        return [number for number, placed in enumerate(self._sections) if folded in placed.section.text.lower()]

    @cached_property
    def _counted(self) -> list[tuple[Counter[str], Counter[str], int]]:
        counted = []
        for placed in self._sections:
            name, body = terms(named(placed.path, placed.section)), terms(placed.section.text)
            counted.append((Counter(name), Counter(body), len(name) + len(body)))
        return counted

    @cached_property
    def _average(self) -> float:
        return sum(length for _, _, length in self._counted) / len(self._counted) or 1.0


def _frequency(counts: Counter[str], term: str, prefix: bool) -> int:
    if not prefix:
        return counts[term]
    return sum(count for word, count in counts.items() if word.startswith(term))


MOST_FILES = 10_000  # in all folders together
MOST_LINES = 400  # that one call of `read` returns
MOST_CHARACTERS = 40_000  # of them together; a longer line is cut
_BATCH = 32  # files that are stored in one transaction
_SETTLED = 2_000_000_000  # nanoseconds after which a file that is written to once more has another time


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A section that answers; `name` and its lines are the pointer that opens it."""

    name: str
    section: Section
    score: float
    why: str
    tokens: int
    modified_at: Micros

    @property
    def citation(self) -> str:
        first, last = self.section.first_line, self.section.last_line
        return f"{self.name}#L{first}" + (f"-L{last}" if last > first else "")


@dataclass(slots=True)
class NoteSearch:
    """`searched` is "index", or "files" where the store was of no use; `warnings` say so, and what could not be
    read."""

    hits: list[NoteHit] = field(default_factory=list)
    searched: str = "index"
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a note. `more_from` is the line at which to go on, if there is more; `cut` says that the line is too
    long to be returned whole."""

    name: str
    text: str
    first_line: int
    lines: int
    more_from: int | None
    cut: bool = False


_Cut = tuple[NoteFile, list[Section]]


class Notes:
    """The notes of one user."""

    def __init__(
        self, connector: Connector, scope: Scope, redactor: Callable[[], Redactor], settings: NotesSettings
    ) -> None:
        self._connector = connector
        self._scope = scope
        self._redactor = redactor
        self._places = places(settings.paths, settings.extra_paths)

    def search(self, question: Question, limit: int, min_score: float) -> NoteSearch:
        """The sections that answer, the best first. Raises nothing: without a store it searches the files."""
        result = NoteSearch()
        try:
            result.warnings = self._refresh()
            with self._connector.read() as tx:
                ranked = [match for match in self._ranked(tx, question) if match.score >= min_score][:limit]
                placed = rows.by_docs(tx, self._scope, [match.doc for match in ranked])
                times = {(file.root, file.path): file.modified_at for file in rows.files(tx, self._scope)}
            redact = self._redactor().redact  # what was stored before a rule existed
            result.hits = [self._hit(match, placed[match.doc], times, redact) for match in ranked]
        except StoreError as error:
            result = self._search_files(question, limit, min_score)
            result.warnings.insert(0, CodedText("warning.notes_without_the_store", error=error.message))
        return result

    def _refresh(self) -> list[str]:
        """Bring the store in step with the files; what could not be read, a sentence each. Raises StoreError."""
        listed = {(str(place.folder), "/".join(file.parts)): (place, file) for place, file in self._listed()}
        with self._connector.read() as tx:
            known = {(file.root, file.path): file for file in rows.files(tx, self._scope)}
        gone = [key for key in known if key not in listed]
        if gone:
            with self._connector.write(self._scope, wait_seconds=BRIEF_WAIT) as tx:
                for root, path in gone:
                    rows.delete(tx, self._scope, root, path)
        problems: list[str] = []
        changed = [key for key in listed if key not in known or known[key].stamp != _stamp(listed[key][1])]
        redactor = self._redactor() if changed else None
        for start in range(0, len(changed), _BATCH):
            batch = [listed[key] for key in changed[start : start + _BATCH]]
            self._store(self._read_batch(batch, redactor, problems), known)  # type: ignore[arg-type]
        return problems

    def holding(self, tells: Callable[[bytes], object]) -> list[str]:
        """The files whose text has something that `tells` finds; one that cannot be read is left out."""
        paths = []
        redactor = self._own_redactor()
        for place, file in self._listed():
            with suppress(InvalidInput, NotFound):
                _, text = _text(place, file.parts, redactor)
                if tells(text.encode()) or tells(text.casefold().encode()):
                    paths.append(str(place.folder.joinpath(*file.parts)))
        return paths

    def read(self, name: str, first_line: int = 1, lines: int | None = None) -> Excerpt:
        """Lines of a note, from the file itself. Raises NotFound, or InvalidInput for what is no note's name."""
        if first_line < 1 or (lines is not None and lines < 1):
            raise InvalidInput("Line numbers begin at 1, and at least one line must be requested.")
        place, parts = place_of(name, self._places)
        _, text = _text(place, parts, self._own_redactor())
        every = text.split("\n")
        if every[-1] == "":
            every.pop()  # what ends in a line feed has no line after it
        if first_line > max(1, len(every)):
            raise InvalidInput(f"{name} has {len(every)} lines, so none from {first_line} on.")
        end = first_line - 1 + min(lines or MOST_LINES, MOST_LINES)
        taken = _fitting(every[first_line - 1 : end])
        after = first_line + len(taken)
        more_from = after if after <= len(every) else None
        cut = bool(taken) and len(taken[0]) > MOST_CHARACTERS
        if cut:
            file = place.folder.joinpath(*parts)
            mark = f" … [line {first_line} has {len(taken[0]):,} characters and is cut here; the rest is in {file}]"
            taken = [taken[0][:MOST_CHARACTERS] + mark]
        return Excerpt(name, "\n".join(taken), first_line, len(taken), more_from, cut)

    def _listed(self) -> Iterator[tuple[NotesFolder, safe_opening.Listed]]:
        """Every note there is, each once though two folders hold it."""
        seen: set[tuple[int, int]] = set()
        for place in self._places:
            for file in safe_opening.listing(place.folder, place.enters, place.holds):
                if file.inode and (file.device, file.inode) in seen:
                    continue
                seen.add((file.device, file.inode))
                if len(seen) > MOST_FILES:
                    return
                yield place, file

    def _read_batch(
        self, batch: Sequence[tuple[NotesFolder, safe_opening.Listed]], redactor: Redactor, problems: list[str]
    ) -> list[_Cut]:
        """Files as they are to be stored; one that cannot be read has nothing to say any more."""
        ready = []
        for place, listed in batch:
            try:
                ready.append(_cut(place, listed.parts, redactor))
            except (InvalidInput, NotFound) as error:
                problems.append(str(error))
                file = NoteFile(root=str(place.folder), path="/".join(listed.parts), stamp="", modified_at=0)
                ready.append((file, []))
        return ready

    def _store(self, ready: Sequence[_Cut], known: dict[tuple[str, str], NoteFile]) -> None:
        """Store what differs from what is known; in one transaction, and in none where nothing does."""
        fresh: list[tuple[NoteFile, list[tuple[Section, int]]]] = []
        touched: list[NoteFile] = []
        for file, cut in ready:
            before = known.get((file.root, file.path))
            if before is None or before.content_hash != file.content_hash:
                fresh.append((file, [(section, count_tokens(section.text)) for section in cut]))
            elif before.stamp != file.stamp:
                touched.append(file)
        if not fresh and not touched:
            return
        with self._connector.write(self._scope, wait_seconds=BRIEF_WAIT) as tx:
            for file, counted in fresh:
                rows.put(tx, self._scope, file, counted)
            for file in touched:
                rows.restamp(tx, self._scope, file)

    def _ranked(self, tx: Transaction, question: Question) -> list[Ranked]:
        total = rows.count(tx, self._scope)
        index = search.of(tx)
        whole = [(term, 1.0) for term in question.terms if term not in question.single]
        scores = dict(zip(dict(whole), index.scores(self._scope, "note", whole), strict=True))
        postings = {
            term: scores[term] if term in scores else index.scores_of_prefix(self._scope, "note", term, 1.0)
            for term in question.terms
        }
        if question.time.window is not None:
            postings |= of_the_time(question, rows.paths(tx, self._scope))
        if any(postings.values()):
            return rank(question, postings, total)
        wanted = question.about.strip()
        return by_substring(rows.containing(tx, self._scope, wanted, 50)) if 0 < len(wanted) <= 200 else []

    def _search_files(self, question: Question, limit: int, min_score: float) -> NoteSearch:
        result = NoteSearch(searched="files")
        redactor = self._own_redactor()
        loose: list[PlacedSection] = []
        times: dict[tuple[str, str], Micros] = {}
        for place, listed in self._listed():
            try:
                file, cut = _cut(place, listed.parts, redactor)
            except (InvalidInput, NotFound) as error:
                result.warnings.append(str(error))
                continue
            times[file.root, file.path] = file.modified_at
            loose += [PlacedSection(root=file.root, path=file.path, section=section) for section in cut]
        index = UnindexedSections(loose)
        postings = {term: index.postings(term, prefix=term in question.single) for term in question.terms}
        postings |= of_the_time(question, ((number, placed.path) for number, placed in enumerate(loose)))
        wanted = question.about.strip()
        if any(postings.values()):
            ranked = rank(question, postings, len(loose))
        else:
            ranked = by_substring(index.containing(wanted)) if 0 < len(wanted) <= 200 else []
        kept = [match for match in ranked if match.score >= min_score][:limit]
        result.hits = [self._hit(match, loose[match.doc], times, redactor.redact) for match in kept]
        return result

    def _hit(
        self, ranked: Ranked, placed: PlacedSection, times: dict[tuple[str, str], Micros], redact: Callable
    ) -> NoteHit:
        place = next(candidate for candidate in self._places if str(candidate.folder) == placed.root)
        section = placed.section
        safe = Section(section.heading, section.first_line, section.last_line, redact(section.text).text)
        tokens = placed.tokens or count_tokens(safe.text)
        name = place.name(tuple(placed.path.split("/")))
        return NoteHit(name, safe, ranked.score, ranked.why, tokens, times.get((placed.root, placed.path), 0))

    def _own_redactor(self) -> Redactor:
        """The store's; without a store one with a key of the moment, whose fingerprints can be linked to nothing."""
        try:
            return self._redactor()
        except StoreError:
            return Redactor(os.urandom(32))


def _fitting(lines: Sequence[str]) -> list[str]:
    """As many of the first lines as one answer may hold, but at least one."""
    taken: list[str] = []
    room = MOST_CHARACTERS
    for line in lines:
        room -= len(line) + 1
        if room < 0 and taken:
            break
        taken.append(line)
    return taken


def _cut(place: NotesFolder, parts: safe_opening.Parts, redactor: Redactor) -> _Cut:
    """A file and its sections, as they may be stored. Raises NotFound or InvalidInput."""
    listed, text = _text(place, parts, redactor)
    file = NoteFile(
        root=str(place.folder),
        path="/".join(parts),
        stamp=_stamp(listed) if time.time_ns() - listed.modified > _SETTLED else "",
        modified_at=listed.modified // 1_000,
        content_hash=content_hash(text),
    )
    return file, sections(text)


def _text(place: NotesFolder, parts: safe_opening.Parts, redactor: Redactor) -> tuple[safe_opening.Listed, str]:
    """The text of a note, redacted, with unchanged line numbers. Raises NotFound or InvalidInput."""
    data, listed = safe_opening.read(place.folder, parts)
    text = text_of(data)
    if text is None:
        raise InvalidInput(f"{place.name(parts)} is not text, so it is not read.")
    redacted = redactor.redact(text)
    if not any("\n" in text[finding.start : finding.end] for finding in redacted.findings):
        return listed, redacted.text
    pieces: list[str] = []
    last = 0
    for finding in redacted.findings:
        pieces += (text[last : finding.start], finding.mark, "\n" * text.count("\n", finding.start, finding.end))
        last = finding.end
    return listed, "".join((*pieces, text[last:]))


def _stamp(listed: safe_opening.Listed) -> str:
    """A newer program may know more secrets and cut sections otherwise, so its version stands in it."""
    return f"{__version__} {listed.stamp}"
