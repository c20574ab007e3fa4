"""Who may make what: the rules that no import rule can state, checked on the source."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import picomem
from picomem.operations.operation import options
from picomem.operations.schemas import result_schema
from picomem.operations.table import NAMES, operations
from picomem.store import sql_statements

SOURCES = Path(picomem.__file__).parent
TREES = {
    str(path.relative_to(SOURCES)): ast.parse(path.read_text("utf-8"))
    for path in sorted(SOURCES.rglob("*.py"))
    if "peers/adapters" not in path.as_posix()  # scripts of other interpreters
}


def files_that_call(name: str) -> set[str]:
    """The files in which something of that name is called."""
    return {
        file
        for file, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    }


def test_only_the_runtime_makes_engines_and_an_engine_makes_its_like_for_another_actor() -> None:
    assert files_that_call("Engine") == {"runtime.py", "engine/engine.py"}
    assert files_that_call("CallerContext") == {"runtime.py"}
    assert files_that_call("Resources") == {"runtime.py"}


def test_only_the_wiring_makes_runtimes() -> None:
    assert {file for file in files_that_call("Runtime") if not file.startswith("bench/")} == {"app.py"}


def test_nobody_calls_the_function_of_an_operation_around_its_permission() -> None:
    functions = {(operation.run.__module__, operation.run.__name__) for operation in operations()}
    around = []
    for file, tree in TREES.items():
        module = "picomem." + file.removesuffix(".py").replace("/", ".")
        own = {name for place, name in functions if place == module}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                around += [(file, node.lineno) for name in node.names if (node.module, name.name) in functions]
            elif (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in own) or (
                isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _runs(node, node.func)
            ):
                around.append((file, node.lineno))
    assert {file for file, _ in around} <= {"operations/operation.py"}, around


def _runs(call: ast.Call, function: ast.Attribute) -> bool:
    """Whether a call looks like `operation.run(engine, …)`."""
    return function.attr == "run" and bool(call.args) and "engine" in ast.unparse(call.args[0])


def test_only_the_store_and_the_wiring_know_which_database_it_is() -> None:
    """Elsewhere only transcripts are databases, those of other programs."""
    about_databases = re.compile(r"sqlite|apsw|-wal\b|-shm\b|postgres|psycopg", re.IGNORECASE)
    knowing = {file for file in TREES if about_databases.search((SOURCES / file).read_text("utf-8"))}
    # Those whose patterns for texts name programs of every kind.
    reading = {file for file in knowing if file.startswith("policy/")}
    assert {file for file in knowing if not file.startswith(("store/", "ingest/"))} - reading == {
        "__init__.py",  # its docstring is the package's description
        "app.py",
        "cli/main.py",  # an example of an address
        "cli/command_arguments.py",  # those of `picomem postgres`
        "cli/postgres_store.py",  # makes a store on a server
        "paths.py",  # the name of a store: a file or an address
        "settings_tables.py",
    }
    assert files_that_call("SqliteConnector") == {"app.py"}
    assert files_that_call("PostgresConnector") == {"app.py"}


def test_a_write_says_whose_it_is() -> None:
    """`EVERYONE` stands where something works on the rows of all users, and nowhere else."""
    unscoped = [
        (file, node.lineno)
        for file, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "write"
        and "connector" in ast.unparse(node.func.value)
        and len(node.args) != 1
    ]
    assert unscoped == []
    everyones = {
        file
        for file, tree in TREES.items()
        for name in ast.walk(tree)
        if isinstance(name, ast.Name) and name.id == "EVERYONE"
    }
    assert everyones == {
        "engine/store_sealing.py",
        "erasure/later_purges.py",
        "sessions/picobot_snapshot.py",
        "store/connector.py",
        "store/postgres/connector.py",
        "store/postgres/schema.py",
        "store/postgres/transaction.py",
        "store/sqlite/maintenance.py",
    }


def test_nobody_outside_of_the_engine_looks_into_one() -> None:
    looking = {
        file
        for file, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "_context" and "engine" in ast.unparse(node.value)
    }
    assert {file for file in looking if not file.startswith("engine/")} == set()


def test_full_text_is_reached_through_the_search_of_a_transaction_alone() -> None:
    """Another database has other tables: only FTS5's implementation names its statements, and only SQLite's
    transaction makes one."""
    statement = r"(memory|episode|note)?_words?_(add|remove|clear|optimize|with|near|size|averages|scores|count)"
    naming = {
        file
        for file, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(statement, node.value)
    }
    assert naming == {"store/sqlite/fts5.py"}
    assert files_that_call("Fts5Search") == {"store/sqlite/transaction.py"}


# Strings of a surface that equal the name of an operation and mean something else, or are the surface's own.
OTHER_MEANINGS = {
    ("agent/capability.py", "index"): "the name of a part of an agent's instructions",
    ("cli/chat_model.py", "embed"): "a part of the names of Ollama's models that do not talk",
    ("cli/install.py", "ingest"): "the command that an install runs for a person who says yes",
    ("gateway/chat_completions.py", "index"): "a field of the answers of OpenAI's chat API",
    ("gateway/chat_completions.py", "messages"): "a field of the requests of OpenAI's chat API",
    ("gateway/mcp_over_http.py", "status"): "the status of a response, as ASGI calls it",
    ("gateway/server_log.py", "status"): "the status of a response, as ASGI calls it, and the label of a count",
}


def test_no_surface_knows_an_operation_by_its_name() -> None:
    known = {*NAMES, *(operation.tool for operation in operations() if operation.tool)}
    mentions = {
        (file, node.value)
        for file, tree in TREES.items()
        if file.startswith(("cli/", "gateway/", "agent/"))
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in known
    }
    assert mentions - OTHER_MEANINGS.keys() == set()
    assert OTHER_MEANINGS.keys() <= mentions, "an exception that is not needed any more"


def test_a_note_in_a_result_is_a_markdown_file_and_no_remark() -> None:
    schemas = {operation.name: str(result_schema(operation)) for operation in operations()}
    assert [name for name, schema in schemas.items() if "'note'" in schema or "'notes'" in schema] == []


def test_the_fields_of_an_operation_agree_with_its_request_and_result() -> None:
    for operation in operations():
        has_cursor = {"cursor"} <= {name for name, _, _ in options(operation.request)} and "cursor" in dir(
            operation.result
        )
        assert operation.pages == has_cursor, operation.name
        needs_path = any(about["path"] and about["positional"] for _, _, about in options(operation.request))
        assert operation.reads_local_files == needs_path, operation.name
        assert operation.stores_request <= (not operation.read_only), operation.name
        assert bool(operation.memory_action or operation.default_tool) <= (not operation.reads_local_files), (
            operation.name
        )
    with_confirmation = [operation for operation in operations() if operation.confirmation]
    assert all(operation.destructive and not operation.tool for operation in with_confirmation)
    assert [operation.resource for operation in operations() if operation.resource] == ["index"]


# What takes rows apart, or says SQL, and so is for the store alone.
INSIDE_THE_STORE = {
    *("sql_access", "sql_statements", "hash_upkeep", "row_hash", "damaged_rows", "tolerant_text"),
    *("sqlite.transaction", "sqlite.fts5", "postgres.transaction", "postgres.dialect", "tables.memory_statements"),
}
STATEMENT_METHODS = {"all", "one", "run", "run_many"}


def test_only_the_store_runs_statements_and_sees_rows() -> None:
    outside = {file: tree for file, tree in TREES.items() if not file.startswith("store/")}
    imported = [
        (file, node.lineno)
        for file, tree in outside.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom | ast.Import) and _inside_the_store(node)
    ]
    names = set(sql_statements.load())
    run = [
        (file, node.lineno)
        for file, tree in outside.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _runs_a_statement(node, names)
    ]
    assert (imported, run) == ([], [])


def _inside_the_store(node: ast.ImportFrom | ast.Import) -> bool:
    names = [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        names = [f"{node.module}.{name}" for name in names] + [node.module]
    closed = {f"picomem.store.{name}" for name in INSIDE_THE_STORE} | {"picomem.store.connector.Row"}
    return bool(closed.intersection(names))


def _runs_a_statement(call: ast.Call, names: set[str]) -> bool:
    """Whether a call looks like `tx.all("episode", …)`, under whatever name the transaction goes."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr not in STATEMENT_METHODS:
        return False
    first = call.args[0] if call.args else None
    is_named = isinstance(first, ast.JoinedStr) or (isinstance(first, ast.Constant) and first.value in names)
    return is_named or ast.unparse(function.value).rpartition(".")[2] in {"tx", "transaction"}


def test_what_the_store_hands_out_has_names() -> None:
    public = [
        (file, function)
        for file, tree in TREES.items()
        if file.startswith("store/") and file[6:-3].replace("/", ".") not in INSIDE_THE_STORE
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and not function.name.startswith("_")
    ]
    by_position = [
        (file, function.name)
        for file, function in public
        for part in ast.walk(function.returns or ast.Constant(None))
        if (isinstance(part, ast.Name) and part.id == "Row") or (isinstance(part, ast.Subscript) and _is_unnamed(part))
    ]
    assert by_position == []
    transaction = next(
        node
        for node in TREES["store/connector.py"].body
        if isinstance(node, ast.ClassDef) and node.name == "Transaction"
    )
    assert [node.name for node in transaction.body if isinstance(node, ast.FunctionDef)] == []


def _is_unnamed(part: ast.Subscript) -> bool:
    """Whether a type is a tuple of several values, and not of any number of the same."""
    inner = part.slice
    several = isinstance(inner, ast.Tuple) and not any(
        isinstance(item, ast.Constant) and item.value is ... for item in inner.elts
    )
    return ast.unparse(part.value) == "tuple" and several
