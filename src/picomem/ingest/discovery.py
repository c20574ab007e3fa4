"""Finds the transcripts of hosts: their default folders, and the files of a folder that are transcripts.

Folders are walked without following symbolic links, so there are no loops and nothing outside the named folder is
read; a folder or file that is itself named may be a link. An unreadable file is reported and is never fatal. In a
folder, only files with names like those of transcripts are opened; a file that is named is judged by its content
alone.

Transcripts are given in the order in which the sessions began, because what was said later changes what was said
before. A file that names no time at its beginning, and a file of many sessions, stands where it was last written.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from picomem.clock import Micros
from picomem.errors import InvalidInput, NotFound
from picomem.ingest import reader
from picomem.ingest.format import Format, LineFormat, TranscriptFolder, format_of, formats
from picomem.ingest.reader import Line
from picomem.ingest.source import MAGIC, check_database, is_database, look_at, refuse_part_of_database
from picomem.light_dataclass import dataclass, replace
from picomem.paths import is_folder, named_path, status_of

# OpenClaw keeps what was reset or deleted: `<session>.jsonl.deleted.<time>.zst`.
_TRANSCRIPT = re.compile(r"\.jsonl(\.(reset|deleted)\.[\w:.+-]{1,80}?)?(\.zst|\.gz)?$")
_DEEPEST = 40


@dataclass(frozen=True, slots=True)
class FoundTranscript:
    """A transcript and its format; or, with an empty format, what could not be read and why (an empty problem: it
    is no transcript, and nobody said that it was one). `unchanged` says that all of it was read before; of any other
    transcript `begun` is the order."""

    path: Path
    format: str
    problem: str = ""
    unchanged: bool = False
    begun: Micros = 0


def default_places(home: Path, env: Mapping[str, str]) -> list[TranscriptFolder]:
    """The default transcript folders of every host, for this home and environment."""
    return [place for form in formats() for place in form.places(home, env)]


Recognize = Callable[[Path], str]  # the format of a file that was read before and is unchanged; empty for any other


def find(places: Iterable[str | Path | TranscriptFolder], recognize: Recognize = lambda _: "") -> list[FoundTranscript]:
    """The transcripts in the given files and folders, each once, in the order in which they began. What `recognize`
    knows is not opened.

    A default place that does not exist is passed over; a path that a person gave and that is missing,
    cannot be read or is of no known format is in the answer with its problem.
    """
    transcripts: list[FoundTranscript] = []
    for place in places:
        given = not isinstance(place, TranscriptFolder)
        path = Path(place) if given else place.folder
        try:
            path = named_path(str(path))
            folder = is_folder(path)
        except InvalidInput as error:  # no path at all, or a folder above it is closed to us
            transcripts.append(FoundTranscript(path, "", str(error)))
            continue
        if folder:
            transcripts += _in_folder(path, recognize, nested=given or place.nested)
        elif given:
            transcripts.append(_judged(path, recognize))
    # Of two that begin at the same moment one repeats the other: a sub-agent's lies below its session's.
    return sorted(_once(transcripts), key=lambda transcript: (transcript.begun, len(transcript.path.parts)))


def policy_files(folders: Iterable[Path], home: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """The files in which hosts say what may be sent, and which lie outside of these folders of transcripts."""
    for form in formats():
        for folder in folders:
            yield from form.policy_files(folder, home, env)


def listed_names() -> frozenset[str]:
    """Return the names of files that are opened in a folder although they do not end in .jsonl."""
    return frozenset(name for form in formats() for name in form.file_names)


def _in_folder(folder: Path, recognize: Recognize, *, nested: bool) -> Iterator[FoundTranscript]:
    names = listed_names()
    for path, problem in _walk(folder, _DEEPEST, nested=nested):
        if problem:
            yield FoundTranscript(path, "", problem)
        elif _TRANSCRIPT.search(path.name) or path.name in names:
            judged = _judged(path, recognize)
            # In a folder such a file may well be something else: it is counted, and no problem. A `sessions.json`
            # of another format is a host's list of its sessions.
            if judged.problem != _UNCLAIMED:
                yield judged
            elif path.name not in names:
                yield replace(judged, problem="")


_UNCLAIMED = "not a transcript of a known format"


def _judged(path: Path, recognize: Recognize) -> FoundTranscript:
    try:
        if path.name not in listed_names() and (known := recognize(path)):
            return FoundTranscript(path, known, unchanged=True)
        sample = _sample(path)
        form = format_of(path, sample.head)
        if form is None and not sample.is_whole:  # the first messages of a log may come late
            form = format_of(path, reader.sample(path, large=True).head)
    except (InvalidInput, NotFound) as error:
        return FoundTranscript(path, "", str(error))
    if form:
        return FoundTranscript(path, form.name, begun=_begun(form, path, sample.head))
    if reason := other_form(path, sample.head):
        return FoundTranscript(path, "", f"{path} looks like a transcript, but {reason}.")
    if sample.unreadable:
        most = reader.LONGEST >> 20
        return FoundTranscript(
            path, "", f"{path} begins with lines longer than {most} MiB, so its format cannot be told."
        )
    return FoundTranscript(path, "", _UNCLAIMED)


def _begun(form: Format, path: Path, head: bytes) -> Micros:
    """Return when a transcript began, as the first of its lines say it; otherwise when it was last written."""
    if isinstance(form, LineFormat):
        state = form.start()
        for data in head.splitlines():
            turns = form.feed(state, Line(0, len(data), data))
            begun = next((turn.at for turn in turns if turn.at is not None), state.info.started_at)
            if begun is not None:
                return begun
    return look_at(path).written // 1_000


def _sample(path: Path) -> reader.Sample:
    refuse_part_of_database(path)
    if is_database(path):
        check_database(path)
        return reader.Sample(MAGIC, unreadable=False, is_whole=True)
    return reader.sample(path)


def _walk(folder: Path, depth: int, *, nested: bool = True) -> Iterator[tuple[Path, str]]:
    """The regular files under `folder`, or directly in it unless `nested`, by name, and with a reason what could not be
    read."""
    try:
        with os.scandir(folder) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
        for entry in ordered:
            path = folder / entry.name
            if entry.is_dir(follow_symlinks=False):
                if not nested:
                    continue
                if depth:
                    yield from _walk(path, depth - 1)
                else:
                    yield path, "folders are nested too deeply"
            elif entry.is_file(follow_symlinks=False):
                yield path, ""
    except OSError as error:
        yield folder, f"{folder} cannot be read: {error.strerror or error}."


def _once(transcripts: list[FoundTranscript]) -> list[FoundTranscript]:
    """Each file once (whatever its paths), and of a rollout and its compressed copy the plain one."""
    plain = {
        _stem(transcript.path) for transcript in transcripts if transcript.format and not _is_packed(transcript.path)
    }
    seen: set[object] = set()
    kept: list[FoundTranscript] = []
    for transcript in transcripts:
        identity = _identity(transcript.path)
        is_copy = _is_packed(transcript.path) and _stem(transcript.path) in plain
        if identity not in seen and not is_copy:
            seen.add(identity)
            kept.append(transcript)
    return kept


def _is_packed(path: Path) -> bool:
    return path.name.endswith(reader.PACKED)


def _stem(path: Path) -> str:
    """The common part of the paths of a transcript and its compressed copy."""
    name = path.name.removesuffix(".zst").removesuffix(".gz")
    unique = any(form.unique_prefix and name.startswith(form.unique_prefix) for form in formats())
    return name if unique else str(path.with_name(name))


def _identity(path: Path) -> object:
    try:
        status = status_of(path)
    except InvalidInput:
        return path
    return (status.st_dev, status.st_ino) if status and stat.S_ISREG(status.st_mode) else path


# Recognises transcripts in an encoding that is not supported, and names the remedy.
#
# The beginning of the file is converted to lines of UTF-8, and the formats are asked whether they recognise those. So a
# file of numbers in UTF-16 is not a transcript, and a conversation in UTF-16 is one.

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_MOST_ITEMS = 20


def other_form(path: Path, head: bytes) -> str:
    """Describe what is unusual about the transcript that begins with `head` (see `reader.sample`), and how to change
    it; empty where it is no transcript in a form that we know of."""
    for as_lines, reason in _FORMS:
        lines = as_lines(head)
        if lines and format_of(path, lines):
            return reason
    return ""


def _from_utf16(head: bytes) -> bytes:
    """JSON in UTF-16 without its NULs: what is left of other characters than ASCII does not matter to a format."""
    return head[2:].replace(b"\0", b"") if head.startswith(_UTF16) else b""


def _from_carriage_returns(head: bytes) -> bytes:
    return head.replace(b"\r", b"\n") if b"\r" in head else b""


def _from_array(head: bytes) -> bytes:
    """The first items of an array, a line each."""
    text = head.decode("utf-8-sig", "replace").lstrip()
    if not text.startswith("["):
        return b""
    decoder = json.JSONDecoder(strict=False)
    items: list[str] = []
    at = 1
    while len(items) < _MOST_ITEMS:
        at += len(text[at:]) - len(text[at:].lstrip(", \t\r\n"))
        try:
            item, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        items.append(json.dumps(item))
    return "\n".join(items).encode()


_FORMS: tuple[tuple[Callable[[bytes], bytes], str], ...] = (
    (_from_utf16, "it is in UTF-16; change it to UTF-8 (`iconv -f UTF-16 -t UTF-8`)"),
    (_from_carriage_returns, "its lines end in a carriage return alone; change those (`tr '\\r' '\\n'`)"),
    (_from_array, "it is one JSON array; write a line for each of its items (`jq -c '.[]'`)"),
)
