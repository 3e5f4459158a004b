"""`satchel serve`: answer over HTTP, gRPC or MCP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from satchel import extras, plugins, settings
from satchel.commands.command import Group
from satchel.errors import ConfigError, InvalidRequest, ProjectNotFound
from satchel.plugins import late
from satchel.serving.access import make_access
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.transports import ServeOptions, Transport
from satchel.serving.verbs import Verb

if TYPE_CHECKING:
    from satchel import storage
    from satchel.indexing import workers as cores
    from satchel.library import cluster as clusters
    from satchel.library import library as libraries
    from satchel.library import library_engine
    from satchel.serving import audit_log, rights, worker_pool
    from satchel.serving.watching import index_updater
else:  # loaded late, so that MCP answers its handshake before them
    index_updater = late("satchel.serving.watching.index_updater")
    worker_pool = late("satchel.serving.worker_pool")
    cores, storage = late("satchel.indexing.workers"), late("satchel.storage")
    audit_log, rights = late("satchel.serving.audit_log"), late("satchel.serving.rights")
    libraries, clusters = late("satchel.library.library"), late("satchel.library.cluster")
    library_engine = late("satchel.library.library_engine")


def run(options: ServeOptions) -> int:
    """Answer over HTTP, gRPC or MCP, for one folder or several, and keep their indexes fresh meanwhile.

    satchel serve mcp                 for an agent client: over standard input and output
    satchel serve mcp --port 8642     for agent clients that call by HTTP
    satchel serve http --port 8640    POST /v1/command, a route for each command, /openapi.json, /metrics
    satchel serve grpc --port 8641    the same envelope, with health and reflection

    satchel serve mcp --library       all repositories of the user's library, asked as one
    satchel serve http --library DIR --cluster tcp://host:8786    its repositories lie with Dask workers

    Only this machine can call, unless --public and a token are given.
    """
    transport: Transport = plugins.load("transport", options.transport)
    extras.require(transport.extra, f"satchel serve {transport.name}")
    _check(options)
    library = libraries.Library.open(options.library) if options.library is not None else None
    if library is not None:
        library.repositories()  # raises if there is no library
    access = make_access(
        options.host,
        public=options.public,
        token=options.token,
        hosts=options.allow_hosts,
        origins=options.allow_origins,
        rights=rights.Rights(library.catalogue) if library is not None else None,
    )
    roots = [Path(segment) for segment in options.segments or ((".",) if options.library is None else ())]
    for root in roots:
        if not root.is_dir():
            raise ProjectNotFound(f"{str(root)!r} is not a folder", hint="give the root of a repository")
    if options.index_dir and len(roots) > 1:
        raise ConfigError(
            "one --index-dir cannot hold the indexes of several folders", hint="use SATCHEL_HOME"
        )
    with _cluster(options) as cluster:
        dispatcher = make_dispatcher(roots, transport, msgspec.structs.replace(options, cluster=cluster))
        if dispatcher.audit is not None:
            access = msgspec.structs.replace(access, on_refusal=dispatcher.audit.note_refusal)
        return transport.run(dispatcher, access, options)


@contextmanager
def _cluster(options: ServeOptions) -> Iterator[str]:
    """Give the address of the cluster that a library is spread over; workers of this machine run as long as
    the server. One that cannot be reached now is an error, later its work is done without it."""
    if not options.cluster:
        yield ""
        return
    with clusters.Cluster(options.cluster) as opened:
        yield opened.address


def make_dispatcher(roots: list[Path], transport: Transport, options: ServeOptions) -> Dispatcher:
    """Return the dispatcher of the roots: a worker pool for transports with many callers."""
    chosen = settings.chosen_index(roots[0].resolve(), options.index_dir) if roots else ""
    # An index that only its own process sees can neither be kept fresh nor be asked by another one.
    is_shared = not chosen or storage.scheme_of(chosen).is_shared
    if (options.workers or 1) > 1 and not is_shared:
        raise ConfigError("this kind of index has one process alone", hint="leave out --workers")
    workers = options.workers or (cores.default_workers() if transport.parallel and is_shared else 1)
    given: dict[str, Any] = {"index_dir": options.index_dir, "profile": options.profile}
    if options.library is not None:
        given["library"] = libraries.Library.open(options.library)
        given["asking"] = library_engine.Asking(options.cluster, options.allow_partial)
    if (kept := settings.audit()) is not None:
        given["audit"] = audit_log.AuditLog(
            kept, library.catalogue if (library := given.get("library")) else None
        )
    if is_shared and not options.no_watch:
        given["make_updater"] = lambda root: index_updater.IndexUpdater(
            root, index_dir=options.index_dir or None
        )
    return worker_pool.WorkerPool(roots, workers, **given) if workers > 1 else Dispatcher(roots, **given)


def _check(options: ServeOptions) -> None:
    limits = ("max_body_bytes", "max_concurrent", "timeout_seconds", "workers")
    wrong = [name for name in limits if (value := getattr(options, name)) is not None and value <= 0]
    if wrong:
        raise InvalidRequest(f"{wrong[0]} is {getattr(options, wrong[0])}, it must be above 0")
    if options.library is None and (options.cluster or options.allow_partial):
        raise InvalidRequest(
            "--cluster and --allow-partial are for a library",
            hint="name it, too: --library DIR",
        )
    if options.port is not None and not 0 <= options.port <= 65535:
        raise InvalidRequest(f"port is {options.port}, it must be from 0 to 65535")


VERB = Verb("serve", ServeOptions, run, group=Group.SERVE)
