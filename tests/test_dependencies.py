"""What the program imports is declared in pyproject.toml."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions
from pathlib import Path

import picomem
from picomem.text.tokens import WORDLLAMA
from tests.cases import each_case

SOURCES = Path(picomem.__file__).parent
PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
# Parts that only work with an extra, and say so; the scripts of the benchmark run in interpreters of their own.
OPTIONAL = {
    "keyring": ["store/files/store_keys.py"],
    "agent": ("agent", "app.py", "cli/chat.py", "models/provider.py", "models/language_model_generator.py"),
    "onnx": ("models/onnx_embedder.py",),
    "fastembed": ("models/fastembed_embedder.py",),
    "tui": ("tui", "cli/terminal_interface.py"),
    "postgres": ("store/postgres",),
    "server": (
        "cli/serve.py",
        *(f"page/{name}.py" for name in ("html_rendering", "markdown_rendering", "svg_marks", "timeline_view")),
        *(f"gateway/{name}.py" for name in ("error_replies", "http_api", "json_rpc", "mcp_over_http", "web_server")),
        *(f"gateway/{name}.py" for name in ("chat_completions", "web_pages")),
        *(f"gateway/{name}.py" for name in ("server_log", "channels")),
    ),
}
LEFT_OUT = SOURCES / "bench" / "peers" / "adapters"


def distributions(requirements: Iterable[str]) -> set[str]:
    """The names in requirements, as package indexes normalise them."""
    return {re.sub(r"[-_.]+", "-", re.split(r"[\[<>=;!~ ]", text)[0]).lower() for text in requirements}


BASE = distributions(PROJECT["dependencies"])


def foreign_imports(path: Path) -> set[str]:
    """The top-level packages that a module imports and that belong neither to Python nor to picomem."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module)
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"picomem"}


def declared_for(path: Path) -> set[str]:
    """The distributions that a module may import from: those of the base install, and of the extra that it needs."""
    place = path.relative_to(SOURCES).as_posix()
    extras = [
        extra
        for extra, parts in OPTIONAL.items()
        if any(place == part or place.startswith(f"{part}/") for part in parts)
    ]
    return BASE.union(*(distributions(PROJECT["optional-dependencies"][extra]) for extra in extras))


def test_every_imported_package_is_declared() -> None:
    owners = packages_distributions()
    undeclared = []
    for path in SOURCES.rglob("*.py"):
        if LEFT_OUT in path.parents:
            continue
        for package in foreign_imports(path):
            if not distributions(owners.get(package, [package])) & declared_for(path):
                undeclared.append(f"{path.relative_to(SOURCES)} imports {package}")
    assert sorted(undeclared) == []


@each_case("name", ["wordllama", "mcp", "mcp-types", "httpx2"])
def test_a_package_whose_next_version_may_differ_in_what_is_used_has_an_upper_bound(name: str) -> None:
    (requirement,) = [text for text in PROJECT["dependencies"] if distributions([text]) == {name}]
    assert "<" in requirement


def test_the_error_about_wordllamas_files_names_the_range_that_is_declared() -> None:
    assert WORDLLAMA in PROJECT["dependencies"]
