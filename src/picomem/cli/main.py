"""The command line: `picomem COMMAND …`.

Every operation of the table is a command, rendered from its request. `chat`, `tui`, `demo`, `install`, `uninstall`,
`mcp`, `serve`, `move`, `postgres`, `completion` and `help` are separate commands. A command loads only the modules that
it needs, because hooks wait for `picomem recall`. (argparse is used because importing typer takes longer than a whole
recall.)

Results go to stdout, everything else to stderr. With `--json`, stdout holds one JSON document, also for an error. Exit
codes are those of errors.py; 130 after an interrupt.
"""

from __future__ import annotations

import argparse
import errno
import gc
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from picomem.cli.options import add_request, request_of, unicode_text
from picomem.cli.terminal import remark, width
from picomem.errors import InvalidInput, OutOfMemory, PicomemError, TooManyFiles, did_you_mean
from picomem.operations.operation import GROUPS, Group, options
from picomem.operations.table import EVERYDAY, NAMES, operation
from picomem.text.inert_text import escaped_json
from picomem.version import __version__

_OTHERS: dict[str, tuple[Group, str, str]] = {
    "chat": ("use", "Talk with PicoBot, which remembers; it needs a model.", "picomem chat --model ollama:qwen3:8b"),
    "tui": ("use", "Browse and change memory on screens in the terminal.", "picomem tui --theme light"),
    "demo": ("use", "Try it on sample sessions, in a store of its own.", "picomem demo --keep ~/picomem-demo"),
    "install": (
        "use",
        "Set up Claude Code, Codex and other agents to use this memory.",
        "picomem install claude-code --dry-run",
    ),
    "uninstall": ("use", "Take picomem out of the agents' settings again.", "picomem uninstall"),
    "mcp": ("serve", "Serve memory to an agent over MCP (stdio); `install` sets it up.", "picomem mcp"),
    "serve": (
        "serve",
        "Serve memory to programs over HTTP, WebSocket and MCP, to many users at once.",
        "picomem serve --port 8765",
    ),
    "open": ("look", "Open the web page in the browser, signed in; starts the server where none runs.", "picomem open"),
    "move": (
        "maintain",
        "Copy users from one store to another, each a file or on a server.",
        "picomem move ~/memory.db postgresql://picomem@db.example/memory --user ann",
    ),
    "postgres": (
        "maintain",
        "Make a store on a PostgreSQL server: `postgres init`, with --citus divided among machines.",
        "picomem postgres init --citus --shards 32 --db postgresql://picomem@db.example/memory",
    ),
    "unlock": (
        "maintain",
        "Ask for the pass phrase of a sealed store once; --new chooses one.",
        "picomem unlock",
    ),
    "lock": ("maintain", "Forget the key that `picomem unlock` left in memory.", "picomem lock"),
    "completion": (
        "maintain",
        "Print a completion script for a shell.",
        "picomem completion bash > ~/.local/share/bash-completion/completions/picomem",
    ),
    "help": ("maintain", "List the commands, or explain one.", "picomem help --all"),
}  # where help lists it, what it does, and an example
# The modules of `picomem.cli` with the functions `run_NAME` of these commands; their arguments are in
# command_arguments.py.
_MODULES = {
    "chat": "chat",
    "tui": "terminal_interface",
    "demo": "demo",
    "install": "install",
    "uninstall": "install",
    "mcp": "mcp",
    "serve": "serve",
    "open": "open_page",
    "move": "move",
    "postgres": "postgres_store",
    "unlock": "unlock",
    "lock": "unlock",
}
_EXTRAS = {  # what needs an extra of the package, by its module
    "chat": ("PicoBot", "agent"),
    "terminal_interface": ("The terminal interface", "tui"),
    "serve": ("`picomem serve`", "server"),
}
_SHELLS = ("bash", "zsh", "fish")
# The collector of cycles runs when so many more objects exist. A recall makes 35,000, which all stay to its end; with
# Python's own 700 it spends a twentieth of its time on looking through them.
_OBJECTS_OF_A_COMMAND = 100_000
_EPILOG = """\
`picomem help --all` lists every command, `picomem help COMMAND` explains one.

Begin with:
  picomem demo                                  see it work on sample sessions
  picomem install                               let your agents use it
  picomem ingest                                read your own past sessions
  picomem recall what did we decide about X     ask
  picomem chat                                  talk with an agent that remembers
"""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal. argparse asks shutil how wide that is, for each option and without being asked for
    help; shutil loads three compressors."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=width() - 2)

    def add_argument(self, action: argparse.Action) -> None:
        if action.dest != "command":  # the commands stand by group in the epilog
            super().add_argument(action)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        # An example is indented, and to be copied as it stands.
        lines = ([line] if line.startswith(" ") else _wrapped(line, width) for line in text.splitlines())
        return "\n".join(indent + part for line in lines for part in line)


