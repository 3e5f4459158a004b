"""The metrics of a server for Prometheus. Labels are actions, codes and fingerprints, never text of a request
or of a repository."""

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
from satchel.serving.readiness import root_readiness, worker_readiness

CONTENT_TYPE = CONTENT_TYPE_LATEST
_BUCKET_SECONDS = (
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    15.0,
    60.0,
)  # from a search to a first index
_NO_ACTION, _UNKNOWN_ACTION, _OK = "", "unknown", "ok"


class Metrics:
    """The metrics of one server. `running` and `overdue` return numbers of requests and calls."""

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
            buckets=_BUCKET_SECONDS,
            registry=self._registry,
        )
        in_flight = Gauge("satchel_requests_in_flight", "Requests that run", registry=self._registry)
        in_flight.set_function(running)
        self._registry.register(_IndexCollector(dispatcher))
        self._registry.register(_WorkerCollector(dispatcher, overdue))
        ProcessCollector(registry=self._registry)

    def count_answer(self, action: str, response: Response, status: int, seconds: float) -> None:
        """Count a call that was answered."""
        label = action if action in plugins.names("command") else _UNKNOWN_ACTION
        outcome = response.error["code"] if isinstance(response.error, dict) else _OK
        self._requests.labels(label, str(status), outcome).inc()
        self._seconds.labels(label).observe(seconds)

    def count_refusal(self, error: SatchelError, status: int) -> None:
        """Count a request that was refused before it became a call."""
        self._requests.labels(_NO_ACTION, str(status), error.code).inc()

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)


class _IndexCollector(Collector):
    """The metrics of each index, read when Prometheus asks for them."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    def describe(self) -> Iterator[Metric]:
        """Return the metrics without values: registering would read the indexes otherwise."""
        return iter(_index_metrics())

    def collect(self) -> Iterator[Metric]:
        """Return the metrics of all served roots."""
        ready, generation, age = families = _index_metrics()
        for root in root_readiness(self._dispatcher):
            labels = [root.root_fingerprint]
            ready.add_metric(labels, int(root.ready))
            generation.add_metric(labels, root.generation)
            if root.age_seconds is not None:
                age.add_metric(labels, root.age_seconds)
        return iter(families)


class _WorkerCollector(Collector):
    """The metrics of the workers, read when Prometheus asks for them."""

    def __init__(self, dispatcher: Dispatcher, overdue: Callable[[], int]) -> None:
        self._dispatcher = dispatcher
        self._overdue = overdue

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of the workers."""
        workers = worker_readiness(self._dispatcher, self._overdue())
        yield CounterMetricFamily(
            "satchel_workers_killed",
            "Processes ended because a call ran beyond its time",
            value=workers.killed,
        )
        yield GaugeMetricFamily("satchel_workers", "What answers calls", value=workers.count)
        yield GaugeMetricFamily("satchel_calls_overdue", "Calls beyond their time", value=workers.overdue)


def _index_metrics() -> tuple[GaugeMetricFamily, GaugeMetricFamily, GaugeMetricFamily]:
    root = ["root"]
    return (
        GaugeMetricFamily("satchel_index_ready", "1 if there is an index", labels=root),
        GaugeMetricFamily("satchel_index_generation", "Times the index was written", labels=root),
        GaugeMetricFamily("satchel_index_age_seconds", "Since the index was last written", labels=root),
    )
