"""`picomem-hook [--db PATH] [--user ID] [--wait SECONDS]`: the program that a host runs at each event of a session.

    host → parent: reads the event, and asks a picomem process that runs anyway (hook_socket.py)
              └→ child, where there is none: asks memory, writes its answer into a pipe
                    └→ then it reads the transcript on, or notes what it injected; nobody waits for that. At the end
                       of a session, and before it is compacted, a model distils it, if the settings say so

The parent waits 4 s at most when a session begins, and 2.5 s beside a prompt; then it passes the answer on or says {}.
At other events the host gets {} at once. A hook must never harm its host. Whatever happens to the child (no store, a
locked or a damaged one, input that is no JSON, a crash, an expression that takes for ever), the parent prints what the
host takes for nothing and exits with 0. What went wrong stands in hooks.log in the data directory. The child is a
process of its own because nothing within a process ends a call into C that does not return.

A host starts this program at every prompt, so it imports as little as it can, and asks memory by words alone.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import monotonic

from picomem.errors import PicomemError
from picomem.hooks.hook_socket import ask, read_event, read_piece
from picomem.paths import data_dir
from picomem.text.own_prompts import COMMAND_MARKER

TYPE_CHECKING = False  # typing's own would load typing
if TYPE_CHECKING:
    from typing import Any, NoReturn

# For an answer, by the events that have one: the host waits for this program, 5 s or more (hosts/host.py).
_WAIT_SECONDS = {"SessionStart": 4.0, "UserPromptSubmit": 2.5}
_LONGEST_WAIT = 600.0  # seconds
_FINISH_SECONDS = 600  # for what is done after the host was answered
_SIGKILL = 9  # signal's own would load signal
_NOTHING = b"{}\n"
_USAGE = "picomem-hook [--db PATH] [--user ID] [--wait SECONDS]"
_OPTIONS = {"--db", "--user"}
_HELP = f"""usage: {_USAGE}

A program for Claude Code and Codex, which run it at the events of a session: `picomem install` sets that up.
It reads an event as JSON from its standard input, and answers with what the host puts into the model's context,
within {_WAIT_SECONDS["SessionStart"]:g} s when a session begins, within {_WAIT_SECONDS["UserPromptSubmit"]:g} s
beside a prompt, or within the seconds given; later than that the answer is nothing.

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
        wait = options.pop("--wait", None)
        is_number = wait is None or wait.replace(".", "", 1).isdecimal()
        if len(arguments) % 2 or not options.keys() <= _OPTIONS or not is_number:
            problem = f"The hook is called as: {_USAGE}"
        elif not hasattr(os, "fork"):
            problem = "Hooks need a system that can fork a process, such as Linux or macOS."
        else:
            try:
                answered, problem = _asked(options, started, None if wait is None else min(float(wait), _LONGEST_WAIT))
            except OSError as error:  # such as no further process
                problem = f"The hook cannot do its work: {error.strerror}."
    with suppress(OSError):  # the host is gone
        os.write(1, answered)
    if problem:
        from picomem.engine.hook_log import note  # noqa: PLC0415 - only after a failure

        note(problem)
    return 0


def _open_standard_streams() -> None:
    """Put the null device where a host closed a standard stream, so that no pipe gets its number."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)


def _asked(options: Mapping[str, str], started: float, wait: float | None) -> tuple[bytes, str]:
    """The answer to the host's event, and what was wrong."""
    try:
        given, event = read_event(0, started + (max(_WAIT_SECONDS.values()) if wait is None else wait))
    except TimeoutError:
        return _NOTHING, "The host did not end its input in time."
    except ValueError as error:
        return _NOTHING, f"The host's input is not an event: {error}."
    name = event.get("hook_event_name")
    longest = _WAIT_SECONDS.get(name) if isinstance(name, str) else None
    if longest is None:  # nobody waits for an answer
        return _asked_of_child(options, event, None)
    until = started + (longest if wait is None else wait)
    answered = _asked_of_process(options, given, until)
    return _asked_of_child(options, event, until) if answered is None else (answered, "")


def _asked_of_process(options: Mapping[str, str], given: bytes, until: float) -> bytes | None:
    """What a process that runs anyway answers; None where none does."""
    try:
        # One that hangs takes half of the time, and leaves enough for a child.
        return ask(data_dir(), options, given, (monotonic() + until) / 2)
    except PicomemError:  # no data directory, so nobody listens there
        return None


def _asked_of_child(options: Mapping[str, str], event: dict[str, Any], until: float | None) -> tuple[bytes, str]:
    """What a child answers in time, and what was wrong. Without a time it works on when the host was answered."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _work(options, event, writer, is_awaited=until is not None)
    os.close(writer)
    message = b""
    try:
        while piece := read_piece(reader, until):
            message += piece
    except TimeoutError:
        os.kill(child, _SIGKILL)
        return _NOTHING, "There was no answer in time."
    if message.endswith(_END) and message.startswith((_DONE, _PROBLEM)):
        text = message[1:]
        return (text, "") if message.startswith(_DONE) else (_NOTHING, text.decode("utf-8", "replace").strip())
    return _NOTHING, "The process that asks memory ended without an answer."


def _work(options: Mapping[str, str], given: dict[str, Any], writer: int, *, is_awaited: bool) -> NoReturn:
    """The child: answer, then read on."""
    try:
        if is_awaited:
            _answer(options, given, writer)
        else:
            _leave_host()
            _say(writer, _DONE + _NOTHING)
            from picomem.hooks.hook_reading import read_on  # noqa: PLC0415 - now, for nobody waits any more

            read_on(options, given)
    except Exception as error:  # noqa: BLE001 - a fault of ours is noted, and must not reach the host's screen
        from picomem.engine.hook_log import described, note  # noqa: PLC0415 - only after a failure

        problem = str(error) if isinstance(error, PicomemError) else described(error)
        try:
            _say(writer, _PROBLEM + problem.encode("utf-8", "replace") + _END)
        except OSError:  # the answer was given before
            note(problem)
    finally:
        # Without what the interpreter does at its end: what the parent has buffered is not the child's to write.
        os._exit(0)


def _answer(options: Mapping[str, str], given: dict[str, Any], writer: int) -> None:
    from picomem.hooks.hook_context import answer_of, note_what_was_injected  # noqa: PLC0415 - the parent does not need it

    answer, injected = answer_of(options, given)
    _say(writer, _DONE + answer)
    if injected:
        _leave_host()
        note_what_was_injected(options, given, injected)


def _say(writer: int, message: bytes) -> None:
    while message:
        message = message[os.write(writer, message) :]
    os.close(writer)


def _leave_host() -> None:
    """Outlive the host: a session of its own, none of the host's streams, less of the processor, an end in sight."""
    import signal  # noqa: PLC0415 - the parent of a hook does not need it

    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.nice(10)
    signal.alarm(_FINISH_SECONDS)


if __name__ == "__main__":
    raise SystemExit(main())
