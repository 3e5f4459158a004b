"""Where does the index of each repository of a library live, and how is it read? One store made of theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from satchel import settings, storage
from satchel.cancellation import CancelToken
from satchel.embedding import model_id
from satchel.errors import (
    ConfigError,
    IndexMissing,
    IndexProblem,
    IndexStale,
    ProjectNotFound,
    SatchelError,
    StoreUnreachable,
    Unsupported,
)
from satchel.indexing.plan import CONTENT, signature
from satchel.indexing.workers import Analyse
from satchel.library.joint_snapshot import JointSnapshot
from satchel.segment import Segment
from satchel.storage.protocol import Siblings, Snapshot, Store, Writer, at_one_moment
from satchel.storage.snapshots import SnapshotSource
from satchel.walking.git_trees import GitTree

if TYPE_CHECKING:
    from satchel.library.spread_postings import Spread

Progress = Callable[[int, int], None]
# A reader and a watch have two files each, and share a third: 300 repositories have 1,800, and a process may
# usually open 1,024.
_FILES_OF_AN_INDEX = 6
_OTHER_FILES = 1_024
SYNC_HINT = "satchel library sync brings the repositories of a library up to date"


class Member:
    """One repository that is asked: a folder as it is, or a commit that was synced."""

    def __init__(self, name: str, root: Path, source: SnapshotSource) -> None:
        self.name = name
        self.root = root
        self.source = source
        self._read_at: tuple[str, Segment] | None = None  # the segment of the commit that was last read

    @classmethod
    def of_folder(cls, name: str, root: Path) -> Member:
        """Return the work tree of a folder. Its index is the one that the folder has anyway."""
        return cls(name, root.resolve(), Segment.open(root))

    @classmethod
    def of_commit(cls, name: str, root: Path, place: str) -> Member:
        """Return the commit whose index is kept at a place; `root` has its git objects."""
        return cls(name, root, SnapshotSource(storage.open_store(place)))

    def apart(self) -> Member:
        """Return the same repository with snapshots of its own, for an engine that is closed earlier."""
        if self.live is not None:
            return Member.of_folder(self.name, self.root)
        return Member(self.name, self.root, SnapshotSource(self.source.store))

    @property
    def live(self) -> Segment | None:
        """Return the segment that is brought up to date before an answer; None for a commit that was
        synced."""
        return self.source if isinstance(self.source, Segment) else None

    @property
    def ref(self) -> str:
        """Return the commit that is asked, or `worktree`."""
        if self.live is not None:
            return self.live.ref
        try:
            return self.source.snapshot().meta().get(CONTENT, "")
        except IndexProblem:
            return ""

    @property
    def segment(self) -> Segment:
        """Return the segment whose files are read, as they are now or at the commit that was synced last."""
        if self.live is not None:
            return self.live
        ref = self.ref
        if self._read_at is None or self._read_at[0] != ref:
            self._read_at = ref, segment_at(self.root, ref, self.source.store)
        return self._read_at[1]


def segment_at(
    root: Path,
    ref: str,
    store: Store,
    *,
    token: CancelToken | None = None,
    progress: Progress | None = None,
    analyse: Analyse | None = None,
) -> Segment:
    """Return the segment of a commit, with its index in a store."""
    options = settings.load(root)
    tree = GitTree(root, ref, options.walk)
    return Segment(root, store, options, tree, token=token, progress=progress, analyse=analyse)


class JointStore:
    """The stores of some repositories as one that can be read. Each repository is written through its own."""

    scratch = None
    file = None

    def __init__(
        self,
        location: str,
        members: Sequence[Member],
        unopened: Mapping[str, SatchelError] | None = None,
        spread: Spread | None = None,
        *,
        allow_partial: bool = False,
    ) -> None:
        """Join the stores of `members`; `unopened` says which repositories could not be opened, and why. With
        a `spread`, workers hold the vectors of files. A store that cannot be reached is an error, unless
        `allow_partial`."""
        _allow_open_files(_FILES_OF_AN_INDEX * len(members))
        self.location = location
        self._allow_partial = allow_partial
        self.spread = spread
        self.members = {member.name: member for member in members}
        self.problems = self._unopened = dict(unopened or {})  # why a repository cannot be asked
        self._last: JointSnapshot | None = None  # of the engine that asks

    def exists(self) -> bool:
        return any(member.source.store.exists() for member in self.members.values())

    def last_written(self) -> float | None:
        times = [member.source.store.last_written() for member in self.members.values()]
        return max((time for time in times if time is not None), default=None)

    def size_bytes(self) -> int:
        return sum(member.source.store.size_bytes() for member in self.members.values())

    def is_locked(self) -> bool:
        return any(member.source.store.is_locked() for member in self.members.values())

    def snapshot(self, known: Snapshot | None = None) -> JointSnapshot:
        """Open the newest generation of every repository that has one."""
        found: dict[str, Snapshot] = {}
        with at_one_moment():
            for name, member in self.members.items():
                with suppress(IndexProblem, ConfigError):
                    found[name] = member.source.store.snapshot()
        if not found:
            raise _nothing_indexed()
        return JointSnapshot(found, closes=True)

    def joined(self) -> JointSnapshot:
        """Join the newest generations as the one engine that asks keeps them: what it has read of a
        repository that did not change stays. `problems` says why a repository is left out."""
        found: dict[str, Snapshot] = {}
        self.problems = dict(self._unopened)
        with at_one_moment():
            for name, member in self.members.items():
                try:
                    found[name] = _of_this_version(member.source.snapshot())
                except (IndexProblem, ConfigError, ProjectNotFound) as error:
                    self.problems[name] = error
        away = {name: error for name, error in self.problems.items() if isinstance(error, StoreUnreachable)}
        if away and not self._allow_partial:
            raise _unreachable(away)
        if not found:
            raise _nothing_indexed()
        self._last = JointSnapshot(found, self._last, keeps_vectors=self.spread is None)
        return self._last

    def release(self) -> None:
        """Close the snapshots of all repositories."""
        self._last = None
        for member in self.members.values():
            member.source.release()

    def release_if_old(self) -> None:
        """Close the snapshots of repositories that have a newer generation."""
        for member in self.members.values():
            member.source.release_if_old()

    def write(self, seed: Snapshot | None = None) -> AbstractContextManager[Writer]:
        raise Unsupported("the index of a library is not written as a whole", hint=SYNC_HINT)

    def set_aside(self) -> str:
        raise Unsupported("the index of a library is not written as a whole", hint=SYNC_HINT)

    def known_parses(self, signature: str) -> None:
        return None

    def remove(self) -> None:
        raise Unsupported("the index of a library is not removed as a whole", hint="satchel library remove")

    def siblings(self) -> Siblings:
        raise Unsupported("a library has no other commits", hint="name one repository: NAME@REF")

    def beside(self, name: str) -> Store:
        raise Unsupported(
            "nothing is kept beside the index of a library", hint="ask one folder: --segment DIR"
        )

    def close(self) -> None:
        for member in self.members.values():
            member.source.release()
            member.source.store.close()


def _allow_open_files(count: int) -> None:
    """Let this process open some files besides its others, as far as the system allows that."""
    with suppress(ImportError, ValueError, OSError):  # Windows has neither the module nor such a limit
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = count + _OTHER_FILES if hard == resource.RLIM_INFINITY else min(count + _OTHER_FILES, hard)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _of_this_version(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot that this version wrote. Terms and vectors of another version mean something else, so
    they are not compared with those of other repositories."""
    wanted = signature("", model_id()).split()
    if snapshot.meta().get("signature", "").split()[: len(wanted)] != wanted:
        raise IndexStale("its index was written by another version of Satchel", hint=SYNC_HINT)
    return snapshot


def _unreachable(away: Mapping[str, StoreUnreachable]) -> StoreUnreachable:
    """Return the error of an answer that would lack repositories whose stores cannot be reached."""
    first = next(iter(away.values()))
    return StoreUnreachable(
        f"{', '.join(away)} cannot be asked: {first.message}",
        hint="--allow-partial answers without them; " + first.hint,
        details={"repositories": list(away)},
    )


def _nothing_indexed() -> IndexMissing:
    return IndexMissing("no repository of the library has an index", hint=SYNC_HINT)
