"""The mapping between a knowledge graph, as MCP's server-memory has it, and memories. Pure.

A graph has entities (a name, a type and observations, which are sentences) and relations between names. Each part is a
memory of its own, so recall finds it, and a person can read, revise, pin or forget it:

    entity Ann, a person          “Ann (person)”               //graph/entity/Ann/person
    its observation “likes tea”   “Ann: likes tea”             //graph/observation/Ann/DIGEST
    Ann works_at Harbor           “Ann works at Harbor”        //graph/relation/Ann/works_at/Harbor

The right column is the memory's path. No file of an agent has such a path, because a part of it is empty. The path
holds the names exactly as they were given, with `/`, `%` and unprintable characters percent-encoded. The text of an
observation stands in the content alone. The name is written before an observation that does not mention it, or that
begins with it and a colon, so that removing it once always gives the observation back.

The order of the graph is the order in which its memories were made. A memory keeps its id when it is revised, or
forgotten and restored, so it keeps its place as well.

What a person changes shows in the graph: a revised observation has its new words, and a forgotten one is gone. A
relation whose words were changed is no relation of the graph any more, because its names stand in the path alone. An
entity is in the graph as long as any memory of it is, with the type that its observations are tagged with if its own
memory is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import quote, unquote

from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass
from picomem.records.ids import content_hash
from picomem.records.kinds import Origin, worst
from picomem.records.memory import Memory
from picomem.records.untrusted_fence import fenced

ROOT = "//graph/"
LONGEST_PATH = 4_000
IMPORTANCE_OF_ENTITY = 0.25  # its observations say more
RELATION_TAG = "relation"
_LONGEST_NAME = 400
_LONGEST_TAG = 64
_ENTITY, _OBSERVATION, _RELATION = "entity", "observation", "relation"
_PARTS = {_ENTITY: 2, _OBSERVATION: 2, _RELATION: 3}  # of a path, behind the word

Clean = Callable[[str], str]  # a text as it may be stored, without secrets


@dataclass(frozen=True, slots=True)
class GraphMemory:
    """A part of a graph as it is to be stored. `names` are those that the text is about."""

    path: str
    content: str
    tags: tuple[str, ...]
    names: tuple[str, ...]
    importance: float | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """One observation, and the memory that holds it."""

    text: str
    memory: Memory


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity with its observations in their order. `memory` is None where only observations of it are left."""

    name: str
    type: str
    memory: Memory | None
    observations: tuple[Observation, ...]

    @property
    def memories(self) -> list[Memory]:
        """All that stands for it."""
        return [*([self.memory] if self.memory else []), *(observation.memory for observation in self.observations)]


@dataclass(frozen=True, slots=True)
class GraphRelation:
    """A relation between two names; there need be no entity of either."""

    source: str
    type: str
    target: str
    memory: Memory

    @property
    def ends(self) -> tuple[str, str, str]:
        """The identity of the relation."""
        return (self.source, self.type, self.target)


@dataclass(frozen=True, slots=True)
class EntityGraph:
    """The graph of one user. `damaged` memories of it are left out."""

    entities: tuple[Entity, ...]
    relations: tuple[GraphRelation, ...]
    damaged: int = 0

    def entity(self, name: str) -> Entity | None:
        """The entity of that very name."""
        return next((entity for entity in self.entities if entity.name == name), None)

    def around(self, wanted: Callable[[Entity], bool]) -> EntityGraph:
        """The entities that are wanted, and each relation that begins or ends at one of them."""
        entities = tuple(entity for entity in self.entities if wanted(entity))
        names = {entity.name for entity in entities}
        relations = tuple(line for line in self.relations if line.source in names or line.target in names)
        return EntityGraph(entities, relations, self.damaged)

    def matching(self, query: str) -> EntityGraph:
        """The entities whose name, type or observations contain a text, in whatever case."""
        sought = query.lower()

        def has_it(entity: Entity) -> bool:
            texts = (entity.name, entity.type, *(observation.text for observation in entity.observations))
            return any(sought in text.lower() for text in texts)

        return self.around(has_it)


def entity_memory(name: str, type_: str, clean: Clean) -> GraphMemory:
    """The memory of an entity itself. Raises InvalidInput for a name that is too long."""
    name, type_ = clean(name), clean(type_)
    content = clean(f"{name} ({type_})" if type_ else name)
    return GraphMemory(_path(_ENTITY, name, type_), content, _tags(type_), (name, type_), IMPORTANCE_OF_ENTITY)


