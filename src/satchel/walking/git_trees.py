"""The files of a commit, and the files staged for the next one, read from git objects. The work tree is not
looked at, and nothing is written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from satchel.errors import FileNotFound, ProjectNotFound, RefNotFound
from satchel.ids import hash_text
from satchel.settings import WalkOptions
from satchel.storage.records import HistoryCommit
from satchel.types import Skipped, SkipReason, Walk
from satchel.walking import file_filter, git, history, ignore_rules, listing, watermark
from satchel.walking.git_command import GitUnusable
from satchel.walking.ignore_rules import LoadFile
from satchel.walking.paths import check_relative
from satchel.walking.tree_changes import TreeChanges
from satchel.walking.work_tree import ignored_by_any, own_ignore_rules, rule_notes, sorted_walk

STAGED = "staged"  # the ref of the files in git's index
_MOST_NAMED = 3  # files in a note
_NAME_DIGITS = 16  # of a commit id; enough to be unique in any repository


class BlobTree(ABC):
    """Files that are git blobs. The stamp of each file is derived from its blob, so a refresh from one such
    tree to another reads only what differs between them."""

    ref: str
    content_id: str

    def __init__(self, root: Path, options: WalkOptions | None = None) -> None:
        if not root.is_dir():
            raise ProjectNotFound(f"{str(root)!r} is not a folder", details={"root": str(root)})
        self.root = root
        self.options = options or WalkOptions()
        self._listing: git.TreeListing | None = None
        self._shas: dict[str, str] = {}

    @property
    def name(self) -> str:
        """Return a short name for stored files that belong to this tree."""
        return self.content_id[:_NAME_DIGITS]

    def entries(self) -> Walk:
        files = self._listed()
        chosen = file_filter.FileFilter(self.options)
        rules = own_ignore_rules(self._loader(), self.options)
        listing.filter_blobs(files, ignored_by_any(rules), chosen)
        absent = [item.path for item in chosen.skipped.values() if item.detail == listing.NOT_IN_CLONE]
        return sorted_walk(chosen, (*_unmerged(files), *_absent(absent), *rule_notes(rules)))

    def entries_at(self, paths: Sequence[str]) -> Walk:
        asked = set(paths)
        walk = self.entries()
        skipped = [item for item in walk.skipped if item.path in asked]
        return Walk([item for item in walk.files if item.path in asked], skipped, walk.notes)

    def read(self, path: str) -> bytes:
        ((_, data),) = self.read_many([path])
        if isinstance(data, Skipped):
            raise FileNotFound(f"{path!r}: {data.detail}", details={"path": path, "ref": self.ref})
        return data

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | Skipped]]:
        present = {blob.path for blob in self._listed().blobs}
        asked = [(path, self._shas.get(check_relative(path))) for path in paths]
        blobs = git.read_blobs(self.root, [sha for _, sha in asked if sha])
        for path, sha in asked:
            data = next(blobs)[1] if sha else None
            missing = listing.NOT_IN_CLONE if sha or path in present else f"not at {self.ref}"
            yield path, Skipped(path, SkipReason.UNREADABLE, missing) if data is None else data

    def changes_since(self, file: Path, key: str, only: Sequence[str] | None = None) -> TreeChanges | None:
        return None  # the content id already tells whether an index matches this tree

    def save_stat_cache(self, file: Path, key: str, walk: Walk) -> None:
        return  # a tree of blobs never changes

    def take_watermark(self, walk: Walk | None = None) -> watermark.Watermark:
        return watermark.from_content(self.head(), self.content_id)

    @abstractmethod
    def head(self) -> str:
        """Return the commit that the files come from; empty before the first one."""

    def history(self, head: str) -> list[HistoryCommit]:
        return history.read_history(self.root, head) if head else []

    @abstractmethod
    def _list(self) -> git.TreeListing:
        """Return every file of the tree with its blob."""

    def _listed(self) -> git.TreeListing:
        if self._listing is None:
            self._listing = self._list()
            self._shas = {blob.path: blob.sha for blob in self._listing.blobs if blob.size >= 0}
        return self._listing

    def _loader(self) -> LoadFile:
        """Return a function that loads ignore files as they are in this tree. All of them are read in one git
        call."""
        wanted = [path for path in self._shas if path.rpartition("/")[2] in ignore_rules.OWN_NAMES]
        found = {path: data for path, data in self.read_many(wanted) if isinstance(data, bytes)}
        return lambda folder, name: found.get(f"{folder}/{name}" if folder else name)


class GitTree(BlobTree):
    """The files of a commit. The ref is resolved once, so a branch that moves on does not change the tree."""

    def __init__(self, root: Path, ref: str, options: WalkOptions | None = None) -> None:
        super().__init__(root, options)
        self.commit = self.ref = self.content_id = git.resolve_ref(root, ref)

    def head(self) -> str:
        return self.commit

    def _list(self) -> git.TreeListing:
        return git.list_tree(self.root, self.commit)


class StagedTree(BlobTree):
    """The files that a commit made now would hold. What is staged later does not change the tree."""

    ref = STAGED

    def __init__(self, root: Path, options: WalkOptions | None = None) -> None:
        super().__init__(root, options)
        try:
            self._head = git.locate_in_repository(root).head
            listing = self._listed()
        except GitUnusable as problem:
            raise RefNotFound(
                f"what is staged cannot be read: {problem.message}",
                hint=problem.hint,
                details=problem.details,
            ) from problem
        files = "".join(f"{blob.path}\0{blob.sha}\0{blob.size}\0" for blob in listing.blobs)
        links = "".join(f"{path}\0" for path in (*listing.symlinks, "", *listing.unmerged))
        self.content_id = f"{STAGED} {hash_text(f'{self._head}{files}{links}')}"

    @property
    def name(self) -> str:
        return f"{STAGED}-{self.content_id.partition(' ')[2][:_NAME_DIGITS]}"

    def head(self) -> str:
        return self._head

    def _list(self) -> git.TreeListing:
        return git.list_index(self.root)


def _unmerged(listing: git.TreeListing) -> Iterator[str]:
    """Yield a note if files of the index are unmerged."""
    count = len(listing.unmerged)
    if count:
        yield f"{count} file{'s are' if count > 1 else ' is'} unmerged: our side is taken where there is one"


def _absent(paths: Sequence[str]) -> Iterator[str]:
    """Yield a note if files are not in a partial clone: the rest must not be taken for the whole commit."""
    count = len(paths)
    if count:
        named = ", ".join(sorted(paths)[:_MOST_NAMED]) + (" …" if count > _MOST_NAMED else "")
        yield f"{count} of its files could not be read, because they are not in this clone: {named}"
