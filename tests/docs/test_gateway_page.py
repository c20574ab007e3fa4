"""The examples of the page on the server, run against a server."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from tests.cli.model_server import ModelServer
from tests.cli.model_server import serving as model_serving
from tests.gateway.serving import serving, token

from picomem.channels.whatsapp import WhatsAppAccount
from picomem.errors import InvalidInput
from picomem.gateway.guard import OPEN, OPEN_CHANNELS
from picomem.settings import load

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


@pytest.mark.sqlite_file("serves a file, which other processes use as well")
def test_the_python_of_the_page_talks_with_picobot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    with (
        model_serving(ModelServer("Noted.", "Green tea.")) as model,
        serving(tmp_path / "memory.db", **model.env) as running,
    ):
        anns = token(tmp_path / "memory.db", "--user", "ann")
        code = example.replace("http://127.0.0.1:8765", running.url)
        exec(compile(code, "gateway.md", "exec"), {"TOKEN": anns})
    assert capsys.readouterr().out == "Noted.\nGreen tea."


def test_the_settings_of_the_page_are_settings(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "config.toml").write_text(example)
    secrets = {f"PICOMEM_WHATSAPP_{name}": "x" for name in ("APP_SECRET", "ACCESS_TOKEN")}
    assert all(name in PAGE for name in secrets)
    settings = load(secrets, tmp_path / "config.toml")
    assert f"/channels/whatsapp/{settings.whatsapp.account}" in PAGE
    assert WhatsAppAccount(settings.whatsapp).account == "main"
    with pytest.raises(InvalidInput, match="PICOMEM_WHATSAPP_APP_SECRET"):
        WhatsAppAccount(load({}, tmp_path / "config.toml").whatsapp)


def test_the_page_names_the_addresses_without_a_token() -> None:
    for address in OPEN:
        assert f"GET {address}" in PAGE
    for beginning in OPEN_CHANNELS:
        assert beginning in PAGE
