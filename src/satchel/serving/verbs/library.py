"""`satchel library`: which repositories are asked as one, and how they are brought up to date."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from satchel.commands.command import Flag, Group, Positional
from satchel.errors import FileNotFound, InvalidRequest
from satchel.file_writing import replace_file
from satchel.plugins import late
from satchel.rendering.style import ProgressBar, Style
from satchel.rendering.visible import one_line
from satchel.serving.verbs import Verb
from satchel.visible_json import indented
from satchel.wording import counted

if TYPE_CHECKING:
    from satchel.library import cluster, grants, library, queue
    from satchel.library.catalogue import Repository
    from satchel.library.library import Library, SyncResult
    from satchel.library.members import Progress
    from satchel.serving import library_tokens
    from satchel.serving.library_tokens import TokenItem
else:  # `--help` must load no engine
    cluster, grants, library, queue = (
        late(f"satchel.library.{name}") for name in ("cluster", "grants", "library", "queue")
    )
    library_tokens = late("satchel.serving.library_tokens")

_Words = tuple[str, ...]
_STANDARD_STREAM = "-"


class LibraryRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `satchel library`."""

    action: Annotated[
        str,
        Meta(description="init, add, remove, list, sync, worker, status, token, export or import"),
        Positional(),
    ] = "list"
    values: Annotated[
        _Words, Meta(description="what the action is about: folders, URLs, names or a file"), Positional()
    ] = ()
    library: Annotated[
        str,
        Meta(description="the folder or the URL of the library (default: library of the user's data folder)"),
    ] = ""
    name: Annotated[str, Meta(description="add: the name of the one repository that is added")] = ""
    refs: Annotated[
        _Words,
        Meta(description="add: keep this branch, tag or commit, not the files as they are (repeatable)"),
        Flag("--ref"),
    ] = ()
    groups: Annotated[
        _Words,
        Meta(description="add: put it into this group; token create: repositories of it (repeatable)"),
        Flag("--group"),
    ] = ()
    repos: Annotated[
        _Words,
        Meta(description="token create: repositories of this name or glob (repeatable)"),
        Flag("--repo"),
    ] = ()
    expires: Annotated[
        str,
        Meta(description="token create: until when it is valid, as 90d or 2027-01-31 (default: for ever)"),
    ] = ""
    store: Annotated[
        str,
        Meta(description="init: keep the indexes of commits at this store URL; add: only those of the added"),
    ] = ""
    cluster: Annotated[
        str, Meta(description="sync: on the workers of a Dask cluster: tcp://host:port, local or local:N")
    ] = ""
    queue: Annotated[bool, Meta(description="sync: let workers do it, and do not wait")] = False
    poll: Annotated[
        int, Meta(description="worker: put all mirrors into the queue every so many seconds", ge=0)
    ] = 0
    once: Annotated[bool, Meta(description="worker: end when nothing waits")] = False
    json: Annotated[bool, Meta(description="print the answer as JSON")] = False


class RepositoryItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A repository of the library: where it comes from, which refs are kept at which commits, how its last
    sync ended. `files` and `stale` are there if they were asked for."""

    name: str
    origin: str
    state: str
    refs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    commits: dict[str, str] = msgspec.field(default_factory=dict)
    problem: str = ""
    store: str = ""
    files: int | None = None
    index_bytes: int | None = None
    stale: bool | None = None
    parsed: int | None = None
    kept: int | None = None


class LibraryResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was done, and the repositories that it was done to. `ok` is false if one of them failed."""

    ok: bool
    action: str
    library: str
    repositories: list[RepositoryItem] = msgspec.field(default_factory=list)
    tokens: list[TokenItem] = msgspec.field(default_factory=list)
    written: str = ""
    notes: list[str] = msgspec.field(default_factory=list)


