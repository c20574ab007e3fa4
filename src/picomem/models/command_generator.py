"""A generator that runs a command: the prompt on standard input, the answer on standard output.

So a user of Claude Code or Codex needs no key: `claude -p` and `codex exec -` answer with their subscription. The
command comes only from the settings of this process, never from text that picomem reads. It is split as a shell would
split it, but no shell runs it.

The child runs in an empty folder of picomem's, not in the user's project, because a host would read that project's
instructions and write its transcript there. It leads a process group. The whole group is killed at the time limit, if
its output is too long, and when picomem is interrupted. A command does not report its tokens, so our own tokenizer
counts them.
"""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import anyio
from anyio.abc import Process

from picomem import paths
from picomem.errors import GeneratorFailed, InvalidInput
from picomem.models.generator import CallBudget, DoubtedPair, Material, PairVerdict, Proposal
from picomem.models.pair_question import pair_question
from picomem.models.prompt_and_reply import Answer, ModelTask, again, consolidation_question, no_answer_within
from picomem.records.spend import Spend
from picomem.text.own_prompts import COMMAND_MARKER, OWN_PROMPT
from picomem.text.tokens import count_tokens

_CALLS = 2  # for one answer, at most
_LONGEST_OUTPUT = 1 << 20  # bytes
_KEPT_TROUBLE = 4_096  # bytes of stderr
# A host sets these for what it starts, such as our hooks; it refuses to start where it finds itself.
_OF_A_SESSION = frozenset(("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT"))
_SETTING = "memory.consolidation_command"


class CommandGenerator:
    """The generator of a system with a command that asks a model. Raises InvalidInput for one that cannot be split."""

    def __init__(self, command: str, timeout_secs: int) -> None:
        if os.environ.get(COMMAND_MARKER):
            raise InvalidInput(
                f"This process was started by the command of {_SETTING}, which would start itself over and over; "
                "consolidate outside of it."
            )
        self._arguments = _split(command)
        self._seconds = timeout_secs
        self.name = f"command:{Path(self._arguments[0]).name}"

    async def propose(self, material: Material, budget: CallBudget) -> Proposal:
        """Ask, and read what it answers. Raises GeneratorFailed."""
        return await self._answer(consolidation_question(material), budget)

    async def judge(self, pairs: Sequence[DoubtedPair], budget: CallBudget) -> tuple[PairVerdict, ...]:
        """Ask which of the pairs still hold. Raises GeneratorFailed."""
        return await self._answer(pair_question(pairs), budget)

    async def _answer(self, question: ModelTask[Answer], budget: CallBudget) -> Answer:
        prompt = f"{OWN_PROMPT}\n\n{question.task_with_schema}\n\n{question.prompt}"
        failure = GeneratorFailed()
        try:
            for _ in range(_CALLS):
                reply = await self._reply(prompt, question.output_tokens, budget)
                try:
                    return question.read(reply)
                except GeneratorFailed as error:
                    failure = error
                    prompt = f"{prompt}\n\nYour answer was:\n{reply[:2_000]}\n\n{again(str(error))}"
        except GeneratorFailed as error:
            failure = error
        raise GeneratorFailed(f"{self.name}: {failure}") from failure

    async def _reply(self, prompt: str, output_tokens: int, budget: CallBudget) -> str:
        spend = most = Spend(1, count_tokens(prompt), output_tokens)
        if not await budget.reserve(most):
            raise GeneratorFailed("the limit of tokens leaves no room for a call.")
        try:
            output = await _run(self._arguments, prompt, self._seconds)
            reply = output.said.decode("utf-8", "replace")
            spend = Spend(1, most.input_tokens, count_tokens(reply))
        except _NotStarted as error:
            spend = Spend()
            raise GeneratorFailed(str(error)) from error
        finally:
            if spend is not most:  # else it may have been answered unheard: what was reserved is what it cost
                await budget.settle(spend)
        if output.status:
            trouble = _first_line(output.trouble)
            told = f" and said “{trouble}”" if trouble else ""
            raise GeneratorFailed(f"the command ended with status {output.status}{told}.")
        return reply


class _Output(NamedTuple):
    """The output of a command: stdout, the beginning of stderr, and the exit status."""

    said: bytes
    trouble: bytes
    status: int


class _NotStarted(Exception):
    """The command could not be started, so nothing was sent."""


def _split(command: str) -> list[str]:
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise InvalidInput(f"{_SETTING} cannot be read: {str(error).lower()}.") from error
    if not arguments:
        raise InvalidInput(f"{_SETTING} names no program.")
    return arguments


async def _run(arguments: Sequence[str], prompt: str, seconds: int) -> _Output:
    """Run a command to its end. Raises _NotStarted, and GeneratorFailed where it is too slow or says too much."""
    process = await _started(arguments)
    try:
        with anyio.fail_after(seconds):
            return await _talk(process, prompt)
    except TimeoutError as error:
        raise GeneratorFailed(no_answer_within(seconds, f"{_SETTING}_secs")) from error
    finally:
        with anyio.CancelScope(shield=True):
            _kill(process)
            await process.wait()
            await process.aclose()


async def _started(arguments: Sequence[str]) -> Process:
    folder = paths.data_dir() / "consolidation-command"
    try:
        paths.make_private_dir(folder)
        return await anyio.open_process(
            list(arguments),
            cwd=folder,
            env={
                **{name: value for name, value in os.environ.items() if name not in _OF_A_SESSION},
                COMMAND_MARKER: "1",
            },
            start_new_session=True,  # a process group of its own, which can be killed as a whole
        )
    except FileNotFoundError as error:
        raise _NotStarted(f"there is no program “{arguments[0]}”; correct {_SETTING}, or install it.") from error
    except OSError as error:
        raise _NotStarted(f"“{arguments[0]}” cannot be started ({error.strerror}); correct {_SETTING}.") from error


async def _talk(process: Process, prompt: str) -> _Output:
    """Write the prompt while the answer is read, since neither side may have room for all of it."""
    assert process.stdin and process.stdout and process.stderr
    said, trouble = bytearray(), bytearray()
    status, too_much = 0, False

    async def listen() -> None:
        nonlocal too_much
        async for chunk in process.stdout:  # type: ignore[union-attr]
            said.extend(chunk)
            if len(said) > _LONGEST_OUTPUT:
                too_much = True
                group.cancel_scope.cancel()

    async def note_trouble() -> None:
        async for chunk in process.stderr:  # type: ignore[union-attr]
            trouble.extend(chunk[: _KEPT_TROUBLE - len(trouble)])

    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        group.start_soon(note_trouble)
        with suppress(anyio.BrokenResourceError, OSError):  # a command need not read all
            await process.stdin.send(prompt.encode("utf-8", "replace"))
        with suppress(anyio.BrokenResourceError, OSError):
            await process.stdin.aclose()
        status = await process.wait()
    if too_much:
        raise GeneratorFailed(f"the answer is longer than {_LONGEST_OUTPUT >> 20} MiB.")
    return _Output(bytes(said), bytes(trouble), status)


def _kill(process: Process) -> None:
    """Kill the command and whatever it started; a command that has ended may have left others behind."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        elif process.returncode is None:
            process.kill()


def _first_line(trouble: bytes) -> str:
    lines = trouble.decode("utf-8", "replace").split("\n")
    return next((" ".join(line.split()) for line in lines if line.strip()), "")[:200]
