"""A message that was acknowledged is answered once, also when the server is killed again and again."""

from __future__ import annotations

import random
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.amounts import amount
from tests.cli.model_server import ModelServer, Step
from tests.cli.model_server import serving as model_serving
from tests.databases import open_memory

from picomem.engine.channel_contacts import accept, pairings

from .serving import serving
from .whatsapp_api import Behaviour, WhatsAppApi, text
from .whatsapp_api import serving as api_serving

_AT_ONCE = 3  # messages while a server runs


class Echo(ModelServer):
    """A model that takes its time, and answers with what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()

    def wait_asked(self, count: int) -> None:
        """Wait until so many requests came."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.asked) >= count, 60)

    def answer(self, body: dict[str, Any]) -> Step:
        with self._changed:
            self.asked.append(body)
            self._changed.notify_all()
            self._changed.wait(0.1)
        return f"Answer to {body['messages'][-1]['content']}"


def _wait_for_nothing(_count: int) -> None:
    """Kill it while messages come in."""


@pytest.mark.reliability("R1")
@pytest.mark.requirement("X10")
def test_each_acknowledged_message_is_answered_once_whenever_the_server_is_killed(tmp_path: Path) -> None:
    cycles = amount(2, 150)
    chance = random.Random(7)
    people = {"ann": "351912345678", "bob": "351922222222"}
    model = Echo()
    with api_serving(WhatsAppApi()) as api, model_serving(model):
        env = {**model.env, **api.env, "PICOMEM_CHANNELS_UNSURE_SECS": "4"}
        with serving(tmp_path / "memory.db", **env) as running:
            api.serve(running.url)
            port = running.url.rpartition(":")[2]
            for user, phone in people.items():
                api.deliver(text("Hello", f"wamid.{user}", phone=phone))
                api.wait_for(1)
                with open_memory(running.db, embedder="none") as engine:
                    accept(engine, pairings(engine)[0].code, user)
                api.accepted = []
        sent: list[str] = []
        deliveries: list[threading.Thread] = []
        for cycle in range(cycles):
            with serving(tmp_path / "memory.db", "--port", port, **env) as running:
                before = (len(api.asked), len(model.asked), 0)
                api.behaviours = [Behaviour(seconds=0.1)] * _AT_ONCE
                for place in range(_AT_ONCE):
                    said = f"message {cycle} {place}"
                    phone = chance.choice(list(people.values()))
                    arguments = text(said, f"wamid.{cycle}.{place}", phone=phone)
                    delivery = threading.Thread(target=api.deliver, args=(arguments,), daemon=True)
                    delivery.start()
                    sent.append(said)
                    deliveries.append(delivery)
                (api.wait_asked, model.wait_asked, _wait_for_nothing)[cycle % 3](before[cycle % 3] + 1)
                threading.Timer(chance.uniform(0, 0.15), running.process.kill).start()
                running.process.wait()
        with serving(tmp_path / "memory.db", "--port", port, **env):
            for delivery in deliveries:
                delivery.join()
            api.wait_for(len(sent))
            assert not api.takes_more_than(len(sent), seconds=0.5)
        answers = Counter(api.texts())
    assert answers == Counter(f"Answer to {said}" for said in sent)
    stored: list[str] = []
    for user in people:
        with open_memory(tmp_path / "memory.db", user=user, embedder="none") as engine:
            log = engine.sessions()
            (session, _), *further = log.page().sessions
            assert not further
            stored += [message.content for message in log.load(session.id).messages if message.role == "user"]
    assert sorted(stored) == sorted(sent)
