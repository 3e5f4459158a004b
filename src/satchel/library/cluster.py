"""How are many repositories brought up to date by many processes? By the workers of a Dask cluster.

Each repository is a task. A task fetches, indexes and writes into the store by itself; of a large repository
it hands batches of files on to the other workers and writes what they return, in order. So the bytes are
those of a sync by one process. A task that is done twice finds nothing to do the second time: a worker that
is killed costs its own tasks, which others take over, and a sync that was cut short goes on where it was.
"""

from __future__ import annotations

import gc
import logging
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import partial
from typing import Any, Self

from satchel import extras
from satchel._version import __version__
from satchel.cancellation import CancelToken
from satchel.errors import ConfigError, InvalidRequest, SatchelError
from satchel.indexing import workers
from satchel.indexing.analysis import Batch, Stages, analyse
from satchel.library.catalogue import Repository, RepositoryState
from satchel.library.library import Library, SyncResult
from satchel.types import FileEntry

_PLACE = re.compile(r"(?P<address>(?:tcp|tls|ucx|ws|wss)://\S+)|local(?::(?P<count>[1-9]\d{0,2}))?")
_SPREAD_BYTES = 8 * 1024 * 1024  # a smaller repository is parsed by one worker in a few seconds
_IN_FLIGHT_PER_WORKER = 3
_RETRIES = 3  # of a task whose worker was killed
_BEAT_SECONDS = 0.2  # how soon somebody who gives up is heard
_CONNECT_SECONDS = 20
_ANSWER_SECONDS = 30.0  # after which a step of a query is asked of somebody else
_ACTOR_SECONDS = 10.0  # that a worker has to begin
_LOOK_AGAIN_SECONDS = 10.0  # between two looks for a scheduler that went away
_LOOK_SECONDS = 1.0  # that a look takes at most, while a caller waits
_LOG = logging.getLogger(__name__)

Call = tuple[Any, ...]
"""The arguments of one call."""
# Nobody looks at a profile of workers that live for one sync: a hundred samples a second cost as much as some
# repositories.
_LOCAL_SETTINGS = {"distributed.worker.profile.enabled": False}


