"""Finds, adds and removes picomem's entries in the text of a settings file. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from picomem.errors import Conflict, InvalidInput
from picomem.hosts import toml_edit
from picomem.hosts.host import Host, SettingsFile
from picomem.hosts.program import NAME, STORE_VARIABLES, Program, hook_invocation, is_edited_hook, is_mcp_command
from picomem.light_dataclass import dataclass
from picomem.text import json_edit
from picomem.text.json_edit import Syntax

_BOM = "\ufeff"
_COMMAND = ("command", "args")
_ENV = ("env", "environment")  # as most hosts name the variables, and as OpenCode does


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """An MCP server that runs picomem: its name in the file, its command and its variables."""

    name: str
    words: tuple[str, ...]
    env: dict[str, str]


@dataclass(frozen=True, slots=True)
class HookCommand:
    """A hook that runs picomem: its event, its place in the list of groups, its command line and all that is set.
    `words` and `env` are the program with its arguments, and its variables. `matcher` chooses occasions of the event;
    None where its group has none."""

    event: str
    group: int
    handler: int
    command: str
    words: tuple[str, ...]
    env: dict[str, str]
    settings: dict[str, Any]
    matcher: str | None

    @property
    def is_for_all(self) -> bool:
        """Whether the hook runs at each occasion of the event."""
        return self.matcher in (None, "", "*")


@dataclass(frozen=True, slots=True)
class EditedHook:
    """A hook that starts picomem in somebody's own way: neither an install nor an uninstall touches it."""

    event: str
    command: str


@dataclass(frozen=True, slots=True)
class OwnEntries:
    """The entries of picomem in a file."""

    servers: tuple[ServerEntry, ...] = ()
    hooks: tuple[HookCommand, ...] = ()
    edited: tuple[EditedHook, ...] = ()

    @property
    def installed(self) -> bool:
        """Whether there is an entry that an uninstall takes out: another name is somebody's own choice."""
        return bool(self.hooks) or any(server.name == NAME for server in self.servers)


def own_entries(text: str, file: SettingsFile) -> OwnEntries:
    """The entries of picomem in a file. Raises InvalidInput where the file cannot be read."""
    if NAME not in text:
        return OwnEntries()
    document = _document(text, file)
    servers = toml_edit.table_at(document, file.servers) if file.servers else None
    hooks = document.get("hooks") if file.has_hooks else None
    return OwnEntries(tuple(_servers(servers)), tuple(_hooks(hooks)), tuple(_edited_hooks(hooks)))


def with_entries(text: str, file: SettingsFile, host: Host, program: Program) -> str:
    """The text of a file with the entries of picomem; the same text where they are there already.

    Raises InvalidInput where the file cannot be read, and Conflict where something else has the name.
    """
    own = own_entries(text, file)
    bom, text = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    if file.syntax != "toml" and not text.strip():
        text = "{}\r\n" if "\r\n" in text else "{}\n"

    if file.servers:
        text = _with_server(text, file, host.server(program))
    return bom + (_with_hooks(text, file, host, program, own) if file.has_hooks else text)


def without_entries(text: str, file: SettingsFile, original: str | None) -> str:
    """The text without the entries of picomem, and without the objects around them that are empty then.

    What stood in the `original` text, before picomem was installed, stays though it is empty. Raises InvalidInput.
    """
    own = own_entries(text, file)
    if not own.installed:
        return text
    bom, text = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    has_server, path = any(server.name == NAME for server in own.servers), (*file.servers, NAME)
    if file.syntax == "toml":
        return bom + (toml_edit.remove_table(text, path) if has_server else text)
    keeps = _keeper(original, file.syntax)
    if has_server:
        text = json_edit.remove(text, file.syntax, path, keeps)
    for hook in reversed(own.hooks):
        text = _without_hook(text, file.syntax, hook, keeps)
    return bom + text


def is_empty(text: str, file: SettingsFile) -> bool:
    """Return whether a file holds nothing that anybody would miss."""
    text = text.removeprefix(_BOM)
    return not text.strip() or (file.syntax != "toml" and "".join(text.split()) == "{}")


def _document(text: str, file: SettingsFile) -> dict[str, Any]:
    if file.syntax == "toml":
        return toml_edit.parse_toml(text.removeprefix(_BOM))
    return json_edit.parse(text, file.syntax).value


def _servers(servers: Any) -> list[ServerEntry]:
    return [
        ServerEntry(name, words, env)
        for name, entry in (servers.items() if isinstance(servers, dict) else ())
        if isinstance(entry, dict)
        for words, env in (_command_of(entry),)
        if is_mcp_command(words)
    ]


