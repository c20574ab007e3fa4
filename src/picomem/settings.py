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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from picomem import paths
from picomem.errors import InvalidInput, NotFound, did_you_mean
from picomem.light_dataclass import dataclass, field, fields, replace

LOG_FORMATS = ("json", "text")
FACADES = ("server-memory", "anthropic-memory")  # other memory servers, whose tools ours can offer
KEPT = ("none", "expiring", "all")  # transcripts, as copies
KEYS_OF_AN_ACCOUNT = ("phone_number_id", "app_secret", "access_token", "verify_token")  # of WhatsApp
MOST_PARTITIONS = 128  # of a table: all are made in one transaction, and the server keeps a lock on each
LEAST_CONTEXT = 400  # tokens: with fewer, an index page and a summary do not fit beside a message
LEAST_WINDOW = 2_000  # tokens: with fewer, no conversation fits beside what the model is told
_MOST = 1_000_000_000_000  # of any number
_WITH_PORTS = ("server.hosts",)  # lists whose parts hold a colon
# Where 0 turns something off, or a limit.
_MAY_BE_NONE = ("memory.daily_token_limit", "hooks.token_budget", "data.daily_copy_mb")
_LARGEST = 1 << 20  # bytes of a settings file
ENVIRONMENT = "the environment"  # where a setting is from, as messages name it
_SWITCHES = {"true": True, "on": True, "yes": True, "1": True, "false": False, "off": False, "no": False, "0": False}


_SECRETS = ("key", "secret", "token", "database")  # at the end of a setting's name; an address may hold a password


def _without_keys(table: Any) -> str:
    """A table of settings for people; a secret is in no output."""
    shown = (f"{spec.name}={getattr(table, spec.name)!r}" for spec in fields(table) if not spec.name.endswith(_SECRETS))
    return f"{type(table).__name__}({', '.join(shown)})"


