"""Three users in one store: nothing of one reaches another, whatever they ask for and however (S2).

Every text of a user holds the user's secret, which nobody else ever types. Names (keys, sessions, projects, paths) hold
either the secret or a public word. The other users know the public names and every id, and give them in every field.
So a secret in the output of another user, or in an error, is a leak. The rows of the others are compared too.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from tests.amounts import amount
from tests.databases import chosen
from tests.hostile import LONG, TEXTS, TIMES

from picomem import open as open_memory
from picomem.cli.presented_text import text_of
from picomem.cli.run import json_document
from picomem.engine.agent_support import asked, window_of
from picomem.engine.agent_texts import statements
from picomem.engine.engine import Engine
from picomem.errors import PicomemError
from picomem.models.static_embedder import StaticEmbedder
from picomem.operations.operation import Operation, options
from picomem.operations.recall_views import jsonable
from picomem.operations.table import operations
from picomem.records.scope import Scope
from picomem.records.session import NewMessage, Role
from picomem.settings import Settings
from picomem.settings_tables import DataSettings, NotesSettings, RecallSettings

STEPS = amount(400, 20_000)
BATCH = 10  # operations of one user, after which the rows of the others are compared
USERS = {"ana": ("zorvalix", "harbour"), "ana%": ("quembrado", "quay"), "an_": ("thistlewick", "cellar")}
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
FOR_ALL_USERS = {"backup", "restore"}
OPERATIONS = [operation for operation in operations() if operation.name not in FOR_ALL_USERS]
WORDS = ("ledger", "ferry", "lantern", "walnut", "violin", "rope", "crate", "anchor")

Verb = Callable[[], object]


class _Tenant:
    """One user: their engine, the words of theirs that others do not know, and what others know of them."""

    def __init__(self, user: str, store: Path, folder: Path, rng: random.Random) -> None:
        self.user, self.rng = user, rng
        self.secret, self.public = USERS[user]
        self.folder = folder / self.public
        self.folder.mkdir()
        settings = Settings(
            data=DataSettings(dir=str(folder / "data"), user="ana"),
            recall=RecallSettings(timezone="UTC"),
            notes=NotesSettings(paths=(str(folder / "notes"),)),
        )
        self.memory: Engine = open_memory(
            chosen().named(store), user=user, settings=settings, embedder=StaticEmbedder()
        )
        self.ids: list[str] = []
        self.names = [f"{name}_{number}" for name in (self.secret, self.public) for number in range(4)]
        self.known_names = [name for name in self.names if self.public in name]
        self.files = [self._transcript(number) for number in range(4)]
        self.note = self.folder / "MEMORY.md"
        self.note.write_text(f"# Facts\n\n- {self.text()}\n- {self.text()}\n")
        self._begin()

    def text(self) -> str:
        """A statement of this user's own."""
        first, second, third = self.rng.sample(WORDS, 3)
        verb = self.rng.choice(("keeps", "sells", "needs", "prefers"))
        return f"{self.secret.title()} {verb} the {first} {second} with the {third} {self.rng.randrange(1_000)}"

    def _transcript(self, number: int) -> Path:
        name = (self.secret, self.public)[number % 2]
        path = self.folder / f"{name}-talk-{number}.jsonl"
        said = [self.text(), f"Remember that {self.text()}", self.text()]
        path.write_text("".join(json.dumps({"role": "user", "content": text}) + "\n" for text in said))
        return path

    def _begin(self) -> None:
        """Store something in every way, and take away a transcript whose path the others know."""
        for name in self.names:
            scope = Scope(self.user, project=name if name.endswith("1") else "")
            self.memory.remember(self.text(), key=name, scope=scope, tags=[name])
        self.memory.ingest(self.files[:2])
        self.memory.migrate([self.note])
        self.files.pop(1).unlink()
        log = self.memory.sessions()
        for name in (self.secret, self.public):
            session = log.create(channel_id=name, title=f"{name} title")
            log.append(session.id, NewMessage(role=Role.USER, content=self.text()))
            log.append(session.id, NewMessage(role=Role.ASSISTANT, content=self.text()))
            self.ids.append(session.id)
        self.ids += [memory.id for memory in self.memory.memories()]

    def learn(self, ids: list[str], others: list[_Tenant]) -> None:
        """Keep the first ids and the last ones that were handed out to this user, for the others to try."""
        foreign = {id_ for other in others for id_ in other.ids}
        new = [id_ for id_ in dict.fromkeys(ids) if id_ not in foreign and id_ not in self.ids]
        self.ids = self.ids[:20] + [*self.ids[20:], *new[:5]][-60:]

    def verbs(self, value: Callable[[], str]) -> dict[str, Verb]:
        """Verbs of the library that are not in the table of operations."""
        memory, log, files = self.memory, self.memory.sessions(), self.memory.files()
        said = NewMessage(role=Role.USER, content=self.text())
        return {
            "append": lambda: log.append(value(), said),
            "load": lambda: log.load(value()),
            "fork": lambda: log.fork(value(), 1),
            "rename": lambda: log.rename(value(), self.text()),
            "archive": lambda: log.archive(value()),
            "page": lambda: log.page(cursor=value()),
            "named": lambda: log.named("api", value()),
            "window": lambda: window_of(memory, value()),
            "context": lambda: memory.context(value()),
            "asked": lambda: asked(memory, f"Remember that {self.text()}"),
            "read file": lambda: files.read(value()),
            "write file": lambda: files.write(value(), self.text(), expected=None),
            "list files": lambda: files.paths(value()),
            "delete file": lambda: files.delete(value(), expected=value()),
            "stated lately": lambda: statements(memory).hold(self.text()),
            "another's scope": lambda: memory.recall(value(), scope=Scope(value())),
            "another's index": lambda: memory.index(scope=Scope(self.user, value(), value(), value())),
        }


