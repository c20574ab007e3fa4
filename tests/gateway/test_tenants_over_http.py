"""Three users of one server: nothing of one reaches another, whatever they send and whoever they say they are (S2).

The calls are those of tests/operations/test_tenants.py, sent to the whole application with each user's token. Some name
another user in the header, and the code that confirms a purge is tried by another user than it was given to.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from tests.amounts import amount
from tests.databases import chosen
from tests.operations.test_tenants import BATCH, UUID, _tenants, _Values

from picomem.app import open_runtime, operations
from picomem.engine.authorization import make_token
from picomem.gateway.calls import WireParameters
from picomem.gateway.guard import Limits
from picomem.gateway.http_api import application
from picomem.models.static_embedder import StaticEmbedder
from picomem.records.caller import OWN_DATA, PURGE

STEPS = amount(200, 20_000)
SERVED = [
    operation
    for operation in operations()
    if not (operation.operator or operation.reads_local_files or operation.asynchronous)
]


@pytest.mark.timeout(3_600)
@pytest.mark.requirement("P8")
@pytest.mark.reliability("S2")
def test_no_user_gets_or_changes_anything_of_another_over_http(tmp_path: Path, monkeypatch) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    monkeypatch.setenv("HOME", str(empty))
    rng = random.Random(2)
    store = tmp_path / "memory.db"
    statuses: dict[int, int] = {}
    own = 0

    async def walked(tenants: list[Any]) -> None:
        nonlocal own
        tokens = {tenant.user: make_token(tenant.memory, OWN_DATA | {PURGE}, "", None)[1] for tenant in tenants}
        with open_runtime(
            chosen().named(store), settings=tenants[0].memory.settings, embedder=StaticEmbedder()
        ) as runtime:
            limits = Limits(rate=1e6, burst=1_000_000)
            server = application(runtime, operations(), hosts=["server"], origins=[], limits=limits)
            transport = httpx2.ASGITransport(server)
            async with httpx2.AsyncClient(transport=transport, base_url="http://server", timeout=60) as client:

                async def ask(user: str, name: str, body: dict[str, Any], **headers: str) -> httpx2.Response:
                    shown = {"Authorization": f"Bearer {tokens[user]}", **headers}
                    return await client.post(f"/api/v1/{name}", json=body, headers=shown)

                for step in range(STEPS // BATCH):
                    tenant = rng.choice(tenants)
                    others = [other for other in tenants if other is not tenant]
                    values = _Values(tenant, others, rng)
                    before = chosen().digests(store, tenant.user)
                    for _ in range(BATCH):
                        operation = rng.choice(SERVED)
                        request, known = values.request(operation), WireParameters(operation)._known
                        body = {name: _plain(getattr(request, name)) for name in known if name != "everything"}
                        named = {"Picomem-User": rng.choice(others).user} if rng.random() < 0.15 else {}
                        answer = await ask(tenant.user, operation.name, body, **named)
                        statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
                        assert answer.status_code < 500 or answer.status_code == 502, (
                            operation.name,
                            body,
                            answer.text,
                        )
                        assert not named or answer.status_code in (400, 403, 413), operation.name  # 413: not even read
                        lower = answer.text.lower()
                        own += tenant.secret in lower
                        leaked = [other.user for other in others if other.secret in lower]
                        assert leaked == [], (
                            f"step {step}: {tenant.user} got by {operation.name} of {leaked}: {answer.text}"
                        )
                        tenant.learn(UUID.findall(answer.text), others)
                    other = rng.choice(others)
                    planned = await ask(other.user, "purge", {"older_than": 1, "dry_run": True})
                    stolen = {"older_than": 1, "confirmation": planned.json().get("confirmation") or "x"}
                    assert (await ask(tenant.user, "purge", stolen)).status_code in (400, 409)
                    assert chosen().digests(store, tenant.user) == before, f"step {step}: {tenant.user}"

    with _tenants(tmp_path, rng) as tenants:
        anyio.run(walked, tenants)
    assert own > STEPS // 12
    assert {200, 400, 403, 404} <= statuses.keys()


def _plain(value: Any) -> Any:
    """A field as JSON has it."""
    return (
        [text.encode("utf-8", "replace").decode() for text in value]
        if isinstance(value, tuple)
        else (value.encode("utf-8", "replace").decode() if isinstance(value, str) else value)
    )
