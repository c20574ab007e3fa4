"""`python -m benchmarks scale`: a store on a server beside one in a file, at the smallest amounts."""

from __future__ import annotations

from pathlib import Path
from time import time

from tests.postgres_server import address_of, forget_databases

from benchmarks.scale import FILE, SERVER, Effort, Throughput, client, render, run


def test_each_store_is_asked_and_written_and_the_tables_name_both(tmp_path: Path) -> None:
    effort = Effort(users=(1, 2), own=3, episodes=45, clients=(), files=2)
    address = address_of(tmp_path)
    report = run(effort, address, lambda _: None)
    assert [(row.store, row.users, row.own) for row in report.recall] == [
        (store, users, own) for users, own in ((1, 3), (2, 3), (1, 45)) for store in (FILE, SERVER)
    ]
    assert all(0 < row.p50_ms <= row.p99_ms for row in report.recall)
    assert [row.store for row in report.sizes] == [FILE, SERVER]
    recalls, writes = (client(address, verb, 2, time(), 0.1, 0) for verb in ("recall", "remember"))
    assert recalls > 0 and writes > 0
    report.throughput.append(Throughput(store=SERVER, clients=1, recalls=recalls, writes=writes))
    assert sum(line.startswith("|") for line in render(report).splitlines()) == 3 * 2 + 6 + 1 + 2
    forget_databases(tmp_path)