class Parser(argparse.ArgumentParser):
    """An argparse parser whose errors are one sentence, and whose help keeps its examples' line breaks."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=_Help, **settings)

    def error(self, message: str) -> NoReturn:
        raise InvalidInput(f"{message}; `{self.prog} --help` shows what there is.")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        values = super()._get_values(action, arg_strings)  # type: ignore[misc]
        if action.nargs is None and isinstance(values, list):  # argparse takes the "--" of `--user=--` away
            raise argparse.ArgumentError(action, "“--” is no value")
        return values


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit code."""
    if argv is not None:
        return run_command_line(_run, argv)
    gc.set_threshold(_OBJECTS_OF_A_COMMAND)
    try:
        return run_command_line(_run, sys.argv[1:])
    finally:
        gc.freeze()  # the process ends, and would look through all modules for cycles first


def run_command_line(run: Callable[[list[str]], int], argv: Sequence[str], program: str = "picomem") -> int:
    """Run a program on its arguments. An error becomes one sentence (with `--json` a document too) and an exit code."""
    arguments = list(argv)
    # Before numpy loads: a second thread of the linear algebra waits by spinning, and doubles a recall's work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _open_closed_streams()
    _fit_streams(is_for_program="--json" in arguments or not sys.stdout.isatty())
    try:
        return run(arguments)
    except PicomemError as error:
        return _fail(error, arguments, program)
    except KeyboardInterrupt:
        remark("stopped; what was done until now is kept.", program)
        return 130
    except BrokenPipeError:
        # The reader of our output has gone (`picomem … | head`): nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (MemoryError, ImportError, OSError) as error:
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            lacking: PicomemError = TooManyFiles()
        elif _is_for_want_of_memory(error):
            lacking = OutOfMemory()
        else:
            raise
        return _fail(lacking, arguments, program)


def _fit_streams(*, is_for_program: bool) -> None:
    """Write UTF-8 to another program, and to a terminal its own encoding.

    Text holds whatever people wrote. What a pipe, a file or a reader of JSON gets must be read back as it was, whatever
    encoding the terminal has; a terminal that cannot show a character shows a stand-in.
    """
    encoding = {"encoding": "utf-8"} if is_for_program else {}
    for stream, further in ((sys.stdout, encoding), (sys.stderr, {})):
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace", **further)


