"""Creates large stores quickly: made-up episodes, written through the store's own writers but not through ingest.

A plain FTS5 table beside the store holds the same texts. Vectors are random directions: a scan costs the same
whatever they mean, and no model has to run over a million texts.

The episodes of many users are interleaved, a talk of one, then a talk of the next, as they would be over the years.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.prose import Prose
from picomem.clock import DAY, MINUTE, parse_iso
from picomem.light_dataclass import dataclass, replace
from picomem.models.embedder import quantised
from picomem.records.episode import Episode, Transcript
from picomem.records.ids import new_id
from picomem.records.kinds import Origin
from picomem.records.scope import Scope
from picomem.store.connector import EVERYONE, Transaction
from picomem.store.sqlite.connector import SqliteConnector
from picomem.store.tables import episodes, transcript_rows, vector_rows
from question_sets.fts5_baseline import Fts5

if TYPE_CHECKING:
    import numpy as np

ASKER = "user-0"
PROJECT = "made-up"
FOLDER = f"/made-up/{PROJECT}"  # of its sessions
_SEED = 7
_START = parse_iso("2023-01-01")
_TALK = 40  # episodes of a transcript at most
_TALKS = 500  # of a transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Whose vectors the made-up ones pass for."""

    name: str
    dimensions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A store, the plain table beside it, and questions about what `ASKER` said.

    `own` of the `episodes` are the asker's; the others', as many, each of `users` has.
    """

    store: Path
    plain: Path
    users: int
    own: int
    questions: tuple[str, ...]
    model: Model

    @property
    def episodes(self) -> int:
        return self.users * self.own


@dataclass(frozen=True, slots=True)
class Talk:
    """Episodes of one transcript of a user."""

    user: str
    transcript: Transcript
    texts: list[str]
    first: int  # of the user's episodes, which number it begins with


def fill(
    folder: Path, own: int, users: int, questions: int, model: Model, progress: Callable[[str], None] | None = None
) -> Filled:
    """A store of `users` with `own` episodes each. The same arguments give the same texts, vectors and questions."""
    folder.mkdir(parents=True, exist_ok=True)
    filled = Filled(
        store=folder / "memory.db", plain=folder / "plain.db", users=users, own=own, questions=(), model=model
    )
    prose = Prose(_SEED)
    asked = {number * own // questions for number in range(questions)}
    told: dict[int, str] = {}
    talks = talks_of(prose, own, users)
    plain = Fts5(filled.plain, shared=users > 1)
    with closing(SqliteConnector(filled.store)) as connector, closing(plain):
        directions = directions_of(model.dimensions)
        done = 0
        while batch := list(islice(talks, _TALKS)):
            with connector.write(EVERYONE) as tx:
                for talk in batch:
                    put_talk(tx, talk, model, directions)
            for talk in batch:
                plain.add(talk.texts, talk.user)
                if talk.user == ASKER:
                    told |= {n: text for n, text in enumerate(talk.texts, talk.first) if n in asked}
            done += sum(len(talk.texts) for talk in batch)
            if progress:
                progress(f"filling: {done:,} of {filled.episodes:,} episodes, {users} users")
    made = tuple(prose.question(told[number * own // questions]) for number in range(questions))
    return replace(filled, questions=made)


def tell(connector: SqliteConnector, model: Model, text: str) -> None:
    """One more episode of the asker's, in a transcript of its own."""
    path = f"/made-up/{ASKER}/{new_id()}.jsonl"
    talk = Talk(ASKER, Transcript(id=new_id(), host="plain", path=path, session=path), [text], 0)
    with connector.write(Scope(ASKER)) as tx:
        put_talk(tx, talk, model, directions_of(model.dimensions))


def talks_of(prose: Prose, own: int, users: int) -> Iterator[Talk]:
    """The talks of so many users with `own` episodes each."""
    for first in range(0, own, _TALK):
        for number in range(users):
            topic = prose.topic()
            texts = [prose.text(topic) for _ in range(min(_TALK, own - first))]
            user = f"user-{number}"
            path = f"/made-up/{user}/{first}.jsonl"
            transcript = Transcript(id=new_id(), host="plain", path=path, session=path, project=PROJECT, cwd=FOLDER)
            yield Talk(user, transcript, texts, first)


def put_talk(tx: Transaction, talk: Talk, model: Model, directions: Iterator[np.ndarray]) -> None:
    """Store a talk, with a vector of each episode."""
    scope = Scope(talk.user)
    transcript_rows.put_transcript(tx, scope, talk.transcript)
    for number, text in enumerate(talk.texts):
        stored = episodes.insert(tx, scope, _episode(talk, number, text))
        scale, vector = quantised(next(directions))
        vector_rows.put(tx, scope, "episode", model.name, stored.doc, scale, vector)


def _episode(talk: Talk, number: int, text: str) -> Episode:
    at = _START + talk.first // _TALK * DAY + number * MINUTE
    return Episode(
        id=new_id(),
        transcript_id=talk.transcript.id,
        first_turn=number,
        last_turn=number,
        part=0,
        start=number * 1000,
        end=number * 1000 + len(text),
        role="assistant" if number % 2 else "user",
        origin=Origin.AGENT if number % 2 else Origin.USER,
        preview=text,
        started_at=at,
        ended_at=at,
        identity=f"{talk.transcript.path}:{number}",
        tokens=len(text) // 4 + 1,
        created_at=at,
    )


def directions_of(dimensions: int) -> Iterator[np.ndarray]:
    """Random unit vectors, without end."""
    import numpy as np  # noqa: PLC0415 - only vectors need it

    source = np.random.default_rng(_SEED)
    while True:
        rows = source.standard_normal((4096, dimensions), np.float32)
        yield from rows / np.linalg.norm(rows, axis=1, keepdims=True)
