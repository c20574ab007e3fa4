"""Opening a pointer: from an episode back to the very messages in the transcript."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from picomem.errors import InvalidInput, NotFound
from picomem.ingest import reader
from picomem.ingest.format import DocumentFormat, format_named
from picomem.policy.redact import Redactor
from picomem.records.episode import Episode, Transcript
from picomem.records.transcript import Turn


@dataclass(frozen=True, slots=True)
class Opened:
    """The messages behind an episode, redacted. `state` is "open", or why they cannot be shown: "gone" (no file
    there), "changed" (the file holds something else at that place now) or "unreadable"."""

    state: str
    turns: tuple[Turn, ...]
    note: str = ""


def open_episode(episode: Episode, transcript: Transcript | None, redactor: Redactor) -> Opened:
    """Read the span of an episode from its transcript."""
    if transcript is None:
        return Opened("gone", (), "The record of the transcript is gone; only the preview is left.")
    path = Path(transcript.path)
    try:
        turns = _read(episode, transcript, path)
    except NotFound:
        return Opened("gone", (), f"The transcript {path} is gone; only the preview is left.")
    except InvalidInput as error:
        return Opened("unreadable", (), f"{error} Only the preview is left.")
    turns = [replace(turn, text=redactor.redact(turn.text).text) for turn in turns]
    if episode.preview not in "\n".join(turn.text for turn in turns):
        return Opened("changed", (), f"The transcript {path} was rewritten; only the preview is left.")
    return Opened("open", tuple(turns))


def _read(episode: Episode, transcript: Transcript, path: Path) -> list[Turn]:
    form = format_named(transcript.host)
    if isinstance(form, DocumentFormat):
        for info, turns, _ in form.sessions(path):
            if info.session == transcript.session:
                return turns[episode.first_turn : episode.last_turn + 1]
        return []
    state = form.start(path)
    span = takewhile(lambda line: line.offset < episode.end, reader.lines(path, episode.start))
    turns = [turn for line in span for turn in form.feed(state, line)]
    return [replace(turn, index=episode.first_turn + number) for number, turn in enumerate(turns)]
