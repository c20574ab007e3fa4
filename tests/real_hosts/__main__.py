"""`python -m tests.real_hosts FOLDER`: the real Claude Code and the real Codex, with a scripted model; see `make hosts`.

FOLDER is where npm installed package.json. Each host gets a home of its own with settings that somebody wrote, and then:

1. `picomem install --yes`.
2. A session that states a decision; `picomem recall` must find it.
3. A second session that asks for it. What the model is sent must hold the decision, fenced, with its citation.
4. The host compacts the second session. Its own summary must stand in the timeline.
5. `picomem uninstall --yes`. The settings must be what they were, byte for byte.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.real_hosts.scripted_model import ScriptedModel, scripted_model
from tests.waiting import wait_until

PROGRAMS = Path(sys.executable).parent
DECISION = "We decided that the invoices service uses PostgreSQL 16 and nothing else."
QUESTION = "which database does the invoices service use?"
SENTENCE = "Noted."
_PATIENCE = 120  # seconds


@dataclass(frozen=True)
class RealHost:
    """`settings` are the files of its home, given the address of the model; `ours` those that `install` may write."""

    name: str
    command: Sequence[str]
    compacting: Sequence[str]
    variables: dict[str, str]
    settings: Callable[[str], dict[str, str]]
    ours: Sequence[str]


HOSTS = (
    RealHost(
        name="claude-code",
        command=("claude", "-p"),
        compacting=("claude", "-p", "--continue", "/compact"),
        variables={"ANTHROPIC_API_KEY": "none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
        settings=lambda _: {".claude/settings.json": '{\r\n  "permissions": {"allow": ["Bash(ls:*)"]}\r\n}\r\n'},
        ours=(".claude/settings.json",),
    ),
    RealHost(
        name="codex",
        command=("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
        compacting=(
            *("codex", "exec", "resume", "--last", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
            *("--config", "model_auto_compact_token_limit=1", "go on"),
        ),
        variables={"LOOP_KEY": "none"},
        settings=lambda url: {
            ".codex/config.toml": "# mine\nmodel_provider = 'loop'\nmodel = \"scripted\"\n\n[model_providers.loop]\n"
            f'name = "loop"\nbase_url = "{url}/v1"  # here\nwire_api = "responses"\nenv_key = "LOOP_KEY"\n'
        },
        ours=(".codex/config.toml", ".codex/hooks.json"),
    ),
)


class Trial:
    """A host in a home of its own."""

    def __init__(self, host: RealHost, folder: Path, home: Path, model: ScriptedModel) -> None:
        self.host = host
        self.home = home
        self.model = model
        path = (folder / "node_modules/.bin", folder / "node_modules/node/bin", PROGRAMS, "/usr/bin", "/bin")
        self.env = {"PATH": os.pathsep.join(map(str, path)), "HOME": str(home), "LANG": "C.UTF-8", **host.variables}
        self.env["ANTHROPIC_BASE_URL"] = model.url

    def run(self) -> None:
        """Go through the five steps. Raises AssertionError where one does not hold."""
        for name, text in self.host.settings(self.model.url).items():
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_bytes(text.encode())
        before = self._ours()
        self._picomem("install", self.host.name, "--yes")
        assert self._ours() != before
        self._session(DECISION)
        cited = self._decision()
        asked_before = len(self.model.requests)
        self._session(QUESTION)
        self._injected("".join(self.model.requests[asked_before:]), cited)
        self._done(self.host.compacting, self.home / "invoices")
        self._summary()
        self._picomem("uninstall", self.host.name, "--yes")
        assert self._ours() == before

    def _ours(self) -> dict[str, bytes]:
        return {name: (self.home / name).read_bytes() for name in self.host.ours if (self.home / name).exists()}

    def _session(self, prompt: str) -> None:
        project = self.home / "invoices"
        project.mkdir(exist_ok=True)
        self._done([*self.host.command, prompt], project)

    def _picomem(self, *arguments: str) -> str:
        return self._done(["picomem", *arguments], self.home)

    def _done(self, command: Sequence[str], folder: Path) -> str:
        done = subprocess.run(
            command, env=self.env, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE
        )  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def _decision(self) -> str:
        """The id of what holds the decision, a memory or an episode. The hook reads the transcript when the host has
        gone on."""
        ids: list[str] = []

        def is_stored() -> bool:
            hits = json.loads(self._picomem("recall", "--json", "what was decided on the invoices service"))["hits"]
            ids.extend(hit["id"] for hit in hits if DECISION.rstrip(".") in hit["text"])
            return bool(ids)

        wait_until(is_stored, seconds=_PATIENCE, otherwise="the decision is not stored")
        return ids[0]

    def _summary(self) -> None:
        """The timeline holds what the host wrote when it compacted."""

        def is_stored() -> bool:
            episodes = json.loads(self._picomem("timeline", "--json"))["episodes"]
            return any(entry["role"] == "summary" for entry in episodes)

        wait_until(is_stored, seconds=_PATIENCE, otherwise="there is no summary")

    def _injected(self, sent: str, cited: str) -> None:
        """The decision stands between the marks, with the id under which `picomem show` opens it."""
        blocks = re.findall(r"<picomem-memory>(.*?)</picomem-memory>", sent)
        assert blocks, "nothing was injected: " + self._picomem("status")
        assert any(DECISION.rstrip(".") in block and cited[:13] in block for block in blocks), blocks


def _home() -> TemporaryDirectory[str]:
    """A home of its own; a hook may still be reading in it when it is removed."""
    return TemporaryDirectory(prefix="picomem-host-", ignore_cleanup_errors=True)


def main(folder: Path) -> int:
    """Try each host; how many failed."""
    failed = 0
    for host in HOSTS:
        with _home() as home, scripted_model(SENTENCE) as model:
            try:
                Trial(host, folder, Path(home).resolve(), model).run()
            except (AssertionError, subprocess.SubprocessError) as error:
                failed += 1
                sys.stdout.write(f"{host.name}: failed: {error}\n")
            else:
                sys.stdout.write(f"{host.name}: installed, remembered, recalled, compacted, uninstalled to the byte\n")
    return failed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