class _Values:
    """Values for the fields of a request: the user's own, other users', and hostile ones."""

    def __init__(self, tenant: _Tenant, others: list[_Tenant], rng: random.Random) -> None:
        self.tenant, self.others, self.rng = tenant, others, rng

    def text(self) -> str:
        other = self.rng.choice(self.others)
        kind = self.rng.random()
        if kind < 0.003:
            return LONG
        if kind < 0.25:
            return self.rng.choice(TEXTS)
        if kind < 0.5:
            return self.rng.choice([*other.ids, *other.known_names, other.user, str(other.folder)])
        if kind < 0.55:
            return self.rng.choice(other.ids)[:8]
        if kind < 0.75:
            return self.rng.choice([*self.tenant.ids, *self.tenant.names])
        return self.tenant.text()

    def path(self) -> str:
        own = [*map(str, self.tenant.files), str(self.tenant.note)]
        foreign = [str(other.folder / f"{other.public}-talk-1.jsonl") for other in self.others]
        return self.rng.choice([*own, *own, *foreign, self.rng.choice(TEXTS)])

    def of(self, hint: Any, name: str, about: dict[str, Any]) -> Any:
        rng = self.rng
        if get_origin(hint) in (Union, UnionType):
            kinds = [kind for kind in get_args(hint) if kind is not NoneType]
            if NoneType in get_args(hint) and rng.random() < 0.6:
                return None
            hint = rng.choice(kinds)
        if get_origin(hint) is tuple:
            inner = get_args(hint)[0]
            return tuple(self.of(inner, name, about) for _ in range(rng.choice((0, 1, 1, 2)) or about["path"]))
        if name == "export":
            return rng.choice(("", str(self.tenant.folder / "page.md")))
        if about["path"]:
            return self.path()
        if about["choices"] and rng.random() < 0.95:
            return rng.choice(about["choices"])
        if (
            name in ("since", "until", "known_since", "as_of", "valid_at", "now", "time_window", "expires_at")
            and hint is str
        ):
            return rng.choice(("", "", "never", "2026-01-01", "last week", "2099-01-01", rng.choice(TIMES)))
        return self._plain(hint, name)

    def _plain(self, hint: Any, name: str) -> Any:
        rng = self.rng
        if hint is bool:
            return name == "yes" or rng.random() < (0.05 if name in ("everything", "afresh") else 0.3)
        if hint is int:
            return 0 if name == "wait" else rng.choice((1, 2, 50, 1_000, 10_000))
        if hint is float:
            return rng.choice((0.0, 0.2, 0.5, 1.0))
        return self.text() if rng.random() < 0.8 or name in ("content", "query") else ""

    def request(self, operation: Operation) -> Any:
        hints = get_type_hints(operation.request)
        about = {name: metadata for name, _, metadata in options(operation.request)}
        values = {name: self.of(hints[name], name, about[name]) for name in about}
        if operation.name == "export" and values["path"] not in TEXTS:
            # A person who writes their memory to a file that another user reads gives it away.
            values["path"] = str(self.tenant.folder / "export.jsonl")
        return operation.request(**values)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


