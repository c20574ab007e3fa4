"""The real program at a real terminal: in tmux as a person would use it, and at a pty whose screen pyte keeps."""

from __future__ import annotations

import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.clean_home import variables_of
from tests.cli.conftest import Picomem
from tests.sealed_stores import is_setting

pty = pytest.importorskip("pty")
fcntl = pytest.importorskip("fcntl")
pyte = pytest.importorskip("pyte")
termios = pytest.importorskip("termios")

_SECONDS = 60.0
_LAST_SEQUENCES = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?2004l")  # own screen, cursor, mouse, paste


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not (is_setting(name) or name.startswith(("TMUX", "NO_COLOR")))
    }
    own = {**variables_of(home), "TZ": "UTC", "OLLAMA_HOST": "127.0.0.1:1"}
    return {**kept, **own, "TERM": "xterm-256color", "PICOMEM_RECALL_EMBEDDER": "none", "LANG": "C.UTF-8"}


class Terminal:
    """The program at a terminal of its own."""

    def __init__(self, home: Path, environment: dict[str, str]) -> None:
        self.screen = pyte.Screen(80, 24)
        self.written = b""
        self._stream = pyte.ByteStream(self.screen)
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.chdir(home)
            os.execve(sys.executable, [sys.executable, "-m", "picomem", "tui"], environment)
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.settings = termios.tcgetattr(self.file)

    def until(self, text: str) -> str:
        """The screen as soon as it shows a text."""
        while text not in self.shown:
            assert self._read(), f"it ended without {text!r}:\n{self.shown}"
        return self.shown

    @property
    def shown(self) -> str:
        return "\n".join(self.screen.display)

    def type(self, text: str) -> None:
        os.write(self.file, text.encode())

    def ended(self) -> int:
        """The exit code."""
        while self._read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read(self) -> bytes:
        assert select.select([self.file], [], [], _SECONDS)[0], f"nothing came any more:\n{self.shown}"
        try:
            read = os.read(self.file, 65_536)
        except OSError:
            return b""
        self.written += read
        self._stream.feed(read)
        return read


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP, "\x11"], ids=["SIGTERM", "SIGHUP", "ctrl+q"])
def test_the_terminal_is_as_it_was_however_the_program_ends(
    picomem: Picomem, home: Path, environment: dict[str, str], ending: signal.Signals | str
) -> None:
    picomem("remember", "The tide table of Kiel is in docs/tides.md", "--key", "tide_table")
    terminal = Terminal(home, {**environment, "NO_COLOR": "1"} if ending == "\x11" else environment)
    terminal.until("1 memory · 0 sessions")
    terminal.type("kiel")
    assert "docs/tides.md" in terminal.until("tide_table")
    before = len(terminal.written)
    if isinstance(ending, str):
        terminal.type(ending)
    else:
        os.kill(terminal.pid, ending)
    assert terminal.ended() == (0 if isinstance(ending, str) else 128 + ending)
    for sequence in _LAST_SEQUENCES:
        assert sequence in terminal.written[before:]
    has_colours = b"\x1b[38;" in terminal.written or b";38;" in terminal.written or b";48;" in terminal.written
    assert has_colours == (ending != "\x11")  # NO_COLOR
    with suppress(termios.error):  # where the system has forgotten a terminal that nobody has open
        assert termios.tcgetattr(terminal.file)[:4] == terminal.settings[:4]
    os.close(terminal.file)


def test_the_program_ends_with_its_terminal(picomem: Picomem, home: Path, environment: dict[str, str]) -> None:
    """A window that is closed, or a connection that is lost, takes what was being drawn with it."""
    picomem("remember", "The tide table of Kiel is in docs/tides.md")
    for typed in ("", "kiel " * 40):
        terminal = Terminal(home, environment)
        terminal.until("1 memory · 0 sessions")
        terminal.type(typed)
        os.close(terminal.file)
        ended, last = 0, time.monotonic() + _SECONDS
        while not ended and time.monotonic() < last:
            ended = os.waitpid(terminal.pid, os.WNOHANG)[0]
            select.select([], [], [], 0.05)
        assert ended == terminal.pid


class Tmux:
    """A server of tmux with one window."""

    def __init__(self, socket: Path, environment: dict[str, str]) -> None:
        self._command = ["tmux", "-S", str(socket), "-f", "/dev/null"]
        self._environment = environment
        self._run("new-session", "-d", "-s", "person", "-x", "80", "-y", "24", "env PS1='ready> ' sh")

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._command, *arguments], env=self._environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    def press(self, *keys: str) -> None:
        self._run("send-keys", "-t", "person", *keys)

    def type(self, text: str) -> None:
        self._run("send-keys", "-t", "person", "-l", text)

    def until(self, condition: Callable[[str], bool]) -> str:
        """The screen as soon as it is so. tmux tells nobody when it has drawn, so it is asked again and again."""
        last = time.monotonic() + _SECONDS
        while not condition(shown := self._run("capture-pane", "-p", "-t", "person")):
            assert time.monotonic() < last, shown
        return shown

    def shows(self, text: str) -> str:
        return self.until(lambda shown: text in shown)

    def close(self) -> None:
        self._run("kill-server")


@pytest.fixture
def tmux(tmp_path: Path, environment: dict[str, str]) -> Iterator[Tmux]:
    if not shutil.which("tmux"):
        pytest.skip("there is no tmux")
    server = Tmux(tmp_path / "tmux", environment)
    yield server
    server.close()


def test_a_person_finds_edits_and_undoes_in_tmux_and_has_the_shell_back(
    picomem: Picomem, home: Path, tmux: Tmux
) -> None:
    picomem("remember", "The tide table of Kiel is in docs/tides.md", "--key", "tide_table")
    tmux.shows("ready>")
    tmux.type(f"cd {home} && {sys.executable} -m picomem tui")
    tmux.press("Enter")
    tmux.shows("1 memory · 0 sessions")
    tmux.type("kiel")
    tmux.shows("│ tide_table")
    tmux.press("Down")
    tmux.until(lambda shown: "▌ tide_table" in shown and "e Edit" in shown)
    tmux.type("e")
    tmux.shows("Edit tide_table")
    tmux.type(" 潮汐表")
    tmux.press("C-s")
    tmux.shows("tide_table is revised (version 2); u undoes it.")
    assert "docs/tides.md 潮汐表" in picomem("memories").out
    tmux.type("u")
    tmux.shows("Undone: tide_table")
    assert "潮汐表" not in picomem("memories").out
    tmux.type("q")
    shown = tmux.until(lambda shown: "Search memories" not in shown and "ready>" in shown)
    assert "picomem tui" in shown  # the shell's screen is back
    tmux.type("echo it is $((40 + 2))")
    tmux.press("Enter")
    tmux.shows("it is 42")


def test_without_a_terminal_one_sentence_says_that_it_needs_one(picomem: Picomem) -> None:
    done = picomem("tui")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "needs a terminal" in done.err


def test_without_the_extra_one_sentence_says_how_to_get_it(home: Path) -> None:
    code = (
        "import sys; sys.modules['textual'] = None; from picomem.cli.main import main; raise SystemExit(main(['tui']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=home)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "picomem: The terminal interface needs the extra `tui`: install picomem[tui], such as with pip.\n"
    )
