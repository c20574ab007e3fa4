"""Which tests need the SQLite file: read from their source, with the helpers and fixtures that they use.

`python -m tests.sqlite_needs > tests/sqlite-tests.md` writes the list of those that are marked, with their reasons.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.databases import MARKER

TESTS = Path(__file__).parent
# What only SQLite has.
_NAMES = {
    "apsw",
    "sqlite3",
    "SqliteConnector",
    "SqliteTransaction",
    "SqliteMaintenance",
    "sqlite",
    "sqlite_schema",
    "connection_of",
}
_IN_TEXTS = ("apsw.", "SqliteConnector", "PRAGMA ", "sqlite3.")  # of programs that a test starts, and of statements
_KEYWORDS = {"vfs"}
_METHODS = {"connection", "_reader"}  # of SqliteConnector
_ON_THE_FILE = {
    *("read_bytes", "write_bytes", "read_text", "write_text", "stat", "exists", "unlink", "touch", "chmod", "open"),
    *("with_name", "with_suffix", "is_file", "rename", "replace", "symlink_to", "hardlink_to"),
}
_FILE = "db"  # the fixture with the place of the store
_OF_EACH_DATABASE = {
    *("tests/databases.py", "tests/sqlite_file.py", "tests/sqlite_needs.py", "tests/conftest.py"),
    "tests/store/later_step.py",
}
# These make the database of another program, which is SQLite whatever the store is, or read sources.
_OF_OTHERS = {
    *("tests/ingest/test_openclaw_database.py", "tests/ingest/test_openclaw.py", "tests/ingest/test_opencode.py"),
    "tests/test_wiring.py",
    "tests/cli/test_watch.py",
    "tests/postgres/test_moving.py",  # on both databases, whichever the other tests run on
}


class Test(NamedTuple):
    """A test: its file, its name, whether it needs the SQLite file, and whether it says so."""

    file: str
    name: str
    needs: bool
    is_marked: bool


class _Module:
    def __init__(self, path: Path) -> None:
        self.file = path.relative_to(TESTS.parent).as_posix()
        self.tree = ast.parse(path.read_text("utf-8"))
        self.parts: dict[str, list[ast.AST]] = {}
        self.imported: dict[str, tuple[str, str]] = {}  # a name: the test module that it is of, and its name there
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tests"):
                place = node.module.replace(".", "/") + ".py"
                self.imported |= {alias.asname or alias.name: (place, alias.name) for alias in node.names}
            elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
                self.parts.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.parts.setdefault(target.id, []).append(node.value)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                self.parts.setdefault(node.target.id, []).append(node.value)


class Mark(NamedTuple):
    """A mark `sqlite_file`: the file, the test, empty for all tests of the file, and the reason."""

    file: str
    test: str
    reason: str


def marks() -> Iterator[Mark]:
    """Every mark, by file and in the order in which they stand there."""
    for path in sorted(TESTS.rglob("test_*.py")):
        file = path.relative_to(TESTS.parent).as_posix()
        for node in ast.parse(path.read_text("utf-8")).body:
            is_test = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == MARKER:
                    yield Mark(file, node.name if is_test else "", ast.literal_eval(call.args[0]))


def render() -> str:
    """The page with the list."""
    rows = [f"| `{mark.file}{mark.test and f'::{mark.test}'}` | {mark.reason} |" for mark in marks()]
    return "\n".join([_PAGE.strip(), "", "| tests | what they do |", "|---|---|", *rows, ""])


_PAGE = """
# Tests that need SQLite's file

The test suite runs on SQLite and on PostgreSQL (`make test`, `make postgres`). These tests run on SQLite alone, because a
server has no file that they could look at or damage. A line without `::` is about all tests of a module. The list comes
from the marks in the tests (`python -m tests.sqlite_needs`), and a test keeps it true.
"""


def tests() -> Iterator[Test]:
    """Every test function."""
    modules = {module.file: module for module in map(_Module, sorted(TESTS.rglob("*.py")))}
    needs: dict[tuple[str, str], bool] = {}
    for module in modules.values():
        whole = MARKER in ast.unparse(ast.Module(_assigned(module.tree, "pytestmark"), []))
        for name, nodes in module.parts.items():
            for node in nodes:
                if name.startswith("test_") and isinstance(node, ast.FunctionDef):
                    marked = whole or any(MARKER in ast.unparse(decorator) for decorator in node.decorator_list)
                    yield Test(module.file, name, _needs(modules, needs, module.file, name), marked)


def _assigned(tree: ast.Module, name: str) -> list[ast.stmt]:
    return [
        node
        for node in tree.body
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
    ]


def _needs(modules: dict[str, _Module], known: dict[tuple[str, str], bool], file: str, name: str) -> bool:
    """Whether a function, or what it uses of test modules, needs the file."""
    if file in _OF_EACH_DATABASE or file in _OF_OTHERS:
        return (file, name) == ("tests/sqlite_file.py", "connection_of")
    if (file, name) in known:
        return known[file, name]
    known[file, name] = False  # for those who call each other
    nodes = modules[file].parts.get(name, [])
    known[file, name] = any(_touches(node) for node in nodes) or any(
        _needs(modules, known, *used) for node in nodes for used in _used(modules, file, node)
    )
    return known[file, name]


def _touches(tree: ast.AST) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in _NAMES:
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and any(p in node.value for p in _IN_TEXTS):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            return True
        if isinstance(node, ast.keyword) and node.arg in _KEYWORDS:
            return True
        if isinstance(node, ast.Attribute) and node.attr in _ON_THE_FILE and ast.unparse(node.value).endswith(_FILE):
            return True
    return False


def _used(modules: dict[str, _Module], file: str, tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The parts of test modules that a part names, or takes as fixtures."""
    module = modules[file]
    for node in ast.walk(tree):
        name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in module.imported:
            place, inner = module.imported[node.value.id]
            below = f"{place.removesuffix('.py')}/{inner}.py"
            if below in modules and node.attr in modules[below].parts:
                yield below, node.attr
        if not name:
            continue
        if name in module.parts:
            yield file, name
        elif name in module.imported and module.imported[name][0] in modules:
            yield module.imported[name]
        elif isinstance(node, ast.arg):
            for folder in Path(file).parents:
                place = f"{folder.as_posix()}/conftest.py"
                if place in modules and name in modules[place].parts:
                    yield place, name
                    break


if __name__ == "__main__":
    print(render(), end="")  # noqa: T201 - this is the command
