"""Finds the tool calls of a coding agent that read text by others: pages, mails, issues, other servers. Pure.

A host's own tools work on the user's files, and so do most commands; their output is the user's own. A call reads
from outside if

- the tool searches or fetches the web, drives a browser, or reads mail or chats, by its name;
- the tool belongs to an MCP server, unless the server is known to work only on the user's files. Memory's own tools
  fence quotes of others, and the rest of their answers is memory's;
- the command fetches an address that is not local, queries a forge, a mailbox or a package registry, reads from another
  machine or a cloud's storage, or asks another agent;
- the tool hands a task to a sub-agent, whose report may tell of anything that it read. (A host whose files say what a
  sub-agent read looks there instead: formats/claude_code.py.)

The output follows the call, so the agent's words after it get the origin of the outside text (`State.say`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from picomem.ingest.outcomes import command_of
from picomem.provenance.context_origins import OWN_TOOLS
from picomem.records.kinds import Origin, worst

_WEB_TOOL = re.compile(
    r"(?i)web[\W_]?(?:search|fetch|run|read|page|open|browse)|\bfetch(?:_?url|_?page|_?web)?\b|brows(?:er|ing)|"
    r"\b(?:open|read|visit)_?(?:url|page|web)|^web(?:\W|$)|^(?:x|google|bing|exa|tavily)_search"
)
_LETTERS_TOOL = re.compile(r"(?i)e?-?mail|inbox|slack|discord|telegram|whatsapp|calendar|^message$|mcp_?resource")
# Hands a task to another agent, or takes its report.
_SUB_AGENT_TOOL = re.compile(
    r"(?i)\A(?:task|agent|workflow|sub_?agents?|(?:spawn|wait|resume|delegate_to|run|call)_(?:sub_?)?agent|wait|"
    r"send_input|sessions_(?:spawn|send|history|yield)|spawn)\Z"
)
_MCP = re.compile(r"\A(?:mcp__)?(?P<server>[\w.:-]+?)__(?P<tool>.+)\Z")
_SINGLE_MCP = re.compile(r"\Amcp_(?=[^_])([^_]+)_(?=[^_])")  # nanobot and Gemini CLI: mcp_SERVER_TOOL
# Servers that read only the user's own files and editor.
_LOCAL_SERVERS = frozenset("ide filesystem git serena sequential-thinking".split())

_LONGEST = 20_000  # characters of a command that are searched
# Where a program's name may stand in a command: first, or behind a separator, an assignment or a program that runs it.
_PROGRAM = (
    r"(?:^|[;&|(`'\"{]|"
    r"\b(?:sudo|time|xargs|env|exec|nohup|then|do|else|if|while|until|setsid|command|watch|nice|ionice|stdbuf|timeout|"
    r"parallel)\s(?:[ \t]*(?:-{1,2}[A-Za-z][^\s;&|]{0,40}|\{\}|\d[\w.]{0,10})[ \t]){0,8}|"
    r"\b(?:docker|podman)[ \t]+(?:compose[ \t]+)?(?:run|exec)[ \t](?:[^\s;&|]{1,100}[ \t]+){1,8}?)[ \t]*"
    r"(?:[A-Za-z_]\w{0,40}=[^\s;&|]{0,200}[ \t]+){0,8}(?:[\w.~-]{0,40}/){0,12}"
)
_FETCHES = re.compile(rf"(?m){_PROGRAM}(?:curl|wget|https?|httpie|xh|lynx|w3m|elinks|aria2c)\s+(?P<rest>[^\n;|&]*)")
_SCRIPTED = re.compile(
    r"(?:requests\.(?:get|post|request|Session)|httpx\.|urlopen\s*\(|urlretrieve\s*\(|\bfetch\s*\(|Net::HTTP|"
    r"Invoke-WebRequest|Invoke-RestMethod|\biwr\s|HTTPoison\.|Req\.get)"
)
_FORGE = re.compile(
    rf"(?m){_PROGRAM}(?:gh|glab|tea|hub)\s+(?:-\S+\s+\S+\s+)?(?:(?:issue|pr|mr|discussion|gist|release|repo|snippet)\s+"
    r"(?:\S+\s+){0,2}?(?:view|list|status|diff|comments?|notes?|clone)\b|run\s+view\b|api\b|search\b)"
)
# Another agent, whose answer may tell of anything that it read; but not its settings (`claude mcp list`).
_AGENT = re.compile(
    rf"(?m){_PROGRAM}(?:(?:claude|gemini|cursor-agent)\s(?:[^\n;|&]{{0,200}}?\s)?(?:-p|--print|--prompt)\b|"
    r"codex\s+(?:-\S{1,40}\s+){0,4}(?:exec|e)\s|opencode\s+run\s)"
)
# Files and output of other machines.
_MACHINE = re.compile(
    rf"(?m){_PROGRAM}(?:(?:ssh|mosh|scp|sftp|nc|ncat|netcat|telnet|socat)\s+(?P<rest>[^\n;|&]*)|"
    r"rsync\s[^\n;|&]{0,200}?[\w.-]{1,100}::?[\w~/.])"
)
_FROM_CLOUD = re.compile(
    rf"(?m){_PROGRAM}(?:aws\s+(?:-\S{{1,40}}\s+(?:[^-\s]\S{{0,40}}\s+)?){{0,4}}s3(?:api)?\s+(?:cp|sync|mv|get-object)\b|"
    r"gsutil\s+(?:-\S{1,40}\s+){0,4}(?:cp|cat|rsync|mv)\b|gcloud\s+storage\s+(?:cp|cat|rsync)\b|"
    r"rclone\s+(?:copy|cat|sync|copyto)\b|pip3?\s+download\b)"
)
_CLONES = re.compile(rf"(?m){_PROGRAM}git\s+(?:-\S+\s+\S+\s+)?clone\s+(?P<rest>[^\n;|&]*)")
_OTHER_REPOSITORY = re.compile(r"(?i)\b(?:https?|git|ssh)://|\b[\w.-]{1,60}@[\w.-]{1,100}:")
_POST = re.compile(rf"(?m){_PROGRAM}(?:himalaya|(?:neo)?mutt|notmuch|mailx?|mu|gog|fetchmail|slackcat)\s+\S")
_REGISTRY = re.compile(rf"(?m){_PROGRAM}(?:npm|pnpm|yarn)\s+(?:view|info|show)\b")
_ADDRESS = re.compile(r"(?i)\b(?:https?|ftp)://([^\s/?#\\'\"`)>]+)")
_LOCAL_HOST = re.compile(
    r"(?i)\A(?:\S*@)?(?:localhost|[\w-]+\.localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal|"
    r"10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|[\w-]+\.(?:local|test|internal))(?::\S*)?\Z"
)
_HOST = re.compile(r"(?i)(?:\A|[\s'\"=])((?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1\])(?::\d+)?)(?=[/\s'\"]|\Z)")
# What memory quotes in a tool's result, where the host wrote the result as JSON.
_QUOTED = re.compile(rb'untrusted-text origin=\\*"(\w+)')


def outside_of_call(tool: str, given: Mapping[str, Any]) -> Origin | None:
    """The origin of what a call reads; None where that is the user's own."""
    if mcp := _MCP.match(_SINGLE_MCP.sub(r"mcp__\1__", tool)):
        server, name = mcp["server"].lower(), mcp["tool"]
        if name in OWN_TOOLS or server in _LOCAL_SERVERS:
            return None
        return Origin.WEB if _WEB_TOOL.search(f"{server} {name}") else Origin.TOOL
    if tool in OWN_TOOLS:
        return None
    if _WEB_TOOL.search(tool):
        return Origin.WEB
    if _LETTERS_TOOL.search(tool) or _SUB_AGENT_TOOL.match(tool):
        return Origin.TOOL
    return _outside_of_command(command_of(given)[:_LONGEST])


