"""Ask many repositories as one: the engine whose index is made of the indexes of repositories.

Searching, packing, looking up and tracing uses are the engine's, unchanged. What differs is where the files
come from: folders are brought up to date before an answer, commits are asked as they were synced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

import msgspec

from satchel import ids, settings
from satchel.cancellation import CancelToken
from satchel.engine import Engine
from satchel.errors import (
    ConfigError,
    FileNotFound,
    IndexBusy,
    IndexProblem,
    InvalidRequest,
    ProjectNotFound,
    RefNotFound,
    SatchelError,
    Unsupported,
)
from satchel.indexing.index_state import IndexState, StaleReason, decode_watermark
from satchel.library.joint_snapshot import SHORT_COMMIT
from satchel.library.members import SYNC_HINT, JointStore, Member
from satchel.packing.pack import LIBRARY
from satchel.segment import Segment
from satchel.settings import Options
from satchel.types import Skipped, SkipReason, Source
from satchel.walking.memory_tree import MemoryTree

if TYPE_CHECKING:
    from satchel.code_facts import Target
    from satchel.indexing.plan import Refresh
    from satchel.indexing.refresh import Progress
    from satchel.library.spread_postings import Spread
    from satchel.pack_request import PackRequest
    from satchel.packing.budget import Gauge
    from satchel.packing.pack import Pack
    from satchel.storage.protocol import Snapshot


class Asking(msgspec.Struct, frozen=True):
    """How a library is asked: by the workers of which cluster, and whether an answer may leave out
    repositories whose store cannot be reached."""

    cluster: str = ""
    allow_partial: bool = False


class LibraryEngine(Engine):
    """Some repositories, asked by one caller as one. Every path starts with the name of its repository."""

    store: JointStore
    is_one_folder = False
    # What answers call every library: the folder of a server is not told, nor does it make an answer longer.
    name = LIBRARY
    location = LIBRARY

    def __init__(
        self,
        root: Path,
        store: JointStore,
        options: Options,
        *,
        token: CancelToken | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(root, store, options, MemoryTree(()), token=token, progress=progress)
        self._fresh_version = ""  # of the snapshot that a look at all folders found to be true

    @classmethod
    def of_folders(cls, folders: Sequence[str | Path], profile: str = "") -> LibraryEngine:
        """Return the engine of some folders, each named after itself."""
        members: dict[str, Member] = {}
        for folder in folders:
            name = Path(folder).resolve().name or "root"
            number = 1
            while (chosen := name if number == 1 else f"{name}-{number}") in members:
                number += 1
            members[chosen] = Member.of_folder(chosen, Path(folder))
        return cls.of_members(Path(folders[0]).resolve(), list(members.values()), profile)

    @classmethod
    def of_members(
        cls,
        root: Path,
        members: Sequence[Member],
        profile: str = "",
        unopened: Mapping[str, SatchelError] | None = None,
        spread: Spread | None = None,
        *,
        allow_partial: bool = False,
    ) -> LibraryEngine:
        """Return the engine of some repositories; `unopened` says why others could not be opened. With a
        `spread`, workers look up the terms of queries. A repository whose store cannot be reached is an
        error, or left out with `allow_partial`."""
        options = settings.with_profile(Options(), settings.chosen_profile(profile))
        store = JointStore(LIBRARY, members, unopened, spread, allow_partial=allow_partial)
        return cls(root, store, options)

    @property
    def members(self) -> dict[str, Member]:
        """Return the repositories by name."""
        return self.store.members

    def _spread(self) -> Spread | None:
        return self.store.spread

    def changed_files(self, paths: Sequence[str]) -> list[str]:
        """Return none: a library answers from commits, or from folders whose indexes were just brought up to
        date."""
        return []

    @property
    def ref(self) -> str:
        return LIBRARY

    def ref_of(self, path: str) -> str:
        return self.repository_ref(path) or LIBRARY

    def repository_ref(self, path: str) -> str:
        member = self.members.get(path.partition("/")[0])
        return f"{member.name}@{member.ref}" if member is not None else ""

    def for_caller(
        self,
        *,
        options: Options | None = None,
        token: CancelToken | None = None,
        progress: Progress | None = None,
    ) -> Self:
        other = type(self)(self.root, self.store, options or self.options, token=token, progress=progress)
        other._take_over(self)
        return other

    def _take_newest(self) -> Snapshot:
        newest = self.store.joined()
        self._tell_problems()
        if self._snapshot is None or self._snapshot.version != newest.version:
            self._forget()
            self._snapshot = newest
        return self._snapshot

    def ensure_fresh(self, token: CancelToken | None = None) -> None:
        """Bring the index of every folder up to date; commits stay as they were synced. A folder whose index
        is being written by another process is asked as it was, and one that is gone ends no answer about the
        others."""
        notes: list[str] = []
        for name, member in self.members.items():
            if member.live is None:
                continue
            segment = member.live.for_caller(token=self.token, progress=self.progress)
            member.source = segment
            try:
                segment.ensure_fresh(token)
            except IndexBusy as error:
                notes.append(f"{name}: {error.message}; it is asked as it was")
            except ProjectNotFound as error:
                notes.append(f"{name}: {error.message}")
            notes += [f"{name}: {note}" for note in segment.notes]
        self.notes = tuple(notes)
        with suppress(IndexProblem):
            self._fresh_version = self._take_newest().version  # also inside an answer, which is made from it

    def _tell_problems(self) -> None:
        told = [f"{name} is left out: {error.message}" for name, error in self.store.problems.items()]
        self.notes = (*self.notes, *(note for note in told if note not in self.notes))

    def state(self) -> IndexState:
        """Return how the indexes of all folders stand to their trees; commits that were synced never
        change."""
        try:
            snapshot = self.snapshot()
        except IndexProblem:
            return IndexState.missing({"kind": LIBRARY})
        fresh = snapshot.version == self._fresh_version
        project: dict[str, Any] = {}
        index: dict[str, Any] = {}
        reasons: dict[StaleReason, None] = {}
        for name, member in self.members.items():
            with suppress(IndexProblem, ConfigError):
                index[name] = project[name] = decode_watermark(
                    member.source.snapshot().meta().get("watermark")
                )
                if member.live is not None and not fresh:
                    state = member.live.state()
                    project[name] = state.project_watermark
                    reasons.update(dict.fromkeys(state.stale_reasons))
        marks = _watermark(project), _watermark(index)
        return IndexState(*marks, True, snapshot.generation, tuple(reasons), snapshot.version)

    def read(self, path: str) -> Source | Skipped:
        """Return one file of a repository as it is now, or why it is left out."""
        name, _, own = path.partition("/")
        member = self.members.get(name)
        if member is None:
            return Skipped(path, SkipReason.UNREADABLE, "no such repository here")
        try:
            return member.segment.read(own)
        except (RefNotFound, FileNotFound) as error:
            return Skipped(path, SkipReason.UNREADABLE, error.message)

    def at(self, ref: str) -> Self:
        """Return one repository at a commit, branch or tag: `NAME@REF`."""
        name, _, wanted = ref.partition("@")
        member = self.members.get(name)
        if member is None or not wanted:
            raise RefNotFound(
                f"{ref!r} names no commit of a repository here",
                hint=f"write NAME@REF; repositories: {', '.join(self.members)}",
                details={"ref": ref},
            )
        if wanted == member.ref or (len(wanted) >= SHORT_COMMIT and member.ref.startswith(wanted)):
            asked = member.apart()
        else:
            asked = Member(name, member.root, self._segment_at(member, wanted))
        other = type(self)(
            self.root,
            JointStore(LIBRARY, [asked]),
            self.options,
            token=self.token,
            progress=self.progress,
        )
        other.ensure_fresh()
        return other

    def _segment_at(self, member: Member, ref: str) -> Segment:
        """Return a repository at another commit. Its index starts as a copy of the one that is kept."""
        store, options = member.source.store, settings.load(member.root)
        kept = member.live or Segment(member.root, store, options, token=self.token, progress=self.progress)
        return kept.at(ref)

    def staged(self) -> Self:
        raise _of_one_repository("what is staged")

    def refresh(self, **_: Any) -> Refresh:
        raise Unsupported("a library is not indexed as a whole", hint=SYNC_HINT)

    def rebuild(self, problem: IndexProblem, token: CancelToken | None = None, scip: Any = None) -> NoReturn:
        raise problem

    def in_memory(self) -> Self:
        raise Unsupported("a library is not indexed as a whole", hint=SYNC_HINT)

    def ignored(self) -> list[Skipped]:
        return [
            Skipped(f"{name}/{item.path}", item.reason, item.detail)
            for name, member in self.members.items()
            if member.live is not None
            for item in member.live.ignored()
        ]

    def index_folder(self) -> Path | None:
        return None

    def release(self) -> None:
        super().release()
        self.store.release()

    def release_if_old(self) -> None:
        super().release_if_old()
        self.store.release_if_old()

    def _review(self, change: str, request: PackRequest, gauge: Gauge) -> Pack:
        raise _of_one_repository("a change")

    @contextmanager
    def changed_side(self, change: str) -> Iterator[tuple[Engine, list[Target]]]:
        raise _of_one_repository("a change")
        yield

    def _take_over(self, before: Self) -> None:
        super()._take_over(before)
        self._fresh_version = ""


def _watermark(repositories: Mapping[str, Any]) -> dict[str, Any]:
    """Return one watermark for those of some repositories: an answer with a budget has no room for all."""
    state = ids.hash_text(msgspec.json.encode(dict(sorted(repositories.items()))).decode())
    return {"kind": LIBRARY, "repositories": len(repositories), "state_hash": state}


def _of_one_repository(what: str) -> SatchelError:
    return InvalidRequest(f"{what} is that of one repository", hint="ask its folder: --segment DIR")
