"""Many repositories under one name: added, brought up to date, removed, and opened to be asked.

A library is a catalogue, a mirror of every repository that comes from a URL, and the indexes of commits: in
one folder, or in a database, with the mirrors in a folder of each machine that syncs. The index of a folder
stays with that folder. Opened with a grant, a library has no other
repositories than those which the grant allows, in whatever it answers."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from filelock import FileLock
from filelock import Timeout as LockTimeout
from msgspec.structs import replace

from satchel import ids, storage
from satchel.cancellation import CancelToken
from satchel.errors import (
    Cancelled,
    IndexBusy,
    InvalidRequest,
    ProjectNotFound,
    SatchelError,
    Timeout,
)
from satchel.file_writing import make_folder
from satchel.indexing.plan import Refresh
from satchel.indexing.workers import Analyse
from satchel.library.catalogue import (
    Catalogue,
    Repository,
    RepositoryState,
    check_name,
    check_store,
    is_url,
    name_candidates,
    plain_url,
)
from satchel.library.catalogues import open_catalogue
from satchel.library.grants import EVERYTHING, Grant, matches_name
from satchel.library.library_engine import LibraryEngine
from satchel.library.members import Member, Progress, segment_at
from satchel.plugins import late
from satchel.segment import Segment
from satchel.walking import git_mirror
from satchel.walking.git import resolve_ref

if TYPE_CHECKING:
    from satchel.library import spread_postings
    from satchel.library.cluster import Cluster
else:  # what a library without a cluster does without
    spread_postings = late("satchel.library.spread_postings")

EXPORT_VERSION = 1
_NOT_IN_A_FOLDER_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_HEAD = "HEAD"
_FETCH_SECONDS = 60.0  # for another process that fetches the same repository


class SyncResult(msgspec.Struct, frozen=True, kw_only=True):
    """How the sync of a repository ended, and how many files it took."""

    name: str
    state: RepositoryState
    commits: dict[str, str] = msgspec.field(default_factory=dict)
    parsed: int = 0
    known: int = 0  # of those parsed: files whose content another repository had
    kept: int = 0
    problem: str = ""


class IndexLook(msgspec.Struct, frozen=True, kw_only=True):
    """What the index of a repository holds, and whether it is out of date; `problem` says why there is
    none."""

    files: int | None = None
    index_bytes: int | None = None
    stale: bool | None = None
    problem: str = ""


class Export(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a library holds, for another machine: no index and no path of this one but the origins of
    folders."""

    version: int
    repositories: tuple[Repository, ...]


