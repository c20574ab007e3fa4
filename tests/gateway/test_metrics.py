"""What Prometheus reads of a server, and who may read it."""

from __future__ import annotations

import json

from prometheus_client.parser import text_string_to_metric_families
from websockets.sync.client import connect

from .serving import TIMEOUT, Served, picomem, token


def scraper(served: Served) -> str:
    """A token that reads the metrics, and nothing else."""
    assert picomem(served.db, "grant", "server:read:metrics", "--user", "prometheus").returncode == 0
    return token(served.db, "--user", "prometheus", "--scope", "server:read:metrics")


def samples(served: Served, shown: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    with served.client(shown) as client:
        answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = text_string_to_metric_families(answer.text)
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def test_requests_are_counted_by_operation_and_status_and_never_by_user(served: Served, anns: str) -> None:
    shown = scraper(served)
    before = samples(served, shown)
    served.post(anns, "remember", {"content": "The ferry leaves at seven", "key": "ferry"})
    served.post(anns, "recall", {"query": "when does the ferry leave"})
    served.post(anns, "recall", {"query": 7})
    served.post(anns, "zwyxquorvalp")
    address = f"{served.url.replace('http', 'ws', 1)}/ws"
    with connect(address, additional_headers={"Authorization": f"Bearer {anns}"}, proxy=None) as client:
        client.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "memory.search", "params": {"query": "ferry"}}))
        client.recv(timeout=TIMEOUT)
        during = samples(served, shown)
    after = samples(served, shown)

    def count(values: dict, operation: str, status: str) -> float:
        return values.get(("picomem_requests_total", (("operation", operation), ("status", status))), 0)

    for operation, status, grown in (
        ("remember", "200", 1),
        ("recall", "200", 2),
        ("recall", "400", 1),
        ("other", "404", 1),
    ):
        assert count(after, operation, status) - count(before, operation, status) == grown, (operation, status)
    seconds = ("picomem_request_seconds_count", (("operation", "recall"),))
    assert after[seconds] - before.get(seconds, 0) == 3
    assert (during["picomem_sockets_open", ()], after["picomem_sockets_open", ()]) == (1, 0)
    assert after["picomem_store_bytes", ()] > 100_000
    assert {name for _, labels in after for name, _ in labels} == {"operation", "status", "le"}
    assert not [labels for _, labels in after if "zwyxquorvalp" in str(labels)]


def test_the_metrics_need_a_scope_of_their_own_which_opens_nothing_else(served: Served, anns: str) -> None:
    with served.client(anns) as client:
        answer = client.get("/metrics")
    assert (answer.status_code, answer.json()["error"]["permission"]) == (403, "server:read:metrics")
    assert served.post(scraper(served), "memories").status_code == 403
    refused = picomem(served.db, "token", "make", "--user", "eve", "--scope", "server:read:metrics")
    assert refused.returncode == 2
    assert "picomem grant server:read:metrics --user eve" in refused.stderr
