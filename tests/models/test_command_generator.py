"""A command that stands for the model: real child processes, and everything that goes wrong with one."""

from __future__ import annotations

import json
import os
import shlex
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from tests.cases import each_case
from tests.consolidation.conftest import TALK
from tests.consolidation.server import GOOD

from picomem.errors import GeneratorFailed, InvalidInput
from picomem.models.generator import Material, PromptLine, Proposal
from picomem.models.selection import generator_of
from picomem.records.kinds import Origin
from picomem.records.session import Role
from picomem.records.spend import Spend
from picomem.settings import Settings
from picomem.settings_tables import MemorySettings, ModelSettings
from picomem.text.own_prompts import COMMAND_MARKER, OWN_PROMPT

pytestmark = [pytest.mark.requirement("X17"), pytest.mark.skipif(os.name == "nt", reason="it needs process groups")]

MATERIAL = Material(
    lines=tuple(
        PromptLine(number, message.role, message.content, Origin.USER if message.role is Role.USER else Origin.AGENT)
        for number, message in enumerate(TALK, 1)
    ),
    day="2026-05-01 10:30",
)


class Books:
    """A budget without a limit, which counts what is spent."""

    def __init__(self) -> None:
        self.spent = Spend()
        self._reserved = Spend()

    async def reserve(self, most: Spend) -> bool:
        self._reserved = most
        self.spent += most
        return True

    async def settle(self, spend: Spend) -> None:
        self.spent += spend + -self._reserved


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


Script = Callable[..., str]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """A program of these lines; the command that runs it."""

    def _written(body: str, *arguments: str) -> str:
        path = tmp_path / "answer.py"
        path.write_text("import json, os, signal, subprocess, sys\n" + textwrap.dedent(body))
        return shlex.join([sys.executable, str(path), *arguments])

    return _written


def proposed(command: str, *, seconds: int = 20, books: Books | None = None) -> Proposal:
    generator = generator_of(
        Settings(memory=MemorySettings(consolidation_command=command, consolidation_command_secs=seconds))
    )

    async def ask() -> Proposal:
        return await generator.propose(MATERIAL, books or Books())

    return anyio.run(ask)


def ends(pid: int) -> bool:
    """Whether a process that was killed is gone within a few seconds; nobody may wait for a grandchild."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
    return False


def test_the_prompt_is_on_stdin_and_the_answer_in_a_fence_is_read(script: Script, tmp_path: Path) -> None:
    command = script(
        """
        open(sys.argv[1], "w").write(sys.stdin.read())
        print("Here you are:\\n```json\\n" + sys.argv[2] + "\\n```")
        """,
        str(tmp_path / "prompt"),
        json.dumps(GOOD),
    )
    books = Books()
    done = proposed(command, books=books)
    assert [fact.content for fact in done.facts] == ["The staging database listens on port 5433"]
    prompt = (tmp_path / "prompt").read_text()
    assert prompt.startswith(f"{OWN_PROMPT}\n")
    assert "[1] (new) user: Why is staging so slow?" in prompt
    assert books.spent.calls == 1
    assert 600 < books.spent.input_tokens < 2_000
    assert 20 < books.spent.output_tokens < 200


def test_no_shell_reads_the_command(script: Script, tmp_path: Path) -> None:
    command = script("print(json.dumps(dict(timeline=sys.argv[1], facts=[])))")
    done = proposed(f"{command} '$(touch {tmp_path}/made); echo `id`'")
    assert done.timeline == f"$(touch {tmp_path}/made); echo `id`"
    assert not (tmp_path / "made").exists()


def test_the_child_runs_in_an_empty_private_folder_with_a_mark_in_its_environment(script: Script, monkeypatch) -> None:
    monkeypatch.setenv("OF_THE_USER", "kept")
    told = f"[os.getcwd(), os.listdir(), oct(os.stat('.').st_mode), os.environ['{COMMAND_MARKER}'], os.environ['OF_THE_USER']]"  # fmt: skip
    done = proposed(script(f"print(json.dumps(dict(timeline=json.dumps({told}))))"))
    folder, files, mode, mark, kept = json.loads(done.timeline)
    assert folder.startswith(os.environ["XDG_DATA_HOME"])
    assert folder != os.getcwd()
    assert (files, mode[-3:], mark, kept) == ([], "700", "1", "kept")


def test_a_process_that_such_a_command_started_starts_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COMMAND_MARKER, "1")
    with pytest.raises(InvalidInput, match="start itself over and over"):
        proposed("claude -p")


def test_a_command_that_is_too_slow_is_killed_with_all_that_it_started(script: Script, tmp_path: Path) -> None:
    command = script(
        """
        child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
        open(sys.argv[1], "w").write(f"{os.getpid()} {child.pid}")
        signal.pause()
        """,
        str(tmp_path / "pids"),
    )
    books = Books()
    with pytest.raises(GeneratorFailed, match=r"no answer within 1 seconds; raise memory\.consolidation_command_secs"):
        proposed(command, seconds=1, books=books)
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert all(ends(pid) for pid in pids)
    assert books.spent.tokens > 2_000  # it may have been answered unheard


def test_a_command_that_says_too_much_is_killed(script: Script) -> None:
    with pytest.raises(GeneratorFailed, match="longer than 1 MiB"):
        proposed(script("while True: sys.stdout.write('x' * 65536)"))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("print('\\nLog in first.\\nTrace', file=sys.stderr); sys.exit(3)", "ended with status 3 and said “Log in first.”"),
        ("sys.exit(1)", r"ended with status 1\."),
        ("pass", r"It is empty\."),
        ("print('{\"facts\": [')", "no whole JSON object"),
        ("os.kill(os.getpid(), 9)", "ended with status -9"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_one_sentence(script: Script, body: str, problem: str) -> None:
    with pytest.raises(GeneratorFailed, match=problem) as raised:
        proposed(script(body))
    assert str(raised.value).startswith(f"command:{Path(sys.executable).name}: ")
    assert "\n" not in str(raised.value)


def test_an_answer_that_cannot_be_read_is_asked_for_once_more(script: Script, tmp_path: Path) -> None:
    command = script(
        """
        again = "Answer again" in sys.stdin.read()
        print(sys.argv[1] if again else "Sure!")
        """,
        json.dumps(GOOD),
    )
    books = Books()
    assert proposed(command, books=books).timeline == GOOD["timeline"]
    assert books.spent.calls == 2


@each_case(
    ("command", "problem"),
    [
        ("no-such-program-here -p", "there is no program “no-such-program-here”"),
        ("/", r"“/” cannot be started \(Permission denied\)"),
    ],
)
def test_a_program_that_is_not_there_costs_nothing(command: str, problem: str) -> None:
    books = Books()
    with pytest.raises(GeneratorFailed, match=problem):
        proposed(command, books=books)
    assert books.spent == Spend()


@each_case("command", ["claude 'unclosed", "   "])
def test_a_command_that_cannot_be_split_is_refused_at_once(command: str) -> None:
    with pytest.raises(InvalidInput, match=r"memory\.consolidation_command"):
        proposed(command)


def test_a_command_and_a_model_are_one_too_many() -> None:
    both = MemorySettings(consolidation_command="claude -p", consolidation_model="tiny")
    with pytest.raises(InvalidInput, match="are both set"):
        generator_of(Settings(memory=both, model=ModelSettings(provider="ollama")))
