"""`picomem-hook [--db PATH] [--user ID] [--wait SECONDS]`: the program that a host runs at each event of a session.

    host → parent: reads the event, and asks a picomem process that runs anyway (hook_socket.py)
              └→ child, where there is none: asks memory, writes its answer into a pipe
                    └→ then it reads the transcript on, or notes what it injected; nobody waits for that

The parent waits 0.8 s at most, and passes the answer on or says {}. A hook must never harm its host. Whatever happens
to the child (no store, a locked or a damaged one, input that is no JSON, a crash, an expression that takes for ever),
the parent prints what the host takes for nothing and exits with 0. What went wrong stands in hooks.log in the data
directory. The child is a process of its own because nothing within a process ends a call into C that does not return.

A host starts this program at every prompt, so it imports as little as it can, and asks memory by words alone.
"""

from __future__ import annotations

import gc
import os
import select
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

from picomem.errors import NoStore, PicomemError
from picomem.hooks.hook_socket import LARGEST_INPUT, ask
from picomem.paths import data_dir
from picomem.text.own_prompts import COMMAND_MARKER

TYPE_CHECKING = False  # typing's own would load typing
if TYPE_CHECKING:
    from typing import NoReturn

    from picomem.engine.engine import Engine
    from picomem.hooks.hook_events import HookEvent

_WAIT_SECONDS = "0.8"  # for an answer; a host waits for this program
_LONGEST_WAIT = 600.0  # seconds
_FINISH_SECONDS = 600  # for what is done after the host was answered
_NOTHING = b"{}\n"
_USAGE = "picomem-hook [--db PATH] [--user ID] [--wait SECONDS]"
_OPTIONS = {"--db", "--user"}
_HELP = f"""usage: {_USAGE}

A program for Claude Code and Codex, which run it at the events of a session: `picomem install` sets that up.
It reads an event as JSON from its standard input, and answers with what the host puts into the model's context,
within {_WAIT_SECONDS} s or the seconds given; later than that the answer is nothing.

example: echo '{{"hook_event_name": "SessionStart", "cwd": "/home/me/billing"}}' | picomem-hook
"""
_DONE, _PROBLEM, _END = b"+", b"-", b"\n"  # how the child's message begins and ends


def main(argv: Sequence[str] | None = None) -> int:
    """Answer one event of a host. The exit code is 0, whatever happens."""
    started = monotonic()
    gc.disable()  # what is loaded stays to the end; looking through it for garbage would take a tenth of the time
    _open_standard_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if "--help" in arguments or "-h" in arguments or (not arguments and os.isatty(0)):
        sys.stdout.write(_HELP)
        return 0
    answered, problem = _NOTHING, ""
    if not os.environ.get(COMMAND_MARKER):  # an agent that consolidates for us is no session of anybody's
        options = dict(zip(arguments[::2], arguments[1::2], strict=False))
        wait = options.pop("--wait", _WAIT_SECONDS)
        if len(arguments) % 2 or not options.keys() <= _OPTIONS or not wait.replace(".", "", 1).isdecimal():
            problem = f"The hook is called as: {_USAGE}"
        elif not hasattr(os, "fork"):
            problem = "Hooks need a system that can fork a process, such as Linux or macOS."
        else:
            try:
                answered, problem = _asked(options, started + min(float(wait), _LONGEST_WAIT))
            except OSError as error:  # such as no further process
                problem = f"The hook cannot do its work: {error.strerror}."
    with suppress(OSError):  # the host is gone
        os.write(1, answered)
    if problem:
        from picomem.engine.hook_log import note

        note(problem)
    return 0


def _open_standard_streams() -> None:
    """Put the null device where a host closed a standard stream, so that no pipe gets its number."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)


def _asked(options: Mapping[str, str], until: float) -> tuple[bytes, str]:
    """The answer to the host's event, and what was wrong."""
    given = _read(0, until, LARGEST_INPUT)
    if given is None:
        return _NOTHING, "The host did not end its input in time."
    try:
        # One that hangs takes half of the time, and leaves enough for a child.
        answered = ask(data_dir(), options, given, (monotonic() + until) / 2)
    except PicomemError:  # no data directory, so nobody listens there
        answered = None
    return _asked_of_child(options, given, until) if answered is None else (answered, "")


