"""How is the index of one root opened, also at another commit, and which other indexes does it start from?

`updated_index.py` brings it up to date. The questions that are asked of an index are the engine's.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from satchel import ids, settings, storage
from satchel.cancellation import CancelToken
from satchel.errors import (
    ConfigError,
    IndexCorrupt,
    IndexProblem,
    ProjectNotFound,
    SatchelError,
    Unsupported,
)
from satchel.indexing.plan import Refresh
from satchel.plugins import late
from satchel.settings import Options
from satchel.storage.protocol import LOCK_WAIT_SECONDS, Snapshot, Store
from satchel.types import FileEntry, Skipped, Source
from satchel.updated_index import UpdatedIndex
from satchel.walking.work_tree import SourceTree, WorkTree

if TYPE_CHECKING:
    from satchel.indexing import refresh, workers
    from satchel.storage import index_archive, ref_indexes
    from satchel.walking import git_folder, git_trees, own_output, source_reader
else:  # what a search of a fresh index does without
    index_archive, ref_indexes = (
        late(f"satchel.storage.{name}") for name in ("index_archive", "ref_indexes")
    )
    git_folder, git_trees, own_output, source_reader = (
        late(f"satchel.walking.{name}") for name in ("git_folder", "git_trees", "own_output", "source_reader")
    )

_WORK_TREES_COMPARED = 3  # to find the one that is most alike; each takes 30 ms in Django


class Segment(UpdatedIndex):
    """A root folder, as it is or at a commit, with its index."""

    def __init__(
        self,
        root: Path,
        store: Store,
        options: Options,
        tree: SourceTree | None = None,
        *,
        token: CancelToken | None = None,
        progress: refresh.Progress | None = None,
        analyse: workers.Analyse | None = None,
    ) -> None:
        """Make the segment of one caller, for whom `UpdatedIndex` says what the last three do."""
        chosen = tree or WorkTree(root, options.walk)
        super().__init__(root, store, options, chosen, token=token, progress=progress, analyse=analyse)
        self._refs: ref_indexes.RefIndexes | None = None  # where the indexes of other refs live
        self._ref_name = ""  # the name of this index among them; empty for the main one
        self._given: Snapshot | None = None  # an index from elsewhere that a refresh may take from

    @classmethod
    def open(
        cls,
        root: str | os.PathLike[str] = ".",
        *,
        index_dir: str | os.PathLike[str] | None = None,
        store: Store | None = None,
        workers: int = 0,
        profile: str = "",
        lock_wait_seconds: float = LOCK_WAIT_SECONDS,
    ) -> Self:
        """Open the segment of a folder. Nothing is read or written before the first call.

        `index_dir` is the folder of its index or the URL of a store (see `satchel.storage`). A `store` that
        is open already takes its place. A refresh waits `lock_wait_seconds` for another one to finish.
        """
        path = Path(root)
        if not path.is_dir():
            raise ProjectNotFound(
                f"{os.fspath(root)!r} is not a folder", hint="give the root of a repository or any folder"
            )
        path = path.resolve()
        options = settings.load(path, index_dir=index_dir or "", workers=workers, profile=profile)
        place = storage.place_within(options.index or path / settings.INDEX_FOLDER, settings.root_name(path))
        chosen = store or storage.open_store(place, lock_wait_seconds=lock_wait_seconds)
        if options.index and chosen.scratch is not None:
            options = settings.with_index_inside(options, path, chosen.scratch)
            options = settings.leave_out(options, path, *own_output.beside(chosen.file))
        return cls(path, chosen, options)

    def for_caller(
        self,
        *,
        options: Options | None = None,
        token: CancelToken | None = None,
        progress: refresh.Progress | None = None,
    ) -> Self:
        """Return the same segment for another caller.

        It takes over what was read of the index, which makes the next answer quick. The notes and the report
        of the last refresh belong to the caller before and are not taken over.
        """
        chosen = options or self.options
        other = type(self)(self.root, self.store, chosen, self._tree, token=token, progress=progress)
        other._take_over(self)
        return other

    def _take_over(self, before: Self) -> None:
        self._snapshot, self._refs, self._ref_name = before._snapshot, before._refs, before._ref_name

    def at(self, ref: str) -> Self:
        """Return the same root at a commit, branch or tag, read from git objects, with a fresh index.

        The index starts as a copy of one that is there already, so that what two commits share is parsed
        once. It is that of the commit which the ref names now.
        """
        return self._beside(git_trees.GitTree(self.root, ref, self.options.walk))

    def staged(self) -> Self:
        """Return the same root with the files that a commit made now would have."""
        return self._beside(git_trees.StagedTree(self.root, self.options.walk))

    @property
    def ref(self) -> str:
        """Return where citations say that the files are: a commit, `staged` or `worktree`."""
        return self._tree.ref

    @property
    def commit(self) -> str:
        """Return the full id of the commit that this is; empty if it is none."""
        return self.ref if self.ref == self._tree.content_id else ""

    def _beside(self, tree: git_trees.BlobTree) -> Self:
        self._prepare_folder()
        self._refs = self._refs or ref_indexes.RefIndexes(self.store)
        other = self._of_ref(tree, self._refs)
        if not other._is_usable():
            other.release()
            self._refs.remove(tree.name)
            other = self._of_ref(tree, self._refs)
        other.ensure_fresh()
        other.snapshot()  # whoever has a snapshot open keeps others from removing the index
        self._refs.mark_used(tree.name)
        return other

    def _of_ref(self, tree: git_trees.BlobTree, refs: ref_indexes.RefIndexes) -> Self:
        store = refs.store(tree.name)
        other = type(self)(self.root, store, self.options, tree, token=self.token, progress=self.progress)
        other._refs, other._ref_name = refs, tree.name
        return other

    def _is_usable(self) -> bool:
        """Return whether the index can be read and was made with the options of now."""
        usable = False
        with suppress(IndexProblem, ConfigError):  # it may be removed just now
            usable = self.snapshot().meta().get("signature") == self._signature()
        return usable and self.store.exists()  # it may have been removed while it was opened

    def _sources(
        self, wanted: str, files: Sequence[FileEntry], force: bool
    ) -> AbstractContextManager[ref_indexes.Sources]:
        """Open the other indexes that a new one may take from: that of a ref those of other refs, a first
        index of a work tree those of the repository's other work trees."""
        if self._given is not None:
            return nullcontext(ref_indexes.Sources((self._given,), self._given))
        if self._alone or force:
            return nullcontext(ref_indexes.Sources())
        if self._refs is not None and self._ref_name:
            return self._refs.sources(self._ref_name, wanted, files)
        stores = [] if self._tree.content_id or self.store.exists() else self._work_tree_stores()
        return ref_indexes.open_sources(stores, wanted, files)

    def _work_tree_stores(self) -> list[Store]:
        """Return the indexes of this folder in other work trees of the repository: that of the main one, and
        those written last."""
        opened = []
        for root in git_folder.other_work_trees(self.root):
            with suppress(SatchelError):
                opened.append(type(self).open(root).store)
        kept = [store for store in opened if store.exists()]
        newest = sorted(kept[1:], key=lambda store: -(store.last_written() or 0.0))
        return [*kept[:1], *newest][:_WORK_TREES_COMPARED]

    def export_index(self, target: Path) -> int:
        """Write the index to a file for another machine, and return its size."""
        folder = self.index_folder()
        with self.pinned():
            return index_archive.write_archive(self.snapshot(), target, folder or target.parent)

    def import_index(self, source: Path) -> Refresh:
        """Start from an index that was exported, and bring it up to date with the files of this folder.

        What it says of a file counts if the file has the same content, whatever its time. The text that it
        has of such a file must be that of the file: otherwise the whole archive is refused.
        """
        folder = self.index_folder()
        if folder is None:
            raise Unsupported(
                "this kind of store has no folder", hint="import into an index in a SQLite file"
            )
        with index_archive.opened_archive(source, folder, self._signature()) as given:
            self._check_texts(given)
            other = self.for_caller(token=self.token, progress=self.progress)
            other._given = given
            report = other.refresh()
            self.notes, self.last_refresh = other.notes, report
        self.release()
        return report

    def _check_texts(self, given: Snapshot) -> None:
        """Raise if an index has another text of a file than the file with that content."""
        known: dict[str, list[str]] = {}
        for record in given.files():
            known.setdefault(record.file_hash, []).append(record.path)
        reader = source_reader.SourceReader(self._tree, self.options.walk)
        for _, source in reader(self._tree.entries().files):
            self.token.check()
            paths = [] if isinstance(source, Skipped) else known.get(source.file_hash, [])
            if any(given.text(path) != source.text for path in paths if isinstance(source, Source)):
                raise IndexCorrupt(
                    f"the archive has another text of {source.path} than the file",
                    hint="do not use it; build the index: satchel index",
                )

    def ignored(self) -> list[Skipped]:
        """Return what ignore files leave out of the folder now, whatever the index holds."""
        return WorkTree(self.root, self.options.walk).ignored()

    def read(self, path: str) -> Source | Skipped:
        """Return one file of the tree as it is now, or why it is left out."""
        reader = source_reader.SourceReader(self._tree, self.options.walk)
        ((_, source),) = reader([FileEntry(path, 0, 0)])
        return source

    def changed_files(self, paths: Sequence[str]) -> list[str]:
        """Return those of some indexed files whose content is another one now, or that are gone."""
        snapshot = self.snapshot()
        known = {path: record.file_hash for path in paths if (record := snapshot.file(path)) is not None}
        found = self._tree.read_many(list(known))
        return [
            path for path, data in found if isinstance(data, Skipped) or ids.hash_bytes(data) != known[path]
        ]

    def in_memory(self) -> Self:
        """Return the same root with an empty index in memory."""
        return type(self)(
            self.root, storage.open_store("memory:"), self.options, token=self.token, progress=self.progress
        )

    def close(self) -> None:
        """Release the index."""
        self.release()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
