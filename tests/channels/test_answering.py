"""What a killed process leaves at each step of an answer, and what the next one makes of it.

In one process: the steps are done up to some point and left there, as a kill leaves them. `test_channels_killed.py`
kills real servers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest
from tests.cli.model_server import ModelServer, serving
from tests.engine_parts import connector_of

from picomem.agent import turns
from picomem.channels.answering import NO_ANSWER, Delivery, SendOutcome, WorkSignal, answer_waiting, parts_of
from picomem.clock import SECOND
from picomem.engine.audience import in_group
from picomem.engine.channel_log import ChannelLog, Incoming
from picomem.engine.engine import Engine
from picomem.errors import Refused
from picomem.light_dataclass import replace
from picomem.operations.table import operation
from picomem.records.channel_message import ChannelMessage, DeliveryState, OtherWords
from picomem.records.session import NewMessage, Role, ToolCall
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import ChannelSettings, MemorySettings, ModelSettings, NotesSettings

NOW = 1_777_593_600 * SECOND
UNSURE = 60


class Account:
    """A channel that notes what it is to send; what becomes of each is written beforehand."""

    channel, account, longest, window_seconds, instructions = "whatsapp", "main", 4_000, 86_400.0, "Be brief."

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.outcomes: list[SendOutcome] = []

    async def send(self, message: ChannelMessage) -> Delivery:
        self.sent.append(message.text)
        outcome = self.outcomes.pop(0) if self.outcomes else SendOutcome.SENT
        return Delivery(outcome=outcome, native_id="wamid.out", reason="as the test wants")


class World:
    """A store, a clock that the test turns, a channel, a model."""

    def __init__(self, runtime: Runtime, clock: list[int], model: ModelServer) -> None:
        self.runtime, self.clock, self.model, self.account = runtime, clock, model, Account()
        self.log = ChannelLog(runtime.engine())
        self.news = WorkSignal()

    def receive(self, text: str, native_id: str = "wamid.1", **further: object) -> ChannelMessage:
        incoming = Incoming(
            channel="whatsapp",
            account="main",
            conversation="direct",
            native_id=native_id,
            native_ids=("phone:1",),
            address="phone:1",
            text=text,
            said_at=self.clock[0],
        )
        assert self.log.receive(replace(incoming, **further))  # type: ignore[arg-type]
        return self.log.unfinished()[-1]

    def work(self) -> float:
        """A process answers what is due, and ends."""
        return anyio.run(answer_waiting, self.runtime, {("whatsapp", "main"): self.account}, self.news, self.clock[0])

    def pass_seconds(self, seconds: float) -> None:
        self.clock[0] += round(seconds * SECOND)

    def said(self) -> list[tuple[str, str]]:
        log = self.runtime.engine().sessions()
        return [
            (message.role.value, message.content)
            for session, _ in log.page().sessions
            for message in log.load(session.id).messages
        ]


@pytest.fixture
def world(open_engine: Callable) -> Iterator[World]:
    clock = [NOW]
    with serving(ModelServer()) as model:
        url = f"http://127.0.0.1:{model.port}/v1"
        settings = Settings(
            model=ModelSettings(provider="openai-compatible", model="script", base_url=url),
            memory=MemorySettings(enabled=True),
            channels=ChannelSettings(unsure_secs=UNSURE),
        )
        connector = connector_of(open_engine())
        yield World(Runtime(connector, settings, clock=lambda: clock[0]), clock, model)


ANSWERED = [("user", "Hello"), ("assistant", "Well.")]


def test_a_message_is_stored_once_answered_once_and_its_text_is_in_the_session_alone(world: World) -> None:
    incoming = world.receive("Hello")
    assert not world.log.receive(
        Incoming(
            channel="whatsapp",
            account="main",
            conversation="direct",
            native_id="wamid.1",
            native_ids=("phone:1",),
            address="phone:1",
            text="Hello",
            said_at=NOW,
        )
    )
    world.work()
    world.work()
    assert (world.account.sent, world.said(), world.log.unfinished()) == (["Well."], ANSWERED, [])
    assert world.log.message(incoming.id).text == ""


def test_a_process_that_ends_with_the_message_in_its_session_does_not_store_it_again(world: World) -> None:
    world.log.into_session(world.receive("Hello"))
    world.work()
    assert (world.account.sent, world.said()) == (["Well."], ANSWERED)


def test_a_process_that_ends_with_a_finished_answer_does_not_ask_the_model_again(world: World) -> None:
    asked = world.log.into_session(world.receive("Hello"))

    async def turn() -> None:
        engine = world.runtime.engine()
        bot = await turns.open_bot(engine, asked.session_id, await turns.open_model(engine))
        await bot.turn("Hello", _unheard, stored=asked)

    anyio.run(turn)
    world.work()
    assert (world.account.sent, world.said(), len(world.model.asked)) == (["Well."], ANSWERED, 1)


def test_a_process_that_ends_while_tools_are_called_lets_the_next_begin_anew(world: World) -> None:
    asked = world.log.into_session(world.receive("Hello"))
    log = world.runtime.engine().sessions()
    log.append(asked.session_id, NewMessage(role=Role.ASSISTANT, content="", tool_calls=(ToolCall("c1", "look"),)))
    world.work()
    assert world.account.sent == ["Well."]


def test_a_process_that_ends_with_the_answer_stored_sends_it(world: World) -> None:
    world.log.answer(world.receive("Hello"), ["Stored already."])
    world.work()
    assert (world.account.sent, world.model.asked) == (["Stored already."], [])


@pytest.mark.parametrize("told", [True, False])
def test_of_a_message_that_may_have_gone_out_word_is_waited_for(world: World, told: bool) -> None:
    world.log.answer(world.receive("Hello"), ["Perhaps sent."])
    (outgoing,) = world.log.unfinished()
    world.log.begin_sending(outgoing, UNSURE)
    world.pass_seconds(1_000)  # nobody heard the channel meanwhile
    assert 0 < world.work() <= UNSURE
    assert world.account.sent == []
    if told:
        assert world.log.heard_of(outgoing.id, "wamid.out", "")
    started = world.clock[0]
    world.pass_seconds(UNSURE + 1)
    anyio.run(answer_waiting, world.runtime, {("whatsapp", "main"): world.account}, world.news, started)
    assert world.account.sent == ([] if told else ["Perhaps sent."])
    assert world.log.message(outgoing.id).state is DeliveryState.SENT


def test_what_is_heard_late_changes_nothing_and_of_others_is_not_heard(world: World) -> None:
    world.receive("Hello")
    world.work()
    sent = next(iter(world.account.sent))
    assert sent == "Well."
    assert not world.log.heard_of("unknown", "wamid.out", "")


@pytest.mark.parametrize(
    ("outcome", "seconds", "sent"),
    [
        (SendOutcome.LATER, 30, 2),
        (SendOutcome.UNSURE, 2 * UNSURE, 2),
        (SendOutcome.REFUSED, 2 * UNSURE, 1),
        (SendOutcome.CLOSED, 500, 1),
    ],
)
def test_what_the_channel_does_not_take_is_sent_again_where_that_helps(
    world: World, outcome: SendOutcome, seconds: int, sent: int
) -> None:
    world.account.outcomes = [outcome]
    world.receive("Hello")
    world.work()
    assert len(world.account.sent) == 1
    world.work()
    assert len(world.account.sent) == 1
    started = world.clock[0]
    world.pass_seconds(seconds)
    anyio.run(answer_waiting, world.runtime, {("whatsapp", "main"): world.account}, world.news, started - 1)
    assert len(world.account.sent) == sent


def test_after_a_day_an_answer_waits_until_the_person_writes_again(world: World) -> None:
    world.log.answer(world.receive("Hello"), ["Late."])
    world.pass_seconds(86_400)
    world.work()
    assert world.account.sent == []
    world.receive("Are you there?", "wamid.2")
    world.work()
    assert world.account.sent == ["Late.", "Well."]


def test_a_model_that_fails_is_asked_again_and_then_the_person_is_told(world: World) -> None:
    world.model.steps = [400] * 100
    world.receive("Hello")
    for _ in range(4):
        world.work()
        assert world.account.sent == []
        world.pass_seconds(400)
    world.work()
    assert world.account.sent == [NO_ANSWER]
    assert world.said() == [("user", "Hello")]


def test_messages_of_a_conversation_are_answered_in_order_and_an_unsent_answer_comes_first(world: World) -> None:
    world.model.steps = ["One.", "Two."]
    world.account.outcomes = [SendOutcome.LATER]
    world.receive("First", "wamid.1")
    world.receive("Second", "wamid.2")
    world.work()
    assert world.account.sent == ["One."]
    world.pass_seconds(60)
    world.work()
    assert world.account.sent == ["One.", "One.", "Two."]


def test_another_process_at_work_is_left_alone(world: World) -> None:
    world.receive("Hello")
    lease = world.log.lease("whatsapp/main/direct")
    assert world.log.take(lease)
    world.work()
    assert world.account.sent == []
    world.log.give_back(lease)
    world.work()
    assert world.account.sent == ["Well."]


def test_a_fault_in_one_conversation_does_not_stop_the_others(world: World) -> None:
    class Faulty(Account):
        async def send(self, message: ChannelMessage) -> Delivery:
            if message.conversation == "faulty":
                raise ZeroDivisionError
            return await super().send(message)

    world.account = Faulty()
    world.receive("Hello", "wamid.1", conversation="faulty")
    world.receive("Hello", "wamid.2")
    world.work()
    assert world.account.sent == ["Well."]


def test_an_erased_message_is_not_answered(world: World) -> None:
    world.log.into_session(world.receive("Hello"))
    world.runtime.engine().purge(everything=True)
    world.work()
    assert (world.account.sent, world.log.unfinished()) == ([], [])


@pytest.mark.requirement("O3")
def test_in_a_group_past_sessions_are_not_recalled(world: World) -> None:
    engine = world.runtime.engine()
    log = engine.sessions()
    old = log.create()
    log.append(old.id, NewMessage(role=Role.USER, content="The regatta was cancelled by the harbour master"))
    consolidate = operation("consolidate")
    consolidate.call(engine, consolidate.request(session=old.id))
    recall = [("memory_recall", {"query": "regatta harbour master", "include_transcripts": True})]
    for is_group in (False, True):
        world.model.steps = [recall, "Well."]
        assert any(hit.source == "episode" for hit in engine.recall("regatta harbour master").hits)
        group = {"is_group": is_group, "conversation": f"group {is_group}", "context": (OtherWords("Gil", "Never"),)}
        world.receive("What of it?", f"wamid.{is_group}", **group)
        world.work()
        assert ("cancelled by the harbour master" in str(world.model.asked[-1])) is not is_group


@pytest.mark.requirement("O8")
def test_in_a_group_private_conversations_are_not_cited(world: World) -> None:
    world.model.steps = [[("memory_store", {"content": "The ferry leaves from pier nine", "key": "ferry"})], "Noted."]
    world.receive("Remember that the ferry leaves from pier nine")
    world.work()
    engine, recall = world.runtime.engine(), operation("recall")
    for memory, is_cited in ((engine, True), (in_group(engine), False)):
        (hit,) = recall.call(memory, recall.request(query="ferry pier", include_transcripts=False)).hits
        assert ("pier nine" in hit.text, bool(hit.citation)) == (True, is_cited)


@pytest.mark.requirement("O8")
def test_in_a_group_memories_captured_from_private_transcripts_are_not_handed_out(
    engine: Engine, tmp_path: Path
) -> None:
    row = {
        "type": "user", "uuid": "u1", "parentUuid": None, "cwd": "/home/mia/harbor", "sessionId": "s1",
        "timestamp": "2026-04-07T09:00:00Z", "gitBranch": "main", "isSidechain": False, "userType": "external",
        "message": {"role": "user", "content": "Please remember that the lighthouse keeper is called Oswin."},
    }  # fmt: skip
    (tmp_path / "s1.jsonl").write_text(json.dumps(row) + "\n")
    engine.ingest(tmp_path / "s1.jsonl")
    engine.remember("The lighthouse has nine lamps.", key="lamps")
    for memory, keys in ((engine, {"Oswin", "nine"}), (in_group(engine), {"nine"})):
        texts = " ".join(hit.text for hit in memory.recall("lighthouse keeper lamps").hits)
        assert {key for key in ("Oswin", "nine") if key in texts} == keys


@pytest.mark.parametrize("is_known", [True, False])
def test_in_a_group_a_store_says_the_same_whether_a_private_transcript_said_it_or_not(
    engine: Engine, tmp_path: Path, is_known: bool
) -> None:
    row = {
        "type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s1", "timestamp": "2026-04-07T09:00:00Z",
        "gitBranch": "main", "isSidechain": False, "userType": "external",
        "message": {"role": "user", "content": "Please remember that the Hooli merger is called Nightjar."},
    }  # fmt: skip
    if is_known:
        (tmp_path / "s1.jsonl").write_text(json.dumps(row) + "\n")
        engine.ingest(tmp_path / "s1.jsonl")
    assert bool(engine.memories()) is is_known
    group, store = in_group(engine.acting_as("picobot", agent=True)), operation("remember")
    told = []
    for content, key in (
        ("The Hooli merger is called Nightjar", ""),
        ("The Hooli merger is called Nightjar", ""),
        ("The Hooli merger is called off", ""),
        ("Hooli has a pond", "hooli_merger_called_nightjar"),
        ("Hooli has two ponds", "hooli_merger_called_nightjar"),
    ):
        done = store.call(group, store.request(content=content, key=key))
        told.append((done.decision, done.reason, done.memory.key, bool(done.merged_with), done.version_number))
    assert [decision for decision, *_ in told] == ["add", "merge", "add", "supersede", "supersede"]
    assert {key for _, _, key, *_ in told} == {"hooli_merger_called_nightjar_group", "hooli_merger_called_group"}
    assert [reason for _, reason, *_ in told][:3] == [
        "no similar memory is known",
        "already known word for word as “hooli_merger_called_nightjar_group”",
        "it is new; it may outdate “hooli_merger_called_nightjar_group”",
    ]
    if is_known:
        assert engine.history("hooli_merger_called_nightjar")[-1].content == "The Hooli merger is called Nightjar"


def test_in_a_group_nothing_is_replaced_and_the_refusal_does_not_tell_what_there_is(engine: Engine) -> None:
    known = engine.remember("The safe in the cellar is opened by Petra", key="cellar_safe").memory
    group, store = in_group(engine.acting_as("picobot", agent=True)), operation("remember")
    refusals = set()
    for name in (known.id, known.id[:8], "cellar_safe", "cellar_saf", "nothing_like_it"):
        with pytest.raises(Refused) as refused:
            store.call(group, store.request(content="The vault is big", replaces=name))
        refusals.add(str(refused.value))
    assert len(refusals) == 1
    assert [memory.key for memory in engine.memories()] == ["cellar_safe"]


def test_in_a_group_notes_are_not_searched(open_engine: Callable, tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("The lighthouse keeper is called Oswin.\n")
    settings = Settings(notes=NotesSettings(paths=(str(tmp_path),)))
    engine = Runtime(connector_of(open_engine()), settings).engine()
    for memory, is_searched in ((engine, True), (in_group(engine), False)):
        assert any("Oswin" in hit.text for hit in memory.recall("lighthouse keeper").hits) is is_searched


def test_a_long_answer_is_cut_between_words() -> None:
    text = "one two\n\nthree four five"
    assert parts_of(text, 14) == ["one two", "three four", "five"]
    assert parts_of("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]
    assert parts_of("  ", 10) == []
    assert "".join(parts_of(text, 5)).replace(" ", "").replace("\n", "") == text.replace(" ", "").replace("\n", "")


async def _unheard(_event: object) -> None:
    pass
