"""How often a client may ask (S6): every protocol counts, and who sends without a proof is bound by the address."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from websockets.sync.client import connect

from picomem.gateway.guard import Limits

from .raw_requests import connected, head, statuses
from .serving import TIMEOUT, Served, serving, token_made_here
from .whatsapp_api import VERIFY, WhatsAppApi, post, text

pytestmark = [
    pytest.mark.reliability("S6"),
]


@pytest.fixture
def served(tmp_path) -> Iterator[Served]:
    with serving(tmp_path / "memory.db", "--no-watch", **WhatsAppApi().env) as running:
        yield running


def call(number: int, method: str = "memories", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


@pytest.mark.parametrize("size", [1, 50], ids=["single requests", "batches"])
def test_requests_on_a_socket_count_towards_the_rate_of_the_token_as_those_over_http_do(
    served: Served, size: int
) -> None:
    shown = token_made_here(served.db)
    count = Limits().burst * 4
    answers: list[dict[str, Any]] = []
    headers = {"Authorization": f"Bearer {shown}"}
    with connect(f"{served.url.replace('http', 'ws', 1)}/ws", additional_headers=headers, proxy=None) as client:
        for begin in range(0, count, size):
            batch = [call(number, "cancel", id="none") for number in range(begin, begin + size)]
            client.send(json.dumps(batch[0] if size == 1 else batch))
        while len(answers) < count:
            received = json.loads(client.recv(timeout=TIMEOUT))
            answers += received if isinstance(received, list) else [received]
        refused = [answer["error"] for answer in answers if "error" in answer]
        assert len(refused) > count // 4
        assert {(error["code"], error["data"]["code"]) for error in refused} == {(-32000, "too_many_requests")}
        assert all(error["data"]["retry_after"] >= 1 and "wait 1 s" in error["message"] for error in refused)
    with served.client(shown) as http:
        over_http = Counter(http.post("/api/v1/memories", json={}).status_code for _ in range(Limits().burst))
        assert over_http[429], "a socket takes from what HTTP has"
    other = token_made_here(served.db)
    assert served.post(other, "memories").status_code == 200


def test_what_is_no_request_counts_as_well_and_a_notification_is_dropped_in_silence(served: Served) -> None:
    headers = {"Authorization": f"Bearer {token_made_here(served.db)}"}
    with connect(f"{served.url.replace('http', 'ws', 1)}/ws", additional_headers=headers, proxy=None) as client:
        for junk in ("{", "[]", '{"id": 7}') * (Limits().burst):
            client.send(junk)
        codes = Counter(json.loads(client.recv(timeout=TIMEOUT))["error"]["code"] for _ in range(3 * Limits().burst))
        assert codes[-32000] > Limits().burst
        client.send(json.dumps({"jsonrpc": "2.0", "method": "memories"}))
        client.send(json.dumps(call(1)))
        assert json.loads(client.recv(timeout=TIMEOUT))["id"] == 1


@pytest.mark.parametrize("signature", ["", "sha256=0", f"sha1={'0' * 64}", "0" * 64])
def test_a_webhook_without_the_form_of_a_signature_is_refused_before_its_body_comes(
    served: Served, signature: str
) -> None:
    more = ("Content-Length: 1000", *([f"X-Hub-Signature-256: {signature}"] if signature else []))
    with connected(served) as client:
        client.sendall(head(served, "none", "POST /channels/whatsapp/main HTTP/1.1", *more))
        assert statuses(client.recv(1 << 16)) == [403]


def test_posts_to_a_webhook_without_the_channels_signature_are_bound_and_signed_ones_are_not(served: Served) -> None:
    webhook = f"{served.url}/channels/whatsapp/main"
    shown = {"hub.mode": "subscribe", "hub.challenge": "7"}
    with httpx2.Client(timeout=TIMEOUT, trust_env=False) as client:

        def statuses(count: int, **request: Any) -> Counter[int]:
            return Counter(
                client.request(**{"method": "POST", "url": webhook, **request}).status_code for _ in range(count)
            )

        strangers = statuses(Limits().strangers_burst, content=b"{}")
        assert set(strangers) <= {403, 429}
        assert strangers[403] > Limits().strangers_burst // 2
        for more in (
            {"content": b"{}", "headers": {"X-Hub-Signature-256": "sha256=0"}},
            {"method": "GET", "params": {**shown, "hub.verify_token": "a guess"}},
            {"url": f"{served.url}/channels/whatsapp/nobody"},
        ):
            assert statuses(600, **more)[429], more
        refused = client.post(webhook, content=b"{}")
        while refused.status_code != 429:
            refused = client.post(webhook, content=b"{}")
        assert (refused.json()["error"]["code"], refused.headers["Retry-After"]) == ("too_many_requests", "1")
        known = client.get(webhook, params={**shown, "hub.verify_token": VERIFY})
        assert (known.status_code, known.text) == (200, "7")
        assert post(webhook, text("Good morning", "wamid.1")).status_code == 200


def test_a_webhook_of_no_channel_is_bound_too(tmp_path) -> None:
    with serving(tmp_path / "memory.db", "--no-watch") as served, served.client() as client:
        seen = Counter(client.post("/channels/whatsapp/main").status_code for _ in range(Limits().strangers_burst * 2))
    assert set(seen) == {404, 429}
