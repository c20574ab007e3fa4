"""Opens a pointer: from an episode back to the original messages in the transcript.

The span is read again and compared with the preview, message by message. The messages of the episode must be among
those in the span, which may also contain repeated lines that ingest skipped. So an open pointer shows the right
messages, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path

from picomem.errors import InvalidInput, NotFound
from picomem.ingest.format import DocumentFormat, format_named
from picomem.ingest.source import current_file, source_of
from picomem.ingest.transcript_copies import TranscriptCopies
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


def open_episode(
    episode: Episode,
    transcript: Transcript | None,
    redactor: Redactor,
    copies: TranscriptCopies | None = None,
    *,
    whole: bool = False,
) -> Opened:
    """Read the span of an episode from its transcript: the messages of which it was made, or all that there are, where
    it is damaged and can decide nothing (`whole`)."""

    def meant(turns: list[Turn]) -> list[Turn]:
        turns = turns if whole else _meant(episode, turns)
        # Who said it was told by what stood before in the file, so the episode knows it and the span does not.
        told = {"role": episode.role, "origin": episode.origin, "branch": episode.branch}
        return [replace(turn, index=episode.first_turn + n, **told) for n, turn in enumerate(turns)]

    return _opened(episode, transcript, redactor, copies, meant)


def open_entry(
    entry: Episode, transcript: Transcript | None, redactor: Redactor, copies: TranscriptCopies | None = None
) -> Opened:
    """Read the turns of which a consolidation made a timeline entry. Where it read text of others, what the agent says
    in them may be such text: the span alone does not show what stood before it."""

    def told(turns: list[Turn]) -> list[Turn]:
        return [
            replace(
                turn,
                index=entry.first_turn + number,
                origin=turn.origin if turn.role == "user" else worst((turn.origin, entry.origin)),
            )
            for number, turn in enumerate(turns)
        ]

    return _opened(entry, transcript, redactor, copies, told)


def _opened(
    episode: Episode,
    transcript: Transcript | None,
    redactor: Redactor,
    copies: TranscriptCopies | None,
    chosen: Callable[[list[Turn]], list[Turn]],
) -> Opened:
    """The turns in the span of an episode that are `chosen`, redacted: from the transcript, or where it does not hold
    them any more from the copy that picomem keeps; or why they cannot be shown."""
    if transcript is None:
        return Opened("gone", (), "The record of the transcript is gone; only the preview is left.")
    path = current_file(Path(transcript.path))

    def opened(read: Callable[[], list[Turn]], note: str = "") -> Opened:
        try:
            turns = chosen([_redacted(turn, redactor) for turn in read()])
        except NotFound:
            return Opened("gone", (), f"The transcript {transcript.path} is gone; only the preview is left.")
        except InvalidInput as error:
            return Opened("unreadable", (), f"{error} Only the preview is left.")
        if not turns:
            return Opened("changed", (), f"The transcript {path} was rewritten; only the preview is left.")
        return Opened("open", tuple(turns), note)

    original = opened(lambda: _read(episode, transcript, path))
    if original.state == "open" or copies is None:
        return original
    kept = opened(lambda: _read_copy(episode, transcript, copies), f"{path} is gone or changed; this is the kept copy.")
    return original if kept.state == "gone" else kept


def _read_copy(episode: Episode, transcript: Transcript, copies: TranscriptCopies) -> list[Turn]:
    """The turns in the span of an episode, from the copy of its transcript."""
    form = format_named(transcript.host)
    if isinstance(form, DocumentFormat):
        raise NotFound("Documents are not copied.")
    state = form.start(Path(transcript.path))
    return [turn for line in copies.lines(transcript, (episode.start, episode.end)) for turn in form.feed(state, line)]


def _redacted(turn: Turn, redactor: Redactor) -> Turn:
    actions = tuple(redactor.redact(action).text for action in turn.actions)
    outcomes = tuple(redactor.redact(line).text for line in turn.outcomes)
    return replace(turn, text=redactor.redact(turn.text).text, actions=actions, outcomes=outcomes)


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
    """The turns that make up the preview, the actions and the outcomes, in order; empty if they do not match."""
    meant: list[Turn] = []
    left, done = episode.preview, {*episode.actions.splitlines(), *episode.outcomes.splitlines()}
    for turn in turns:
        if not turn.text:
            if (turn.actions or turn.outcomes) and done.issuperset((*turn.actions, *turn.outcomes)):
                meant.append(turn)
        elif left == turn.text or left.startswith(f"{turn.text}\n"):
            meant.append(turn)
            left = left[len(turn.text) + 1 :]
        elif not any(said.text for said in meant) and episode.preview and episode.preview in turn.text:
            return [turn]  # a part of a turn that is longer than a preview
    return [] if left else meant
