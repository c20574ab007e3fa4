"""The facades: other memory servers whose tools ours offers, by their names in the setting `mcp.facades`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from picomem.agent.adapters.anthropic_tool import COMMANDS, ClaudeMemory
from picomem.emulation.agent_graph import AgentGraph, NewEntity, NewRelation
from picomem.emulation.agent_store import OriginOf
from picomem.emulation.graph_mapping import EntityGraph, entity_record, relation_record
from picomem.engine.agent_texts import agent_graph
from picomem.engine.engine import Engine
from picomem.gateway.facade_tools import (
    READING,
    WRITING,
    FacadeReply,
    FacadeTool,
    closed,
    list_schema,
    names_schema,
    object_schema,
    text_schema,
)
from picomem.light_dataclass import replace
from picomem.operations.command_names import ASK_PERSON
from picomem.operations.memory_views import damage_warnings
from picomem.text.inert_text import for_prompt

# The nine tools of MCP's server-memory, on a user's memory; emulation/graph_mapping.py says how a graph is kept.
#
# Names, arguments and the shapes of answers are those of its version 2026.8.31, which tests/peers compares. On purpose
# these differ:
#
# - Of two entities with one name in a call, or of two equal observations or relations, the first is stored.
#   Server-memory keeps both, and a later call that names one means both.
# - The gate refuses what nobody may store; then the call stores nothing. A call stores 1,000 entries at most, and a
#   name has 400 characters at most.
# - Secrets are replaced by placeholders, and characters that nobody sees are left out of answers.
# - What untrusted text led to is fenced in answers. A name that is given back with its fence means the same entity.
# - Nothing is deleted that the user stated or pinned.

_FENCE = "<untrusted-text "
_ENTITY = object_schema(
    name=text_schema("what the entity is called"),
    entityType=text_schema("what kind of thing it is, such as person"),
    observations=list_schema(text_schema(), "sentences about it, one fact in each"),
)
_RELATION = object_schema(
    **{
        "from": text_schema("the entity that does it, by its name"),
        "to": text_schema("the entity to which it is done, by its name"),
        "relationType": text_schema("what the first does to the second, such as works_at"),
    }
)
_ABOUT = text_schema("the entity, by its name")
_GRAPH = closed(object_schema(entities=list_schema(_ENTITY), relations=list_schema(_RELATION)))
_SUCCESS = closed(object_schema(success={"type": "boolean"}, message=text_schema()))
_ADDED = closed(
    object_schema(
        results=list_schema(object_schema(entityName=text_schema(), addedObservations=list_schema(text_schema())))
    )
)

Given = Mapping[str, Any]


def graph_tools() -> list[FacadeTool]:
    """The tools, in the order in which server-memory lists them."""
    return [
        _writing(
            "create_entities",
            "Store entities, with their types and what is known about them. A name that is taken is passed over.",
            object_schema(entities=list_schema(_ENTITY)),
            closed(object_schema(entities=list_schema(_ENTITY))),
            _create_entities,
        ),
        _writing(
            "create_relations",
            "Store how entities are related, in active voice. A relation that is known is passed over.",
            object_schema(relations=list_schema(_RELATION)),
            closed(object_schema(relations=list_schema(_RELATION))),
            _create_relations,
        ),
        _writing(
            "add_observations",
            "Add what was learned about entities that exist.",
            object_schema(
                observations=list_schema(
                    object_schema(entityName=_ABOUT, contents=list_schema(text_schema(), "sentences about it"))
                )
            ),
            _ADDED,
            _add_observations,
        ),
        _deleting(
            "delete_entities",
            "Delete entities, with what is known about them and with their relations.",
            object_schema(entityNames=names_schema("the names of the entities")),
            _delete_entities,
        ),
        _deleting(
            "delete_observations",
            "Delete single observations about entities.",
            object_schema(
                deletions=list_schema(
                    object_schema(
                        entityName=_ABOUT, observations=list_schema(text_schema(), "the sentences, as they were stored")
                    )
                )
            ),
            _delete_observations,
        ),
        _deleting(
            "delete_relations",
            "Delete relations between entities.",
            object_schema(relations=list_schema(_RELATION, "the relations, as they were stored")),
            _delete_relations,
        ),
        _reading("read_graph", "Read all entities and relations.", object_schema(), lambda graph, _: graph),
        _reading(
            "search_nodes",
            "Find the entities whose name, type or observations contain a text, with their relations.",
            object_schema(query=text_schema("a word, or words as they follow one another")),
            lambda graph, given: graph.matching(given["query"]),
        ),
        _reading(
            "open_nodes",
            "Read the entities of these names, with their relations.",
            object_schema(names=names_schema("the names of the entities")),
            _opened,
        ),
    ]


def _writing(name: str, description: str, takes: dict[str, Any], gives: dict[str, Any], run: Any) -> FacadeTool:
    return FacadeTool(name, _title(name), description, takes, gives, lambda _: (WRITING,), run)


def _deleting(
    name: str, description: str, takes: dict[str, Any], delete: Callable[[AgentGraph, Given], str]
) -> FacadeTool:
    def run(engine: Engine, given: Given, origin_of: OriginOf) -> FacadeReply:
        message = delete(agent_graph(engine, origin_of), given)
        return FacadeReply(message, {"success": True, "message": message})

    return FacadeTool(
        name, _title(name), description, takes, _SUCCESS, lambda _: (WRITING,), run, destructive=True, idempotent=True
    )


def _reading(
    name: str, description: str, takes: dict[str, Any], select: Callable[[EntityGraph, Given], EntityGraph]
) -> FacadeTool:
    def run(engine: Engine, given: Given, _origin_of: OriginOf) -> FacadeReply:
        graph = select(agent_graph(engine).read(), given)
        data = {"entities": _entities(graph), "relations": _relations(graph)}
        return FacadeReply(_json(data), data, tuple(damage_warnings(map(str, range(graph.damaged)))))

    return FacadeTool(
        name, _title(name), description, takes, _GRAPH, lambda _: (READING,), run, read_only=True, idempotent=True
    )


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _create_entities(engine: Engine, given: Given, origin_of: OriginOf) -> FacadeReply:
    graph = agent_graph(engine, origin_of)
    names = _Names(graph, [entity["name"] for entity in given["entities"]])
    new = [
        NewEntity(names.stored(entity["name"]), entity["entityType"], tuple(entity["observations"]))
        for entity in given["entities"]
    ]
    made = _entities(graph.create_entities(new))
    return FacadeReply(_json(made), {"entities": made})


def _create_relations(engine: Engine, given: Given, origin_of: OriginOf) -> FacadeReply:
    graph = agent_graph(engine, origin_of)
    made = _relations(graph.create_relations(_given_relations(graph, given)))
    return FacadeReply(_json(made), {"relations": made})


def _add_observations(engine: Engine, given: Given, origin_of: OriginOf) -> FacadeReply:
    graph = agent_graph(engine, origin_of)
    names = _Names(graph, [about["entityName"] for about in given["observations"]])
    added = graph.add_observations(
        [(names.stored(about["entityName"]), about["contents"]) for about in given["observations"]]
    )
    results = [
        {"entityName": entity["name"], "addedObservations": entity["observations"]}
        for entity in map(entity_record, added)
    ]
    return FacadeReply(_json(results), {"results": results})


def _delete_entities(graph: AgentGraph, given: Given) -> str:
    names = _Names(graph, given["entityNames"])
    graph.delete_entities([names.stored(name) for name in given["entityNames"]])
    return "The entities were deleted."


def _delete_observations(graph: AgentGraph, given: Given) -> str:
    names = _Names(graph, [text for about in given["deletions"] for text in _texts(about)])
    graph.delete_observations(
        [
            (names.stored(about["entityName"]), [names.stored(text) for text in about["observations"]])
            for about in given["deletions"]
        ]
    )
    return "The observations were deleted."


def _delete_relations(graph: AgentGraph, given: Given) -> str:
    graph.delete_relations(_given_relations(graph, given))
    return "The relations were deleted."


def _opened(graph: EntityGraph, given: Given) -> EntityGraph:
    return graph.around(lambda entity: bool({entity.name, entity_record(entity)["name"]} & set(given["names"])))


def _given_relations(graph: AgentGraph, given: Given) -> list[NewRelation]:
    ends = [(relation["from"], relation["relationType"], relation["to"]) for relation in given["relations"]]
    names = _Names(graph, [name for names in ends for name in names])
    return [NewRelation(*map(names.stored, three)) for three in ends]


def _texts(about: Given) -> Sequence[str]:
    return [about["entityName"], *about["observations"]]


class _Names:
    """The names behind the fenced texts of a call, because a client returns names as it received them."""

    def __init__(self, graph: AgentGraph, texts: Sequence[str]) -> None:
        has_fence = any(text.startswith(_FENCE) for text in texts)
        self._stored = dict(_shown_and_stored(graph.read())) if has_fence else {}

    def stored(self, text: str) -> str:
        """The text as it is stored."""
        return self._stored.get(text, text)


def _shown_and_stored(graph: EntityGraph) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for entity in graph.entities:
        shown = entity_record(entity)
        pairs += [(shown["name"], entity.name), (shown["entityType"], entity.type)]
        pairs += zip(shown["observations"], (said.text for said in entity.observations), strict=True)
    for relation in graph.relations:
        pairs += zip(relation_record(relation).values(), (relation.source, relation.target, relation.type), strict=True)
    return pairs


def _entities(graph: EntityGraph) -> list[dict[str, Any]]:
    return [entity_record(entity) for entity in graph.entities]


def _relations(graph: EntityGraph) -> list[dict[str, str]]:
    return [relation_record(relation) for relation in graph.relations]


def _json(data: Any) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False)


# Claude's memory tool over MCP: one tool, `memory`, whose commands are those of agent/adapters/anthropic_tool.py.

_PROPERTIES: dict[str, dict[str, Any]] = {
    "command": {"type": "string", "enum": list(COMMANDS), "description": "what to do"},
    "path": text_schema("a file or a folder, such as /memories/plan.md; for all commands but rename"),
    "view_range": list_schema({"type": "integer"}, "view: the first and the last line, -1 for the end"),
    "file_text": text_schema("create: the text of the file"),
    "old_str": text_schema("str_replace: the text to replace, which stands in the file once"),
    "new_str": text_schema("str_replace: the text to put there; nothing if it is left out"),
    "insert_line": {"type": "integer", "description": "insert: the line after which to insert, 0 for the beginning"},
    "insert_text": text_schema("insert: the text"),
    "old_path": text_schema("rename: the file or folder"),
    "new_path": text_schema("rename: what it is to be called"),
}
_SHOWING = ("str_replace", "insert")  # commands that change a file, and answer with lines or numbers of lines of it
_OPTIONAL = [name for name in _PROPERTIES if name != "command"]


def claude_memory_tools() -> list[FacadeTool]:
    """The one tool."""
    description = (
        "Keep notes in files below /memories, which last beyond this conversation. View the folder before you begin a "
        "task, and write down what you would need to go on with it later."
    )
    takes = object_schema(*_OPTIONAL, **_PROPERTIES)
    return [FacadeTool("memory", "Memory", description, takes, None, _permissions, _run, destructive=True)]


def _permissions(given: Mapping[str, Any]) -> tuple[str, ...]:
    command = given.get("command")
    if command == "view":
        return (READING,)
    return (WRITING, READING) if command in _SHOWING else (WRITING,)


def _run(engine: Engine, given: Mapping[str, Any], origin_of: OriginOf) -> FacadeReply:
    return FacadeReply(for_prompt(ClaudeMemory(engine, actor="", origin_of=origin_of).run(given)))


_TOOLS: dict[str, Callable[[], list[FacadeTool]]] = {
    "server-memory": graph_tools,
    "anthropic-memory": claude_memory_tools,
}


def tools_of_facades(facades: Iterable[str], ask: str = ASK_PERSON) -> list[FacadeTool]:
    """The tools of these facades. `ask` says who can run the commands that their errors name."""
    return [replace(tool, ask=ask) for facade in dict.fromkeys(facades) for tool in _TOOLS[facade]()]