def _shuffled(verbs: Iterable[str], rng: random.Random) -> Iterator[Operation | str]:
    """Operations and verbs without end, each as often as the others of its kind."""
    while True:
        deck = [*OPERATIONS, *OPERATIONS, *verbs]
        rng.shuffle(deck)
        yield from deck


def _run(tenant: _Tenant, values: _Values, chosen: Operation | str) -> tuple[str, str]:
    """Run one operation or verb; what it was, and all that it handed out."""
    verbs = tenant.verbs(values.text)
    try:
        if isinstance(chosen, str):
            return chosen, _shown(verbs[chosen]())
        result = chosen.call(tenant.memory, values.request(chosen), *([lambda *_: None] if chosen.long else []))
        return chosen.name, "\n".join((json_document(jsonable(result)), chosen.reply(result), text_of(chosen, result)))
    except PicomemError as error:
        return str(getattr(chosen, "name", chosen)), f"{error} {error.data}"


@contextmanager
def _tenants(folder: Path, rng: random.Random) -> Iterator[list[_Tenant]]:
    notes = folder / "notes"
    notes.mkdir()
    (notes / "MEMORY.md").write_text(f"# Notes\n\n- The ledger and the ferry of {USERS['ana'][0].title()}\n")
    tenants = [_Tenant(user, folder / "memory.db", folder, rng) for user in USERS]
    try:
        yield tenants
    finally:
        for tenant in tenants:
            tenant.memory.close()


@pytest.mark.timeout(3_600)
@pytest.mark.reliability("S2")
def test_no_user_gets_or_changes_anything_of_another(tmp_path: Path, monkeypatch) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    monkeypatch.setenv("HOME", str(empty))
    rng = random.Random(1)
    counts: dict[str, int] = {}
    own = 0  # outputs with something of the user's own
    with _tenants(tmp_path, rng) as tenants:
        verbs = tenants[0].verbs(str)
        deck = _shuffled(verbs, rng)
        for step in range(STEPS // BATCH):
            tenant = rng.choice(tenants)
            others = [other for other in tenants if other is not tenant]
            values = _Values(tenant, others, rng)
            before = chosen().digests(tmp_path / "memory.db", tenant.user)
            names = []
            for _ in range(BATCH):
                name, output = _run(tenant, values, next(deck))
                names.append(name)
                counts[name] = counts.get(name, 0) + 1
                lower = output.lower()
                own += tenant.secret in lower
                leaked = [other.user for other in others if other.secret in lower]
                assert leaked == [], f"step {step}: {tenant.user} got by {name} of {leaked}: {output}"
                tenant.learn(UUID.findall(output), others)
            assert chosen().digests(tmp_path / "memory.db", tenant.user) == before, (
                f"step {step}: {tenant.user} by {names}"
            )
    assert own > STEPS // 8
    assert {*(operation.name for operation in OPERATIONS), *verbs} <= counts.keys()
