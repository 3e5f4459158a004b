"""What a server counts, for Prometheus. Labels are names of actions, codes and fingerprints: no text of a
request or of a repository."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from satchel import plugins
from satchel.errors import SatchelError
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Response
from satchel.serving.http.standing import standings, workers

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0)  # a search to a first index
_NO_ACTION, _UNKNOWN_ACTION, _OK = "", "unknown", "ok"


class Metrics:
    """The counters of one server."""

    def __init__(
        self, dispatcher: Dispatcher, running: Callable[[], int], overdue: Callable[[], int]
    ) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "satchel_requests",
            "Requests by action, HTTP status and outcome: ok or the code of the error",
            ("action", "status", "outcome"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "satchel_request_seconds",
            "From the whole request to the answer",
            ("action",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        in_flight = Gauge("satchel_requests_in_flight", "Requests that run", registry=self._registry)
        in_flight.set_function(running)
        self._registry.register(_Indexes(dispatcher))
        self._registry.register(_Workers(dispatcher, overdue))
        ProcessCollector(registry=self._registry)

    def answered(self, action: str, response: Response, status: int, seconds: float) -> None:
        """A call that reached the dispatcher."""
        label = action if plugins.find("command", action) is not None else _UNKNOWN_ACTION
        outcome = response.error["code"] if isinstance(response.error, dict) else _OK
        self._requests.labels(label, str(status), outcome).inc()
        self._seconds.labels(label).observe(seconds)

    def refused(self, error: SatchelError, status: int) -> None:
        """A request that did not reach it."""
        self._requests.labels(_NO_ACTION, str(status), error.code).inc()

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self._registry)


class _Indexes(Collector):
    """Looked at when asked for."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    def describe(self) -> Iterator[Metric]:
        """Named without a look, which registering would otherwise take."""
        return iter(_families())

    def collect(self) -> Iterator[Metric]:
        ready, generation, age = families = _families()
        for standing in standings(self._dispatcher):
            labels = [standing.root_fingerprint]
            ready.add_metric(labels, int(standing.ready))
            generation.add_metric(labels, standing.generation)
            if standing.age_seconds is not None:
                age.add_metric(labels, standing.age_seconds)
        return iter(families)


class _Workers(Collector):
    """Looked at when asked for."""

    def __init__(self, dispatcher: Dispatcher, overdue: Callable[[], int]) -> None:
        self._dispatcher = dispatcher
        self._overdue = overdue

    def collect(self) -> Iterator[Metric]:
        found = workers(self._dispatcher, self._overdue())
        yield CounterMetricFamily(
            "satchel_workers_killed", "Processes ended because a call ran beyond its time", value=found.killed
        )
        yield GaugeMetricFamily("satchel_workers", "What answers calls", value=found.count)
        yield GaugeMetricFamily("satchel_calls_overdue", "Calls beyond their time", value=found.overdue)


def _families() -> tuple[GaugeMetricFamily, GaugeMetricFamily, GaugeMetricFamily]:
    root = ["root"]
    return (
        GaugeMetricFamily("satchel_index_ready", "1 if there is an index", labels=root),
        GaugeMetricFamily("satchel_index_generation", "Times the index was written", labels=root),
        GaugeMetricFamily("satchel_index_age_seconds", "Since the index was last written", labels=root),
    )
