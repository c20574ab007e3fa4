"""The examples of the pages on the server, on running it and on chats, run against a server."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
from tests.cli.model_server import ModelServer
from tests.cli.model_server import serving as model_serving
from tests.databases import open_memory
from tests.gateway.serving import picomem as command
from tests.gateway.serving import serving, token

import picomem
from picomem.app import operations
from picomem.channels.whatsapp import WhatsAppAccount, settings_of_accounts
from picomem.engine.job_store import job_store
from picomem.errors import InvalidInput
from picomem.gateway.facades import tools_of_facades
from picomem.gateway.guard import OPEN, OPEN_CHANNELS, OPEN_PAGES
from picomem.jobs import OF_A_USER
from picomem.jobs.job_kinds import CONSOLIDATE, WATCH, Done, ended, may_begin
from picomem.paths import data_dir
from picomem.settings import load

DOCS = Path(__file__).parents[2] / "docs"
PAGE, RUNNING, CHAT = ((DOCS / name).read_text("utf-8") for name in ("gateway.md", "running.md", "chat.md"))


def test_each_request_of_the_page_is_answered(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    scopes = ("memory:read:user", "memory:write:user", "memory:purge:user")
    anns = token(db, "--user", "ann", *(part for scope in scopes for part in ("--scope", scope)))
    answers = []
    with serving(db) as running:
        for line in re.findall(r"^    curl (.*)$", PAGE, re.MULTILINE):
            words = shlex.split(line)
            address = next(word for word in words if word.startswith("http"))
            body = json.loads(words[words.index("-d") + 1])
            answer = running.post(anns, address.rpartition("/")[2], body)
            assert answer.status_code == 200, line
            answers.append(answer.json())
    stored, recalled, listed, planned = answers
    assert stored["memory"]["key"] == "billing_db"
    assert [hit["key"] for hit in recalled["hits"]] == ["billing_db"]
    assert (listed["memories"][0]["key"], listed["cursor"]) == ("billing_db", "")
    assert planned["confirmation"]


def test_each_list_that_the_page_names_goes_on_with_its_cursor(tmp_path: Path) -> None:
    (sentence,) = re.findall(r"it says nothing else\. (.*?) have it\.", PAGE, re.DOTALL)
    remote = [operation for operation in operations() if not operation.operator and not operation.reads_local_files]
    named = re.findall(r"`([a-z-]+)`", sentence)
    assert set(named) == {operation.name for operation in remote if operation.pages}
    db = tmp_path / "memory.db"
    anns = token(db, "--user", "ann")
    keys, cursor = [], None
    with serving(db) as running:
        for key in ("berth", "hull", "mast"):
            running.post(anns, "remember", {"content": f"The {key} is blue", "key": key})
        while cursor != "":
            body = {"limit": 1, **({"cursor": cursor} if cursor else {})}
            page = running.post(anns, "memories", body).json()
            keys += [memory["key"] for memory in page["memories"]]
            cursor = page["cursor"]
    assert sorted(keys) == ["berth", "hull", "mast"]


def test_the_program_of_the_page_talks_mcp_over_http(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", PICOMEM_RECALL_EMBEDDER="none") as running:
        anns = token(tmp_path / "memory.db", "--user", "ann")
        source = _python("streamable_http_client").replace("http://127.0.0.1:8765", running.url)
        done = _run(tmp_path, source, TOKEN=anns)
    assert (done.returncode, done.stdout) == (0, "The berth is number 12\n"), done.stderr


def test_the_python_of_the_page_talks_with_picobot(tmp_path: Path) -> None:
    with (
        model_serving(ModelServer("Noted.", "Green tea.")) as model,
        serving(tmp_path / "memory.db", **model.env) as running,
    ):
        anns = token(tmp_path / "memory.db", "--user", "ann")
        source = _python("from openai import OpenAI", CHAT).replace("http://127.0.0.1:8765", running.url)
        done = _run(tmp_path, source, TOKEN=anns)
    assert (done.returncode, done.stdout) == (0, "Noted.\nGreen tea."), done.stderr


@pytest.mark.sqlite_file("the example runs on the store of a new home")
def test_the_tools_of_the_page_that_an_agent_knows_work_as_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (table,) = re.findall(r"^    (\[mcp\]\n    .+\n)", PAGE, re.MULTILINE)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for name in ("PICOMEM_DATA_DIR", "PICOMEM_CONFIG", "PICOMEM_DB", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    folder = data_dir()
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(f"{textwrap.dedent(table)}\n[recall]\nembedder = 'none'\n", "utf-8")
    done = _run(tmp_path, _python("create_entities"))
    assert done.returncode == 0, done.stderr
    with open_memory(folder / "picomem.db", embedder="none") as memory:
        assert memory.files().paths() == ["boat.md"]
    known = re.findall(r"`(\w+)`", PAGE[PAGE.index("the nine tools of MCP's") : PAGE.index("`anthropic-memory` adds")])
    assert known == [tool.name for tool in tools_of_facades(["server-memory"])]


def _python(part: str, page: str = PAGE) -> str:
    """The example in Python that has this part."""
    return next(code for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if part in code)


def _run(folder: Path, source: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the example as a reader does, from a file."""
    program = folder / "example.py"
    program.write_text(source, "utf-8")
    return subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _settings(page: str) -> str:
    """The settings that the page shows, as one file."""
    (table,) = re.findall(r"^    (\[server\]\n(?:    .+\n)+)", page, re.MULTILINE)
    return "\n".join(line.strip() for line in table.splitlines())