class Library:
    """The repositories of a catalogue that a grant allows."""

    def __init__(self, catalogue: Catalogue, grant: Grant = EVERYTHING) -> None:
        self.catalogue = catalogue
        self._grant = grant

    @classmethod
    def open(cls, place: str | os.PathLike[str] = "", grant: Grant = EVERYTHING) -> Library:
        """Return the library of a folder or of a URL, or the user's own."""
        return cls(open_catalogue(place), grant)

    def seen_by(self, grant: Grant) -> Library:
        """Return the same library as a grant shows it."""
        return Library(self.catalogue, grant)

    @property
    def folder(self) -> Path:
        """Return the folder of this machine that belongs to the library."""
        return self.catalogue.folder

    def repositories(self, patterns: Sequence[str] = ()) -> list[Repository]:
        """Return the repositories that match one of some globs, by name; all of them without globs."""
        every = [one for one in self.catalogue.all() if self._grant.allows(one.name, one.groups)]
        if not patterns:
            return every
        found = [one for one in every if matches_name(one.name, patterns)]
        if not found:
            names = ", ".join(one.name for one in every) or "none"
            raise ProjectNotFound(
                f"no repository of the library is called {' or '.join(map(repr, patterns))}",
                hint=f"repositories: {names}",
            )
        return found

    def add(
        self,
        origin: str,
        *,
        name: str = "",
        refs: Sequence[str] = (),
        groups: Sequence[str] = (),
        store: str = "",
    ) -> Repository:
        """Add a folder or a git URL. A folder is asked as it is, unless refs are named; of a URL the commit
        that it calls HEAD is kept, unless others are named. Its indexes may have a `store` of their own."""
        place = plain_url(origin) if is_url(origin) else _folder(origin)
        kept = tuple(dict.fromkeys(refs)) or ((_HEAD,) if is_url(place) or _is_bare(Path(place)) else ())
        for ref in () if is_url(place) else kept:
            resolve_ref(Path(place), ref)
        repository = Repository(
            name=self._free_name(name, place, kept),
            origin=place,
            refs=kept,
            groups=tuple(dict.fromkeys(groups)),
            store=check_store(store),
        )
        if repository.is_live and store:
            raise InvalidRequest(
                "a folder that is asked as it is has its own index", hint="name the --ref that is kept, too"
            )
        if repository.is_live:
            repository = replace(repository, state=RepositoryState.READY)
        if not self.catalogue.add(repository):
            raise IndexBusy(
                f"somebody else adds a repository {repository.name} just now", hint="add it again"
            )
        return repository

    def _free_name(self, name: str, origin: str, refs: tuple[str, ...]) -> str:
        """Return the name of a new repository: the one that is asked for, or the first that is free."""
        known = {one.name.lower(): one for one in self.catalogue.all()}
        same = next((one for one in known.values() if (one.origin, one.refs) == (origin, refs)), None)
        if same is not None:
            raise InvalidRequest(
                f"{origin} is in the library already, as {same.name}", hint="satchel library list"
            )
        if name and check_name(name).lower() in known:
            other = known[name.lower()]
            raise InvalidRequest(
                f"the library has a repository {other.name!r} already, from {other.origin}",
                hint="give another --name, or satchel library remove it first",
            )
        return check_name(name or next(one for one in name_candidates(origin) if one.lower() not in known))

    def remove(self, names: Sequence[str]) -> list[Repository]:
        """Forget repositories, and remove what the library keeps of them. Folders stay as they are."""
        gone = [self._named(name) for name in names]
        for repository in gone:
            self.catalogue.drop(repository.name)
            for ref in repository.refs:
                store = storage.open_store(self._place(repository, ref))
                siblings = store.siblings()
                for commit in siblings.names():
                    siblings.remove(commit)
                store.remove()
            for folder in (self._mirror(repository), self.folder / "indexes" / repository.name):
                shutil.rmtree(folder, ignore_errors=True)
            Path(f"{self._mirror(repository)}.lock").unlink(missing_ok=True)
        return gone

    def _named(self, name: str) -> Repository:
        return next(
            one for one in self.repositories([name]) if one.name.lower() == name.lower() or "*" in name
        )

    def sync(
        self,
        patterns: Sequence[str] = (),
        *,
        token: CancelToken | None = None,
        progress: Callable[[str], Progress | None] = lambda name: None,
    ) -> Iterator[SyncResult]:
        """Bring repositories up to date, one after the other, and yield how each ended. One that fails keeps
        what it had, and the others go on. `progress` gives what hears of the work on a repository."""
        token = token or CancelToken()
        for repository in self.repositories(patterns):
            token.check()
            try:
                heard = progress(repository.name)
                result = self.bring_up_to_date(repository, token=token, progress=heard)
            except (Cancelled, Timeout):
                raise
            except SatchelError as error:
                result = SyncResult(name=repository.name, state=RepositoryState.FAILED, problem=error.message)
            self.note(repository, result)
            yield result

    def note(self, repository: Repository, result: SyncResult) -> None:
        """Write into the catalogue how the sync of a repository ended; one that failed keeps its commits."""
        commits = result.commits if result.state is RepositoryState.READY else repository.commits
        self.catalogue.note_sync(
            replace(repository, state=result.state, problem=result.problem, commits=commits)
        )

    def bring_up_to_date(
        self,
        repository: Repository,
        *,
        token: CancelToken | None = None,
        progress: Progress | None = None,
        analyse: Analyse | None = None,
    ) -> SyncResult:
        """Fetch and index one repository, and return what that took; the catalogue is not written. `analyse`
        parses the files of commits in place of a pool on this machine."""
        token = token or CancelToken()
        if repository.is_live:
            with Segment.open(repository.origin).for_caller(token=token, progress=progress) as segment:
                segment.ensure_fresh()
                done = [segment.last_refresh] if segment.last_refresh else []
            synced = repository
        else:
            if repository.is_remote:
                self._fetch(repository, token)
            done = [self._index(repository, ref, token, progress, analyse) for ref in repository.refs]
            commits = {ref: self._commit(repository, ref) for ref in repository.refs}
            synced = replace(repository, commits=commits)
        return SyncResult(
            name=repository.name,
            state=RepositoryState.READY,
            commits=synced.commits,
            parsed=sum(one.parsed for one in done),
            known=sum(one.known for one in done),
            kept=sum(one.kept for one in done),
        )

    def _fetch(self, repository: Repository, token: CancelToken) -> None:
        """Bring the mirror of a repository up to date; two processes that want it take turns."""
        mirror = self._mirror(repository)
        make_folder(mirror.parent, what="the mirrors", elsewhere="name another folder: --library DIR")
        try:
            with FileLock(f"{mirror}.lock", timeout=_FETCH_SECONDS):
                git_mirror.update_mirror(repository.origin, mirror, token)
        except LockTimeout:
            raise IndexBusy(f"another process fetches {repository.name}", hint="sync it again") from None

    def _index(
        self,
        repository: Repository,
        ref: str,
        token: CancelToken,
        progress: Progress | None,
        analyse: Analyse | None,
    ) -> Refresh:
        store = storage.open_store(self._place(repository, ref))
        root = self._root(repository)
        stored = _stored_ref(repository, ref)
        with segment_at(root, stored, store, token=token, progress=progress, analyse=analyse) as segment:
            segment.ensure_fresh()
            with closing(segment.store.snapshot()) as snapshot:
                return segment.last_refresh or Refresh(snapshot.generation, kept=len(snapshot.files()))

    def _commit(self, repository: Repository, ref: str) -> str:
        return resolve_ref(self._root(repository), _stored_ref(repository, ref))

    def engine(
        self,
        patterns: Sequence[str] = (),
        profile: str = "",
        cluster: Cluster | None = None,
        *,
        allow_partial: bool = False,
    ) -> LibraryEngine:
        """Return the engine that asks the repositories which match one of some globs, or all of them. The
        workers of a `cluster` look up the terms of its queries. A repository whose store cannot be reached is
        an error, or left out with `allow_partial`."""
        return self.engine_over(self.repositories(patterns), profile, cluster, allow_partial=allow_partial)

    def engine_over(
        self,
        repositories: Sequence[Repository],
        profile: str = "",
        cluster: Cluster | None = None,
        *,
        allow_partial: bool = False,
    ) -> LibraryEngine:
        """Return the engine that asks these repositories, as they were read from the catalogue."""
        members: list[Member] = []
        unopened: dict[str, SatchelError] = {}
        for repository in repositories:
            try:
                members.append(self._member(repository))
            except SatchelError as error:
                unopened[repository.name] = error
        folder = self.folder
        spread = None if cluster is None else spread_postings.Spread(cluster, self.catalogue.place)
        return LibraryEngine.of_members(
            folder, members, profile, unopened, spread, allow_partial=allow_partial
        )

    def member(self, name: str) -> Member:
        """Return one repository as it is asked."""
        return self._member(next(one for one in self.catalogue.all() if one.name == name))

    def _member(self, repository: Repository) -> Member:
        if repository.is_live:
            return Member.of_folder(repository.name, Path(repository.origin))
        first = repository.refs[0]
        return Member.of_commit(repository.name, self._root(repository), self._place(repository, first))

    def export(self) -> Export:
        """Return what the library holds, without what only this machine knows."""
        known = [
            replace(one, commits={}, state=RepositoryState.NEW, problem="", store="")
            for one in self.repositories()
        ]
        return Export(version=EXPORT_VERSION, repositories=tuple(known))

    def take(self, exported: Export) -> list[Repository]:
        """Add the repositories of an export that are not here yet, and return them."""
        if exported.version != EXPORT_VERSION:
            raise InvalidRequest(
                f"the export has version {exported.version}, {EXPORT_VERSION} can be read",
                hint="export it anew",
            )
        known = {one.name.lower() for one in self.catalogue.all()}
        wanted = [one for one in exported.repositories if one.name.lower() not in known]
        return [self.add(one.origin, name=one.name, refs=one.refs, groups=one.groups) for one in wanted]

    def _mirror(self, repository: Repository) -> Path:
        return self.folder / "mirrors" / repository.name

    def _root(self, repository: Repository) -> Path:
        return self._mirror(repository) if repository.is_remote else Path(repository.origin)

    def _place(self, repository: Repository, ref: str) -> str:
        """Return where the index of a ref is kept."""
        plain = _NOT_IN_A_FOLDER_NAME.sub("-", ref)
        folder = plain if plain == ref and plain.strip(".") else f"{plain}-{ids.hash_text(ref)[:8]}"
        base = repository.store or self.catalogue.store
        return storage.place_below(base, repository.name, folder)


def look_at(engine: LibraryEngine, repository: Repository) -> IndexLook:
    """Return how the index of a repository stands, as far as it can be told without changing anything."""
    member = engine.members.get(repository.name)
    if member is None:
        return IndexLook(problem=engine.store.problems[repository.name].message)
    try:
        files = len(member.source.snapshot().files())
    except SatchelError as error:
        return IndexLook(problem=error.message)
    stale = member.live is not None and member.live.state().stale
    return IndexLook(files=files, index_bytes=member.source.store.size_bytes(), stale=stale)


def _folder(origin: str) -> str:
    path = Path(origin).expanduser()
    if not path.is_dir():
        raise ProjectNotFound(
            f"{origin!r} is neither a folder nor a git URL",
            hint="give a folder, https://… or git@host:owner/name",
        )
    return str(path.resolve())


def _is_bare(folder: Path) -> bool:
    """Return whether a folder is a git repository without a work tree."""
    return not (folder / ".git").exists() and (folder / "HEAD").is_file() and (folder / "objects").is_dir()


def _stored_ref(repository: Repository, ref: str) -> str:
    """Return the name that a ref has in the copy of a repository: a copy's own HEAD means nothing."""
    return git_mirror.HEAD if repository.is_remote and ref == _HEAD else ref
