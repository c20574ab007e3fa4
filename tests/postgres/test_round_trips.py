"""How often a call waits for the server, which is what a store on a server costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from psycopg.conninfo import make_conninfo
from tests.distinct_texts import distinct_text
from tests.postgres.cutting_proxy import CuttingProxy
from tests.postgres_server import make_folder, shared_folder

from picomem.records.scope import Scope
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.postgres.connector import PostgresConnector

pytestmark = pytest.mark.requirement("X11")


@pytest.fixture
def round_trips(address: str) -> Iterator[tuple[Runtime, Callable[[Callable[[], object]], int]]]:
    """A runtime, and a function that counts the messages to the server of a call."""
    proxy = CuttingProxy(shared_folder(), make_folder())
    connector = PostgresConnector(make_conninfo(address, host=str(proxy.folder)))

    def count(call: Callable[[], object]) -> int:
        before = proxy.requests
        call()
        return proxy.requests - before

    yield Runtime(connector, Settings(recall=RecallSettings(embedder="none", timezone="UTC"))), count
    connector.close()
    proxy.close()


@pytest.mark.parametrize("words", [2, 12])
def test_a_question_and_a_memory_take_a_bounded_number_of_round_trips_however_many_words_they_have(
    round_trips: tuple[Runtime, Callable[[Callable[[], object]], int]], words: int
) -> None:
    runtime, count = round_trips
    engine = runtime.engine(scope=Scope("mia"))
    texts = [" ".join(distinct_text(number, part).split()[0] for part in range(words)) for number in range(8)]
    for number, text in enumerate(texts[:6]):
        engine.remember(f"{text} {number}", key=f"known_{number}")
        for asked in (text, text, texts[7]):  # until the statements are prepared
            engine.recall(asked)
    assert count(lambda: engine.recall(texts[0])) <= 10
    assert count(lambda: engine.recall(texts[7])) <= 20  # nobody wrote its words, so each is looked for within others
    assert count(lambda: engine.remember(texts[6], key="new")) <= 16