def observation_memory(name: str, type_: str, observation: str, clean: Clean) -> GraphMemory:
    """The memory of an observation about an entity. Raises InvalidInput as `entity_memory` does."""
    name, type_ = clean(name), clean(type_)
    content = clean(_about(name, clean(observation)))
    # Of the text as it is stored, so that no digest of a secret stands in a path.
    path = _path(_OBSERVATION, name, content_hash(_without_name(name, content))[:16])
    return GraphMemory(path, content, _tags(type_), (name, type_))


def relation_memory(source: str, type_: str, target: str, clean: Clean) -> GraphMemory:
    """The memory of a relation. Raises InvalidInput as `entity_memory` does."""
    names = (clean(source), clean(type_), clean(target))
    return GraphMemory(_path(_RELATION, *names), clean(_sentence(*names)), (RELATION_TAG,), names)


def is_graph_path(path: str) -> bool:
    """Return whether a path is of a part of a graph, well-formed."""
    return _parts(path) is not None


def graph_of(memories: Iterable[Memory], clean: Clean, damaged: int = 0) -> EntityGraph:
    """The graph that memories stand for; `clean` takes out what today's rules call a secret."""
    own: dict[str, tuple[str, Memory]] = {}
    observations: dict[str, list[Observation]] = {}
    relations: list[GraphRelation] = []
    for memory in sorted(memories, key=lambda memory: memory.id):
        word, *names = _parts(memory.path) or [""]
        names = [clean(name) for name in names]
        if word == _RELATION and memory.content in (_sentence(*names), clean(_sentence(*names))):
            relations.append(GraphRelation(names[0], names[1], names[2], memory))
        elif word == _ENTITY:
            observations.setdefault(names[0], [])
            own.setdefault(names[0], (names[1], memory))
        elif word == _OBSERVATION:
            observations.setdefault(names[0], []).extend(observations_of(names[0], [memory], clean))
    entities = [
        Entity(name, *own.get(name, (_tagged(held), None)), observations=tuple(held))
        for name, held in observations.items()
    ]
    return EntityGraph(tuple(entities), tuple(relations), damaged)


def entity_record(entity: Entity) -> dict[str, Any]:
    """An entity as server-memory writes it. What nobody trusted said is fenced."""
    own = entity.memory.origin if entity.memory else worst([Origin.AGENT, *(said.origin for said in entity.memories)])
    return {
        "name": fenced(entity.name, own),
        "entityType": fenced(entity.type, own),
        "observations": [fenced(said.text, said.memory.origin) for said in entity.observations],
    }


def relation_record(relation: GraphRelation) -> dict[str, str]:
    """A relation as server-memory writes it, fenced likewise."""
    names = {"from": relation.source, "to": relation.target, "relationType": relation.type}
    return {field: fenced(name, relation.memory.origin) for field, name in names.items()}


def observations_of(name: str, memories: Iterable[Memory], clean: Clean) -> tuple[Observation, ...]:
    """The observations about the entity of that name that memories hold."""
    return tuple(Observation(clean(_without_name(name, memory.content)), memory) for memory in memories)


def _about(name: str, observation: str) -> str:
    """A sentence that says what it is about."""
    mentions = name.casefold() in observation.casefold()
    return observation if mentions and not observation.startswith(f"{name}: ") else f"{name}: {observation}"


def _without_name(name: str, content: str) -> str:
    return content.removeprefix(f"{name}: ")


def _sentence(source: str, type_: str, target: str) -> str:
    return f"{source} {type_.replace('_', ' ')} {target}"


def _tags(type_: str) -> tuple[str, ...]:
    tag = " ".join(type_.split())[:_LONGEST_TAG]
    return (tag,) if tag else ()


def _tagged(observations: Sequence[Observation]) -> str:
    """The type of an entity whose own memory is gone."""
    return next((tag for observation in observations for tag in observation.memory.tags), "")


def _path(word: str, *names: str) -> str:
    for name in names:
        if len(name) > _LONGEST_NAME:
            raise InvalidInput(
                f"The name “{name[:40]}…” has {len(name):,} characters, but only {_LONGEST_NAME} fit; shorten it."
            )
    path = ROOT + "/".join([word, *map(_escaped, names)])
    if len(path) > LONGEST_PATH:
        raise InvalidInput(f"The name “{names[0][:40]}…” is too long when it is stored; shorten it.")
    return path


def _escaped(name: str) -> str:
    return "".join(char if char.isprintable() and char not in "/%" else quote(char, safe="") for char in name)


def _parts(path: str) -> list[str] | None:
    """The word and the names of a path; None where it is of no graph."""
    if not path.startswith(ROOT):
        return None
    word, *names = path.removeprefix(ROOT).split("/")
    return [word, *map(unquote, names)] if _PARTS.get(word) == len(names) else None
