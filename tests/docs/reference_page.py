"""The reference page, rendered from the table, the settings and the errors.

`python -m tests.docs.reference_page` prints it.

A test compares it with docs/reference.md, so the page cannot fall behind.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from picomem import errors, settings
from picomem.light_dataclass import MISSING, fields
from picomem.operations.operation import Operation, option_flag, options
from picomem.operations.table import operations

_HEAD = """# Reference

Rendered by `python -m tests.docs.reference_page`; do not edit.

Every command takes `--json` (one JSON document on stdout), `--db PATH` (a file, or the address of a
[PostgreSQL](postgres.md) server; default: `$PICOMEM_DB`, `database` of `[data]`, or `picomem.db` in the data
directory) and `--user ID` (default: `local`), before or after the command. Times are dates (`2026-05-03`), RFC 3339
times, spans in words (`30d`, `last week`, `三天前`) or Unix milliseconds.

Over HTTP and JSON-RPC the fields of a request have the names of the arguments and options in lower case, with `_` for
`-` (`--token-budget` is `token_budget`); where a field has another name, it stands behind the option. A field of
several values is a list.
"""

_OTHERS = """## Other commands

- `picomem ingest --watch [PATH…]` follows the transcripts until stopped.
- `picomem chat [--session ID] [--model NAME] [QUESTION…]` talks with PicoBot, or answers one question (an argument, or
  stdin); see [agents](agent.md).
- `picomem demo [--keep FOLDER]` shows it all on sample sessions, in a store of its own.
- `picomem install [HOST…] [--scope user|project] [--keep-transcripts] [--distil | --no-distil] [--dry-run] [--yes]`
  sets up the agents of this machine (or those that are named) to use picomem, and `picomem uninstall [HOST…]
  [--dry-run] [--yes]` takes that back; see [hosts](hosts.md).
- `picomem mcp` serves the tools below to an agent, over MCP on stdin and stdout. The index page is the resource
  `picomem://index`.
- `picomem serve [--host ADDRESS] [--port PORT]` serves every operation over HTTP, JSON-RPC and MCP; see
  [the server](gateway.md), also for the codes of its own errors.
- `picomem move FROM TO [--user ID] [--dry-run]` copies all users, or one, from one store to another, each a
  file or on a server; see [PostgreSQL](postgres.md#moving-a-store).
- `picomem completion bash|zsh|fish` prints a completion script for a shell.
- `picomem help [COMMAND]`, `picomem --version`
"""


def render() -> str:
    """The whole page."""
    parts = [_HEAD, "## Commands\n"]
    parts += [_command(operation) for operation in operations()]
    parts += [_OTHERS, "## MCP tools\n", "\n".join(_tools()) + "\n"]
    parts += ["## Settings\n", "\n".join(_settings()) + "\n", "## Errors and exit codes\n", "\n".join(_errors()) + "\n"]
    return "\n".join(parts)


def _command(operation: Operation) -> str:
    lines = [f"### {operation.name}\n", _paragraphs(operation), "", f"    {operation.example}\n"]
    for name, default, about in options(operation.request):
        shown = name.upper() if about["positional"] else "`" + _flag(name, about) + "`"
        lines.append(f"- {shown}{_field_name(name, about)}: {about['help']}{_choices(about)}{_default(default)}")
    return "\n".join(lines) + "\n"


def _field_name(name: str, about: dict[str, Any]) -> str:
    """The name of the field over HTTP, where the option does not tell it."""
    option_name = _flag(name, about).partition(",")[0].removeprefix("--").replace("-", "_")
    return "" if about["positional"] or option_name == name else f" (HTTP: `{name}`)"


def _flag(name: str, about: dict[str, Any]) -> str:
    flag = option_flag(name, about)
    return f"{flag}, {about['short']}" if about["short"] else flag


def _tools() -> Iterator[str]:
    """A table of the MCP tools, whose fields the options of the command explain."""
    yield "Each tool is the command beside it, whose options explain the fields; a required field has a `*`.\n"
    yield "| tool | command | fields | permission |\n|---|---|---|---|"
    for operation in operations():
        if operation.tool:
            taken = [option for option in options(operation.request) if option[2]["tool"] is not None]
            names = [_tool_field(name, about) + "*" * (default is MISSING) for name, default, about in taken]
            needed = " and ".join(f"`{permission}`" for permission in operation.permissions)
            marks = {"read-only": operation.read_only, "destructive": operation.destructive}
            permission = ", ".join([needed, *(mark for mark, holds in marks.items() if holds)])
            yield f"| `{operation.tool}` | `{operation.name}` | {', '.join(names)} | {permission} |"


def _tool_field(name: str, about: dict[str, Any]) -> str:
    """The name of the field, with that of the option where it is another."""
    tool_name = about["tool"] or name
    return f"`{tool_name}`" + (f" (`{name}`)" if tool_name != name else "")


def _paragraphs(operation: Operation) -> str:
    return inspect.cleandoc(operation.run.__doc__ or "")


def _choices(about: dict[str, Any]) -> str:
    return f" ({', '.join(about['choices'])})" if about["choices"] else ""


def _default(default: object) -> str:
    return f" (default {default})" if default not in (MISSING, None, "", False, True, ()) else ""


def _settings() -> Iterator[str]:
    yield inspect.cleandoc(settings.__doc__ or "").split("\n\n")[1] + "\n"
    for table in fields(settings.Settings):
        values = getattr(settings.Settings(), table.name)
        yield f"### [{settings.TABLES[table.name]}]\n"
        for key in fields(values):
            yield f"- `{key.name}` (default `{getattr(values, key.name)!r}`): {key.metadata['help']}"
        yield ""


def _errors() -> Iterator[str]:
    yield "| code | exit code | HTTP | meaning |\n|---|---|---|---|"
    for error_class in vars(errors).values():
        if isinstance(error_class, type) and issubclass(error_class, errors.PicomemError):
            doc = (error_class.__doc__ or "").strip().replace("\n", " ")
            yield f"| `{error_class.code}` | {error_class.exit_code} | {error_class.status} | {doc} |"
    yield "| | 130 | | Interrupted; what was done until then is kept. |"
    yield "\nThe server has further codes:\n"
    yield "| code | HTTP | meaning |\n|---|---|---|"
    for code, (status, meaning) in errors.SERVER_CODES.items():
        yield f"| `{code}` | {status or ''} | {meaning} |"


if __name__ == "__main__":
    print(render(), end="")  # noqa: T201 - this is the command