def _command_of(entry: dict[str, Any]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The command and the variables of an MCP server, however its host writes them."""
    command, arguments = entry.get("command"), entry.get("args")
    words = [
        *(command if isinstance(command, list) else [command]),
        *(arguments if isinstance(arguments, list) else []),
    ]
    env = entry.get("env") or entry.get("environment")
    variables = {name: value for name, value in env.items() if isinstance(value, str)} if isinstance(env, dict) else {}
    return tuple(word for word in words if isinstance(word, str)), variables


def _hooks(hooks: Any) -> list[HookCommand]:
    return [
        HookCommand(event, number, place, handler["command"], *invocation, handler, _matcher(group))
        for event, number, place, group, handler in _all_handlers(hooks)
        if (invocation := hook_invocation(handler.get("command")))
    ]


def _edited_hooks(hooks: Any) -> list[EditedHook]:
    return [
        EditedHook(event, handler["command"])
        for event, _, _, _, handler in _all_handlers(hooks)
        if is_edited_hook(handler.get("command"))
    ]


def _all_handlers(hooks: Any) -> Iterator[tuple[str, int, int, dict[str, Any], dict[str, Any]]]:
    """Every handler, with its event, the number and the object of its group, and its number there."""
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            for place, handler in enumerate(_handlers(group)):
                if isinstance(handler, dict):
                    yield event, number, place, group, handler


def _matcher(group: dict[str, Any]) -> str | None:
    return str(group["matcher"] or "") if "matcher" in group else None


def _handlers(group: Any) -> list[Any]:
    handlers = group.get("hooks") if isinstance(group, dict) else None
    return handlers if isinstance(handlers, list) else []


def _with_server(text: str, file: SettingsFile, entry: dict[str, Any]) -> str:
    path = (*file.servers, NAME)
    servers = toml_edit.table_at(_document(text, file), file.servers)
    existing = servers.get(NAME) if isinstance(servers, dict) else None
    if existing is None and isinstance(servers, dict) and NAME in servers:
        raise Conflict(f"its MCP server “{NAME}” is null; remove that or give that another name")
    if existing is not None:
        words, _ = _command_of(existing) if isinstance(existing, dict) else ((), {})
        if not is_mcp_command(words):
            raise Conflict(f"its MCP server “{NAME}” runs something else; give that another name")
        if _needed(existing) == _needed(entry):
            return text
        entry = _updated(existing, entry)
    if file.syntax == "toml":
        return toml_edit.put_table(text, path, entry)
    return json_edit.update(text, file.syntax, path, entry)


def _needed(entry: dict[str, Any]) -> dict[str, Any]:
    """What an install sets in the entry of a server that is there: the command, and the variables that choose a store.
    All else is the user's, such as a time limit, or whether the server is enabled."""
    needed = {name: entry[name] for name in _COMMAND if entry.get(name)}
    variables = {name: _store_variables(entry.get(name)) for name in _ENV}
    return needed | {name: value for name, value in variables.items() if value}


def _updated(existing: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    """An entry of a server that is there, with what an install sets as in another one."""
    updated = {name: value for name, value in existing.items() if name not in _COMMAND or name in entry}
    updated |= {name: entry[name] for name in _COMMAND if name in entry}
    for name in _ENV:
        old = existing.get(name)
        others = (
            {key: value for key, value in old.items() if key not in STORE_VARIABLES} if isinstance(old, dict) else {}
        )
        if variables := others | entry.get(name, {}):
            updated[name] = variables
        elif old:
            del updated[name]
    return updated


def _store_variables(env: Any) -> dict[str, Any]:
    return {name: env[name] for name in STORE_VARIABLES if name in env} if isinstance(env, dict) else {}


def _with_hooks(text: str, file: SettingsFile, host: Host, program: Program, own: OwnEntries) -> str:
    """The text in which every hook of picomem runs the program, once at each event, and every event of the host has
    one. An event where somebody extended the hook gets no second one, which would do the same again."""
    assert file.syntax != "toml"
    for hook in own.hooks:
        text = _with_program(text, file.syntax, hook, program)
    for hook in reversed(_redundant_hooks(own.hooks)):
        text = _without_hook(text, file.syntax, hook, lambda _: True)
    events = {hook.event for hook in (*own.hooks, *own.edited)}
    for entry in host.hooks:
        if entry.event not in events:
            group = {"hooks": [entry.handler(program.hook_command())]}
            text = json_edit.append(text, file.syntax, ("hooks", entry.event), group)
    return text


def _with_program(text: str, syntax: Syntax, hook: HookCommand, program: Program) -> str:
    """The text in which a hook runs the program. What else is set there is the user's, such as a time limit."""
    command = program.hook_command(hook.words, hook.env)
    if hook_invocation(command) == (hook.words, hook.env):
        return text
    return json_edit.put(text, syntax, ("hooks", hook.event, hook.group, "hooks", hook.handler, "command"), command)


def _redundant_hooks(hooks: Sequence[HookCommand]) -> list[HookCommand]:
    """The hooks that only run when another hook of their event runs too."""
    kept: dict[tuple[str, str | None], HookCommand] = {}
    for hook in sorted(hooks, key=lambda hook: not hook.is_for_all):
        if (hook.event, None) not in kept:
            kept.setdefault((hook.event, None if hook.is_for_all else hook.matcher), hook)
    return [hook for hook in hooks if hook not in kept.values()]


def _without_hook(text: str, syntax: Syntax, hook: HookCommand, keeps: Callable[[json_edit.Path], bool]) -> str:
    """The text without a hook; its group goes with its last hook."""
    group = ("hooks", hook.event, hook.group)
    node = json_edit.at(json_edit.parse(text, syntax), group)
    assert node is not None
    path = group if len(_handlers(node.value)) == 1 else (*group, "hooks", hook.handler)
    return json_edit.remove(text, syntax, path, keeps)


def _keeper(original: str | None, syntax: Syntax) -> Callable[[json_edit.Path], bool]:
    """Return whether an object that becomes empty was there before picomem was installed."""
    try:
        root = json_edit.parse(original or "", syntax)
    except InvalidInput:
        return lambda _: False
    return lambda path: json_edit.at(root, path) is not None
