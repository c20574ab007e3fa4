"""Chat with PicoBot on the page: with a scripted model, and without any."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.cli.model_server import ModelServer, Unended
from tests.cli.model_server import serving as model_serving
from tests.databases import open_memory
from tests.gateway.serving import Served, serving

from picomem.operations.sessions import CallView, MessageView
from picomem.page.chat_view import with_calls
from picomem.records.session import Channel, NewMessage, Role

from .axe_check import assert_accessible
from .serving_pages import DESKTOP, PHONE, READ_ONLY, form_code_in, signed_in, signed_in_client
from .stored_sessions import HOSTILE

LONG = "long"  # a user with more conversations and messages than a page shows


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with model_serving(ModelServer()) as running:
        yield running


@pytest.fixture(scope="module")
def chatting(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[Served]:
    db: Path = tmp_path_factory.mktemp("chatting") / "memory.db"
    with open_memory(db, embedder="none") as memory:
        memory.remember("The first ferry leaves at seven from pier four", key="ferry")
    with open_memory(db, user=LONG, embedder="none") as memory:
        log = memory.sessions()
        for number in range(34):
            log.create(Channel.API, title=f"Talk {number}")
        session = log.create(Channel.WEBSOCKET, title="<i>hostile</i>")
        for number in range(30):
            said = [NewMessage(role=Role.USER, content=f"Question {number}")]
            log.append(session.id, *said, NewMessage(role=Role.ASSISTANT, content=f"Answer {number}"))
        log.append(session.id, *(NewMessage(role=Role.USER, content=text) for text in HOSTILE))
    with serving(db, **model.env, PICOMEM_MEMORY_ENABLED="true") as running:
        yield running


@pytest.fixture(autouse=True)
def _nothing_left_to_say(model: ModelServer) -> None:
    model.steps, model.asked = [], []


def test_without_scripts_a_form_asks_and_the_page_has_the_answer(chatting: Served, model: ModelServer) -> None:
    model.steps = ["It leaves at seven.", "Yes, every day."]
    with signed_in_client(chatting, user="ann") as client:
        csrf = form_code_in(client.get("/chat").text)
        said = client.post("/chat/say", data={"csrf": csrf, "message": "When does the ferry leave?"})
        assert said.status_code == 303
        address = said.headers["location"]
        page = client.get(address).text
        assert page.index("When does the ferry leave?") < page.index("It leaves at seven.")
        path = address.partition("#")[0]
        client.post(f"{path}/say", data={"csrf": csrf, "message": "Every day?"})
        assert "Yes, every day." in client.get(path).text
        assert "4 messages" in client.get("/chat").text


def test_what_cannot_be_answered_stays_in_the_box_with_the_reason(chatting: Served, model: ModelServer) -> None:
    model.steps = [401]
    with signed_in_client(chatting, user="bea") as client:
        csrf = form_code_in(client.get("/chat").text)
        failed = client.post("/chat/say", data={"csrf": csrf, "message": "Hello <there>"})
        assert failed.status_code >= 400
        assert "refuses the key" in failed.text
        assert "Hello &lt;there&gt;</textarea>" in failed.text


def test_a_conversation_is_renamed_and_archived(chatting: Served, model: ModelServer) -> None:
    model.steps = ["Hello."]
    with signed_in_client(chatting, user="cleo") as client:
        csrf = form_code_in(client.get("/chat").text)
        path = client.post("/chat/say", data={"csrf": csrf, "message": "Hi"}).headers["location"].partition("#")[0]
        assert client.post(f"{path}/rename", data={"csrf": csrf, "title": "On <boats>"}).headers["location"] == path
        assert "On &lt;boats&gt;" in client.get("/chat").text
        assert client.post(f"{path}/archive", data={"csrf": csrf}).headers["location"] == "/chat"
        listed = client.get("/chat").text
        assert "Archived: On &lt;boats&gt;" in listed
        assert "No conversation yet." in listed
        assert "On &lt;boats&gt;" in client.get("/chat?archived=1").text
        undo = {"csrf": csrf, "change": re.findall(r'name="change" value="([^"]+)"', listed)[0], "back": "/chat"}
        assert client.post("/undo", data=undo).headers["location"] == "/chat"
        listed = client.get("/chat").text
        assert "Back in the list: On &lt;boats&gt;" in listed
        assert "No conversation yet." not in listed
        client.post(f"{path}/archive", data={"csrf": csrf})
        assert f'action="{path}/restore"' in client.get(path).text
        assert client.post(f"{path}/restore", data={"csrf": csrf}).headers["location"] == path
        assert f'action="{path}/restore"' not in client.get(path).text
        assert client.post(f"{path}/rename", data={"csrf": "x", "title": "y"}).status_code == 403


def test_who_only_reads_sees_no_forms(chatting: Served, model: ModelServer) -> None:
    model.steps = ["Hello."]
    with signed_in_client(chatting, user="dan") as client:
        csrf = form_code_in(client.get("/chat").text)
        path = client.post("/chat/say", data={"csrf": csrf, "message": "Hi"}).headers["location"].partition("#")[0]
    with signed_in_client(chatting, user="dan", permissions=READ_ONLY) as client:
        for address in ("/chat", path):
            page = client.get(address).text
            assert "<textarea" not in page
            assert not re.search(r'action="/chat', page)
        csrf = form_code_in(page)
        for action in ("say", "rename", "archive", "restore"):
            refused = client.post(f"{path}/{action}", data={"csrf": csrf, "message": "x", "title": "x"})
            assert refused.status_code == 403, action


def test_conversations_and_messages_come_by_pages(chatting: Served) -> None:
    with signed_in_client(chatting, user=LONG) as client:
        first = client.get("/chat").text
        assert first.count('class="session"') == 30
        further = re.search(r'href="(/chat\?cursor=[^"]+)"', first)
        assert further
        assert client.get(further[1]).text.count('class="session"') == 5
        path = re.search(r'href="(/chat/[^"#]+)#end" dir="auto">&lt;i&gt;hostile', first)
        assert path
        latest = client.get(path[1]).text
        earlier = re.search(r'href="([^"]+cursor=[^"]+)"', latest)
        assert earlier
        assert "Question 0<" not in latest
        before = client.get(earlier[1]).text
        assert "Question 0<" in before
        assert "<textarea" not in before
        for text in (latest, before):
            assert "<script>alert" not in text
            assert not re.search("[\x1b\x07\u202e\u200b]", text)


def test_without_a_model_a_sentence_says_how_to_set_one_up(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with serving(db, PICOMEM_RECALL_EMBEDDER="none") as running, signed_in_client(running) as client:
        page = client.get("/chat").text
        assert "No model is set to talk with; set provider and model in [model] of the settings" in page
        assert "<textarea" not in page
        assert "没有设置对话模型" in client.get("/chat", headers={"Accept-Language": "zh"}).text
        csrf = form_code_in(page)
        assert client.post("/chat/say", data={"csrf": csrf, "message": "Hello"}).status_code == 400
        for way in ("ollama pull qwen3:8b", "With a key of OpenAI", "picomem install claude-code"):
            assert way in page
        tried = client.post("/chat/try-model", data={"csrf": csrf})
        assert tried.status_code == 400
        assert tried.text.count("No model is set") == 2


@pytest.mark.parametrize(("step", "status", "said"), [("ready", 200, "answers: ready"), (401, 502, "refuses the key")])
def test_a_button_tries_the_model(
    chatting: Served, model: ModelServer, step: str | int, status: int, said: str
) -> None:
    """Issue 41, point 7."""
    model.steps = [step]
    with signed_in_client(chatting, user="try") as client:
        csrf = form_code_in(client.get("/chat").text)
        answer = client.post("/chat/try-model", data={"csrf": csrf})
    assert (answer.status_code, said in answer.text) == (status, True)


def test_an_error_on_the_socket_is_told_in_the_readers_language(chatting: Served, model: ModelServer) -> None:
    model.steps = [400]
    with signed_in(chatting.url, chatting.db, locale="zh-CN") as page:
        page.goto("/chat")
        page.locator("#message").fill("When does the ferry leave?")
        page.keyboard.press("Enter")
        problem = page.locator("[data-problem]")
        expect(problem).to_be_visible()
        expect(problem).to_contain_text(re.compile("[\u3400-\u9fff]"))
        expect(problem.locator("[lang=en]")).to_contain_text("400")
        expect(page.locator("#message")).to_have_value("When does the ferry leave?")


def test_an_answer_streams_with_the_memory_that_it_used(chatting: Served, model: ModelServer) -> None:
    model.steps = [[("memory_recall", {"query": "ferry"})], Unended("It leaves at seven, from pier")]
    with signed_in(chatting.url, chatting.db) as page:
        page.goto("/chat")
        page.get_by_role("textbox", name="Message").fill("When does the ferry leave?")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(r"/chat/[0-9a-f-]{20,}"))
        coming = page.locator(".is-coming")
        expect(coming).to_contain_text("memory_recall")
        expect(coming).to_contain_text("It leaves at seven, from pier")
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_text("Stopped. What was said is kept.")).to_be_visible()
        expect(coming).to_have_count(0)
        expect(page.get_by_text("When does the ferry leave?").first).to_be_visible()
        model.steps = ["At seven."]
        page.get_by_role("textbox", name="Message").fill("So?")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".said-assistant").last).to_contain_text("At seven.")
        expect(page.get_by_role("button", name="Stop")).to_be_hidden()
        page.reload()
        expect(page.locator(".tool summary").first).to_contain_text("memory_recall")
        page.locator(".tool summary").first.click()
        expect(page.locator(".tool .block").first).to_contain_text("pier four")


def test_a_model_that_fails_is_told_and_the_words_stay(chatting: Served, model: ModelServer) -> None:
    model.steps = ["Hello.", 401]
    with signed_in(chatting.url, chatting.db, user="eva") as page:
        page.goto("/chat")
        box = page.get_by_role("textbox", name="Message")
        box.fill("Hi")
        box.press("Enter")
        expect(page.locator(".said-assistant").last).to_contain_text("Hello.")
        expect(page.get_by_role("button", name="Stop")).to_be_hidden()
        box.fill("And now?")
        box.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("refuses the key")
        expect(box).to_have_value("And now?")


@pytest.mark.parametrize(
    ("scheme", "viewport"), [("light", DESKTOP), ("dark", PHONE)], ids=["wide-light", "phone-dark"]
)
def test_the_pages_are_accessible(chatting: Served, scheme: str, viewport: dict[str, int]) -> None:
    with signed_in(chatting.url, chatting.db, user=LONG, color_scheme=scheme, viewport=viewport) as page:
        page.goto("/chat")
        assert_accessible(page, page.url)
        page.get_by_role("link", name="<i>hostile</i>").click()
        expect(page.locator("#messages")).to_be_visible()
        assert_accessible(page, page.url)


def test_a_call_stands_with_its_answer() -> None:
    def message(number: int, role: str, calls: list[CallView], of: str = "") -> MessageView:
        return MessageView(number, role, "agent", "2026-05-01T00:00:00Z", str(number), 1, calls, of)

    call = CallView("c1", "memory_recall", "{}")
    shown = with_calls([message(2, "tool", [], "c0"), message(3, "assistant", [call]), message(4, "tool", [], "c1")])
    assert [one.message.number for one in shown] == [2, 3]
    (used,) = shown[1].calls
    assert used.answer is not None
    assert used.answer.number == 4
