"""The examples of the page on the server, run against a server."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from tests.gateway.serving import picomem, serving, token

from picomem.gateway.guard import OPEN

PAGE = (Path(__file__).parents[2] / "docs" / "gateway.md").read_text("utf-8")


@pytest.mark.sqlite_file("serves a file, which other processes use as well")
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
    stored, recalled, planned = answers
    assert stored["memory"]["key"] == "billing_db"
    assert [hit["key"] for hit in recalled["hits"]] == ["billing_db"]
    assert planned["confirmation"]


def _settings(page: str) -> str:
    """The settings that the page shows, as one file."""
    (table,) = re.findall(r"^    (\[server\]\n(?:    .+\n)+)", page, re.MULTILINE)
    return "\n".join(line.strip() for line in table.splitlines())


@pytest.mark.sqlite_file("serves a file, which other processes use as well")
def test_behind_a_proxy_as_on_the_page_the_proxys_host_is_served_and_others_are_not(tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text(_settings(PAGE), "utf-8")
    (host,) = tomllib.loads(settings.read_text("utf-8"))["server"]["hosts"]
    assert re.findall(r"^    ([a-z]+\.[a-z.]+) \{$", PAGE, re.MULTILINE) == [host]  # of Caddy
    assert f"server_name {host};" in PAGE
    db = tmp_path / "memory.db"
    anns = token(db, "--user", "ann")
    with serving(db, PICOMEM_CONFIG=str(settings)) as running:
        passed = running.post(anns, "status", {}, Host=host, X_Forwarded_For="203.0.113.7", Origin=f"https://{host}")
        other = running.post(anns, "status", {}, Host="evil.example")
    assert (passed.status_code, other.status_code) == (200, 421)


@pytest.mark.sqlite_file("serves a file, which other processes use as well")
def test_the_page_is_right_about_backups_logs_and_metrics(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    anns = token(db, "--user", "ann")
    grant, make = re.findall(r"^    picomem ((?:grant|token make) .*server:read:metrics.*)$", PAGE, re.MULTILINE)
    assert picomem(db, *shlex.split(grant)).returncode == 0
    scraper = json.loads(picomem(db, *shlex.split(make), "--json").stdout)["token"]
    with serving(db) as running:
        running.post(anns, "remember", {"content": "The ferry leaves at seven", "key": "ferry"})
        with running.client(scraper) as client:
            assert 'picomem_request_seconds_count{operation="remember"} 1.0' in client.get("/metrics").text
        (tmp_path / "backups").mkdir()
        (command,) = re.findall(r"^    picomem (backup .*)$", PAGE, re.MULTILINE)
        words = shlex.split(command.replace("~", str(tmp_path)))
        backup = json.loads(picomem(db, *words, "--json").stdout)["path"]
        running.post(anns, "remember", {"content": "Tea is in the blue tin", "key": "tea"})
        assert picomem(db, "restore", backup).returncode == 0
        stopped = running.post(anns, "recall", {"query": "where is the tea"})
        lines = [json.loads(line) for line in running.whole_log().splitlines()]
    assert (stopped.status_code, stopped.json()["error"]["code"]) == (503, "files_moved")
    (example,) = re.findall(r'^    (\{"method".*\})$', PAGE, re.MULTILINE)
    assert json.loads(example).keys() == lines[0].keys()
    with serving(db) as running:
        listed = running.post(anns, "memories").json()["memories"]
    assert [memory["key"] for memory in listed] == ["ferry"]


def test_the_page_names_the_addresses_without_a_token() -> None:
    for address in OPEN:
        assert f"GET {address}" in PAGE