def _asked_of_child(options: Mapping[str, str], given: bytes, until: float) -> tuple[bytes, str]:
    """What a child answers in time, and what was wrong."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _work(options, given, writer)
    os.close(writer)
    message = _read(reader, until)
    if message is None:
        import signal

        os.kill(child, signal.SIGKILL)
        return _NOTHING, "There was no answer in time."
    if message.endswith(_END) and message.startswith((_DONE, _PROBLEM)):
        text = message[1:]
        return (text, "") if message.startswith(_DONE) else (_NOTHING, text.decode("utf-8", "replace").strip())
    return _NOTHING, "The process that asks memory ended without an answer."


def _read(descriptor: int, until: float, most: int = 1 << 30) -> bytes | None:
    """All that comes, or a little more than `most` bytes of it; None where it does not end in time."""
    given = b""
    while (left := until - monotonic()) > 0:
        ready, _, _ = select.select([descriptor], [], [], left)
        piece = os.read(descriptor, 1 << 16) if ready else b""
        given += piece
        if ready and (not piece or len(given) > most):
            return given
    return None


def _work(options: Mapping[str, str], given: bytes, writer: int) -> NoReturn:
    """The child: answer, then read on."""
    try:
        _answer(options, given, writer)
    except Exception as error:  # noqa: BLE001 - a fault of ours is noted, and must not reach the host's screen
        from picomem.engine.hook_log import described, note

        try:
            _say(writer, _PROBLEM + described(error).encode() + _END)
        except OSError:  # the answer was given before
            note(described(error))
    finally:
        # Without what the interpreter does at its end: what the parent has buffered is not the child's to write.
        os._exit(0)


def _answer(options: Mapping[str, str], given: bytes, writer: int) -> None:
    from picomem.hooks.hook_events import encoded, event_of

    try:
        event = event_of(given)
        context, injected = _context(event, options) if event.gets_context else ("", [])
    except PicomemError as error:
        _say(writer, _PROBLEM + str(error).encode("utf-8", "replace") + _END)
        return
    _say(writer, _DONE + encoded(event, context))
    _finish(event, injected, options)


def _say(writer: int, message: bytes) -> None:
    while message:
        message = message[os.write(writer, message) :]
    os.close(writer)


def _context(event: HookEvent, options: Mapping[str, str]) -> tuple[str, list[str]]:
    """What goes into the model's context, and the ids of it that are not to come again. Raises PicomemError."""
    from picomem.hooks.hook_context import context_of

    try:
        with _opened(event, options, create=False) as engine:
            return context_of(engine, event)
    except NoStore:
        return "", []  # nothing was remembered yet, which is no fault


def _finish(event: HookEvent, injected: Sequence[str], options: Mapping[str, str]) -> None:
    """What nobody waits for: note what was injected, or read the transcript on."""
    from picomem.engine.hook_log import note
    from picomem.hooks.hook_events import Action
    from picomem.paths import is_regular, status_of

    if event.action is not Action.READ and not injected:
        return
    gc.enable()
    _leave_host()
    try:
        is_reading = event.action is Action.READ
        if is_reading and status_of(event.transcript) is None:
            return  # a host that was told to keep no transcripts names one all the same
        if is_reading and not is_regular(Path(event.transcript)):
            note("The transcript that the host named is no file.")
            return
        with _opened_to_read_on(event, options) if is_reading else _opened(event, options, create=False) as engine:
            if is_reading:
                from picomem.engine.upkeep import keep_transcripts

                problems = engine.ingest([Path(event.transcript)]).problems
                kept = keep_transcripts(engine, only=[event.transcript])
                engine.tidy(when_due=True)
                for problem in problems + (kept.problems if kept else []):
                    note(problem)
            else:
                from picomem.engine.agent_support import note_injected

                note_injected(engine, event.session, injected)
    except PicomemError as error:
        note(str(error))


def _leave_host() -> None:
    """Outlive the host: a session of its own, none of the host's streams, less of the processor, an end in sight."""
    import signal

    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.nice(10)
    signal.alarm(_FINISH_SECONDS)


def _opened_to_read_on(event: HookEvent, options: Mapping[str, str]) -> Engine:
    """Memory, made where there is none. An empty file that may have been a store is left to its owner: StoreError."""
    try:
        return _opened(event, options, create=False, embedder=None)
    except NoStore:
        return _opened(event, options, create=True, embedder=None)


def _opened(event: HookEvent, options: Mapping[str, str], *, create: bool, embedder: str | None = "none") -> Engine:
    """Memory; with None as the embedder, the one of the settings, which takes longer than a host waits."""
    from picomem.app import open_engine
    from picomem.paths import private_umask

    private_umask()
    return open_engine(
        options.get("--db"),
        user=options.get("--user"),
        folder=event.folder,
        create=create,
        actor="hook",
        embedder=embedder,
    )


if __name__ == "__main__":
    raise SystemExit(main())
