"""One settings file for all the designs: their names, their defaults, and a sentence for what is wrong."""

from __future__ import annotations

import ast
import os
from collections import defaultdict
from pathlib import Path

import pytest

import picomem
from picomem.channels.whatsapp import settings_of_accounts
from picomem.errors import InvalidInput
from picomem.light_dataclass import fields
from picomem.settings import TABLES, Settings, load
from picomem.settings_tables import FACADES
from tests.cases import each_case

SOURCES = Path(picomem.__file__).parent

A13 = {
    "enabled": False,
    "consolidation_provider": "",
    "consolidation_model": "",
    "recall_limit": 5,
    "consolidation_turn_threshold": 3,
    "idle_consolidation_minutes": 10,
    "timeline_retention_days": 90,
    "max_failures_before_degrade": 3,
}
P12 = """
[session.retention]
max_age_days = 30
cleanup_interval_secs = 60

[session.memory]
enable_user_memories = false
context_budget_tokens = 2000
max_session_messages = 10
max_user_memories = 5
enable_summarization = false
"""


def _load(text: str, tmp_path: Path, **env: str) -> Settings:
    file = tmp_path / "config.toml"
    file.write_text(text, "utf-8")
    return load(env, file)


@pytest.mark.requirement("A13")
def test_the_eight_settings_of_the_memory_design_have_its_defaults() -> None:
    assert {name: getattr(Settings().memory, name) for name in A13} == A13


@pytest.mark.requirement("P12")
def test_the_settings_of_the_session_design_have_its_defaults_and_its_tables(tmp_path: Path) -> None:
    plain = Settings()
    assert (plain.retention.max_age_days, plain.retention.cleanup_interval_secs) == (90, 3600)
    assert (plain.session.enable_user_memories, plain.session.enable_summarization) == (True, True)
    assert plain.session.include_summary_on_truncation is True
    assert plain.session.context_budget_tokens == 4000
    assert (plain.session.max_session_messages, plain.session.max_user_memories) == (20, 50)
    assert plain.session.context_window // 2 == 8000  # the two designs' one trigger
    settings = _load(P12, tmp_path)
    assert (settings.retention.max_age_days, settings.retention.cleanup_interval_secs) == (30, 60)
    assert (settings.session.enable_user_memories, settings.session.enable_summarization) == (False, False)
    assert settings.session.context_budget_tokens == 2000
    assert (settings.session.max_session_messages, settings.session.max_user_memories) == (10, 5)


def test_the_environment_stands_above_the_file(tmp_path: Path) -> None:
    settings = _load(
        P12,
        tmp_path,
        PICOMEM_SESSION_MEMORY_MAX_USER_MEMORIES="7",
        PICOMEM_SESSION_RETENTION_MAX_AGE_DAYS="9",
        PICOMEM_MEMORY_ENABLED="on",
    )
    assert (settings.session.max_user_memories, settings.retention.max_age_days, settings.memory.enabled) == (
        7,
        9,
        True,
    )
    assert settings.session.max_session_messages == 10


