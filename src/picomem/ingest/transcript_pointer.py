"""Opens a pointer: from an episode back to the original messages in the transcript.

The span is read again and compared with the preview, message by message. The messages of the episode must be among
those in the span, which may also contain repeated lines that ingest skipped. So an open pointer shows the right
messages, or nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from picomem.errors import InvalidInput, NotFound
from picomem.ingest.format import DocumentFormat, format_named
from picomem.ingest.reader import PACKED
from picomem.ingest.source import source_of
from picomem.light_dataclass import dataclass, replace
from picomem.policy.redact import Redactor
from picomem.records.episode import Episode, Transcript
from picomem.records.kinds import worst
from picomem.records.transcript import Turn


@dataclass(frozen=True, slots=True)
class Opened:
    """The messages behind an episode, redacted. `state` is "open", or why they cannot be shown: "gone" (no file
    there), "changed" (the file holds something else at that place now) or "unreadable"."""

    state: str
    turns: tuple[Turn, ...]
    note: str = ""


def open_episode(episode: Episode, transcript: Transcript | None, redactor: Redactor, *, whole: bool = False) -> Opened:
    """Read the span of an episode from its transcript: the messages of which it was made, or all that there are, where
    it is damaged and can decide nothing (`whole`)."""
    turns = _turns(episode, transcript, redactor)
    if isinstance(turns, Opened):
        return turns
    turns = turns if whole else _meant(episode, turns)
    if not turns:
        return _changed(transcript)
    # Who said it was told by what stood before in the file, so the episode knows it and the span does not.
    told = {"role": episode.role, "origin": episode.origin, "branch": episode.branch}
    return Opened("open", tuple(replace(turn, index=episode.first_turn + n, **told) for n, turn in enumerate(turns)))


def open_entry(entry: Episode, transcript: Transcript | None, redactor: Redactor) -> Opened:
    """Read the turns of which a consolidation made a timeline entry. Where it read text of others, what the agent says
    in them may be such text: the span alone does not show what stood before it."""
    turns = _turns(entry, transcript, redactor)
    if isinstance(turns, Opened):
        return turns
    if not turns:
        return _changed(transcript)
    told = [
        replace(
            turn,
            index=entry.first_turn + number,
            origin=turn.origin if turn.role == "user" else worst((turn.origin, entry.origin)),
        )
        for number, turn in enumerate(turns)
    ]
    return Opened("open", tuple(told))


def _turns(episode: Episode, transcript: Transcript | None, redactor: Redactor) -> list[Turn] | Opened:
    """The turns in the span of an episode, redacted; or why they cannot be shown."""
    if transcript is None:
        return Opened("gone", (), "The record of the transcript is gone; only the preview is left.")
    try:
        turns = _read(episode, transcript, _path(transcript))
    except NotFound:
        return Opened("gone", (), f"The transcript {transcript.path} is gone; only the preview is left.")
    except InvalidInput as error:
        return Opened("unreadable", (), f"{error} Only the preview is left.")
    return [_redacted(turn, redactor) for turn in turns]


def _changed(transcript: Transcript | None) -> Opened:
    path = _path(transcript) if transcript is not None else ""
    return Opened("changed", (), f"The transcript {path} was rewritten; only the preview is left.")


def _redacted(turn: Turn, redactor: Redactor) -> Turn:
    actions = tuple(redactor.redact(action).text for action in turn.actions)
    return replace(turn, text=redactor.redact(turn.text).text, actions=actions)


def _path(transcript: Transcript) -> Path:
    """The path of the transcript: hosts compress old files, and offsets count decompressed bytes."""
    path = Path(transcript.path)
    if path.exists():
        return path
    compressed = (path.with_name(path.name + ending) for ending in PACKED)
    return next((packed for packed in compressed if packed.exists()), path)


def _read(episode: Episode, transcript: Transcript, path: Path) -> list[Turn]:
    """The turns in the span of an episode."""
    form = format_named(transcript.host)
    if isinstance(form, DocumentFormat):
        every = (turn for _, turns, _ in form.sessions(path) for turn in turns)
        return [turn for turn in every if episode.start <= turn.start < episode.end]
    state = form.start(path)
    with source_of(form, path, transcript.session) as source:
        span = takewhile(lambda line: line.offset < episode.end, source.lines(episode.start))
        return [turn for line in span for turn in form.feed(state, line)]


def _meant(episode: Episode, turns: Sequence[Turn]) -> list[Turn]:
    """The turns that make up the preview and the actions, in order; empty if they do not match."""
    meant: list[Turn] = []
    left, actions = episode.preview, set(episode.actions.splitlines())
    for turn in turns:
        if not turn.text:
            if turn.actions and actions.issuperset(turn.actions):
                meant.append(turn)
        elif left == turn.text or left.startswith(f"{turn.text}\n"):
            meant.append(turn)
            left = left[len(turn.text) + 1 :]
        elif not any(said.text for said in meant) and episode.preview and episode.preview in turn.text:
            return [turn]  # a part of a turn that is longer than a preview
    return [] if left else meant
