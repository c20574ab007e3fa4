"""The tables of the settings: each key with its default and its help text."""

from __future__ import annotations

from typing import Any

from picomem.light_dataclass import dataclass, field, fields

LOG_FORMATS = ("json", "text")
FACADES = ("server-memory", "anthropic-memory")  # other memory servers, whose tools ours can offer
KEPT = ("none", "expiring", "all")  # transcripts, as copies
KEYS_OF_AN_ACCOUNT = ("phone_number_id", "app_secret", "access_token", "verify_token")  # of WhatsApp
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
    user: str = _setting("local", "default user id")
    daily_copy_mb: int = _setting(
        1_000,
        "largest store, in megabytes, that is copied beside itself once a day; the newest two copies stay; 0: none",
    )

    def __repr__(self) -> str:
        return _without_keys(self)


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """`[store]`: where the key of a sealed store is kept; a store that is made while there is a key is sealed."""

    key: str = _setting("", "the key itself, 64 hexadecimal digits; in the environment variable only")
    key_file: str = _setting("", "file with the key, which only you can read; absolute, or from ~; empty: none")
    key_command: str = _setting("", "command that prints the key, such as that of a password manager; empty: none")
    keyring: str = _setting("", "name of the key's entry in the system's keyring, such as memory; empty: none")

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
class AuditSettings:
    """`[audit]`: the record of changes, and how an edit of it from outside is seen."""

    key_file: str = _setting("", "file of the key of the record; empty: beside the store, or in the data directory")
    head_file: str = _setting("", "file to which each signed head is appended, best on another machine")
    head_command: str = _setting("", "command that takes each signed head on its standard input, such as logger")
    reads: bool = _setting(False, "record as well which memories were handed to agents, and to whom")


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