def _setting(default: Any, help: str) -> Any:  # noqa: A002 - what it is
    """A key with its default and the help text that the reference prints."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True)
class DataSettings:
    """`[data]`: where things are kept."""

    dir: str = _setting("", "data directory; empty: the platform's default")
    database: str = _setting("", "the store, a file or postgresql://USER@HOST/DATABASE; empty: picomem.db in `dir`")
    partitions: int = _setting(32, "postgresql: number of partitions of each table of a new store, 1 to 128")
    user: str = _setting("local", "default user id")
    daily_copy_mb: int = _setting(
        1_000,
        "largest store, in megabytes, that is copied beside itself once a day; the newest two copies stay; 0: none",
    )

    def __repr__(self) -> str:
        return _without_keys(self)


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """`[recall]`: how questions are answered."""

    embedder: str = _setting("static", '"static", "none", "onnx:FOLDER", "endpoint:MODEL" or "fastembed:MODEL"')
    limit: int = _setting(10, "maximum number of hits")
    token_budget: int = _setting(2_000, "token budget for all hits together")
    min_confidence: float = _setting(0.0, "0–1: answers below this confidence are “nothing found”; 0: off")
    timezone: str = _setting(
        "", "time zone for words such as “yesterday”, for example Europe/Berlin; empty: the machine's"
    )


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """`[embedder]`: details of `recall.embedder`; none of them concerns the default one."""

    base_url: str = _setting(
        "http://localhost:11434/v1", "endpoint: address of the server (default: Ollama on this machine)"
    )
    key: str = _setting("", "endpoint: API key; safer in the environment variable")
    dimensions: int = _setting(0, "endpoint: dimensions to request, if the model can shorten its vectors; 0: all")
    timeout_secs: int = _setting(10, "endpoint: seconds to wait for an answer")
    query_prefix: str = _setting(
        "", "prefix for questions, if the model expects one; empty: from the model's folder or name"
    )
    text_prefix: str = _setting(
        "", "prefix for stored texts, if the model expects one; empty: from the model's folder or name"
    )
    pooling: str = _setting("", 'onnx: "cls", "mean" or "last"; empty: from the model\'s folder or name')
    max_tokens: int = _setting(0, "onnx: maximum tokens read of a text; 0: from the model's folder")
    threads: int = _setting(1, "onnx, fastembed: number of processor cores for the model")

    def __repr__(self) -> str:
        return _without_keys(self)


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """`[model]`: the model that PicoBot talks with. Nothing else in picomem asks it."""

    provider: str = _setting(
        "", "openai, anthropic, google, openrouter, ollama, lmstudio, vllm, openai-compatible; empty: none"
    )
    model: str = _setting("", "model name, as the provider writes it")
    base_url: str = _setting("", "address of the server; empty: the provider's default, or this machine")
    key: str = _setting("", "API key; empty: the provider's usual variable; safer in the environment variable")
    timeout_secs: int = _setting(60, "seconds to wait for the first word of an answer, and then for the next")

    def __repr__(self) -> str:
        return _without_keys(self)


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """`[index]`: the always-loaded page."""

    budget: int = _setting(1_500, "maximum tokens of the page")
    export: str = _setting("", "file that a running process keeps equal to the page; absolute, or from ~; empty: none")


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """`[memory]`: what is kept, and for how long, and what PicoBot makes of its conversations."""

    enabled: bool = _setting(False, "whether PicoBot uses memory; commands, MCP and the library always do")
    recall_limit: int = _setting(5, "maximum memories in PicoBot's prompt for the user's message")
    context_heading: str = _setting("## Memory Context", "heading above these memories")
    consolidation_provider: str = _setting(
        "", "provider of the consolidation model, as in [model]; empty: the same as [model]"
    )
    consolidation_model: str = _setting(
        "", "name of the consolidation model; empty: none, extractive summaries without a model"
    )
    consolidation_base_url: str = _setting(
        "", "address of its server; empty: that of [model] if the provider is the same, else the provider's default"
    )
    consolidation_key: str = _setting(
        "", "its API key; empty: that of [model] if the provider is the same; safer in the environment variable"
    )
    consolidation_command: str = _setting(
        "", 'command that answers instead of a model: prompt on stdin, JSON on stdout, such as "claude -p"; empty: none'
    )
    consolidation_command_secs: int = _setting(180, "seconds to wait for the command")
    consolidation_model_secs: int = _setting(
        300, "seconds to wait for the consolidation model; a model on this machine's processor may need more"
    )
    consolidate_transcripts: bool = _setting(
        False, "whether ingested sessions are consolidated unasked as well; `picomem consolidate` always does it"
    )
    consolidation_window: int = _setting(
        8_000, "context window of the consolidation model, in tokens; longer conversations are split"
    )
    daily_token_limit: int = _setting(
        500_000, "daily token limit for consolidation, then extractive summaries; 0: no limit"
    )
    consolidation_turn_threshold: int = _setting(3, "turns after which a conversation is consolidated")
    idle_consolidation_minutes: int = _setting(
        10, "minutes without a message after which a conversation is consolidated"
    )
    consolidation_time: str = _setting(
        "", "time of day, such as 03:30, at which whatever was said before is consolidated, idle or not; empty: none"
    )
    max_failures_before_degrade: int = _setting(3, "consecutive failures after which the raw messages are kept instead")
    timeline_retention_days: int = _setting(90, "days until timeline entries are removed")
    citations: str = _setting(
        "auto", 'whether hits carry their citation: "on" or "off"; "auto": except in a group, where others read answers'
    )

    def __repr__(self) -> str:
        return _without_keys(self)


@dataclass(frozen=True, slots=True)
class IngestSettings:
    """`[ingest]`: the length of episodes, and copies of transcripts for when their programs delete them."""

    keep: str = _setting(
        "none",
        'which transcripts are kept as compressed, redacted copies: "none", "expiring" (those that their program is '
        'about to delete) or "all"',
    )
    keep_mb: int = _setting(1_000, "maximum megabytes of all copies of a user; the oldest go first")
    preview_chars: int = _setting(
        1_500, "maximum characters that an episode has of its transcript, 500 to 1500; for what is read from now on"
    )


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """`[session.retention]`: the task that archives what has expired and removes what is past its time."""

    max_age_days: int = _setting(
        90, "days until conversations with PicoBot are removed, counted from their last message"
    )
    cleanup_interval_secs: int = _setting(
        3_600, "minimum seconds between two runs of the task, which runs after writes"
    )


@dataclass(frozen=True, slots=True)
class NotesSettings:
    """`[notes]`: Markdown that people and agents keep, searched beside memory. By default none is read."""

    paths: tuple[str, ...] = _setting((), "workspaces: `MEMORY.md` and `memory/**/*.md` of each; absolute, or from `~`")
    extra_paths: tuple[str, ...] = _setting((), "further Markdown files, and folders of them; absolute, or from `~`")


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """`[session.memory]`: what stands in PicoBot's prompt, and when a conversation is summarised."""

    enable_user_memories: bool = _setting(True, "whether the prompt holds memories and the index page")
    context_budget_tokens: int = _setting(
        4_000, "maximum tokens of memory in the prompt, and at most half of context_window"
    )
    max_session_messages: int = _setting(20, "maximum messages in the prompt")
    max_user_memories: int = _setting(50, "upper limit for memory.recall_limit")
    context_window: int = _setting(
        16_000, "context window of the chat model, in tokens; new messages that fill half of it are summarised"
    )
    keep_messages: int = _setting(10, "latest messages that stay word for word when earlier ones are summarised")
    enable_summarization: bool = _setting(True, "whether conversations are summarised")
    include_summary_on_truncation: bool = _setting(True, "whether the prompt holds the summary when messages were cut")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """`[server]`: `picomem serve`."""

    host: str = _setting("127.0.0.1", "address to listen on; another than this machine's own needs tokens")
    port: int = _setting(8765, "port to listen on")
    hosts: tuple[str, ...] = _setting(
        (), "further names by which clients reach the server, with the port if it is another"
    )
    background: bool = _setting(True, "whether the server does background work: transcripts, vectors, consolidation, …")
    farewell_secs: int = _setting(10, "seconds to finish running requests when the server shuts down")
    sockets: int = _setting(64, "maximum number of web sockets and MCP streams of one user")
    connections: int = _setting(512, "maximum number of connections, over all callers")
    head_secs: int = _setting(10, "seconds in which the line and the headers of a request must have come")
    body_secs: int = _setting(20, "seconds in which the body of a request must have come")
    read_secs: int = _setting(20, "seconds after which a client that reads nothing of its answer is cut off")
    log_format: str = _setting("json", '"json" (a JSON object a line) or "text"')


