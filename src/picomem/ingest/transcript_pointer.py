"""Opens a pointer: from an episode back to the original messages in the transcript.

The span is read again and compared with the preview, message by message. The messages of the episode must be among
those in the span, which may also contain repeated lines that ingest skipped. So an open pointer shows the right
messages, or nothing.

What a record says may depend on earlier ones: an answer needs its question, a queued prompt the entrypoint of the
session. So a span in which a parser that begins there does not find the episode is read by one that begins where ingest
began.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from pathlib import Path

from picomem.coded_text import CodedText
from picomem.errors import InvalidInput, NotFound
from picomem.ingest.format import DocumentFormat, LineFormat, State, format_named
from picomem.ingest.reader import Line
from picomem.ingest.source import begin, current_file, source_of
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

    # The turns that are meant are known by their words; to give all turns, the parser must know what ingest knew.
    starts = (0,) if whole else (episode.start, 0)
    return _opened(episode, transcript, redactor, copies, meant, starts)


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

    return _opened(entry, transcript, redactor, copies, told, (0,))


def _opened(
    episode: Episode,
    transcript: Transcript | None,
    redactor: Redactor,
    copies: TranscriptCopies | None,
    chosen: Callable[[list[Turn]], list[Turn]],
    starts: Sequence[int],
) -> Opened:
    """The turns in the span of an episode that are `chosen`, redacted: from the transcript, or where it does not hold
    them any more from the copy that picomem keeps; or why they cannot be shown. Each of the offsets `starts` is tried
    as the first that the parser sees."""
    if transcript is None:
        return Opened("gone", (), CodedText("warning.transcript_unknown"))
    path = current_file(Path(transcript.path))

    def opened(read: Callable[[int], list[Turn]], note: str = "") -> Opened:
        attempts = (chosen([_redacted(turn, redactor) for turn in read(start)]) for start in dict.fromkeys(starts))
        try:
            turns = next(filter(None, attempts), [])
        except NotFound:
            return Opened("gone", (), CodedText("warning.transcript_gone", path=transcript.path))
        except InvalidInput as error:
            return Opened("unreadable", (), CodedText("warning.transcript_unreadable", problem=error.message))
        if not turns:
            return Opened("changed", (), CodedText("warning.transcript_rewritten", path=str(path)))
        return Opened("open", tuple(turns), note)

    original = opened(lambda start: _read(episode, transcript, path, start))
    if original.state == "open" or copies is None:
        return original
    note = CodedText("warning.transcript_copy", path=str(path))
    kept = opened(lambda start: _read_copy(episode, transcript, copies, start), note)
    return original if kept.state == "gone" else kept


def _read(episode: Episode, transcript: Transcript, path: Path, start: int) -> list[Turn]:
    """The turns in the span of an episode, by a parser that begins at `start`."""
    form = format_named(transcript.host)
    if isinstance(form, DocumentFormat):
        every = (turn for _, turns, _ in form.sessions(path) for turn in turns)
        return [turn for turn in every if episode.start <= turn.start < episode.end]
    with source_of(form, path, transcript.session) as source:
        return _in_span(episode, form, begin(form, source), source.lines(start))


def _read_copy(episode: Episode, transcript: Transcript, copies: TranscriptCopies, start: int) -> list[Turn]:
    """The same, from the copy of its transcript."""
    form = format_named(transcript.host)
    if isinstance(form, DocumentFormat):
        raise NotFound("Documents are not copied.")
    state = form.start(Path(transcript.path))
    return _in_span(episode, form, state, copies.lines(transcript, (start, episode.end)))


def _in_span(episode: Episode, form: LineFormat, state: State, lines: Iterable[Line]) -> list[Turn]:
    until = takewhile(lambda line: line.offset < episode.end, lines)
    return [turn for line in until for turn in form.feed(state, line) if line.offset >= episode.start]


def _redacted(turn: Turn, redactor: Redactor) -> Turn:
    actions = tuple(redactor.redact(action).text for action in turn.actions)
    outcomes = tuple(redactor.redact(line).text for line in turn.outcomes)
    answers = tuple((redactor.redact(question).text, redactor.redact(answer).text) for question, answer in turn.answers)
    text = redactor.redact(turn.text).text
    return replace(turn, text=text, actions=actions, outcomes=outcomes, answers=answers)


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
