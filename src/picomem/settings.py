"""Settings: one TOML file, overridden by environment variables, overridden by the options of a command.

The file is `$PICOMEM_CONFIG`, or `config.toml` in the data directory. A key `budget` in the table `[index]` is the
variable `PICOMEM_INDEX_BUDGET`, and one in `[session.memory]` begins with `PICOMEM_SESSION_MEMORY_`. A list in a
variable has commas between its parts: `PICOMEM_NOTES_PATHS=~/notes,/srv/notes`. An unknown key or a value of the wrong
type is an error that suggests the right one.

This uses standard dataclasses and `tomllib`, because pydantic-settings would cost each command, including those of
hooks, 170 ms.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from picomem import paths
from picomem.errors import InvalidInput, NotFound, did_you_mean
from picomem.light_dataclass import dataclass, field, fields, replace
from picomem.settings_tables import (
    _SECRETS,
    FACADES,
    KEPT,
    KEYS_OF_AN_ACCOUNT,
    LOG_FORMATS,
    AuditSettings,
    ChannelSettings,
    DataSettings,
    EmbedderSettings,
    HookSettings,
    IndexSettings,
    IngestSettings,
    McpSettings,
    MemorySettings,
    ModelSettings,
    NotesSettings,
    RecallSettings,
    RetentionSettings,
    ServerSettings,
    SessionSettings,
    StoreSettings,
    WhatsAppSettings,
)

LAST_PORT = 65_535
LEAST_CONTEXT = 400  # tokens: with fewer, an index page and a summary do not fit beside a message
LEAST_WINDOW = 2_000  # tokens: with fewer, no conversation fits beside what the model is told
_MOST = 1_000_000_000_000  # of any number
_WITH_PORTS = ("server.hosts",)  # lists whose parts hold a colon
# Where 0 turns something off, or a limit.
_MAY_BE_NONE = ("memory.daily_token_limit", "hooks.token_budget", "data.daily_copy_mb")
_LARGEST = 1 << 20  # bytes of a settings file
ENVIRONMENT = "the environment"  # where a setting is from, as messages name it
_SWITCHES = {"true": True, "on": True, "yes": True, "1": True, "false": False, "off": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set, with its default."""

    data: DataSettings = field(default_factory=DataSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    ingest: IngestSettings = field(default_factory=IngestSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    notes: NotesSettings = field(default_factory=NotesSettings)
    session: SessionSettings = field(default_factory=SessionSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    mcp: McpSettings = field(default_factory=McpSettings)
    channels: ChannelSettings = field(default_factory=ChannelSettings)
    whatsapp: WhatsAppSettings = field(default_factory=WhatsAppSettings)
    hooks: HookSettings = field(default_factory=HookSettings)

    def __post_init__(self) -> None:
        self._check_choices()
        self._check_numbers()
        self._check_sizes()
        self._check_forms()

    def _check_choices(self) -> None:
        for name, value, choices in (
            ("memory.citations", self.memory.citations, ("auto", "on", "off")),
            ("ingest.keep", self.ingest.keep, KEPT),
            ("server.log_format", self.server.log_format, LOG_FORMATS),
            ("channels.group_answers", self.channels.group_answers, ("addressed", "always", "never")),
        ):
            if value not in choices:
                raise InvalidInput(f"{name} is “{value}”; it must be {', '.join(choices[:-1])} or {choices[-1]}.")
        for facade in self.mcp.facades:
            if facade not in FACADES:
                hint = did_you_mean(facade, FACADES, f"it takes {' and '.join(FACADES)}.")
                raise InvalidInput(f"mcp.facades names “{facade[:40]}”, which is not known; {hint}")

    def _check_numbers(self) -> None:
        if not 500 <= self.ingest.preview_chars <= 1_500:
            raise InvalidInput(f"ingest.preview_chars is {self.ingest.preview_chars}; it must be between 500 and 1500.")
        for name, least in (
            ("recall.min_confidence", self.recall.min_confidence),
            ("hooks.min_relevance", self.hooks.min_relevance),
        ):
            if not 0 <= least <= 1:
                raise InvalidInput(f"{name} is {least}; it must be between 0 and 1.")
        for table, name in TABLES.items():
            for key in fields(getattr(self, table)):
                value = getattr(getattr(self, table), key.name)
                # Where 0 means that nothing is set, or that there is no limit.
                least = 0 if key.default == 0 or f"{name}.{key.name}" in _MAY_BE_NONE else 1
                if type(value) is int and value > _MOST:
                    raise InvalidInput(f"{name}.{key.name} is too large; it must be at most {_MOST:,}.")
                if type(value) is int and value < least:
                    raise InvalidInput(f"{name}.{key.name} is {value}; it must be at least {least}.")

    def _check_sizes(self) -> None:
        """The numbers with limits of their own."""
        if self.server.port > LAST_PORT:
            raise InvalidInput(f"server.port is {self.server.port}; it must be at most {LAST_PORT}.")
        for name, least in (("context_budget_tokens", LEAST_CONTEXT), ("context_window", 2 * LEAST_CONTEXT)):
            if getattr(self.session, name) < least:
                raise InvalidInput(f"session.memory.{name} is below {least}: nothing of use fits in that.")
        if self.memory.consolidation_window < LEAST_WINDOW:
            raise InvalidInput(
                f"memory.consolidation_window is below {LEAST_WINDOW}: a question and its answer do not fit in that."
            )

    def _check_forms(self) -> None:
        """Times, hosts and paths."""
        if self.memory.consolidation_time and not _is_time_of_day(self.memory.consolidation_time):
            raise InvalidInput(
                f"memory.consolidation_time is “{self.memory.consolidation_time}”; write a time of day, such as 03:30."
            )
        for host in self.server.hosts:
            _check_host(host)
        if self.index.export and not _is_whole(self.index.export):
            raise InvalidInput(f"index.export is “{self.index.export}”; write it as an absolute path, or from ~.")
        if self.store.key_file and not _is_whole(self.store.key_file):
            raise InvalidInput(f"store.key_file is “{self.store.key_file}”; write it as an absolute path, or from ~.")
        for path in (*self.notes.paths, *self.notes.extra_paths):
            # A relative one would mean another folder wherever picomem is started, a stranger's repository among them.
            if not _is_whole(path):
                raise InvalidInput(f"“{path}” in [notes] is relative; write it as an absolute path, or from ~.")


def checked_url(url: str, setting: str) -> str:
    """An address without its last slash. Raises InvalidInput that names the setting."""
    try:
        parts = urlsplit(url.strip())
        valid = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment
        _ = parts.port
    except ValueError:
        valid = False
    if not valid or "@" in url or any(char.isspace() or not char.isprintable() for char in url.strip()):
        # The address is not repeated: somebody may have put a password into it.
        raise InvalidInput(f"{setting} is no address; write it as http://localhost:11434/v1, keys apart.")
    return url.strip().rstrip("/")


def _check_host(given: str) -> None:
    """Raise InvalidInput for what no request names as its host."""
    name = r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?"
    host = re.compile(rf"(?:{name}(?:\.{name})*|\[[0-9a-f:.]+\])(?::[0-9]{{1,5}})?", re.ASCII | re.IGNORECASE)
    if host.fullmatch(given) and not given.isdigit():
        return
    try:
        meant = urlsplit(given if "://" in given else f"//{given}").netloc.rpartition("@")[2].encode("idna").decode()
    except ValueError:
        meant = ""
    if given.count(":") > 1 and not given.startswith("[") and host.fullmatch(f"[{given}]"):
        meant = f"[{given}]"
    example = meant if meant != given and host.fullmatch(meant) else "memory.example.org"
    raise InvalidInput(
        f"server.hosts has “{given[:80]}”, which no request names as its host; write the name alone, such as "
        f"“{example}”, with a port only if clients use another than 80 and 443."
    )


def _is_time_of_day(text: str) -> bool:
    hours, _, minutes = text.partition(":")
    is_written = len(hours) == len(minutes) == 2 and (hours + minutes).isascii() and (hours + minutes).isdigit()
    return is_written and int(hours) < 24 and int(minutes) < 60


def _is_whole(path: str) -> bool:
    return path.startswith("~") or Path(path).is_absolute()


# What a table is called in the file, by its name here.
TABLES = {spec.name: spec.name for spec in fields(Settings)} | {
    "retention": "session.retention",
    "session": "session.memory",
}


def load(env: Mapping[str, str] = os.environ, path: Path | None = None) -> Settings:
    """The settings of this process. Raises InvalidInput that names the file or variable, and the nearest key."""
    file, tables = _tables_of_file(env, path)
    return _with_tables(_with_tables(Settings(), tables, str(file)), _tables_of(env), ENVIRONMENT)


def settings_file(env: Mapping[str, str] = os.environ) -> Path:
    """Return where the settings of this process stand; there need be no file. Raises InvalidInput for what is no
    path."""
    return paths.named_path(env["PICOMEM_CONFIG"]) if env.get("PICOMEM_CONFIG") else paths.data_dir() / "config.toml"


def _tables_of_file(env: Mapping[str, str], path: Path | None) -> tuple[Path, dict[str, Any]]:
    """The file and what it holds. Without one there is nothing, unless somebody chose it."""
    file = path or settings_file(env)
    is_chosen = path is not None or bool(env.get("PICOMEM_CONFIG"))
    return file, _read(file) if is_chosen or paths.status_of(file) else {}


def _read(file: Path) -> dict[str, Any]:
    import tomllib

    try:
        too_large = (
            f"The settings file {file} is larger than {paths.size_shown(_LARGEST)}; remove from it what is no setting."
        )
        return tomllib.loads(paths.read_text(file, most=_LARGEST, too_large=too_large, errors="strict"))
    except NotFound:
        raise InvalidInput(f"There is no settings file {file}.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput(f"The settings file {file} cannot be read: {error}.") from error
    except ValueError as error:  # Python reads no number of thousands of digits
        raise InvalidInput(f"The settings file {file} holds a number that is too long; write a shorter one.") from error


def _tables_of(env: Mapping[str, str]) -> dict[str, Any]:
    """`PICOMEM_INDEX_BUDGET=900` as `{"index": {"budget": "900"}}`; variables that name no table are not settings."""
    ours = {variable: value for variable, value in env.items() if variable.startswith("PICOMEM_")}
    tables: dict[str, Any] = {}
    for name in TABLES.values() if ours else ():
        prefix = f"PICOMEM_{name.upper().replace('.', '_')}_"
        values = {
            variable.removeprefix(prefix).lower(): value
            for variable, value in ours.items()
            if variable.startswith(prefix)
        }
        if name == "whatsapp":
            values = _with_nested_accounts(values)
        if values:
            tables[name] = values
    return tables


def _with_nested_accounts(variables: Mapping[str, str]) -> dict[str, Any]:
    """`accounts_shop_app_secret` as `{"accounts": {"shop": {"app_secret": …}}}`, beside the other variables."""
    values: dict[str, Any] = {}
    for variable, value in variables.items():
        key = next((key for key in KEYS_OF_AN_ACCOUNT if variable.endswith(f"_{key}")), "")
        name = variable.removeprefix("accounts_").removesuffix(f"_{key}")
        if variable.startswith("accounts_") and key:
            values.setdefault("accounts", {}).setdefault(name, {})[key] = value
        else:
            values[variable] = value
    return values


def _with_tables(settings: Settings, tables: dict[str, Any], where: str) -> Settings:
    chosen: dict[str, Any] = {}
    for name, values in _flat(tables).items():
        _check_known(name, list(TABLES.values()), where, "table")
        if not isinstance(values, dict):
            raise InvalidInput(f"“{name}” in {where} is a table; write [{name}].")
        field_name = next(attribute for attribute, called in TABLES.items() if called == name)
        table = getattr(settings, field_name)
        known = {spec.name: type(getattr(table, spec.name)) for spec in fields(table)}
        for key in values:
            _check_known(key, list(known), where, f"key of [{name}]")
        accounts = {}
        if name == "whatsapp" and "accounts" in values:
            accounts = {"accounts": _with_accounts(settings.whatsapp.accounts, values["accounts"], where)}
        parsed = {
            key: _parsed(value, known[key], f"{name}.{key}", where)
            for key, value in values.items()
            if key not in accounts
        }
        chosen[field_name] = replace(table, **parsed, **accounts)
    return replace(settings, **chosen) if chosen else settings  # a new one is checked anew


def _with_accounts(accounts: tuple[WhatsAppSettings, ...], tables: object, where: str) -> tuple[WhatsAppSettings, ...]:
    """The accounts of WhatsApp with what the tables `[whatsapp.accounts.NAME]` say of each."""
    if not isinstance(tables, dict) or not all(isinstance(values, dict) for values in tables.values()):
        raise InvalidInput(
            f"“whatsapp.accounts” in {where} has a table for each account; write [whatsapp.accounts.NAME]."
        )
    by_name = {account.account: account for account in accounts}
    for name, values in tables.items():
        if not (name.isascii() and name.isidentifier() and name == name.lower()):
            raise InvalidInput(
                f"“{name}” in {where} is no name of an account; use lower-case letters, digits and underscores."
            )
        for key in values:
            _check_known(key, list(KEYS_OF_AN_ACCOUNT), where, f"key of [whatsapp.accounts.{name}]")
        own = {key: _parsed(value, str, f"whatsapp.accounts.{name}.{key}", where) for key, value in values.items()}
        by_name[name] = replace(by_name.get(name) or WhatsAppSettings(account=name), **own)
    return tuple(by_name.values())


def _flat(tables: dict[str, Any]) -> dict[str, Any]:
    """The tables by their whole names: what is in `[session]` are tables again."""
    outer = {name.partition(".")[0] for name in TABLES.values() if "." in name}
    flat: dict[str, Any] = {}
    for name, values in tables.items():
        if name in outer and isinstance(values, dict):
            flat |= {f"{name}.{inner}": value for inner, value in values.items()}
        else:
            flat[name] = values
    return flat


def _check_known(name: str, known: list[str], where: str, what: str) -> None:
    if name not in known:
        hint = did_you_mean(name, known, f"there are {', '.join(known)}.")
        raise InvalidInput(f"“{name}” in {where} is not a known {what}; {hint}")


def _parsed(value: object, kind: type, name: str, where: str) -> object:
    """A value of the file as it is, and one of the environment, which is a text, as what it stands for."""
    if where == ENVIRONMENT and isinstance(value, str):
        if kind is tuple and os.pathsep in value and name not in _WITH_PORTS:
            raise InvalidInput(
                f"{name} in {where} is {value[:80]!r}; write commas between its parts, or a part that holds "
                f"“{os.pathsep}” in the settings file."
            )
        value = _read_text(value, kind)
    if kind is float and type(value) is int:
        return float(value)
    if kind is tuple and isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(value)
    if type(value) is not kind:
        names = {
            int: "a whole number",
            float: "a number",
            bool: "true or false",
            str: "a text in quotes",
            tuple: "a list of texts",
        }
        wanted = names.get(kind, kind.__name__)
        shown = "no text" if name.endswith(_SECRETS) else repr(value)  # a secret is in no output
        raise InvalidInput(f"{name} in {where} is {shown}; it must be {wanted}.")
    return value


def _read_text(text: str, kind: type) -> object:
    """What a text stands for; the text itself where it is nothing of the kind. A list has commas between its parts."""
    if kind is tuple:
        return [part.strip() for part in text.split(",") if part.strip()]
    if kind is bool:
        return _SWITCHES.get(text.lower(), text)
    try:
        return kind(text) if kind in (int, float) else text
    except ValueError:
        return text


def given(env: Mapping[str, str] = os.environ, path: Path | None = None) -> frozenset[str]:
    """The names of the settings that somebody has set, as `memory.enabled`, in the file or in the environment."""
    tables = [_tables_of(env), _tables_of_file(env, path)[1]]
    flat = [pair for table in tables for pair in _flat(table).items()]
    return frozenset(f"{name}.{key}" for name, values in flat if isinstance(values, dict) for key in values)
