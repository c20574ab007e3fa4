"""The interface of every transcript format, the state that it keeps between readings, and the registry.

A line format is fed complete lines and returns turns. Everything that it must know of earlier lines is in its
`State`, which is small, bounded and JSON; so a caller stores {offset, state} in the transaction that stores the
turns, and continues from there. Feeding a file at once or in any slices gives the same turns and the same state.

A document format (one JSON document with many sessions) is read as a whole. The records of a database format may come
from a database instead of lines; see source.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import Enum, auto
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Unpack, runtime_checkable

from picomem.clock import Micros
from picomem.errors import InvalidInput
from picomem.ingest.branches import Branches
from picomem.ingest.noise import clean, has_open_block
from picomem.ingest.outcomes import command_of, exit_code, outcome_of, runs_tests
from picomem.ingest.reader import Line
from picomem.ingest.recent_keys import Recent
from picomem.ingest.record_fields import _LONGEST_FIELD, Record, record_of, short
from picomem.light_dataclass import asdict, dataclass, field, replace
from picomem.paths import named_path
from picomem.provenance.whose_words import holds_others, own_words, pasted_words
from picomem.provenance.wrapping import without_wrapping
from picomem.records.kinds import Origin, worst
from picomem.records.transcript import SUMMARY, Skipped, TranscriptInfo, Turn
from picomem.text.own_prompts import is_own_prompt

if TYPE_CHECKING:
    from picomem.ingest.source import RecordSource


TOO_LONG = "line too long"
COPIED_SESSION = "forked from"  # the mark of the session with which a fork begins
NAMELESS = "#"  # before the number of a session without an id in a document
NO_HEADER = "unreadable first line"  # in a format in which this line tells who speaks
_UNKNOWN_KINDS = 32
_OWN = "own prompt"  # the mark of a run that answers a prompt of picomem's own
_AWAITED = "awaited"  # the mark of the commands whose results were not read yet
_MOST_AWAITED = 16
_HEARD = "heard"  # the mark of what was read from outside in this run, by its least trusted origin


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a call. `failed` is None where the host says so only in the output, if at all."""

    call: object
    output: str
    failed: bool | None = None


class TurnDetails(TypedDict, total=False):
    """What a record has beside the words of a turn; see `State.say`."""

    key: str
    ids: tuple[object, object, object]
    actions: tuple[str, ...]
    outcomes: tuple[str, ...]


