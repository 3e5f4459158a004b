"""Requests in, envelopes out: every surface but the flags of the command line goes through a dispatcher.

The dispatcher of a server serves the roots it was given and no other; that of a local caller opens whatever
folder the caller names. The file is long because it is the one way that a request takes: what is served, how
fresh it has to be, who has the project meanwhile, and what the caller may be told.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from satchel import ids, plugins
from satchel.commands.command import Command
from satchel.commands.freshness import StalePolicy
from satchel.commands.payloads import too_deep
from satchel.commands.session import CallOptions, Session
from satchel.errors import (
    ConfigError,
    Internal,
    InvalidRequest,
    ProjectNotFound,
    SatchelError,
)
from satchel.file_writing import disk_trouble
from satchel.library.grants import OPERATOR, Caller
from satchel.plugins import late
from satchel.rendering.packs import PACK_FORMATS
from satchel.serving.envelope import (
    Call,
    Hint,
    Meta,
    Request,
    Response,
    decode,
    encode,
    failure,
    not_a_request,
    take_mode,
    without_places,
)
from satchel.serving.served_project import KnownFreshener, KnownFreshness, ServedProject
from satchel.types import ResponseMode

if TYPE_CHECKING:
    from satchel.engine import Engine
    from satchel.library import library as libraries
    from satchel.library.library import Library
    from satchel.library.library_engine import Asking
    from satchel.serving import served_library
    from satchel.serving.audit_log import AuditLog
    from satchel.serving.watching.index_updater import IndexUpdater

else:
    libraries, served_library = late("satchel.library.library"), late("satchel.serving.served_library")

_LIBRARY = "library"  # what a project starts with that is a library of this machine
_RELEASE_SECONDS = 5.0  # after which an old generation is released


class Dispatcher:
    """Answers requests. With `roots` or a `library`, it serves no other folder; `make_updater` makes the
    updater of each root. A library is brought up to date before its answers; `asking` says how it is
    asked."""

    def __init__(
        self,
        roots: Sequence[Path] | None = None,
        *,
        library: Library | None = None,
        asking: Asking | None = None,
        index_dir: str = "",
        profile: str = "",
        make_updater: Callable[[Path], IndexUpdater] | None = None,
        audit: AuditLog | None = None,
    ) -> None:
        self.audit = audit
        self._index_dir = index_dir
        self._profile = profile
        self._make_updater = make_updater
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._library = library
        self._asking = asking
        self._served: dict[Path, ServedProject] | None = None
        if roots is not None or library is not None:
            self._served = {root.resolve(): ServedProject(root.resolve()) for root in roots or ()}
        if self._served is not None and self._library is not None:
            asked = served_library.ServedLibrary(self._library, *filter(None, [asking]))
            self._served[self._library.folder] = asked

    @property
    def remote(self) -> bool:
        """Return whether callers may be elsewhere, and name no files of this machine."""
        return self._served is not None

    def answer(
        self, request: Request, call: Call | None = None, known: KnownFreshness | None = None
    ) -> Response:
        """Return the answer to one request; whatever goes wrong is in the envelope. `known` is what the
        updater knows of the index, if it runs in another process. Where an audit log is kept, no answer
        leaves without its line."""
        call = call or Call()
        response = self._answer(request, call, known)
        if self.audit is None:
            return response
        try:
            self.audit.note_answer(call.caller, request, response)
        except SatchelError as error:
            return failure(error)
        return response

    def _answer(self, request: Request, call: Call, known: KnownFreshness | None) -> Response:
        started = time.perf_counter()
        payload = dict(request.payload)
        meta = Meta()
        session = None
        try:
            command: Command = plugins.load("command", request.action)
            mode = take_mode(command, payload)
            project = _project(command, payload)
            known = known or self.known(request, call)
            profile = request.config.profile if request.config is not None else ""
            with self._opened(project, call, profile) as engine:
                meta = Meta(root_fingerprint=ids.root_fingerprint(engine.root))
                session = self._session(known, engine, command, request, project)
                with session:
                    data = session.call(request.action, payload, request.payload)
                    meta = _meta(meta, session, mode)
                session.log_query(request.action, payload.get("query"), data, started)
        except SatchelError as error:
            return failure(self._as_told(error), _timed(_stated(meta, session), started), _hints(session))
        except Exception as error:
            refused = disk_trouble(error, "a file of the index") if isinstance(error, OSError) else None
            return failure(refused or defect(error), _timed(meta, started))
        return Response(
            status="ok",
            hints=_hints(session),
            next_actions=[],
            data=data,
            meta=_timed(meta, started),
        )

    def start(self) -> None:
        """Open the served roots and start their updaters."""
        for root in self._served or ():
            self._project_at(root)

    def known(self, request: Request, call: Call) -> KnownFreshness | None:
        """Return what the updater knows of the index that a call asks, after it brought the index up to date
        if the call wants that; None if there is no updater."""
        if self._make_updater is None:
            return None
        command: Command = plugins.load("command", request.action)
        updater = self._project_at(self._root(_project(command, dict(request.payload)), call.caller)).updater
        if updater is None:
            return None
        options = request.options or CallOptions()
        wanted = (command.fresh or command.composes) and options.stale_policy is StalePolicy.AUTO
        if not wanted or not options.max_reindex_ms:  # what is known may be older than the last edit
            return KnownFreshness(None, None, updater.progress)

        def wait() -> None:
            call.token.check()
            call.progress(*(updater.progress or (0, 1)))

        reindex = updater.wait_until_fresh(options.max_reindex_ms, wait)
        if reindex is not None and reindex.error:
            reindex = msgspec.structs.replace(reindex, error=self._without_places(reindex.error))
        return KnownFreshness(reindex, updater.state, updater.progress)

    def _as_told(self, error: SatchelError) -> SatchelError:
        """Return an error as its caller may see it: from elsewhere, what is served has a name and no path."""
        if self.remote:
            error.message, error.hint = map(self._without_places, (error.message, error.hint))
            texts = {key: value for key, value in error.details.items() if isinstance(value, str)}
            error.details |= {key: self._without_places(value) for key, value in texts.items()}
        return error

    def _without_places(self, text: str) -> str:
        places = {str(root): root.name for root in self._served or () if root.name}
        if self._library is not None:
            places[self._library.catalogue.location] = self._library.folder.name
        return without_places(text, places)

    def settings(self) -> dict[str, Any]:
        """Return what another process needs to serve the same roots."""
        roots = [root for root in self.roots() if not self._is_library(root)]
        given = {"index_dir": self._index_dir, "profile": self._profile}
        return {"roots": roots, "library": self._library, "asking": self._asking, **given}

    def warm(self) -> None:
        """Read what every question needs, so that the first one does not wait for it."""
        for root in self.roots():
            with suppress(SatchelError):  # whoever asks is told
                engine = self._project_at(root).engine
                assert engine is not None
                engine.corpus()

    def close(self) -> None:
        """Stop the updaters and release every index."""
        self._closing.set()
        for served in (self._served or {}).values():
            served.close()

    @property
    def library(self) -> Library | None:
        """Return the served library; None if none is served."""
        return self._library

    def _is_library(self, root: Path) -> bool:
        return self._library is not None and root == self._library.folder

    def roots(self, caller: Caller = OPERATOR) -> list[Path]:
        """Return the served folders that a caller may see. Only the operator sees others than the library,
        whose repositories are shown by grants."""
        return [root for root in self._served or () if caller.is_operator or self._is_library(root)]

    def projects(self, caller: Caller = OPERATOR) -> list[str]:
        """Return how a caller names the served folders: by name, or by fingerprint if two have one name."""
        roots = self.roots(caller)
        names = [root.name for root in roots]
        return [root.name if names.count(root.name) == 1 else ids.root_fingerprint(root) for root in roots]

    def engine_of(self, root: Path) -> Engine | None:
        """Return the engine of a served root; None until it is open."""
        return (self._served or {})[root].engine

    def busy_with(self, root: Path) -> tuple[int, int] | None:
        """Return files done and files to do, while the index of a served root is being built."""
        updater = (self._served or {})[root].updater
        return None if updater is None else updater.progress

    def is_watched(self, root: Path) -> bool:
        """Return whether an updater keeps the index of a served root fresh."""
        return (self._served or {})[root].updater is not None

    def _session(
        self, known: KnownFreshness | None, engine: Engine, command: Command, request: Request, project: str
    ) -> Session:
        options = request.options or CallOptions()
        if request.config is not None and request.config.ignore:
            if "exclude_paths" not in command.request.__struct_fields__:
                raise ConfigError(f"{command.name} leaves no paths out", hint="leave config.ignore out")
            excluded = (*options.exclude_paths, *request.config.ignore)
            options = msgspec.structs.replace(options, exclude_paths=excluded)
        freshener = KnownFreshener(known) if known is not None else None
        return Session(
            engine, PACK_FORMATS, options, freshener=freshener, remote=self.remote, project=project
        )

    @contextmanager
    def _opened(self, project: str, call: Call, profile: str) -> Iterator[Engine]:
        """Give the engine of a project to this caller alone."""
        if self._served is None:
            local = _local_project(project)
            local.open(self._index_dir, self._profile, None)
            try:
                with local.taken(call, profile) as engine:
                    yield engine
            finally:
                local.close()
            return
        with self._project_at(self._root(project, call.caller)).taken(call, profile) as engine:
            yield engine

    def _root(self, project: str, caller: Caller) -> Path:
        roots = self.roots(caller)
        if project in ("", "."):
            if len(roots) > 1:
                raise InvalidRequest(
                    f"{len(roots)} folders are served, and the request says of none that it is meant",
                    hint=f"give project: {', '.join(self.projects(caller))}",
                    details={"projects": self.projects(caller)},
                )
            return roots[0]
        meant = [
            root
            for root in roots
            if project in (root.name, str(root), root.as_posix(), ids.root_fingerprint(root))
        ]
        if len(meant) > 1:
            raise InvalidRequest(
                f"{project!r} is the name of {len(meant)} served folders",
                hint=f"give one of {', '.join(map(ids.root_fingerprint, meant))}",
            )
        if meant:
            return meant[0]
        raise ProjectNotFound(
            f"{project!r} is not served here", hint=f"served: {', '.join(self.projects(caller))}"
        )

    def _project_at(self, root: Path) -> ServedProject:
        assert self._served is not None
        with self._lock:
            served = self._served[root]
            if served.engine is None:
                served.open(self._index_dir, self._profile, self._make_updater)
                threading.Thread(
                    target=self._release_old, args=(served,), daemon=True, name="satchel-release"
                ).start()
        return served

    def _release_old(self, served: ServedProject) -> None:
        """Release old generations now and then: the log of an index grows while anybody holds one."""
        while not self._closing.wait(_RELEASE_SECONDS):
            served.release_if_old()


def answer(request: dict[str, Any] | str | bytes) -> dict[str, Any]:
    """Answer one request of the Command API in this process: `{action, payload, options, config}` in, the
    envelope out. `payload.project` is the folder; the current one if it is not given."""
    try:
        response = Dispatcher().answer(decode(_as_json(request)))
    except SatchelError as error:
        response = failure(error)
    told: dict[str, Any] = msgspec.json.decode(encode(response))
    return told


def _local_project(project: str) -> ServedProject:
    """Return what a caller on this machine names: a folder, `library:` for the user's library, or
    `library:DIR`."""
    scheme, colon, place = project.partition(":")
    if scheme == _LIBRARY and colon:
        return served_library.ServedLibrary(libraries.Library.open(place))
    return ServedProject(Path(project or "."))


def _as_json(request: dict[str, Any] | str | bytes) -> str | bytes:
    try:
        return request if isinstance(request, (str, bytes)) else msgspec.json.encode(request)
    except RecursionError:
        raise too_deep() from None
    except (TypeError, UnicodeEncodeError) as error:  # a value that JSON has no form for; a lone surrogate
        raise not_a_request(error) from None


def _project(command: Command, payload: dict[str, Any]) -> str:
    """Return the one project that a call is about."""
    named = [payload.pop("project", "")]
    if command.composes:
        items = payload.get("items")
        inner = (
            [item.get("payload") for item in items if isinstance(item, dict)]
            if isinstance(items, list)
            else []
        )
        named += [part["project"] for part in inner if isinstance(part, dict) and "project" in part]
    if not all(isinstance(name, str) for name in named):
        raise InvalidRequest("project must be text", hint="project is a folder")
    chosen = sorted({name for name in named if name})
    if len(chosen) > 1:
        raise InvalidRequest(
            f"a batch is about one project, not {' and '.join(chosen)}", hint="make one batch for each"
        )
    return chosen[0] if chosen else ""


def _stated(meta: Meta, session: Session | None) -> Meta:
    """Return the meta of an error, which says how the index stands where that can be found out."""
    if session is None:
        return meta
    try:
        return _meta(meta, session, ResponseMode.FACTS)
    except SatchelError:
        return meta


def _meta(meta: Meta, session: Session, mode: ResponseMode) -> Meta:
    state = None if mode is ResponseMode.MINIMAL else session.state()
    return msgspec.structs.replace(meta, index_state=state)


def _timed(meta: Meta, started: float) -> Meta:
    return msgspec.structs.replace(meta, duration_ms=round((time.perf_counter() - started) * 1000))


def _hints(session: Session | None) -> list[Hint]:
    if session is None:
        return []
    notes = [Hint("info", note) for note in session.engine.notes]
    return [*(Hint("warn", text) for text in session.warnings), *notes]


def defect(error: Exception) -> Internal:
    """Return the error of a defect. Its message may quote a file, so only its kind and place are told."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown place"
    print(f"satchel: internal error: {type(error).__name__} at {place}", file=sys.stderr)
    return Internal(
        f"internal error: {type(error).__name__}", hint="this is a defect", details={"place": place}
    )
