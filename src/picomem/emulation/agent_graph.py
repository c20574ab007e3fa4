"""The knowledge graph that an agent keeps with the tools of MCP's server-memory, in a user's memory.

`graph_mapping.py` says which memory stands for which part. All of them are memories like any other: redacted, judged by
the gate, versioned, with their changes on record, found by recall, purged. They are not compared with other memories
when they are stored, because the agent finds its words again as it wrote them.

A call is one transaction and one run of changes, so `undo` takes all of it back: with an entity its observations and
relations. Where the gate refuses one part, the call stores nothing, and the refusal is on record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from picomem.coded_text import CodedText
from picomem.emulation.agent_store import AgentStore
from picomem.emulation.graph_mapping import (
    Entity,
    EntityGraph,
    GraphMemory,
    entity_memory,
    graph_of,
    observation_memory,
    observations_of,
    relation_memory,
)
from picomem.errors import InvalidInput, NotFound, Refused
from picomem.light_dataclass import dataclass, replace
from picomem.memory.decide import Offer
from picomem.policy.content_kind import kind_of
from picomem.records.memory import Memory
from picomem.store.connector import Transaction
from picomem.store.tables import memories
from picomem.text.memory_keys import suggest_key
from picomem.text.storable import plain

MOST_PARTS = 1_000  # of one call: it holds the lock of the user's writers
_EXCERPT = 80
_DELETED = CodedText("reason.graph_part_deleted")

NewParts = Callable[[EntityGraph], Sequence[GraphMemory]]


@dataclass(frozen=True, slots=True)
class NewEntity:
    """An entity as an agent gives it."""

    name: str
    type: str
    observations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewRelation:
    """A relation as an agent gives it."""

    source: str
    type: str
    target: str


class AgentGraph:
    """The graph of one scope. What stores something returns the part of the graph that was added."""

    def __init__(self, store: AgentStore) -> None:
        self._agent_store = store
        self._clean = lambda text: store.cleaner().shown_text(plain(text))

    def read(self) -> EntityGraph:
        """The whole graph."""
        with self._agent_store.connector.read() as tx:
            return self._read(tx)

    def create_entities(self, entities: Sequence[NewEntity]) -> EntityGraph:
        """Make the entities whose names are new. Raises InvalidInput, and Refused where the gate says no."""

        def parts(graph: EntityGraph) -> list[GraphMemory]:
            new: list[GraphMemory] = []
            for entity in entities:
                if graph.entity(self._clean(entity.name)) is None:
                    new.append(entity_memory(entity.name, entity.type, self._clean))
                    new += [
                        observation_memory(entity.name, entity.type, observation, self._clean)
                        for observation in entity.observations
                    ]
            return new

        return graph_of(self._store(parts).values(), self._clean)

    def create_relations(self, relations: Sequence[NewRelation]) -> EntityGraph:
        """Make the relations that are new. Raises as `create_entities` does."""

        def parts(graph: EntityGraph) -> list[GraphMemory]:
            known = {relation.ends for relation in graph.relations}
            return [
                relation_memory(relation.source, relation.type, relation.target, self._clean)
                for relation in relations
                if tuple(map(self._clean, (relation.source, relation.type, relation.target))) not in known
            ]

        return graph_of(self._store(parts).values(), self._clean)

    def add_observations(self, observations: Sequence[tuple[str, Sequence[str]]]) -> list[Entity]:
        """Add what is new about entities, by their names; for each name of the call what was added. Raises NotFound for
        an unknown name, and as `create_entities` does."""
        asked: list[tuple[Entity, list[GraphMemory]]] = []

        def parts(graph: EntityGraph) -> list[GraphMemory]:
            asked[:] = [self._new_observations(graph, name, texts) for name, texts in observations]
            return [part for _, new in asked for part in new]

        added = self._store(parts)
        return [
            replace(entity, observations=observations_of(entity.name, self._taken(added, new), self._clean))
            for entity, new in asked
        ]

    def _new_observations(
        self, graph: EntityGraph, name: str, texts: Sequence[str]
    ) -> tuple[Entity, list[GraphMemory]]:
        entity = graph.entity(self._clean(name))
        if entity is None:
            raise NotFound(f"There is no entity “{name[:_EXCERPT]}”, so nothing was stored; create it first.")
        known = {observation.text for observation in entity.observations}
        new = [text for text in texts if self._clean(text) not in known]
        return entity, [observation_memory(entity.name, entity.type, text, self._clean) for text in new]

    def _taken(self, added: dict[str, Memory], parts: Sequence[GraphMemory]) -> list[Memory]:
        """Return what was added of these parts; a part that a call names twice was added for the first time only."""
        return [added.pop(part.path) for part in parts if part.path in added]

    def delete_entities(self, names: Iterable[str]) -> None:
        """Archive entities, with their observations and relations. Raises Refused where one of these is the user's."""
        gone = set(map(self._clean, names))

        def chosen(graph: EntityGraph) -> list[Memory]:
            of_entities = [memory for entity in graph.entities if entity.name in gone for memory in entity.memories]
            ends = [relation for relation in graph.relations if relation.source in gone or relation.target in gone]
            return [*of_entities, *(relation.memory for relation in ends)]

        self._archive(chosen)

    def delete_observations(self, deletions: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Archive observations, by the entity's name and their texts. Raises as `delete_entities` does."""
        gone = {(self._clean(name), self._clean(text)) for name, texts in deletions for text in texts}
        self._archive(
            lambda graph: [
                observation.memory
                for entity in graph.entities
                for observation in entity.observations
                if (entity.name, observation.text) in gone
            ]
        )

    def delete_relations(self, relations: Sequence[NewRelation]) -> None:
        """Archive relations. Raises as `delete_entities` does."""
        gone = {tuple(map(self._clean, (relation.source, relation.type, relation.target))) for relation in relations}
        self._archive(lambda graph: [relation.memory for relation in graph.relations if relation.ends in gone])

    # Parts

    def _read(self, tx: Transaction) -> EntityGraph:
        damaged: list[str] = []
        now = self._agent_store.clock()
        stored = memories.of_graph(tx, self._agent_store.scope, damaged)
        return graph_of((memory for memory in stored if not memory.over(now)), self._clean, len(damaged))

    def _store(self, parts: NewParts) -> dict[str, Memory]:
        """Store what is new, all of it or nothing; what was added, by path."""
        with self._agent_store.connector.write(self._agent_store.scope) as tx:
            new = list({part.path: part for part in parts(self._read(tx))}.values())
            if len(new) > MOST_PARTS:
                raise InvalidInput(
                    f"The call holds {len(new):,} new entries, but one call stores at most {MOST_PARTS:,}; split it."
                )
            writer = self._agent_store.writer("remember")
            offers = [self._offer(part) for part in new]
            refused = [offer for offer in offers if not writer.verdict_of(offer).keep]
            done = [writer.remember(tx, offer) for offer in refused or offers]
            made = [result.memory for result in done if result.memory is not None and not result.merged_with]
        if refused:
            raise Refused(f"Nothing was stored, because of “{_shown(refused[0])}”: {done[0].reason}")
        self._agent_store.settle()
        return {memory.path: memory for memory in made}

    def _offer(self, part: GraphMemory) -> Offer:
        kind = kind_of(part.content)
        return Offer(
            scope=self._agent_store.scope,
            content=part.content,
            kind=kind,
            key=suggest_key(part.content, kind.value),
            key_given=False,
            importance=0.5 if part.importance is None else part.importance,
            importance_given=part.importance is not None,
            tags=part.tags,
            origin=self._agent_store.origin_of(part.content, part.names, ""),
            path=part.path,
        )

    def _archive(self, chosen: Callable[[EntityGraph], list[Memory]]) -> None:
        def archive() -> None:
            with self._agent_store.connector.write(self._agent_store.scope) as tx:
                gone = chosen(self._read(tx))
                for memory in gone:
                    self._agent_store.check_may_forget(memory)
                writer = self._agent_store.writer("forget")
                for memory in gone:
                    writer.forget(tx, self._agent_store.scope, memory.id, _DELETED)

        self._agent_store.deleting(archive)


def _shown(offer: Offer) -> str:
    return offer.content if len(offer.content) <= _EXCERPT else f"{offer.content[:_EXCERPT]}…"