def _open_closed_streams() -> None:
    """Give a program that was started without a standard stream (`picomem … >&-`) one that leads nowhere, so that no
    other file takes its descriptor."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - it stays open


def _is_for_want_of_memory(error: Exception) -> bool:
    """Return whether memory was refused to Python, to a file that is mapped, or to the loader of a compiled module."""
    if isinstance(error, ImportError):
        return "failed to map segment" in str(error) or "cannot allocate memory" in str(error).lower()
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


def _run(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        print(f"picomem {__version__}")
        return 0
    arguments = in_one_word(arguments)
    name = command_of(arguments)
    if name == "help":
        if "--all" in arguments:
            print(_commands_by_group())
            return 0
        arguments = in_one_word(_asked_of_help(arguments))
        name = command_of(arguments)
    if name in (groups := _first_words()):
        return _explain_group(name, groups[name], arguments)
    if name and name not in NAMES and name not in _OTHERS:
        raise _unknown_command(name)
    parser = parser_for(name)
    chosen, unknown = parser.parse_known_args(arguments)
    if unknown:
        raise _unknown_argument(parser, name, unknown)
    chosen.given = arguments
    if not name:
        parser.print_help()
        return 2 if arguments else 0
    return _run_command(name, chosen)


def _explain_group(name: str, seconds: list[str], arguments: list[str]) -> int:
    if following := command_of(arguments[arguments.index(name) + 1 :]):
        raise _unknown_command(f"{name} {following}")
    print(_group_help(name, seconds))
    return 0 if _asks_for_help(arguments) else 2


def _run_command(name: str, chosen: argparse.Namespace) -> int:
    if name == "completion":
        import shtab

        print(shtab.complete(parser_for("", two_words=True), chosen.shell))
        return 0
    if name in _MODULES:
        return getattr(command_module(_MODULES[name]), f"run_{name}")(chosen)
    from picomem.cli.run import run_operation  # noqa: PLC0415 - a server does not need it

    verb = operation(name)
    return run_operation(verb, request_of(verb.request, chosen), chosen)


def command_module(module: str) -> Any:
    """A command's module, which is loaded now: a command loads nothing of the others. Raises InvalidInput where the
    extra is missing that it needs."""
    try:
        return import_module(f"picomem.cli.{module}")
    except ModuleNotFoundError as error:
        if module not in _EXTRAS or (error.name or "picomem").partition(".")[0] == "picomem":
            raise
        what, extra = _EXTRAS[module]
        raise InvalidInput(f"{what} needs the extra `{extra}`: install picomem[{extra}], such as with pip.") from None


def in_one_word(arguments: list[str]) -> list[str]:
    """`token make` as `token-make`: a command of two words is called by both."""
    first = command_of(arguments)
    if not first or first in _OTHERS:
        return arguments
    place = arguments.index(first)
    second = command_of(arguments[place + 1 :])
    if f"{first}-{second}" not in NAMES or (first in NAMES and _takes_words(first)):
        return arguments
    rest = list(arguments[place + 1 :])
    rest.remove(second)
    return [*arguments[:place], f"{first}-{second}", *rest]


def _takes_words(name: str) -> bool:
    """Return whether what follows a command may be a word of its own, as in `why not`."""
    return any(about["positional"] for _, _, about in options(operation(name).request))


def _asked_of_help(arguments: list[str]) -> list[str]:
    """`help [COMMAND]` as the arguments that ask for the same help."""
    place = arguments.index("help")
    topic = command_of(in_one_word(arguments[place + 1 :]))
    if topic and topic not in NAMES and topic not in _OTHERS and topic not in _first_words():
        raise _unknown_command(topic)
    return [topic, "--help"] if topic else ["--help"]


def _unknown_command(name: str) -> InvalidInput:
    two_words = [f"{first} {second}" for first, seconds in _first_words().items() for second in seconds]
    remedy = did_you_mean(
        name, [*two_words, *NAMES, *_OTHERS], "`picomem help --all` lists them.", shown="`picomem {}`"
    )
    return InvalidInput(f"There is no command “{name[:40]}”; {remedy}")


def _unknown_argument(parser: Parser, name: str, unknown: list[str]) -> InvalidInput:
    """The error about arguments that a command does not take, with the nearest of its options."""
    program = f"{parser.prog} {name}".strip()
    remedy = f"`{program} --help` shows what there is."
    option = next((argument for argument in unknown if argument.startswith("--")), "").partition("=")[0]
    if not option:
        return InvalidInput(f"unrecognized arguments: {' '.join(unknown)}; {remedy}")
    names = (name.removeprefix("--") for name in _options_of(parser))  # which all begin alike
    return InvalidInput(
        f"There is no option {option[:40]}; {did_you_mean(option.removeprefix('--'), names, remedy, shown='--{}')}"
    )


def _options_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The long options of a parser and of the commands within it."""
    for action in parser._actions:
        yield from (option for option in action.option_strings if option.startswith("--"))
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _options_of(inner)


def command_of(arguments: list[str]) -> str:
    """The command among the arguments: the first that is neither an option nor the value of one of ours."""
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in ("--db", "--user"):
            skip = True
        elif not argument.startswith("-"):
            return argument
    return ""


def parser_for(name: str, *, two_words: bool = False) -> Parser:
    """The parser for this command; without one, the parser of them all. `two_words` adds the commands that begin alike
    under their first word too (`token make`), for a completion: other parsers get such a command in one word."""
    parser = Parser(
        prog="picomem",
        usage="picomem [--json] [--db PATH] [--user ID] COMMAND …",
        description="Long-term memory for AI agents, in one file.",
        epilog="" if name else _epilog(),
        parents=[_common()],
    )
    parser.add_argument("--version", action="version", version=f"picomem {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", dest="command", prog="picomem")
    late = _common(suppress=True)
    for command in (name,) if name else (*NAMES, *_OTHERS):
        if command in NAMES:
            _add_operation(commands, command, late)
        else:
            _add_other(commands, command, late)
    for first, seconds in _first_words().items() if two_words else ():
        group = commands.add_parser(first, help=f"{first} {', '.join(seconds)}")
        inner = group.add_subparsers(metavar="COMMAND")
        for second in seconds:
            _add_operation(inner, f"{first}-{second}", late, second)
    return parser


def _first_words() -> dict[str, list[str]]:
    """The first words that several commands share and that are no command themselves, with what follows them."""
    seconds: dict[str, list[str]] = {}
    for name in NAMES:
        first, dash, second = name.partition("-")
        if dash and first not in NAMES and first not in _OTHERS:
            seconds.setdefault(first, []).append(second)
    return {first: following for first, following in seconds.items() if len(following) > 1}