def test_behind_a_proxy_as_on_the_page_the_proxys_host_is_served_and_others_are_not(tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text(_settings(RUNNING), "utf-8")
    (host,) = tomllib.loads(settings.read_text("utf-8"))["server"]["hosts"]
    assert re.findall(r"^    ([a-z]+\.[a-z.]+) \{$", RUNNING, re.MULTILINE) == [host]  # of Caddy
    assert f"server_name {host};" in RUNNING
    db = tmp_path / "memory.db"
    anns = token(db, "--user", "ann")
    with serving(db, PICOMEM_CONFIG=str(settings)) as running:
        passed = running.post(anns, "status", {}, Host=host, X_Forwarded_For="203.0.113.7", Origin=f"https://{host}")
        other = running.post(anns, "status", {}, Host="evil.example")
    assert (passed.status_code, other.status_code) == (200, 421)


@pytest.mark.sqlite_file("backs up the file")
def test_the_page_is_right_about_backups_logs_and_metrics(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    anns = token(db, "--user", "ann")
    grant, make = re.findall(r"^    picomem ((?:grant|token make) .*server:read:metrics.*)$", RUNNING, re.MULTILINE)
    assert command(db, *shlex.split(grant)).returncode == 0
    scraper = json.loads(command(db, *shlex.split(make), "--json").stdout)["token"]
    with serving(db) as running:
        running.post(anns, "remember", {"content": "The ferry leaves at seven", "key": "ferry"})
        with running.client(scraper) as client:
            assert 'picomem_request_seconds_count{operation="remember"} 1.0' in client.get("/metrics").text
        (folder,) = re.findall(r"^    mkdir -p (.*)$", RUNNING, re.MULTILINE)
        Path(folder.replace("~", str(tmp_path))).mkdir()
        (line,) = re.findall(r"^    picomem (backup .*)$", RUNNING, re.MULTILINE)
        words = shlex.split(line.replace("~", str(tmp_path)))
        backup = json.loads(command(db, *words, "--json").stdout)["path"]
        running.post(anns, "remember", {"content": "Tea is in the blue tin", "key": "tea"})
        assert command(db, "restore", backup).returncode == 0
        stopped = running.post(anns, "recall", {"query": "where is the tea"})
        with running.client() as client:
            ready = client.get("/ready")
        lines = [json.loads(line) for line in running.whole_log().splitlines()]
    assert (stopped.status_code, stopped.json()["error"]["code"]) == (503, "files_moved")
    assert ready.status_code == 503 and str(tmp_path) not in stopped.text + ready.text
    (example,) = re.findall(r'^    (\{"method".*\})$', RUNNING, re.MULTILINE)
    assert json.loads(example).keys() == lines[0].keys()
    with serving(db) as running:
        listed = running.post(anns, "memories").json()["memories"]
    assert [memory["key"] for memory in listed] == ["ferry"]


def test_the_settings_of_the_page_are_settings(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", CHAT, re.DOTALL)
    (tmp_path / "config.toml").write_text(example)
    secrets = {f"PICOMEM_WHATSAPP_{name}": "x" for name in ("APP_SECRET", "ACCESS_TOKEN")}
    assert all(name in CHAT for name in secrets)
    settings = load(secrets, tmp_path / "config.toml")
    assert f"/channels/whatsapp/{settings.whatsapp.account}" in CHAT
    accounts = settings_of_accounts(settings.whatsapp)
    assert [account.account for account in accounts.values()] == ["main", "shop"]
    WhatsAppAccount(accounts["whatsapp"], "whatsapp")
    for table, variable in (("whatsapp", "WHATSAPP"), ("whatsapp.accounts.shop", "WHATSAPP_ACCOUNTS_SHOP")):
        without = settings_of_accounts(load({}, tmp_path / "config.toml").whatsapp)[table]
        with pytest.raises(InvalidInput, match=f"PICOMEM_{variable}_APP_SECRET"):
            WhatsAppAccount(without, table)
        assert f"PICOMEM_{variable}_APP_SECRET" in CHAT


def test_the_page_names_the_addresses_without_a_token() -> None:
    for address in OPEN:
        assert f"GET {address}" in PAGE
    for beginning in (*OPEN_CHANNELS, *OPEN_PAGES):
        assert beginning in PAGE


def test_the_page_names_each_kind_of_background_work() -> None:
    rows = re.findall(r"^\| `([\w-]+)(?::MODEL)?` \| .* \| .* \|$", RUNNING, re.MULTILINE)
    assert rows == [WATCH, *OF_A_USER]


@pytest.mark.sqlite_file("other processes look at the jobs in the file")
def test_each_command_of_the_page_about_jobs_works(db: Path) -> None:
    with picomem.open(db, embedder="none") as memory:
        running = job_store(memory).begin("local", CONSOLIDATE, "", may_begin)
        assert running is not None
        running.end(lambda job, now: ended(job, Done(), "", now))
    commands = re.findall(r"^    picomem ((?:jobs|cancel-job).*)$", RUNNING, re.MULTILINE)
    said = [command(db, *shlex.split(line)) for line in commands]
    assert [done.returncode for done in said] == [0, 0, 0], said
    states = ("done, last run ended", "cancelled, not begun again before", "waiting")
    assert [state in done.stdout for state, done in zip(states, said, strict=True)] == [True, True, True], said


def test_the_page_installs_the_files_that_are_there_and_reads_secrets_from_where_it_puts_them() -> None:
    deploy = Path(__file__).parents[2] / "deploy"
    (copied,) = re.findall(r"^    cp (deploy/.*) /etc/systemd/system/$", RUNNING, re.MULTILINE)
    assert all((deploy.parent / name).is_file() for name in copied.split())
    units = re.findall(r"^    systemctl (?:enable --now|start) (\S+)$", RUNNING, re.MULTILINE)
    assert {Path(name).name for name in copied.split()} == set(units)
    (folder,) = re.findall(r"^    ls (/var/lib/\S+)$", RUNNING, re.MULTILINE)
    assert f"picomem backup {folder}\n" in (deploy / "picomem-backup.service").read_text("utf-8")
    (secrets,) = re.findall(r"^    EnvironmentFile=(\S+)$", RUNNING, re.MULTILINE)
    assert f"install -m 600 /dev/null {secrets}\n" in RUNNING
    variables = dict.fromkeys(re.findall(r"`(PICOMEM_\w+)=…`", RUNNING), "7")
    assert len(variables) == 2
    settings = load(variables, None)
    assert (settings.model.key, settings.whatsapp.app_secret) == ("7", "7")


def test_a_colleague_signs_in_behind_the_proxy_with_the_part_of_the_link_that_is_sent(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    (line,) = re.findall(r"`picomem (open --no-browser --user ann)`", RUNNING)
    assert "https://memory.example.org/sign-in" in RUNNING
    host = "memory.example.org"
    with serving(db, "--no-watch", PICOMEM_SERVER_HOSTS=host) as running:
        running.post(token(db, "--user", "ann"), "remember", {"content": "The ferry leaves at seven", "key": "ferry"})
        link = command(db, *shlex.split(line)).stdout.strip()
        code = link.partition("#")[2]
        headers = {"Host": host, "Origin": f"https://{host}", "Accept": "text/html"}
        with running.client("", **headers) as client:
            assert client.post("/sign-in", data={"code": code}).status_code == 303
            # A proxy takes the cookie over TLS; the client of this test has none.
            cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in client.cookies.jar)
            assert "ferry" in client.get("/memories", headers={"Cookie": cookies}).text
            assert client.post("/sign-in", data={"code": code}).status_code == 403


def test_a_server_reads_its_settings_when_it_starts_and_the_store_at_each_request(tmp_path: Path) -> None:
    db, settings = tmp_path / "memory.db", tmp_path / "config.toml"
    settings.write_text("[server]\n", "utf-8")
    anns = token(db, "--user", "ann")
    for expected in (421, 200):
        with serving(db, "--no-watch", PICOMEM_CONFIG=str(settings)) as running:
            settings.write_text(_settings(RUNNING), "utf-8")
            assert running.post(anns, "status", {}, Host="memory.example.org").status_code == expected
            assert running.post(token(db, "--user", "bob"), "status").status_code == 200