def run(request: LibraryRequest) -> LibraryResponse:
    """Keep many repositories together, to ask them as one.

    satchel library init                            make a library, in the data folder of the user
    satchel library add ~/src/shop ~/src/till       folders, asked as they are at the moment
    satchel library add https://host/owner/name.git --ref main    mirrored, asked as it was synced
    satchel library sync [NAME…]                    fetch mirrors and index what is new
    satchel library sync --cluster local:4          the same on a Dask cluster
    satchel library worker [--poll 60]              index what `sync --queue` asks for, for ever (PostgreSQL)
    satchel library list                            names, origins, commits, states
    satchel library status [NAME…]                  the same with files, sizes, and what is out of date
    satchel library remove NAME…                    folders stay, mirrors and their indexes go
    satchel library token create NAME --repo 'shop*' --group web [--expires 90d]    what a caller may see
    satchel library token list / token revoke NAME…    a running server heeds it within a second
    satchel library export FILE / import FILE       the list of repositories, for another machine

    Then every command that asks takes --library: satchel search "where are sessions stored" --library.
    No credential is kept: git finds them by its own helpers or in the environment.
    """
    actions: dict[str, Callable[[Library, LibraryRequest], LibraryResponse]] = {
        "init": _init,
        "add": _add,
        "remove": _remove,
        "list": _list,
        "sync": _sync,
        "worker": _work,
        "status": _status,
        "token": _token,
        "export": _export,
        "import": _import,
    }
    if request.action not in actions:
        raise InvalidRequest(
            f"satchel library has no action {request.action!r}", hint=f"use one of {', '.join(actions)}"
        )
    return actions[request.action](library.Library.open(request.library), request)


def _init(opened: Library, request: LibraryRequest) -> LibraryResponse:
    made = opened.catalogue.create(request.store)
    notes = ["add repositories: satchel library add PATH|GIT_URL"] if made else ["it was there already"]
    return _response(opened, request, opened.repositories(), notes=notes)


def _add(opened: Library, request: LibraryRequest) -> LibraryResponse:
    if not request.values:
        raise InvalidRequest("no repository is named", hint="satchel library add PATH|GIT_URL…")
    if request.name and len(request.values) > 1:
        raise InvalidRequest(
            f"--name {request.name} cannot name {len(request.values)} repositories",
            hint="add them one by one",
        )
    if not request.library:
        opened.catalogue.create()  # the user's own library needs no preparation
    notes = []
    added = []
    for origin in request.values:
        repository = opened.add(
            origin, name=request.name, refs=request.refs, groups=request.groups, store=request.store
        )
        added.append(repository)
        if repository.is_remote and repository.origin != origin:
            notes.append(f"{repository.name}: credentials in the URL are not kept; git must find them itself")
    if any(not one.is_live for one in added):
        notes.append("satchel library sync fetches and indexes what was added")
    return _response(opened, request, added, notes=notes)


def _remove(opened: Library, request: LibraryRequest) -> LibraryResponse:
    if not request.values:
        raise InvalidRequest("no repository is named", hint="satchel library remove NAME…")
    return _response(opened, request, opened.remove(request.values))


def _list(opened: Library, request: LibraryRequest) -> LibraryResponse:
    return _response(opened, request, opened.repositories(request.values))


def _sync(opened: Library, request: LibraryRequest) -> LibraryResponse:
    if request.queue:
        waiting = queue.SyncQueue(opened)
        waiting.add([one.name for one in opened.repositories(request.values)])
        notes = [f"{len(waiting.waiting())} wait for a worker: satchel library worker"]
        return _response(opened, request, opened.repositories(request.values), notes=notes)
    if request.cluster:
        with cluster.Cluster(request.cluster) as chosen:
            progress = _progress("repositories") or (lambda done, total: None)
            done = list(chosen.sync(opened, request.values, progress=progress))
    else:
        done = list(opened.sync(request.values, progress=_progress))
    return _synced(opened, request, done)


def _work(opened: Library, request: LibraryRequest) -> LibraryResponse:
    done = []
    for result in queue.SyncQueue(opened).work(once=request.once, poll_seconds=request.poll):
        if request.once:
            done.append(result)
        told = result.problem or _counts(result.parsed, result.kept)
        sys.stderr.write(f"{result.name}: {one_line(told)}\n")
    return _synced(opened, request, done)


def _synced(opened: Library, request: LibraryRequest, done: Sequence[SyncResult]) -> LibraryResponse:
    known = {one.name: one for one in opened.repositories()}
    items = [
        msgspec.structs.replace(_item(known[result.name]), parsed=result.parsed, kept=result.kept)
        for result in sorted(done, key=lambda result: result.name)
        if result.name in known
    ]
    return LibraryResponse(
        ok=not any(result.problem for result in done),
        action=request.action,
        library=opened.catalogue.location,
        repositories=items,
    )


def _progress(name: str) -> Progress | None:
    return ProgressBar(f"indexing {name}") if sys.stderr.isatty() else None