def _group_help(first: str, seconds: list[str]) -> str:
    """Describe the commands that share a first word, with an example of each."""
    verbs = {second: operation(f"{first}-{second}") for second in seconds}
    described = [f"  {second:<8} {_first_sentence(verb.doc)}" for second, verb in verbs.items()]
    lines = [f"usage: picomem {first} COMMAND …", "", *described, "", "Examples:"]
    lines += [f"  {verb.example}" for verb in verbs.values()]
    return "\n".join([*lines, "", f"`picomem {first} {seconds[0]} --help` explains one of them."])


def _asks_for_help(arguments: list[str]) -> bool:
    return "--help" in arguments or "-h" in arguments


def _epilog() -> str:
    return f"commands:\n{_described(('install', *EVERYDAY, 'open'))}\n\n{_EPILOG}"


def _commands_by_group() -> str:
    """Describe each command in a line or two, grouped by purpose."""
    groups = {name: operation(name).group for name in NAMES} | {name: group for name, (group, *_) in _OTHERS.items()}
    listed = [(group, [name for name, of in groups.items() if of == group]) for group in GROUPS]
    return "\n\n".join(f"{group}:\n{_described(names)}" for group, names in listed)


def _described(names: Iterable[str]) -> str:
    following = " " * (_NAME_WIDTH + 3)
    described = ((name, _first_sentence(operation(name).doc if name in NAMES else _OTHERS[name][1])) for name in names)
    return "\n".join(
        f"  {name:<{_NAME_WIDTH}} " + f"\n{following}".join(_wrapped(about, width() - 2 - len(following)))
        for name, about in described
    )


def _wrapped(text: str, columns: int) -> list[str]:
    """The lines of a paragraph, at least one."""
    from textwrap import wrap  # noqa: PLC0415 - only help needs it

    return wrap(text, columns) or [""]


_NAME_WIDTH = 16


def _add_operation(commands: Any, name: str, late: Parser, shown_as: str = "") -> None:
    verb = operation(name)
    added = commands.add_parser(
        shown_as or name,
        help=_first_sentence(verb.doc),
        description="\n\n".join(verb.paragraphs),
        epilog=f"Example:\n  {verb.example}",
        parents=[late],
    )
    add_request(added, verb.request)
    if verb.follow:
        added.add_argument("--watch", action="store_true", help=verb.follow)


def _add_other(commands: Any, name: str, late: Parser) -> None:
    _, doc, example = _OTHERS[name]
    added = commands.add_parser(name, help=doc, description=doc, epilog=f"Example:\n  {example}", parents=[late])
    if name in _MODULES and name != "mcp":
        getattr(command_module("command_arguments"), f"add_{name}")(added)
    elif name == "completion":
        added.add_argument("shell", choices=_SHELLS, metavar="SHELL", help=f"the shell ({', '.join(_SHELLS)})")
    elif name == "help":
        added.add_argument("topic", nargs="?", choices=(*NAMES, *_OTHERS), metavar="COMMAND", help="the command")
        added.add_argument("--all", action="store_true", help="list every command")


def _common(suppress: bool = False) -> Parser:
    """The options of every command; they may stand before it or after it."""
    common = Parser(add_help=False)
    default: dict[str, Any] = {"default": argparse.SUPPRESS} if suppress else {}
    common.add_argument("--json", action="store_true", help="print one JSON document", **default)
    common.add_argument(
        "--db",
        metavar="PATH",
        help="the database, or its address (default: $PICOMEM_DB, or the data folder's)",
        **default,
    )
    common.add_argument("--user", metavar="ID", type=unicode_text, help="whose memory (default: local)", **default)
    return common


def _first_sentence(text: str) -> str:
    return text.split(": ")[0].split("; ")[0].rstrip(".") + "."


def _fail(error: PicomemError, arguments: Sequence[str], program: str) -> int:
    sentence = str(error)
    if "`picomem " in sentence:  # otherwise nothing is loaded: there may be too little memory for it
        from picomem.cli.presented_text import hints_for  # noqa: PLC0415 - there may be too little memory for it

        sentence = hints_for(arguments).shown(sentence)
    if "--json" in arguments:
        details = {name: value for name, value in error.data.items() if isinstance(value, str | int | float)}
        document = {"error": {"code": error.code, "message": sentence, **details}}
        print(escaped_json(json.dumps(document, ensure_ascii=False)))
    remark(sentence, program)
    return error.exit_code


if __name__ == "__main__":
    raise SystemExit(main())
