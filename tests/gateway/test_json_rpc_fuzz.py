"""Whatever a client sends on a socket, what comes back is valid JSON-RPC, and the socket goes on (S8).

Each message is made from its number. FUZZ_FROM is the number of the first one, so the full amount can be sent in parts.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Sequence
from typing import Any

import pytest
from tests.amounts import amount
from tests.hostile import TEXTS
from websockets.sync.client import ClientConnection, connect

from picomem.app import operations
from picomem.gateway.guard import Limits
from picomem.gateway.json_rpc import FAILED, INVALID_PARAMS, INVALID_REQUEST, NO_METHOD, PARSE_ERROR

from .serving import TIMEOUT, Served, serving, token_made_here

pytestmark = [
    pytest.mark.reliability("S8"),
]

MESSAGES = amount(90, 1_000_000)
MOST_OF_A_TOKEN = 15  # messages, some of which are batches of 60
FIRST = int(os.environ.get("FUZZ_FROM", "0"))
CODES = {PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, FAILED}  # not FAULT: that is a mistake of ours
SERVED = [operation for operation in operations() if not (operation.operator or operation.reads_local_files)]
# What takes long, or erases what the others ask for; their arguments are checked before.
QUICK = [
    operation.name for operation in SERVED if not (operation.long or operation.asynchronous or operation.confirmation)
]
METHODS = [*QUICK, "memory.list", "memory.search", "memory.create", "memory.update", "memory.delete", "cancel"]
FIELDS = [
    "query",
    "content",
    "key",
    "id",
    "name",
    "limit",
    "cursor",
    "user",
    "since",
    "session",
    "project",
    "path",
    "kind",
]


def is_unicode(text: str) -> bool:
    return text == text.encode("utf-8", "replace").decode()


SOUND = [text for text in TEXTS if is_unicode(text)]


def value(rng: random.Random, depth: int = 3, texts: Sequence[str] = SOUND) -> Any:
    kind = rng.randrange(8 if depth else 5)
    match kind:
        case 0:
            return rng.choice(texts)
        case 1:
            return rng.choice([0, -1, 1, 2**31, 2**63, 2**64, -(2**70), 10**30])
        case 2:
            return rng.choice([0.5, -0.0, 1e308, 5e-324])
        case 3:
            return rng.choice([None, True, False])
        case 4:
            return rng.choice(["", "recall", "2.0", "ferry", "' OR 1=1 --"])
        case 5:
            return [value(rng, depth - 1, texts) for _ in range(rng.randrange(4))]
        case _:
            return {rng.choice([*FIELDS, *texts[:5]]): value(rng, depth - 1, texts) for _ in range(rng.randrange(4))}


def well_formed(rng: random.Random, number: int) -> dict[str, Any]:
    params = {rng.choice(FIELDS): value(rng) for _ in range(rng.randrange(4))}
    return {"jsonrpc": "2.0", "id": f"r{number}", "method": rng.choice(METHODS), "params": params}


def near(rng: random.Random, number: int) -> Any:
    """A request of which a part is another."""
    request = well_formed(rng, number)
    part = rng.choice(["jsonrpc", "id", "method", "params"])
    if rng.random() < 0.3:
        del request[part]
    else:
        request[part] = value(rng, texts=TEXTS)
    return request


def frame(rng: random.Random, number: int) -> tuple[str | bytes, bool]:
    """A message, and whether it is a request that has an answer of its own."""
    kind = rng.randrange(10)
    if kind < 3:
        return json.dumps(well_formed(rng, number)), True
    if kind < 5:
        return json.dumps(near(rng, number)), False
    if kind == 5:
        batch = [rng.choice([near, well_formed])(rng, number * 100 + place) for place in range(rng.randrange(60))]
        while len(json.dumps(batch)) > Limits().frame:  # which closes the socket: test_limits.py
            batch.pop()
        return json.dumps(batch), False
    if kind == 6:
        return json.dumps(value(rng, texts=TEXTS)), False
    if kind == 7:
        text = json.dumps(well_formed(rng, number))
        place = rng.randrange(len(text))
        return text[:place] + rng.choice(["", '"', "}", "\\u0000", "NaN", "1e999", "[" * 500]) + text[
            place + 1 :
        ], False
    if kind == 8:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(200))), False
    depth = rng.choice([10, 100, 20_000])
    return rng.choice(["[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth]), False


def check(message: Any) -> None:
    """An answer, a batch of them or a notification, as the specification has them."""
    if isinstance(message, list):
        assert message
        for answer in message:
            check(answer)
        return
    assert message["jsonrpc"] == "2.0"
    if "method" in message:
        assert message.keys() == {"jsonrpc", "method", "params"}
        return
    assert message.keys() in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"})
    assert message["id"] is None or (isinstance(message["id"], str | int | float) and message["id"] is not True)
    if "error" in message:
        error = message["error"]
        assert error.get("data", {}).get("code") != "too_many_requests"
        assert error["code"] in CODES, message
        assert error["message"].strip()
        assert "Traceback" not in error["message"]


def asked(client: ClientConnection, rng: random.Random, number: int) -> None:
    """Send a message, and read until all that it must have an answer to has one."""
    sent, is_request = frame(rng, number)
    waiting = {f"r{number}", f"end {number}"} if is_request else {f"end {number}"}
    client.send(sent)
    client.send(json.dumps({"jsonrpc": "2.0", "id": f"end {number}", "method": "cancel", "params": {"id": "none"}}))
    while waiting:
        message = json.loads(client.recv(timeout=TIMEOUT))
        check(message)
        if isinstance(message, dict) and isinstance(message.get("id"), str):
            waiting.discard(message["id"])


@pytest.mark.timeout(amount(300, 36_000))
def test_hostile_messages_get_valid_answers_and_the_socket_goes_on(tmp_path) -> None:
    with serving(tmp_path / "memory.db") as running:
        for first in range(FIRST, FIRST + MESSAGES, MOST_OF_A_TOKEN):
            with connected(running) as client:
                for number in range(first, min(first + MOST_OF_A_TOKEN, FIRST + MESSAGES)):
                    rng = random.Random(number)
                    try:
                        asked(client, rng, number)
                    except Exception as error:
                        raise AssertionError(f"message {number}: {frame(random.Random(number), number)}") from error
        assert faults(running) == []


def connected(served: Served) -> ClientConnection:
    """A socket with a token of its own, because a token has a bound of requests."""
    headers = {"Authorization": f"Bearer {token_made_here(served.db, 'ann')}"}
    return connect(f"{served.url.replace('http', 'ws', 1)}/ws", additional_headers=headers, proxy=None, max_size=None)


def faults(running: Served) -> list[str]:
    """The lines of the log that tell of a mistake."""
    return [line for line in running.whole_log().splitlines() if json.loads(line)["level"] != "info"]
