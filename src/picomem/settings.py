"""Settings: one TOML file, environment variables over it, and an option of a command over both.

The file is `$PICOMEM_CONFIG`, or `config.toml` in the data directory. A key `budget` in the table `[index]` is the
variable `PICOMEM_INDEX_BUDGET`; several paths in a variable are written as in `PATH`. An unknown key or a value of the
wrong kind is an error that says what was meant.

Standard dataclasses and `tomllib` do it: pydantic-settings would cost each command, a hook's among them, 170 ms.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from picomem import paths
from picomem.errors import InvalidInput
from picomem.values import dataclass, field, fields, replace


@dataclass(frozen=True, slots=True)
class DataSettings:
    """`[data]`: where things are kept."""

    dir: str = ""  # the data directory; empty: the platform's own
    user: str = "local"  # the user whose memory it is, where nothing else says


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """`[recall]`: how questions are answered."""

    embedder: str = "static"  # "static" or "none"
    limit: int = 10  # hits at most
    token_budget: int = 2_000  # tokens of all hits together at most
    timezone: str = ""  # of "yesterday", such as Europe/Berlin; empty: the machine's


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """`[index]`: the always-loaded page."""

    budget: int = 1_500  # tokens at most


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """`[memory]`: what is kept, and for how long."""

    timeline_retention_days: int = 90  # timeline entries older than this are removed
    citations: str = "auto"  # whether a hit says where it was said: "on", "off"; "auto" is on for a private memory


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """`[retention]`: the task that archives what has expired and removes what is past its time."""

    cleanup_interval_secs: int = 3_600  # how often it runs at most, while anything writes


@dataclass(frozen=True, slots=True)
class NotesSettings:
    """`[notes]`: Markdown that people and agents keep, searched beside memory. By default none is read."""

    paths: tuple[str, ...] = ()  # workspaces: `MEMORY.md` and `memory/**/*.md` of each; absolute, or from `~`
    extra_paths: tuple[str, ...] = ()  # further Markdown files, and folders of them; absolute, or from `~`


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set, with its default."""

    data: DataSettings = field(default_factory=DataSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    notes: NotesSettings = field(default_factory=NotesSettings)

    def __post_init__(self) -> None:
        if self.recall.embedder not in ("static", "none"):
            raise InvalidInput(f"recall.embedder is “{self.recall.embedder}”; it is static or none.")
        if self.memory.citations not in ("auto", "on", "off"):
            raise InvalidInput(f"memory.citations is “{self.memory.citations}”; it is auto, on or off.")
        for name, value in (
            ("recall.limit", self.recall.limit),
            ("recall.token_budget", self.recall.token_budget),
            ("memory.timeline_retention_days", self.memory.timeline_retention_days),
            ("retention.cleanup_interval_secs", self.retention.cleanup_interval_secs),
        ):
            if value < 1:
                raise InvalidInput(f"{name} is {value}; it must be at least 1.")
        for path in (*self.notes.paths, *self.notes.extra_paths):
            # A relative one would mean another folder wherever picomem is started, a stranger's repository among them.
            if not (path.startswith("~") or Path(path).is_absolute()):
                raise InvalidInput(f"“{path}” in [notes] is relative; write it as an absolute path, or from ~.")


def load(env: Mapping[str, str] = os.environ, path: Path | None = None) -> Settings:
    """The settings of this process. Raises InvalidInput that names the file or variable, and the nearest key."""
    settings = Settings()
    chosen = path or (Path(env["PICOMEM_CONFIG"]).expanduser() if env.get("PICOMEM_CONFIG") else None)
    file = chosen or paths.data_dir() / "config.toml"
    if chosen or file.exists():
        settings = _with_tables(settings, _read(file), str(file))
    return _with_tables(settings, _tables_of(env), "the environment")


def _read(file: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise InvalidInput(f"There is no settings file {file}.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"The settings file {file} cannot be read: {error}.") from error


def _tables_of(env: Mapping[str, str]) -> dict[str, Any]:
    """`PICOMEM_INDEX_BUDGET=900` as `{"index": {"budget": "900"}}`; other variables of ours are not settings."""
    tables: dict[str, Any] = {}
    for table in fields(Settings):
        prefix = f"PICOMEM_{table.name.upper()}_"
        for key in fields(getattr(Settings(), table.name)):
            value = env.get(prefix + key.name.upper())
            if value is not None:
                tables.setdefault(table.name, {})[key.name] = value
    return tables


def _with_tables(settings: Settings, tables: dict[str, Any], where: str) -> Settings:
    for name, values in tables.items():
        _check_known(name, [each.name for each in fields(Settings)], where, "table")
        if not isinstance(values, dict):
            raise InvalidInput(f"“{name}” in {where} is a table; write [{name}].")
        table = getattr(settings, name)
        known = {each.name: type(getattr(table, each.name)) for each in fields(table)}
        for key in values:
            _check_known(key, list(known), where, f"key of [{name}]")
        parsed = {key: _parsed(value, known[key], f"{name}.{key}", where) for key, value in values.items()}
        settings = replace(settings, **{name: replace(table, **parsed)})
    return settings


def _check_known(name: str, known: list[str], where: str, what: str) -> None:
    if name not in known:
        from difflib import get_close_matches

        near = get_close_matches(name, known, 1, 0.5)
        hint = f"did you mean “{near[0]}”?" if near else f"there are {', '.join(known)}."
        raise InvalidInput(f"“{name}” in {where} is no {what}; {hint}")


def _parsed(value: object, kind: type, name: str, where: str) -> object:
    if kind is int and isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            raise InvalidInput(f"{name} in {where} is “{value}”; it must be a whole number.") from None
    if kind is tuple:
        several = [each for each in value.split(os.pathsep) if each] if isinstance(value, str) else value
        if isinstance(several, list) and all(isinstance(each, str) for each in several):
            return tuple(several)
    if type(value) is not kind:
        wanted = {int: "a whole number", str: "a text in quotes", tuple: "a list of texts"}.get(kind, kind.__name__)
        raise InvalidInput(f"{name} in {where} is {value!r}; it must be {wanted}.")
    return value
