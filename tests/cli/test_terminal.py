"""`picomem chat` at a terminal: what a person types, and what they see of it."""

from __future__ import annotations

import codecs
import os
import re
import select
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clean_home import variables_of
from tests.cli.model_server import ModelServer, Unended, serving
from tests.sealed_stores import is_setting

pty = pytest.importorskip("pty")

_SECONDS = 60.0


class Terminal:
    """The real program at a terminal of its own."""

    def __init__(self, home: Path, env: dict[str, str], *arguments: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not is_setting(name)}
        full = {**kept, **variables_of(home), "TERM": "xterm", "TZ": "UTC", **env}
        self.seen = ""
        self._decoded = codecs.getincrementaldecoder("utf-8")("replace")
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.chdir(home)
            os.execve(sys.executable, [sys.executable, "-m", "picomem.cli.main", "chat", *arguments], full)

    def until(self, text: str) -> str:
        """What is shown up to and with a text."""
        while text not in self.seen:
            assert select.select([self.file], [], [], _SECONDS)[0], f"no {text!r} in {self.seen!r}"
            try:
                read = os.read(self.file, 65_536)
            except OSError:
                read = b""
            assert read, f"it ended without {text!r}: {self.seen!r}"
            self.seen += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r", "", self._decoded.decode(read))
        shown, text, self.seen = self.seen.partition(text)
        return shown + text

    def take_back(self) -> str:
        """Ctrl-C at the prompt; what is shown until the next one. Python sees one that comes while its readline still
        handles a key only with the next key, so it is pressed again where nothing comes of it."""
        self.type("\x03")
        while not select.select([self.file], [], [], 2.0)[0]:
            self.type("\x03")
        return self.until("\n› ")

    def type(self, text: str) -> None:
        os.write(self.file, text.encode())

    def say(self, text: str) -> str:
        """Type a line; what is shown until the next prompt."""
        self.type(f"{text}\r")
        return self.until("\n› ")

    def ended(self) -> tuple[int, str]:
        """The exit code, and what was shown at the end."""
        while True:
            try:
                read = os.read(self.file, 65_536)
            except OSError:
                break
            if not read:
                break
            self.seen += self._decoded.decode(read).replace("\r", "")
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]), self.seen


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(ModelServer()) as running:
        yield running


def test_an_interrupt_stops_the_answer_and_not_the_chat_and_what_came_is_kept(home: Path, server: ModelServer) -> None:
    server.steps = [Unended("It began well and"), "你好。"]
    chat = Terminal(home, server.env)
    assert "PicoBot on script. /help" in chat.until("› ")
    chat.type("Tell me a story.\r")
    chat.until("well and")
    chat.type("\x03")
    assert "stopped; what was said until now is kept" in chat.until("\n› ")
    chat.type("half a line")
    chat.until("half a line")
    assert "Ctrl-D ends" in chat.take_back()
    assert "你好。" in chat.say("我喜欢喝绿茶")
    said = [message["content"] for message in server.asked[-1]["messages"]][1:]
    assert said == ["Tell me a story.", "It began well and", "我喜欢喝绿茶"]
    chat.type("\x04")
    code, shown = chat.ended()
    assert code == 0 and "picomem chat --session" in shown


def test_a_pasted_text_of_many_lines_is_one_message(home: Path, server: ModelServer) -> None:
    chat = Terminal(home, server.env)
    chat.until("› ")
    chat.type("\x1b[200~one\ntwo\n三\x1b[201~")
    chat.say("")
    assert server.asked[0]["messages"][-1]["content"] == "one\ntwo\n三"
    chat.type("/quit\r")
    assert chat.ended()[0] == 0


def test_a_server_that_fails_is_one_sentence_that_says_what_to_do(home: Path, server: ModelServer) -> None:
    server.steps = [401, 404, 400, ""]
    chat = Terminal(home, server.env)
    chat.until("› ")
    for words in ("refuses the key (401)", "no model “script” there (404: slow down)", "question (400: slow down)"):
        shown = chat.say("Hello?")
        assert words in shown and shown.count("The model did not answer") == 1 and "Traceback" not in shown
    for line, words in (
        ("/why nothing", "/memory shows the names"),
        ("/session nothing", "/sessions lists them"),
        ("/memory", "Nothing is remembered yet"),
        ("/memorry", "did you mean /memory?"),
        ("   ", ""),
    ):
        assert words in chat.say(line)
    chat.type("/quit\r")
    assert chat.ended()[0] == 0