class Cluster(AbstractContextManager["Cluster"]):
    """The workers of a Dask cluster: of a running one (`tcp://host:port`), or of one that lives as long as
    this object (`local:N`; `local` has a worker for each core)."""

    def __init__(self, place: str, *, spread_bytes: int = _SPREAD_BYTES) -> None:
        """Name a cluster; a repository with more bytes to parse than `spread_bytes` is parsed by all of
        it."""
        self._spread_bytes = spread_bytes
        found = _PLACE.fullmatch(place)
        if found is None:
            raise InvalidRequest(
                f"{place!r} names no cluster", hint="write --cluster tcp://host:port, or local, or local:4"
            )
        extras.require("library", "a cluster")
        self._address = found["address"]
        self._count = int(found["count"] or workers.default_workers())
        self._stack = ExitStack()
        self._client: Any = None  # distributed has no types for most of what is used here
        self._look_again = 0.0
        self._actors: dict[str, Any] = {}  # what lives on each worker that was asked

    def __enter__(self) -> Self:
        self._connect(_CONNECT_SECONDS)
        return self

    def _connect(self, seconds: float) -> None:
        """Start the workers of this machine, or connect to those that run."""
        import dask.config
        import distributed

        for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
            logging.getLogger(name).setLevel(logging.CRITICAL)  # a killed worker is told by its tasks
        untyped: Any = distributed
        try:
            place = self._address
            if not place:
                self._stack.enter_context(dask.config.set(_LOCAL_SETTINGS))
                local = untyped.LocalCluster(
                    n_workers=self._count, threads_per_worker=1, dashboard_address="127.0.0.1:0"
                )
                place = self._stack.enter_context(local)
            # Not as a context: it may be closed by another thread, when the scheduler went away.
            self._client = untyped.Client(place, timeout=seconds)
            self._stack.callback(self._client.close)
            self._check_versions()
        except (OSError, TimeoutError) as error:
            self._stack.close()
            raise ConfigError(
                f"the cluster {self._address or 'of this machine'} cannot be used: {error}",
                hint="see whether its scheduler runs: dask scheduler; dask worker tcp://host:port",
            ) from error

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster; workers of this machine that it started end."""
        self._stack.close()

    @property
    def address(self) -> str:
        """Return where the scheduler is, for other processes of this machine too."""
        return self._address or (self._client.scheduler.address if self._client is not None else "")

    @property
    def dashboard(self) -> str:
        """Return the address of Dask's own page about the work."""
        return self._client.dashboard_link if self._client is not None else ""

    def _check_versions(self) -> None:
        """Raise if a worker has another Satchel: its index would be another."""
        assert self._client is not None
        found = self._client.run(_version)
        others = sorted({version for version in found.values() if version != __version__})
        if others:
            raise ConfigError(
                f"workers of the cluster have Satchel {', '.join(others)}, not {__version__}",
                hint="install the same version everywhere",
            )

    def sync(
        self,
        library: Library,
        patterns: Sequence[str] = (),
        *,
        token: CancelToken | None = None,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Iterator[SyncResult]:
        """Bring repositories up to date, and yield how each ended, as it ends."""
        import distributed

        untyped: Any = distributed
        assert self._client is not None
        token = token or CancelToken()
        repositories = library.repositories(patterns)
        futures: dict[Any, Repository] = {
            self._client.submit(
                _sync_repository,
                library.catalogue.place,
                repository,
                self._spread_bytes,
                pure=False,
                retries=_RETRIES,
                key=f"sync {repository.name} {number}",
            ): repository
            for number, repository in enumerate(repositories)
        }
        progress(0, len(futures))
        for done, future in enumerate(untyped.as_completed(futures), 1):
            token.check()
            result = _result_of(future, futures[future])
            library.note(futures[future], result)
            progress(done, len(futures))
            yield result

    def workers(self) -> list[str]:
        """Return the addresses of the workers that are there now; none while the scheduler is away, which is
        looked for again after a while."""
        if not self._is_connected() and self._address and time.monotonic() > self._look_again:
            self._look_again = time.monotonic() + _LOOK_AGAIN_SECONDS
            self._stack.close()
            self._actors.clear()
            with suppress(SatchelError):
                self._connect(_LOOK_SECONDS)
        try:
            return sorted(self._client.scheduler_info()["workers"]) if self._is_connected() else []
        except Exception:  # it went away just now
            return []

    def _is_connected(self) -> bool:
        return self._client is not None and self._client.status == "running"

    def ask(self, worker_type: type[Any], calls: Mapping[str, Call], here: Callable[..., Any]) -> list[Any]:
        """Call `answer` of the `worker_type` that lives on each worker, and return what it says, in this
        order. What a worker does not answer is asked of another one, and in the end of `here`."""
        asked = [(worker, call, self._started(worker_type, worker, call)) for worker, call in calls.items()]
        return [self._answer_of(worker_type, *one, here) for one in asked]

    def _started(self, worker_type: type[Any], worker: str, call: Call) -> Any:
        """Return the future of a call, which goes to the worker directly: through the scheduler, as a task,
        it took ten times as long. None if the worker is away."""
        if not worker or not self._is_connected():
            return None
        try:
            if worker not in self._actors:
                # Dask would wait for one that was killed since the query came.
                if worker not in self.workers():
                    return None
                made = self._client.submit(worker_type, actor=True, workers=[worker], pure=False)
                self._actors[worker] = self._waited_for(worker, made, _ACTOR_SECONDS)
            return self._actors[worker].answer(*call)
        except Exception as error:  # whatever Dask raises: the same is asked of somebody else
            self._lose(worker, error)
            return None

    def _answer_of(
        self, worker_type: type[Any], worker: str, call: Call, future: Any, here: Callable[..., Any]
    ) -> Any:
        others = [other for other in self._actors if other != worker]
        while True:
            try:
                if future is not None:
                    return self._waited_for(worker, future, _ANSWER_SECONDS)
            except CannotAnswer as error:
                _LOG.info("a step of a query is taken without its worker: %s", error)
                return here(*call)
            except Exception as error:
                self._lose(worker, error)
            if not others:
                return here(*call)
            worker = others.pop()
            future = self._started(worker_type, worker, call)

    def _waited_for(self, worker: str, future: Any, seconds: float) -> Any:
        """Return what a worker answers within so many seconds, as long as it lives. Dask itself would wait
        for one that was killed until it is there again."""
        end = time.monotonic() + seconds
        while True:
            try:
                return future.result(timeout=_BEAT_SECONDS)
            except TimeoutError:
                if time.monotonic() > end or worker not in self.workers():
                    raise

    def _lose(self, worker: str, error: Exception) -> None:
        _LOG.info("a worker of the cluster does not answer: %s", error)
        self._actors.pop(worker, None)


class CannotAnswer(Exception):
    """Raised by a worker that is well and knows that no other worker can answer either."""


def _version() -> str:
    return __version__


def _result_of(future: Any, repository: Repository) -> SyncResult:
    """Return how a task ended, also one that no worker survived."""
    try:
        result: SyncResult = future.result()
        return result
    except Exception as error:
        problem = f"no worker of the cluster finished it ({type(error).__name__}); sync again"
        return SyncResult(name=repository.name, state=RepositoryState.FAILED, problem=problem)


def _sync_repository(place: str, repository: Repository, spread_bytes: int) -> SyncResult:
    """Bring one repository up to date; run by a worker."""
    try:
        spread = partial(_analyse_by_workers, spread_bytes)
        return Library.open(place).bring_up_to_date(repository, analyse=spread)
    except SatchelError as error:
        return SyncResult(name=repository.name, state=RepositoryState.FAILED, problem=error.message)


def _analyse_by_workers(
    spread_bytes: int, stages: Stages, entries: Sequence[FileEntry], beat: Callable[[], None]
) -> Iterator[Batch]:
    """Yield the batches of all entries in order: of a small repository made by this worker, of a large one by
    all workers of its cluster."""
    if sum(entry.size for entry in entries) < spread_bytes:
        for batch in workers.batches(entries):
            yield _analyse_batch(stages, batch)
        return
    import distributed

    untyped: Any = distributed
    with untyped.worker_client() as client:
        yield from _spread(client, stages, deque(workers.batches(entries)), beat)


def _analyse_batch(stages: Stages, batch: list[FileEntry]) -> Batch:
    """Read and parse some files. Parsing makes no cycles, and looking for them takes an eighth of the
    time."""
    gc.disable()
    try:
        return analyse(stages, batch)
    finally:
        gc.enable()


def _spread(
    client: Any, stages: Stages, waiting: deque[list[FileEntry]], beat: Callable[[], None]
) -> Iterator[Batch]:
    most = _IN_FLIGHT_PER_WORKER * max(1, len(client.scheduler_info()["workers"]))
    shared = client.scatter(stages, hash=False)
    pending: deque[tuple[Any, list[FileEntry]]] = deque()
    try:
        while waiting or pending:
            while waiting and len(pending) < most:
                batch = waiting.popleft()
                task = client.submit(_analyse_batch, shared, batch, pure=False, retries=_RETRIES)
                pending.append((task, batch))
            future, batch = pending.popleft()
            yield _batch_of(future, beat) or analyse(stages, batch)
    finally:
        client.cancel([future for future, _ in pending])


def _batch_of(future: Any, beat: Callable[[], None]) -> Batch | None:
    """Return the result of a task; None if workers ended over it: then this process has to find out why."""
    while True:
        try:
            result: Batch = future.result(timeout=_BEAT_SECONDS)
            return result
        except TimeoutError:
            if future.done():
                return None
            beat()
        except SatchelError:
            raise
        except Exception:
            return None