@dataclass(slots=True)
class State:
    """The state of a parser in a transcript.

    `turns` counts the turns given so far, `outside` is the least trusted origin of all that was read, `branches` is the
    tree that they make in a host that writes one, `marks` are the format's own few notes. `path` is where the
    transcript lies, if that is known. `is_glance`: only what the transcript says of itself is wanted, and no turn. The
    last two are not stored.
    """

    info: TranscriptInfo = field(default_factory=TranscriptInfo)
    skipped: Skipped = field(default_factory=Skipped)
    turns: int = 0
    seen: Recent = field(default_factory=Recent)
    marks: dict[str, str] = field(default_factory=dict)
    branches: Branches = field(default_factory=Branches)
    outside: Origin = Origin.AGENT
    path: Path | None = None
    is_glance: bool = False

    @property
    def is_fork(self) -> bool:
        """Whether this session begins with a copy of another one."""
        return COPIED_SESSION in self.marks

    @property
    def copied_session(self) -> str:
        """The session of which this one says that it is a fork, or that it works for it; empty if it names none."""
        return self.marks.get(COPIED_SESSION) or self.info.parent_session

    def to_json(self) -> Record:
        """A JSON object from which `from_json` makes an equal state."""
        return {
            "info": asdict(self.info),
            "skipped": dict(self.skipped.counts),
            "turns": self.turns,
            "seen": self.seen.packed(),
            "marks": dict(self.marks),
            "branches": self.branches.to_json(),
            "outside": self.outside.value,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> State:
        """Raises InvalidInput where `stored` is not what `to_json` gave."""
        try:
            return cls(
                TranscriptInfo(**stored["info"]),
                Skipped(dict(stored["skipped"])),
                int(stored["turns"]),
                Recent(stored["seen"]),
                dict(stored["marks"]),
                Branches.from_json(stored["branches"]),
                Origin(stored["outside"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput("The stored state of a transcript cannot be read; read it from the start.") from error

    def note(self, **said: object) -> None:
        """Fill those fields of `info` that are still empty: what a transcript says first of itself stands."""
        news = {name: value for name, value in said.items() if value and not getattr(self.info, name)}
        if news:
            self.renote(**news)

    def renote(self, **said: object) -> None:
        """Set fields of `info`, whatever stood there; texts are cut, other types dropped. A title that tells of a
        prompt of picomem's own is none."""
        if _OWN in self.marks:
            said.pop("title", None)
        fields = {name: value[:_LONGEST_FIELD] if isinstance(value, str) else value for name, value in said.items()}
        fits = {
            name: value for name, value in fields.items() if isinstance(value, int if name == "started_at" else str)
        }
        self.info = replace(self.info, **fits)

    def unknown(self, kind: object) -> None:
        """Count a record of a type that the format does not know; few names are kept, as a file may hold
        any."""
        named = isinstance(kind, str) and re.fullmatch(r"[\w.-]{1,40}", kind)  # a name, and no text of anyone's
        reason = f"unknown:{kind if named else ''}"
        names = sum(name.startswith("unknown:") for name in self.skipped.counts)
        known = reason in self.skipped.counts or names < _UNKNOWN_KINDS
        self.skipped.add(reason if known else "unknown")

    def hear(self, origin: Origin | None) -> None:
        """A text of that origin enters the agent's context, if there is one: what the agent says from now on, until
        the user's next message, may be that text in other words."""
        if origin is not None and not origin.trusted:
            self.marks[_HEARD] = worst((origin, Origin(self.marks.get(_HEARD, origin)))).value
            self.outside = worst((self.outside, origin))

    def agents_origin(self) -> Origin:
        """The origin of what the agent says now: its own, or that of what was heard in the run."""
        return Origin(self.marks.get(_HEARD, Origin.AGENT))

    def place(
        self, turns: Sequence[Turn], record: object, parent: object, *, person: bool, aside: bool = False
    ) -> Sequence[Turn]:
        """Put what a record gave (turns, or nothing) into the tree; `parent` is the id that it goes on from, None where
        the record says that there is none, empty where it says nothing."""
        name, above = short(record), None if parent is None else short(parent)
        if not turns:
            if not aside:
                self.branches.passed(name, above)
            return turns
        turn, *others = turns
        forks = self.branches.said(turn.index, name, above, person=person, aside=aside)
        for other in others:
            self.branches.queued(other.index)
        return [replace(turn, forks=True), *others] if forks else turns

    def say(
        self,
        line: Line,
        text: str,
        *,
        role: str,
        origin: Origin,
        at: Micros | None = None,
        begins_run: bool = True,
        **more: Unpack[TurnDetails],
    ) -> Sequence[Turn]:
        """The turn of `line`, cleaned and counted; nothing where only markup was said, or `key` was seen
        before.

        `ids` are the record's id, its parent's id, and the branch. A user's turn in which a host's block was opened and
        never closed is nobody's in particular, and one in which no word is the user's own is somebody else's. An
        agent's turn has the origin of what was heard in the run (`hear`). A trusted message begins a run; what is said
        while the agent works (not `begins_run`) changes nothing of what the agent has read.
        """
        if self.is_glance:
            return ()
        key, actions, outcomes = more.get("key", ""), more.get("actions", ()), more.get("outcomes", ())
        if self._is_of_own_prompt(role, text, begins_run=begins_run):
            self.skipped.add("picomem's own prompt")
            return ()
        if origin is Origin.USER and has_open_block(text):
            origin = Origin.OTHER
        if not (text := clean(text)) and not actions and not outcomes:
            self.skipped.add("noise")
            return ()
        if origin is Origin.USER and _says_something(text) and not _says_something(own_words(text)):
            origin = Origin.OTHER
        if key and not self.seen.add(key):
            self.skipped.add("repeated")
            return ()
        if at is not None:
            self.note(started_at=at)
        if role == "assistant" and origin is Origin.AGENT:
            origin = self.agents_origin()
        elif role == "user":
            self._hear_user(text, origin, begins_run=begins_run)
        return self._counted(line, text, role, origin, at, more.get("ids", ("", "", "")), actions, outcomes)

    def _hear_user(self, text: str, origin: Origin, *, begins_run: bool) -> None:
        """Note what a message in a user's place makes of what the agent says behind it."""
        if not origin.trusted:
            self.hear(origin)
        elif begins_run:
            self.marks.pop(_HEARD, None)
        if pasted_words(text):
            self.outside = worst((self.outside, Origin.OTHER))

    def await_result(self, call: object, given: Mapping[str, Any], line: Line) -> None:
        """Note a call that runs a command: only the result of such a call is an outcome. Nothing is noted of the
        command but where it stands, and whether it may run tests."""
        name, command = short(call), command_of(given)
        if command and re.fullmatch(r"\S+", name):
            noted = f"{name} {line.offset} {int(runs_tests(command))}"
            self.marks[_AWAITED] = "\n".join((*self._awaited().values(), noted)[-_MOST_AWAITED:])

    def awaits_result_in(self, data: bytes) -> bool:
        """Return whether a line may hold the result of a command."""
        return any(f'"{name}"'.encode() in data for name in self._awaited())

    def say_outcome(
        self, line: Line, results: Iterable[CallResult], *, at: Micros | None, ids: tuple[object, object, object]
    ) -> Sequence[Turn]:
        """What came of commands, as a turn of the agent's without words; nothing where nothing is to be told. It
        begins where the first of the calls stands, so that its pointer finds them together."""
        outcomes: list[str] = []
        calls: list[str] = []
        start = line.offset
        for result in results:
            awaited = self._awaited()
            noted = awaited.pop(name := short(result.call), "")
            if not noted:
                continue
            self.marks[_AWAITED] = "\n".join(awaited.values())
            _, offset, may_be_tests = noted.split(" ")
            failed = bool(exit_code(result.output)) if result.failed is None else result.failed
            if told := outcome_of(result.output, failed=failed, may_be_tests=may_be_tests == "1"):
                outcomes += told
                calls.append(name)
                start = min(start, int(offset))
        if not outcomes:
            return ()
        return self.say(
            line._replace(offset=start),
            "",
            role="assistant",
            origin=Origin.AGENT,
            at=at,
            key="\n".join(("outcome", *calls)),
            ids=ids,
            outcomes=tuple(dict.fromkeys(outcomes)),
        )

    def _awaited(self) -> dict[str, str]:
        return {noted.split(" ")[0]: noted for noted in self.marks.get(_AWAITED, "").splitlines()}

    def summarise(
        self, line: Line, text: str, *, at: Micros | None, key: str, ids: tuple[object, object, object]
    ) -> Sequence[Turn]:
        """The summary that the host wrote of the turns so far, as a turn; nothing where it has no words, or was seen
        before. It may tell of all that was read, so it has the least trusted origin of that; a summary that begins a
        file tells of another one, of which it is not known what was read."""
        text = clean(text)
        if _OWN in self.marks or not _says_something(text) or not self.seen.add(f"{SUMMARY}\n{key}"):
            self.skipped.add("summary")
            return ()
        if not self.turns:
            self.hear(Origin.TOOL)
        (turn,) = self._counted(line, text, SUMMARY, self.outside, at, ids)
        return (replace(turn, summarises=True),)

    def _counted(
        self,
        line: Line,
        text: str,
        role: str,
        origin: Origin,
        at: Micros | None,
        ids: tuple[object, object, object],
        actions: tuple[str, ...] = (),
        outcomes: tuple[str, ...] = (),
    ) -> Sequence[Turn]:
        ids_of = (short(ids[0]), short(ids[1]), short(ids[2]))
        turn = Turn(self.turns, role, text, at, origin, line.offset, line.end, *ids_of)
        turn = replace(turn, actions=actions, outcomes=outcomes)
        self.turns += 1
        return (turn,)

    def _is_of_own_prompt(self, role: str, text: str, *, begins_run: bool) -> bool:
        """Return whether a turn is a prompt of picomem's own (text/own_prompts.py), or belongs to the answer."""
        if role == "user" and is_own_prompt(text):
            self.marks[_OWN] = "1"
        elif role == "user" and begins_run:
            self.marks.pop(_OWN, None)
        return _OWN in self.marks


@dataclass(frozen=True, slots=True)
class TranscriptFolder:
    """A folder in which a host keeps transcripts; it need not exist. If it is `nested`, the folders in it count."""

    host: str
    folder: Path
    nested: bool = True


class HostPolicy(Enum):
    """What a host says of sending what was said in a session, from the mildest to the strictest."""

    ALLOW = auto()
    UNKNOWN = auto()  # nothing
    DOUBTFUL = auto()  # it may be denied
    DENY = auto()


def strictest(policies: Iterable[HostPolicy]) -> HostPolicy:
    """The strictest of some policies."""
    return max(policies, key=list(HostPolicy).index)


@dataclass(frozen=True, slots=True)
class SendPolicies:
    """The policies of a host's sessions: of those that it lists, by their names, and of the `unlisted` ones. `problem`
    says why they could not be read."""

    listed: Mapping[str, HostPolicy]
    unlisted: HostPolicy
    problem: str = ""


class Format:
    """The description of a host's transcripts, beside the reader, in a module of `formats/`. Its one instance is
    FORMAT; no other file names the format."""

    name: str
    takes_any_log = False  # asked last whether a file is its own
    file_names: tuple[str, ...] = ()  # in a folder these are opened as well, although they do not end in .jsonl
    unique_prefix = ""  # a file whose name begins so is the same transcript wherever it was moved

    def claims(self, path: Path, head: bytes, /) -> bool:
        """Return whether a file that is called so and begins so is of this format."""
        raise NotImplementedError

    def places(self, _home: Path, _env: Mapping[str, str], /) -> Iterable[TranscriptFolder]:
        """The host's transcript folders for this home and environment."""
        return ()

    def is_place_of(self, _path: Path, _cwd: str, /) -> bool:
        """Return whether the place of a transcript is the one of sessions that began in a folder."""
        return False

    def send_policies(self, _path: Path, _home: Path, _env: Mapping[str, str], /) -> SendPolicies | None:
        """What the host says of sending the sessions in a folder of transcripts, or in a database; None where it has no
        such policy."""
        return None

    def policy_files(self, _path: Path, _home: Path, _env: Mapping[str, str], /) -> Iterable[Path]:
        """The files outside of a folder of transcripts that say so."""
        return ()

    def deletes_after_days(self, _home: Path, _env: Mapping[str, str], /) -> int | None:
        """After how many days without a change the host deletes a transcript; None where it does not, or that is not
        known."""
        return None


def moved(env: Mapping[str, str], variable: str, usual: Path) -> Path:
    """The folder that the environment names, or the usual one."""
    named = env.get(variable)
    return named_path(named) if named else usual


class LineFormat(Format):
    """A host's format of one record a line."""

    def start(self, path: Path | None = None) -> State:
        """The state before the first line; the path may tell what the records do not."""
        raise NotImplementedError

    def feed(self, state: State, line: Line) -> Sequence[Turn]:
        """The turns of the next line; `state` is moved on. Never raises for what a line holds."""
        raise NotImplementedError


class DocumentFormat(Format):
    """A host's format of one document that holds many sessions."""

    def sessions(self, path: Path) -> Iterator[tuple[TranscriptInfo, list[Turn], Skipped]]:
        """Each session of the document; raises InvalidInput where it is not whole."""
        raise NotImplementedError


@runtime_checkable
class DatabaseFormat(Protocol):
    """A host's format of records that may lie in a database as well, many sessions in one."""

    def database(self, path: Path) -> AbstractContextManager[Sequence[RecordSource]]:
        """The sessions of the database at `path`, while it is open. Raises InvalidInput where it cannot be read."""
        ...


@cache
def formats() -> tuple[LineFormat | DocumentFormat, ...]:
    """Every format there is, in the order in which a file is offered to them. Loaded when asked for."""
    folder = import_module("picomem.ingest.formats")
    every = (import_module(f"{folder.__name__}.{module.name}").FORMAT for module in iter_modules(folder.__path__))
    return tuple(sorted(every, key=lambda form: (form.takes_any_log, form.name)))


def format_named(name: str) -> LineFormat | DocumentFormat:
    """The format of that name; raises InvalidInput for an unknown one."""
    for form in formats():
        if form.name == name:
            return form
    raise InvalidInput(f"“{name}” is not a transcript format; use one of {', '.join(form.name for form in formats())}.")


def format_of(path: Path, head: bytes) -> LineFormat | DocumentFormat | None:
    """The format of the file that begins with `head` (decompressed; see `reader.head`), or None."""
    head = head.removeprefix(b"\xef\xbb\xbf")
    return next((form for form in formats() if form.claims(path, head)), None)


def record_in(state: State, line: Line) -> Record | None:
    """The JSON object of a line, or None and counted: too long, or invalid."""
    if line.data is None:
        state.skipped.add(TOO_LONG)
        return None
    record = record_of(line.data)
    if record is None:
        state.skipped.add("invalid line")
    return record


def of_a_program(text: str) -> Origin:
    """Return whose words a prompt is that a script or another program sent: an agent's, and somebody else's where a
    text of others is shown in it. What the program wraps around the prompt is its own."""
    return Origin.OTHER if holds_others(without_wrapping(text)) else Origin.AGENT


def _says_something(text: str) -> bool:
    return any(map(str.isalnum, text))
