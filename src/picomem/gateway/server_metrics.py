"""The metrics of the server, for Prometheus. No label names a user; the possible operations and statuses are few."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
OTHER = "other"  # an address or a method that there is not
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """The counters of one server."""

    def __init__(self, operations: Iterable[str], store_size: Callable[[], float]) -> None:
        """`operations` are all names that requests are counted under; `store_size` gives bytes when it is asked."""
        self._known = frozenset(operations)
        self._registry = registry = CollectorRegistry()
        self._requests = Counter("picomem_requests", "Requests", ("operation", "status"), registry=registry)
        self._seconds = Histogram(
            "picomem_request_seconds",
            "Seconds to the end of an answer",
            ("operation",),
            buckets=_SECONDS,
            registry=registry,
        )
        self._sockets = Gauge("picomem_sockets_open", "Web sockets that are open", registry=registry)
        Gauge("picomem_store_bytes", "Size of the store with its log", registry=registry).set_function(store_size)

    def count(self, operation: str, status: int, seconds: float | None = None) -> None:
        """A request was answered; the time of a socket, which stays open, is none to compare."""
        name = operation if operation in self._known else OTHER
        self._requests.labels(name, str(status)).inc()
        if seconds is not None:
            self._seconds.labels(name).observe(seconds)

    def socket_opened(self) -> None:
        self._sockets.inc()

    def socket_closed(self) -> None:
        self._sockets.dec()

    def exposition(self) -> bytes:
        """All of it as Prometheus reads it."""
        return generate_latest(self._registry)