@pytest.mark.requirement("P12")
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[session.memory]\ncontext_budget = 1", "did you mean “context_budget_tokens”"),
        ("[session.memry]\n", "did you mean “session.memory”"),
        ("[sesion.memory]\n", "is not a known table"),
        ("[session]\nmax_age_days = 3", "“session.max_age_days” in .* is not a known table"),
        ("session = 3", "“session” in .* is not a known table"),
        ("[retention]\nmax_age_days = 3", "did you mean “session.retention”"),
        ("[session]\nmemory = 3", r"write \[session.memory\]"),
        ("[memory]\nconsolidation_modle = 'x'", "did you mean “consolidation_model”"),
        ("[memory]\nenabled = 'perhaps'", "must be true or false"),
        ("[memory]\nenabled = 1", "must be true or false"),
        ("[mcp]\nfacades = ['server-memry']", "names “server-memry”, which is not known; did you mean “server-memory”"),
        ("[mcp]\nfacades = ['mem0']", "it takes server-memory and anthropic-memory"),
        ("[memory]\nrecall_limit = 0", "memory.recall_limit is 0; it must be at least 1"),
        ("[server]\nport = 99_999", "server.port is 99999; it must be at most 65535"),
        ("[session.memory]\ncontext_budget_tokens = 100", "context_budget_tokens is below 400"),
        ("[session.memory]\ncontext_window = 700", "context_window is below 800"),
        ("[whatsapp]\naccounts = ['shop']", r"write \[whatsapp.accounts.NAME\]"),
        ("[whatsapp.accounts]\nshop = 3", r"write \[whatsapp.accounts.NAME\]"),
        ("[whatsapp.accounts.My-Shop]\n", "lower-case letters, digits and underscores"),
        ("[whatsapp.accounts.shop]\napp_secet = 'x'", "did you mean “app_secret”"),
        ("[whatsapp.accounts.shop]\naccess_token = 3", "whatsapp.accounts.shop.access_token .* no text"),
    ],
)
def test_what_is_wrong_in_the_file_is_said_with_what_was_meant(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        _load(text, tmp_path)


def test_facades_in_a_variable_are_written_with_commas() -> None:
    variable = ",".join(FACADES)
    assert load({"PICOMEM_MCP_FACADES": variable}).mcp.facades == FACADES


def test_accounts_are_tables_of_their_own_in_the_file_and_in_the_environment(tmp_path: Path) -> None:
    settings = _load(
        """
        [whatsapp]
        account = "main"
        version = "v24.0"
        phone_number_id = "1"
        [whatsapp.accounts.my_shop]
        phone_number_id = "2"
        verify_token = "v"
        """,
        tmp_path,
        PICOMEM_WHATSAPP_APP_SECRET="s1",
        PICOMEM_WHATSAPP_BASE_URL="https://api.example.org",
        PICOMEM_WHATSAPP_ACCOUNTS_MY_SHOP_APP_SECRET="s2",
        PICOMEM_WHATSAPP_ACCOUNTS_OTHER_ACCESS_TOKEN="t3",
    )
    main, shop, other = settings_of_accounts(settings.whatsapp).values()
    assert (main.account, main.phone_number_id, main.app_secret, main.verify_token) == ("main", "1", "s1", "")
    assert (shop.account, shop.phone_number_id, shop.app_secret, shop.verify_token) == ("my_shop", "2", "s2", "v")
    assert (other.account, other.app_secret, other.access_token) == ("other", "", "t3")
    addresses = {(account.base_url, account.version) for account in (main, shop, other)}
    assert addresses == {("https://api.example.org", "v24.0")}
    assert settings_of_accounts(Settings().whatsapp) == {}
    with pytest.raises(InvalidInput, match="not a known key"):
        load({"PICOMEM_WHATSAPP_ACCOUNTS_SHOP_APP_SECET": "x"})


@pytest.mark.parametrize(
    ("text", "twice"),
    [
        ("[whatsapp]\naccount = 'shop'\n[whatsapp.accounts.shop]\n", "account, “shop”"),
        (
            "[whatsapp.accounts.a]\nphone_number_id = '1'\n[whatsapp.accounts.b]\nphone_number_id = '1'",
            "phone_number_id, “1”",
        ),
    ],
)
def test_two_accounts_with_one_name_or_number_are_refused(text: str, twice: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=twice):
        settings_of_accounts(_load(text, tmp_path).whatsapp)


def settings_read_by(source: str) -> set[tuple[str, str]]:
    """The settings that a module reads, as (table, key): `settings.recall.limit`, `recall = settings.recall` and then
    `recall.limit`, and `settings.limit` where the module names `RecallSettings`."""
    tree = ast.parse(source)
    aliases: defaultdict[str, set[str]] = defaultdict(set)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute) and node.value.attr in TABLES:
            for target in node.targets:
                aliases[ast.unparse(target)].add(node.value.attr)
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    whole_tables = {table for table in TABLES if type(getattr(Settings(), table)).__name__ in imported}
    reads = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        if isinstance(node.value, ast.Attribute) and node.value.attr in TABLES:
            reads.add((node.value.attr, node.attr))
        base = ast.unparse(node.value)
        tables = whole_tables if base.endswith("settings") else aliases.get(base, set())
        reads |= {(table, node.attr) for table in tables}
    return reads


def test_every_setting_is_read_somewhere() -> None:
    modules = (path for path in SOURCES.rglob("*.py") if path != SOURCES / "settings.py")
    reads = set().union(*(settings_read_by(path.read_text("utf-8")) for path in modules))
    known = {(table, key.name) for table in TABLES for key in fields(getattr(Settings(), table))}
    assert sorted(known - reads) == []


@each_case("table", TABLES)
def test_every_setting_carries_its_help_text(table: str) -> None:
    for key in fields(getattr(Settings(), table)):
        text = key.metadata.get("help", "")
        assert text and not text.endswith("."), key.name


def test_a_misspelt_variable_is_met_with_the_nearest_key() -> None:
    with pytest.raises(InvalidInput, match="budget"):
        load({"PICOMEM_INDEX_BUGET": "4"})


@pytest.mark.parametrize(
    "line",
    [
        '[memory]\nenabled = "yes"',
        '[recall]\nlimit = "9"',
        '[notes]\npaths = "a,b"',
        '[recall]\nmin_confidence = "0.5"',
    ],
)
def test_a_value_of_the_wrong_type_in_the_file_is_an_error(tmp_path: Path, line: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(line)
    with pytest.raises(InvalidInput, match="it must be"):
        load({}, file)


def test_every_list_in_the_environment_has_commas(tmp_path: Path) -> None:
    lists = {
        "PICOMEM_NOTES_PATHS": "/a/b, /c/d",
        "PICOMEM_SERVER_HOSTS": "box:80,desk",
        "PICOMEM_CHANNELS_NAMES": "a,b",
    }
    settings = _load("", tmp_path, **lists)
    assert (settings.notes.paths, settings.server.hosts) == (("/a/b", "/c/d"), ("box:80", "desk"))
    assert settings.channels.names == ("a", "b")


@pytest.mark.parametrize("name", ["NOTES_PATHS", "NOTES_EXTRA_PATHS", "CHANNELS_NAMES", "MCP_FACADES"])
def test_a_list_in_the_environment_that_is_written_as_in_path_is_refused_in_a_sentence(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(InvalidInput, match=r"in the environment is .*write commas between its parts"):
        _load("", tmp_path, **{f"PICOMEM_{name}": os.pathsep.join(("/a", "/b"))})
    file = '[notes]\npaths = ["/a:/b"]'
    assert _load(file, tmp_path).notes.paths == ("/a:/b",)