def quoted_in_record(data: bytes) -> Origin | None:
    """The least trusted origin of what memory quotes in a record of a tool's result; None where it quotes nothing."""
    if b"untrusted-text" not in data:
        return None
    names = {name.decode() for name in _QUOTED.findall(data)}
    return worst(origins) if (origins := [origin for origin in Origin if origin in names]) else None


def _outside_of_command(command: str) -> Origin | None:
    if _POST.search(command) or _AGENT.search(command):
        return Origin.TOOL
    if _FORGE.search(command) or _REGISTRY.search(command) or _FROM_CLOUD.search(command):
        return Origin.WEB
    if any(not _is_local(match["rest"] or "") for match in _MACHINE.finditer(command)):
        return Origin.WEB
    if any(
        _OTHER_REPOSITORY.search(match["rest"]) and not _is_local(match["rest"]) for match in _CLONES.finditer(command)
    ):
        return Origin.WEB
    fetches = any(not _is_local(match["rest"]) for match in _FETCHES.finditer(command))
    scripted = _SCRIPTED.search(command) and not _is_local(command)
    return Origin.WEB if fetches or scripted else None


def _is_local(text: str) -> bool:
    """Return whether all addresses in a text are this machine's or its network's, and there is one."""
    hosts = _ADDRESS.findall(text)
    if not hosts:
        return bool(_HOST.search(text))
    return all(_LOCAL_HOST.match(host) for host in hosts)
