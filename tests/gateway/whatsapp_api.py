"""A stand-in for Meta's Cloud API on the loopback: it takes messages, and delivers webhooks as Meta does.

What it does with a message that is sent is written beforehand, one `Behaviour` for each request. A message that it has
accepted has statuses, which it delivers, like every message, until it is acknowledged.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import httpx2

PHONE_ID = "106540352242922"
SHOP_PHONE_ID = "206540352242922"  # of a second account
OUR_NUMBER = "15550783881"
SECRET, ACCESS, VERIFY = "app-secret-of-the-test", "access-of-the-test", "verify-of-the-test"
SHOP_SECRET, SHOP_ACCESS, SHOP_VERIFY = "app-secret-of-the-shop", "access-of-the-shop", "verify-of-the-shop"
_DEADLINE = 60


@dataclass(frozen=True)
class Behaviour:
    """How a request is answered: a status, an error code, after so many seconds; and whether it is accepted all the
    same."""

    status: int = 200
    code: int = 0
    seconds: float = 0.0
    accepts: bool = True


FINE = Behaviour()
FAILS = Behaviour(status=500, code=131000, accepts=False)
FAILS_AND_ACCEPTS = Behaviour(status=500, code=131000)
TOO_MANY = Behaviour(status=429, code=130429, accepts=False)
CLOSED = Behaviour(status=400, code=131047, accepts=False)


class WhatsAppApi:
    """`accepted` are the bodies of the messages that went out, `asked` those of all requests; `senders` are the phone
    number ids and tokens with which requests came."""

    def __init__(self) -> None:
        self.behaviours: list[Behaviour] = []
        self.accepted: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.senders: list[tuple[str, str]] = []
        self.webhook = ""  # the address to which webhooks go; empty for none
        self.has_statuses = True
        self.port = 0
        self.closed = threading.Event()
        self._count = 0
        self._changed = threading.Condition()

    @property
    def shop_env(self) -> dict[str, str]:
        """The settings of a second account on it."""
        return {
            "PICOMEM_WHATSAPP_ACCOUNTS_SHOP_PHONE_NUMBER_ID": SHOP_PHONE_ID,
            "PICOMEM_WHATSAPP_ACCOUNTS_SHOP_APP_SECRET": SHOP_SECRET,
            "PICOMEM_WHATSAPP_ACCOUNTS_SHOP_ACCESS_TOKEN": SHOP_ACCESS,
            "PICOMEM_WHATSAPP_ACCOUNTS_SHOP_VERIFY_TOKEN": SHOP_VERIFY,
        }

    @property
    def env(self) -> dict[str, str]:
        """The settings of an account on it."""
        return {
            "PICOMEM_WHATSAPP_ACCOUNT": "main",
            "PICOMEM_WHATSAPP_PHONE_NUMBER_ID": PHONE_ID,
            "PICOMEM_WHATSAPP_APP_SECRET": SECRET,
            "PICOMEM_WHATSAPP_ACCESS_TOKEN": ACCESS,
            "PICOMEM_WHATSAPP_VERIFY_TOKEN": VERIFY,
            "PICOMEM_WHATSAPP_BASE_URL": f"http://127.0.0.1:{self.port}",
            "PICOMEM_WHATSAPP_TIMEOUT_SECS": "2",
            "PICOMEM_CHANNELS_LEASE_SECS": "1",
            "PICOMEM_CHANNELS_UNSURE_SECS": "2",
        }

    def serve(self, url: str) -> None:
        """Deliver webhooks to this server from now on."""
        self.webhook = f"{url}/channels/whatsapp/main"

    def texts(self) -> list[str]:
        """The texts that went out, in order."""
        return [body["text"]["body"] for body in list(self.accepted)]

    def wait_for(self, count: int) -> list[str]:
        """The texts that went out, once there are so many; the wait goes on for as long as another comes in time."""
        with self._changed:
            while (before := len(self.accepted)) < count:
                assert self._changed.wait_for(lambda: len(self.accepted) > before, _DEADLINE), self.texts()
        return self.texts()

    def takes_more_than(self, count: int, seconds: float) -> bool:
        """Return whether more messages than that have gone out, or go out within some seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.accepted) > count, seconds)

    def wait_asked(self, count: int) -> None:
        """Wait until so many requests came."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.asked) >= count, _DEADLINE), self.asked

    def take(self, body: dict[str, Any], phone_id: str, token: str) -> tuple[Behaviour, str]:
        """A request; what is done with it, and the id of its message."""
        with self._changed:
            self.senders.append((phone_id, token))
            self.asked.append(body)
            behaviour = self.behaviours.pop(0) if self.behaviours else FINE
            self._count += 1
            native_id = f"wamid.out{self._count}"
            if behaviour.accepts:
                self.accepted.append(body)
            self._changed.notify_all()
        if behaviour.accepts and self.has_statuses:
            threading.Thread(target=self._tell_statuses, args=(body, native_id), daemon=True).start()
        return behaviour, native_id

    def _tell_statuses(self, body: dict[str, Any], native_id: str) -> None:
        for kind in ("sent", "delivered"):
            status = {"id": native_id, "status": kind, "timestamp": "1777593600", "recipient_id": body.get("to", "")}
            self.deliver(value(statuses=[{**status, "biz_opaque_callback_data": body["biz_opaque_callback_data"]}]))

    def deliver(self, *values: dict[str, Any]) -> None:
        """Deliver a webhook until it is acknowledged, as Meta does."""
        end = time.monotonic() + _DEADLINE
        while time.monotonic() < end:
            with suppress(httpx2.HTTPError):
                if post(self.webhook, *values).status_code == 200:
                    return
            if self.closed.wait(0.1):  # nobody waits for what a thread still delivers
                return
        raise AssertionError("The webhook was never acknowledged.")


def post(webhook: str, *values: dict[str, Any], secret: str = SECRET, **headers: str) -> httpx2.Response:
    """Deliver a webhook once."""
    changes = [{"field": "messages", "value": one} for one in values]
    body = json.dumps({"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": changes}]}).encode()
    signature = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    sent = {"Content-Type": "application/json", "X-Hub-Signature-256": signature, **headers}
    return httpx2.post(webhook, content=body, headers=sent, timeout=10, trust_env=False)


def value(*, phone_id: str = PHONE_ID, **fields: Any) -> dict[str, Any]:
    """The value of a change."""
    metadata = {"display_phone_number": OUR_NUMBER, "phone_number_id": phone_id}
    return {"messaging_product": "whatsapp", "metadata": metadata, **fields}


def text(
    body: str,
    wamid: str,
    *,
    phone: str = "351912345678",
    user_id: str = "",
    name: str = "Ann",
    username: str = "",
    phone_id: str = PHONE_ID,
    **further: Any,
) -> dict[str, Any]:
    """The value with one text message; with no phone or no user id, its fields are missing."""
    contact: dict[str, Any] = {"profile": {"name": name, **({"username": username} if username else {})}}
    message: dict[str, Any] = {"id": wamid, "timestamp": str(int(time.time())), "type": "text", "text": {"body": body}}
    if phone:
        contact["wa_id"] = message["from"] = phone
    if user_id:
        contact["user_id"] = message["from_user_id"] = user_id
    return value(contacts=[contact], messages=[{**message, **further}], phone_id=phone_id)


@contextmanager
def serving(api: WhatsAppApi) -> Iterator[WhatsAppApi]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            version, phone_id, what = urlsplit(self.path).path.strip("/").split("/")
            assert (version, what) == ("v23.0", "messages")
            behaviour, native_id = api.take(body, phone_id, self.headers["Authorization"])
            api.closed.wait(behaviour.seconds)
            if behaviour.status == 200:
                answer: dict[str, Any] = {"messaging_product": "whatsapp", "messages": [{"id": native_id}]}
            else:
                answer = {"error": {"message": "no", "code": behaviour.code}}
            data = json.dumps(answer).encode()
            with suppress(OSError):  # the client has gone
                self.send_response(behaviour.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        api.port = listening.server_address[1]
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        try:
            yield api
        finally:
            api.closed.set()
            listening.shutdown()