@dataclass(frozen=True, slots=True)
class McpSettings:
    """`[mcp]`: what agents are offered over MCP."""

    facades: tuple[str, ...] = _setting(
        (),
        'other memory tools that are offered as well, on the same store: "server-memory" (the nine tools of MCP\'s '
        'server-memory) and "anthropic-memory" (the tool `memory` of Claude)',
    )


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """`[channels]`: how messages from elsewhere are answered."""

    lease_secs: int = _setting(30, "seconds after which another process takes over the work of one that was killed")
    unsure_secs: int = _setting(
        60, "seconds to wait for word of a message whose sending was interrupted, before it is sent again"
    )
    group_answers: str = _setting("addressed", 'when PicoBot answers in a group: "addressed", "always" or "never"')
    names: tuple[str, ...] = _setting(("picobot",), "names by which PicoBot is addressed in a group")


@dataclass(frozen=True, slots=True)
class WhatsAppSettings:
    """`[whatsapp]`: accounts of the WhatsApp Cloud API."""

    account: str = _setting("", "name of the account in the address of the webhook, such as main; empty: off")
    phone_number_id: str = _setting("", "id of the phone number, as Meta writes it")
    app_secret: str = _setting("", "secret of the app, which signs what comes in; safer in the environment variable")
    access_token: str = _setting("", "token with which messages are sent; safer in the environment variable")
    verify_token: str = _setting("", "token that you chose for Meta's verification of the webhook")
    base_url: str = _setting("https://graph.facebook.com", "address of the API")
    version: str = _setting("v23.0", "version of the API")
    timeout_secs: int = _setting(20, "seconds to wait for an answer of the API")
    accounts: tuple[WhatsAppSettings, ...] = _setting(
        (),
        "further accounts, each a table `[whatsapp.accounts.NAME]` with its own `phone_number_id`, `app_secret`, "
        "`access_token` and `verify_token`; in variables `PICOMEM_WHATSAPP_ACCOUNTS_NAME_APP_SECRET`",
    )

    def __repr__(self) -> str:
        return _without_keys(self)


@dataclass(frozen=True, slots=True)
class HookSettings:
    """`[hooks]`: what `picomem-hook` puts beside a prompt of Claude Code or Codex."""

    token_budget: int = _setting(600, "maximum tokens beside one prompt; 0: nothing")
    min_relevance: float = _setting(0.55, "0–1: nothing is put there that is less sure to help")
    check_files: bool = _setting(True, "whether a line says what of it the folder contradicts")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set, with its default."""

    data: DataSettings = field(default_factory=DataSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    ingest: IngestSettings = field(default_factory=IngestSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
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
        if self.data.partitions > MOST_PARTITIONS:
            raise InvalidInput(f"data.partitions is {self.data.partitions}; it must be at most {MOST_PARTITIONS}.")
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
        for path in (*self.notes.paths, *self.notes.extra_paths):
            # A relative one would mean another folder wherever picomem is started, a stranger's repository among them.
            if not _is_whole(path):
                raise InvalidInput(f"“{path}” in [notes] is relative; write it as an absolute path, or from ~.")


def _check_host(given: str) -> None:
    """Raise InvalidInput for what no request names as its host."""
    import re
    from urllib.parse import urlsplit

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