def _status(opened: Library, request: LibraryRequest) -> LibraryResponse:
    known = opened.repositories(request.values)
    items = []
    with opened.engine(request.values) as engine:
        for repository in known:
            looked = library.look_at(engine, repository)
            items.append(
                msgspec.structs.replace(
                    _item(repository),
                    files=looked.files,
                    index_bytes=looked.index_bytes,
                    stale=looked.stale,
                    problem=repository.problem or looked.problem,
                )
            )
    return LibraryResponse(
        ok=True, action=request.action, library=opened.catalogue.location, repositories=items
    )


def _token(opened: Library, request: LibraryRequest) -> LibraryResponse:
    grant = grants.Grant(request.repos, request.groups)
    tokens, notes = library_tokens.run(opened.catalogue, request.values, grant, request.expires)
    return LibraryResponse(
        ok=True, action=request.action, library=opened.catalogue.location, tokens=tokens, notes=notes
    )


def _export(opened: Library, request: LibraryRequest) -> LibraryResponse:
    exported = opened.export()
    target = request.values[0] if request.values else _STANDARD_STREAM
    text = indented(exported, 2) + "\n"
    if target == _STANDARD_STREAM:
        sys.stdout.write(text)
        return _response(opened, request, ())
    replace_file(Path(target), text.encode(), what="the export")
    return _response(opened, request, opened.repositories(), written=target)


def _import(opened: Library, request: LibraryRequest) -> LibraryResponse:
    if len(request.values) != 1:
        raise InvalidRequest(
            "an import is one file", hint="satchel library import FILE, or - for standard input"
        )
    source = request.values[0]
    try:
        data = sys.stdin.buffer.read() if source == _STANDARD_STREAM else Path(source).read_bytes()
        exported = msgspec.json.decode(data, type=library.Export)
    except OSError as error:
        raise FileNotFound(f"{source!r} cannot be read: {error.strerror}", hint="name an export") from error
    except msgspec.MsgspecError as error:
        raise InvalidRequest(
            f"{source!r} is no export of a library: {error}", hint="satchel library export FILE"
        ) from error
    opened.catalogue.create()
    return _response(opened, request, opened.take(exported))


def _response(
    opened: Library,
    request: LibraryRequest,
    repositories: Any,
    *,
    written: str = "",
    notes: list[str] | None = None,
) -> LibraryResponse:
    return LibraryResponse(
        ok=True,
        action=request.action,
        library=opened.catalogue.location,
        repositories=[_item(one) for one in repositories],
        written=written,
        notes=notes or [],
    )


def _item(repository: Repository) -> RepositoryItem:
    return RepositoryItem(
        name=repository.name,
        origin=repository.origin,
        state=repository.state.value,
        refs=repository.refs,
        groups=repository.groups,
        commits=repository.commits,
        problem=repository.problem,
        store=repository.store,
    )


def _counts(parsed: int, kept: int) -> str:
    # Where nothing changed, files are not counted.
    return f"{parsed} parsed, {kept} kept" if parsed or kept else "up to date"


def show(response: LibraryResponse, style: Style) -> str:
    """Return what was done as lines for people."""
    if response.action == "export" and not response.written:
        return ""
    rows = []
    for item in response.repositories:
        told = [item.state] + [f"{ref} {item.commits.get(ref, '')[:12]}".strip() for ref in item.refs]
        told += [f"groups {', '.join(item.groups)}"] if item.groups else []
        told += [f"{counted(item.files, 'file')}"] if item.files is not None else []
        told += [_counts(item.parsed, item.kept or 0)] if item.parsed is not None else []
        told += ["out of date"] if item.stale else []
        origin = style.path(one_line(_near(item.origin)))
        rows.append(f"{style.name(item.name)}  {origin}  {', '.join(told)}")
        rows += [f"  {style.error(one_line(item.problem))}"] if item.problem else []
    rows += [f"{response.written} written"] if response.written else []
    rows += [line for item in response.tokens for line in library_tokens.show_token(item, style)]
    if response.action == "token" and not rows:
        rows.append(f"{one_line(response.library)}: no token yet; satchel library token create NAME")
    elif not response.repositories and not response.tokens and not response.notes:
        rows.append(f"{one_line(response.library)}: no repository yet; satchel library add PATH|GIT_URL")
    return "\n".join([*rows, *response.notes]) + "\n"


def _near(origin: str) -> str:
    """Return a folder below the current one as a path from there, any other origin as it is."""
    here = Path.cwd()
    if origin == str(here):
        return "."
    return f"./{Path(origin).relative_to(here)}" if Path(origin).is_relative_to(here) else origin


VERB = Verb("library", LibraryRequest, run, show, group=Group.SET_UP)
