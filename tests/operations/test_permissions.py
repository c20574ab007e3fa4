"""An operation that declares a permission enforces it, whatever surface asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import ToolFailed
from tests.agent.conftest import Script
from tests.cases import each_case
from tests.engine_parts import connector_of
from tests.gateway.test_mcp import protocol_error, refusal, talk

from picomem import errors
from picomem.agent import MemoryCapability
from picomem.agent.tools import TOOLS, MemoryTools
from picomem.app import open_runtime
from picomem.engine.engine import Engine
from picomem.errors import Forbidden, InvalidInput
from picomem.gateway.mcp import build_server
from picomem.light_dataclass import MISSING
from picomem.operations.operation import Operation, options
from picomem.operations.schemas import Parameters
from picomem.operations.table import NAMES, operation
from picomem.records.caller import GLOBAL, OWN_DATA, PERMISSIONS, PURGE, Caller
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import NotesSettings
from picomem.store.connector import Connector, LateConnector

pytestmark = pytest.mark.requirement("P8")


class Untouched:
    """A runtime whose store is opened at its first use; `uses` counts how often that was tried."""

    def __init__(self, folder: Path) -> None:
        self.uses = 0
        self.runtime = Runtime(LateConnector(str(folder / "memory.db"), self._opened), _settings(folder))

    def _opened(self) -> Connector:
        self.uses += 1
        raise errors.StoreError("The store was used.")


def _settings(folder: Path) -> Settings:
    return Settings(notes=NotesSettings(paths=(str(folder / "notes"),)))


@pytest.fixture
def untouched(tmp_path: Path) -> Iterator[Untouched]:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "MEMORY.md").write_text("# Port\n\nStaging listens on 5433.\n", "utf-8")
    made = Untouched(tmp_path)
    yield made
    assert made.uses == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes"]


def request_of(verb: Operation, folder: Path) -> Any:
    """A request that would do something: what must be given is given."""
    hints = get_type_hints(verb.request)
    values: dict[str, Any] = {}
    for name, default, about in options(verb.request):
        if about["path"]:
            path = str(folder / "notes" / "MEMORY.md")
            values[name] = (path,) if about["many"] else path
        elif default is MISSING:
            values[name] = 1 if hints[name] is int else "MEMORY.md"
    return verb.request(**values)


@each_case("name", NAMES)
def test_a_caller_without_the_permission_is_refused_and_nothing_is_read_or_written(
    name: str, untouched: Untouched, tmp_path: Path
) -> None:
    verb = operation(name)
    engine = untouched.runtime.engine(Caller(permissions=PERMISSIONS - {verb.permission}))
    with pytest.raises(Forbidden) as raised:
        verb.call(engine, request_of(verb, tmp_path))
    assert str(raised.value) == (
        f"“{name}” needs the permission {verb.permission}, which user:local does not have; ask as a caller that has it."
    )
    assert untouched.uses == 0


@each_case("name", NAMES)
def test_every_permission_is_a_known_one_and_says_what_the_operation_does(name: str) -> None:
    verb = operation(name)
    assert verb.permission in PERMISSIONS
    assert verb.permission.startswith("memory:read:") == verb.read_only
    assert (verb.permission == PURGE) == (name == "purge")


@each_case("name", [name for name in NAMES if operation(name).tool])
def test_a_client_of_the_server_is_refused_in_the_same_words(name: str, untouched: Untouched, tmp_path: Path) -> None:
    verb = operation(name)
    engine = untouched.runtime.engine(Caller(permissions=PERMISSIONS - {verb.permission}))
    arguments = arguments_of(verb, tmp_path)
    result = talk(build_server(engine), lambda client: client.call_tool(verb.tool, arguments))
    assert f"needs the permission {verb.permission}" in refusal(result)
    assert untouched.uses == 0


def test_a_client_of_the_server_without_permission_gets_no_index_page(untouched: Untouched) -> None:
    engine = untouched.runtime.engine(Caller(permissions=frozenset()))
    said = protocol_error(build_server(engine), lambda client: client.read_resource("picomem://index"))
    assert "needs the permission memory:read:user" in said


@pytest.mark.parametrize("name", TOOLS)
def test_an_agent_is_refused_in_the_same_words(name: str, untouched: Untouched, tmp_path: Path) -> None:
    verb = operation(name)
    tools = MemoryTools(untouched.runtime.engine(Caller(permissions=PERMISSIONS - {verb.permission})))
    with pytest.raises(ToolFailed, match=f"needs the permission {verb.permission}"):
        tools._answer(verb.tool, arguments_of(verb, tmp_path))


def test_an_agent_is_shown_no_memory_that_its_caller_may_not_read(untouched: Untouched) -> None:
    engine = untouched.runtime.engine(Caller(permissions=frozenset({"memory:write:user"})))
    with pytest.raises(Forbidden, match="“Memory” needs the permission memory:read:user, which agent does not have"):
        MemoryCapability(engine)
    engine = untouched.runtime.engine(Caller(permissions=frozenset({"memory:read:user"})))
    with pytest.raises(Forbidden, match="memory:write:session"):
        MemoryCapability(engine, session="01a20090")


def test_what_a_person_asks_to_be_remembered_is_left_where_their_caller_may_not_write(engine: Engine) -> None:
    reader = Runtime(connector_of(engine), Settings()).engine(Caller(permissions=frozenset({"memory:read:user"})))
    Agent(Script("Noted.").model, capabilities=[MemoryCapability(reader)]).run_sync(
        "Please remember that the crane is blue."
    )
    assert engine.memories() == []
    Agent(Script("Noted.").model, capabilities=[MemoryCapability(engine)]).run_sync(
        "Please remember that the crane is blue."
    )
    assert len(engine.memories()) == 1


def arguments_of(verb: Operation, folder: Path) -> dict[str, Any]:
    """The arguments of a tool call for `request_of`."""
    request = request_of(verb, folder)
    named = {name: about["tool"] or name for name, default, about in options(verb.request) if default is MISSING}
    arguments = {tool: getattr(request, name) for name, tool in named.items()}
    Parameters(verb).request(dict(arguments))  # they are valid
    return arguments


def test_by_default_a_caller_has_what_is_theirs_and_nothing_global() -> None:
    assert Caller().permissions == OWN_DATA | {PURGE}
    assert not any(Caller().may(permission) for permission in GLOBAL)
    assert Caller(permissions=PERMISSIONS).may("memory:write:global")


def test_what_reaches_other_users_needs_a_grant(open_engine, tmp_path: Path) -> None:
    engine: Engine = open_engine()
    granted = Runtime(connector_of(engine), Settings()).engine(Caller(permissions=OWN_DATA | GLOBAL))
    file = tmp_path / "sessions.json"
    file.write_text('{"sessions": []}', "utf-8")
    verb = operation("import")
    with pytest.raises(Forbidden, match="memory:write:global"):
        verb.call(engine, verb.request(path=str(file)))
    assert verb.call(granted, verb.request(path=str(file))).conversations == 0


@pytest.mark.parametrize("name", ["doctor"])
def test_what_looks_at_every_user_declares_so(name: str) -> None:
    assert operation(name).permission == "memory:write:global"


def test_no_agent_purges_whatever_it_was_granted(engine: Engine) -> None:
    engine.remember("The crane is blue", key="crane")
    caller = Caller(actor="agent:desk", permissions=PERMISSIONS, is_agent=True)
    agent = Runtime(connector_of(engine), Settings()).engine(caller)
    verb = operation("purge")
    with pytest.raises(Forbidden, match="“purge” needs the permission memory:purge:user, which agent:desk does not"):
        verb.call(agent, verb.request(everything=True, yes=True))
    assert [memory.key for memory in engine.memories()] == ["crane"]


def test_a_grant_with_a_slip_in_its_name_is_refused() -> None:
    with pytest.raises(InvalidInput, match="There is no permission “memory:read:globl”; the permissions are memory:"):
        Caller(permissions=frozenset({"memory:read:globl"}))


@pytest.mark.parametrize("collection", [frozenset, set, list, tuple, dict.fromkeys])
def test_permissions_are_any_collection_of_names(engine: Engine, collection: Callable[[list[str]], Any]) -> None:
    caller = Caller(permissions=collection(["memory:read:user"]))
    assert caller == Caller(permissions=frozenset({"memory:read:user"}))
    reader = Runtime(connector_of(engine), Settings()).engine(caller)
    assert reader.memories() == []
    with pytest.raises(Forbidden):
        reader.remember("The crane is blue")


@each_case("wrong", ["memory:read:user", ["memory:read:user", 7]])
def test_permissions_that_are_no_collection_of_names_are_refused_in_a_sentence(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="permission"):
        Caller(permissions=wrong)


def test_forbidden_has_an_exit_code_of_its_own() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.PicomemError)]
    assert (Forbidden.code, Forbidden.status) == ("forbidden", 403)
    assert [kind for kind in kinds if kind.exit_code == Forbidden.exit_code] == [Forbidden]


@each_case("name", [name for name in NAMES if operation(name).answer_permissions])
def test_a_permission_that_only_the_answer_needs_is_enforced_as_well(
    name: str, untouched: Untouched, tmp_path: Path
) -> None:
    verb = operation(name)
    for permission in verb.answer_permissions:
        engine = untouched.runtime.engine(Caller(permissions=PERMISSIONS - {permission}))
        with pytest.raises(Forbidden, match=permission):
            verb.call(engine, request_of(verb, tmp_path))


@each_case(
    ("caller", "missing", "remedy"),
    [
        (
            Caller("ann", "api:01a20690abcd", frozenset()),
            "memory:write:user",
            "a token gains none later, so make another with `picomem token make --user ann --scope memory:write:user`, "
            "and a --scope for all else that it is to do.",
        ),
        (
            Caller("ann lee", "api:01a20690abcd", frozenset()),
            "memory:read:global",
            "after `picomem grant memory:read:global --user 'ann lee'`, `picomem token make --user 'ann lee' --scope "
            "memory:read:global` makes a token that has it.",
        ),
        (Caller("ann", is_agent=True), PURGE, "no agent erases, so ask the user to do it."),
        (Caller("ann", permissions=frozenset()), PURGE, "ask as a caller that has it."),
    ],
    ids=["scope", "grant", "agent", "program"],
)
def test_who_lacks_a_permission_is_told_how_to_get_it(caller: Caller, missing: str, remedy: str) -> None:
    with pytest.raises(Forbidden) as raised:
        caller.require(missing, "revise")
    assert str(raised.value).endswith(f"{caller.signature} does not have; {remedy}")


@pytest.mark.parametrize(("name", "given"), [("review", {}), ("revise", {"name": "vault", "pin": True})])
def test_who_may_write_and_not_read_is_shown_no_memory(name: str, given: dict[str, Any], tmp_path: Path) -> None:
    with open_runtime(tmp_path / "memory.db", embedder="none") as runtime:
        engine = runtime.engine()
        engine.remember("The vault is opened with the green key", key="vault")
        writer = runtime.engine(Caller(permissions=PERMISSIONS - {"memory:read:user"}))
        verb = operation(name)
        with pytest.raises(Forbidden, match="memory:read:user"):
            verb.call(writer, verb.request(**given))
        assert not engine.memories()[0].pinned
