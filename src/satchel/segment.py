"""How is the index of one root opened and brought up to date, also at another commit?

The questions that are asked of an index are the engine's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from satchel import ids, settings, storage
from satchel.cancellation import CancelToken
from satchel.errors import (
    ConfigError,
    IndexCorrupt,
    IndexIncompatible,
    IndexProblem,
    ProjectNotFound,
    SatchelError,
    Unsupported,
)
from satchel.indexing.index_state import (
    FreshIndex,
    already_indexed,
    encode_watermark,
    find_fresh,
)
from satchel.indexing.plan import CONTENT, HISTORY_HEAD, NOTES, Refresh, notes_of_content
from satchel.plugins import late
from satchel.settings import Options
from satchel.storage.protocol import LOCK_WAIT_SECONDS, Snapshot, Store
from satchel.tracked_index import TrackedIndex
from satchel.types import FileEntry, Skipped, SkipReason, Source, Walk
from satchel.walking.work_tree import SourceTree, WorkTree, in_repository

if TYPE_CHECKING:
    from satchel import chunking
    from satchel.embedding import word_vectors
    from satchel.graph import update as graph_update
    from satchel.graph.scip import binding as scip_binding
    from satchel.graph.scip import documents as scip_documents
    from satchel.indexing import analysis, refresh, workers
    from satchel.storage import history, index_archive, ref_indexes
    from satchel.walking import git_trees, linked_worktrees, own_output, source_reader, watermark
else:  # what a search of a fresh index does without
    chunking, word_vectors = late("satchel.chunking"), late("satchel.embedding.word_vectors")
    graph_update = late("satchel.graph.update")
    scip_binding, scip_documents = (late(f"satchel.graph.scip.{name}") for name in ("binding", "documents"))
    analysis, refresh, workers = (
        late(f"satchel.indexing.{name}") for name in ("analysis", "refresh", "workers")
    )
    history, index_archive, ref_indexes = (
        late(f"satchel.storage.{name}") for name in ("history", "index_archive", "ref_indexes")
    )
    linked_worktrees = late("satchel.walking.linked_worktrees")
    git_trees, own_output, source_reader, watermark = (
        late(f"satchel.walking.{name}") for name in ("git_trees", "own_output", "source_reader", "watermark")
    )


RULE_FILES = frozenset({".gitignore", ".ignore", ".satchelignore", settings.PROJECT_FILE})
_WORK_TREES_COMPARED = 3  # to find the one that is most alike; each takes 30 ms in Django
_TIMES_OVERTAKEN = 4  # by other processes that index the same folder; then the older walk has to do
_LOST_SCIP = "its SCIP files have to be given again: satchel index --scip FILE"
_NOTHING = "no file of this folder is indexed: there is none, or ignore rules leave everything out"


_Files = Sequence[str | os.PathLike[str]]


class _Look(msgspec.Struct, frozen=True):
    """A walk, what an index has to note of it, and the generation before it; None if there was no index."""

    walk: Walk
    meta: dict[str, str]
    generation: int | None


class Segment(TrackedIndex):
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
        """Make the segment of one caller: `token` ends its long work, `progress` hears of it, and `analyse`
        does the part of it that parses files, in place of a pool on this machine."""
        super().__init__(root, store, options, tree or WorkTree(root, options.walk))
        self.token = token or CancelToken()
        self.progress = progress
        self._analyse = analyse
        self.notes: tuple[str, ...] = ()
        self.last_refresh: Refresh | None = None  # None as long as the index was only opened
        self._refs: ref_indexes.RefIndexes | None = None  # where the indexes of other refs live
        self._ref_name = ""  # the name of this index among them; empty for the main one
        self._alone = False  # whether nothing may be taken from other indexes
        self._rebuilding = False
        self._given: Snapshot | None = None  # an index from elsewhere that a refresh may take from
        self._looked: _Look | None = None  # what was found since the last refresh, if that calls for one

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

    def ensure_fresh(self, token: CancelToken | None = None) -> None:
        """Refresh the index if its tree changed. A glance at what the last walk rested on, or one walk,
        tells; if nothing changed, nothing is written. A `token` ends the refresh earlier than that of the
        segment."""
        try:
            self._ensure_fresh(token)
        finally:
            self._looked = None  # of no use once the tree may have changed

    def _ensure_fresh(self, token: CancelToken | None) -> None:
        fresh: FreshIndex | None = None
        with suppress(IndexProblem):  # missing or unusable: refresh builds it and says so
            if self._tree.content_id:
                notes = notes_of_content(self.snapshot(), self._final_meta())
                fresh = None if notes is None else FreshIndex(notes)
            else:
                wanted = self._signature()
                fresh = find_fresh(self._tree, self.snapshot(), wanted, self._walk_file(), self._look)
        if fresh is None:
            self.refresh(token=token)
        else:
            self.notes = fresh.notes
            self._note_state(fresh.watermark)

    def refresh(
        self,
        *,
        force: bool = False,
        paths: Sequence[str] | None = None,
        mark: watermark.Watermark | None = None,
        token: CancelToken | None = None,
        scip: _Files | None = None,
    ) -> Refresh:
        """Bring the index up to date and return what that took.

        A caller who knows which files changed gives their `paths`, and only these are read. With the `mark`
        of a moment up to which nothing else had changed, the index is noted as true to that moment. An index
        that cannot be used is set aside and built anew. A `token` ends the work earlier than that of the
        segment; the index then stays as it was. What the files of `scip` say replaces what such files said
        before; with an empty list nothing takes its place.
        """
        token = token or self.token
        with self.unpinned():  # the caller wants to see what came of it
            for _ in range(_TIMES_OVERTAKEN):
                base = self._looked.generation if self._looked else self._generation()
                try:
                    return self._refresh(force, paths, mark, base, token, scip)
                except refresh.Overtaken:
                    mark = None  # the other process may know of newer changes
            return self._refresh(force, paths, None, None, token, scip)

    def _refresh(
        self,
        force: bool,
        paths: Sequence[str] | None,
        mark: watermark.Watermark | None,
        base: int | None,
        token: CancelToken,
        scip: _Files | None,
    ) -> Refresh:
        imported = self._scip_import(scip)
        if paths is not None and scip is None and self.store.exists() and not self._needs_walk(paths, mark):
            walk = self._tree.entries_at(paths)
            meta = {"signature": self._signature()}
            done = self._already_indexed(walk, paths, meta, mark)
            if done is not None and not force:
                return done
            meta |= _noted(mark)
        else:
            paths = mark = None
            looked, self._looked = self._looked, None
            # Files that an earlier version hid from git are seen by this walk.
            if self._prepare_folder(make=False) or looked is None:
                walk, meta = self._walk_all()
            else:
                walk, meta = looked.walk, looked.meta
        self.notes = walk.notes if walk.files or paths else (*walk.notes, _NOTHING)
        meta |= self._content_meta(walk)
        # A snapshot of the segment itself would keep the writer from cutting the log.
        self._forget()
        self._prepare_folder()
        counts = mark is not None and mark.file_count is not None
        reader = source_reader.SourceReader(self._tree, self.options.walk)
        try:
            with self._sources(meta["signature"], walk.files, force) as sources:
                request = refresh.RefreshRequest(
                    walk,
                    self._stages(reader, imported, None if force else meta["signature"]),
                    meta,
                    paths=paths,
                    always=scip is not None,
                    workers=self.options.workers or workers.default_workers(),
                    analyse=self._analyse,
                    force=force,
                    progress=self.progress or (lambda done, total: None),
                    token=token,
                    history=self._history_at(meta[HISTORY_HEAD]) if paths is None else None,
                    hashes=reader.hashes,
                    sources=sources,
                    base=base,
                    final_meta=self._counted_watermark if counts else None,
                )
                report = self.last_refresh = refresh.refresh(self.store, request)
        except (IndexCorrupt, IndexIncompatible) as error:
            return self.rebuild(error, token, scip)
        if paths is None:
            self._remember(walk)
        return report

    def _scip_import(self, scip: _Files | None) -> scip_binding.ScipImport | None:
        """Return what puts SCIP documents into the index; None where those that it has stay.

        The index of a commit has none: it may start as a copy of one that has, and must not depend on that.
        """
        if self._tree.content_id:
            return scip_binding.ScipImport()
        if scip is None:
            return None
        return scip_binding.ScipImport([scip_documents.ScipFile(path, self.root) for path in scip])

    def _look(self) -> Walk:
        """Walk the whole tree, and keep what was found for the refresh that follows if it is new."""
        generation = self._generation()
        walk, meta = self._walk_all()
        self._looked = _Look(walk, meta, generation)
        return walk

    def _walk_all(self) -> tuple[Walk, dict[str, str]]:
        """Walk the whole tree and return what the index has to note of the moment before."""
        before = self._tree.take_watermark() if in_repository(self.root) else None
        walk = self._tree.entries()
        return walk, {
            "signature": self._signature(),
            "watermark": encode_watermark(before or self._tree.take_watermark(walk)),
            "root_path": str(self.root),
            HISTORY_HEAD: self._tree.head(),
        }

    def _content_meta(self, walk: Walk) -> dict[str, str]:
        """Return what an index notes of a tree that never changes; nothing for a work tree."""
        if not self._tree.content_id:
            return {}
        content = "" if _lacks_objects(walk) else self._tree.content_id
        return {CONTENT: content, NOTES: "\n".join(self.notes)}

    def _history_at(self, head: str) -> Callable[[], bytes]:
        """Return a function that reads and packs the commits up to a head."""
        return lambda: history.pack_history(self._tree.history(head))

    def _stages(
        self,
        reader: source_reader.SourceReader,
        scip: scip_binding.ScipImport | None,
        signature: str | None,
    ) -> analysis.Stages:
        """Return what turns a file into the rows of an index. Content that an index of this `signature` in
        the same place knows is not parsed again."""
        return analysis.Stages(
            reader,
            chunking.parse_source,
            chunking.prepare,
            chunking.prepare_worker,
            words=word_vectors.load,
            graph=partial(graph_update.GraphUpdate, scip),
            known=None if signature is None or self._alone else self.store.known_parses(signature),
        )

    def rebuild(
        self, problem: IndexProblem, token: CancelToken | None = None, scip: _Files | None = None
    ) -> Refresh:
        """Set an unusable index aside and build a new one; the notes say so. SCIP documents go with the old
        one, unless the files of `scip` take their place."""
        if self._rebuilding:  # the new one cannot be read either: what is wrong is not in the file
            raise problem
        lost = self._lost_scip() if scip is None else ""
        self.release()
        self._alone = True  # the damage may be in an index that it was copied from
        aside = self.store.set_aside()
        self._rebuilding = True
        try:
            report = self.refresh(token=token, scip=scip)
        finally:
            self._rebuilding = False
        self.notes = (*self.notes, f"{problem.message}; it was set aside as {aside} and built anew{lost}")
        return report

    def _lost_scip(self) -> str:
        """Return what is said of the SCIP documents of an index that is given up. Whether there were any may
        be what cannot be read."""
        if self._tree.content_id:
            return ""
        with suppress(IndexProblem, ConfigError):
            return f", {_LOST_SCIP}" if self.snapshot().scip_documents() else ""
        return f"; if it had SCIP edges, {_LOST_SCIP}"

    def mark(self) -> watermark.Watermark:
        """Return a watermark for `refresh(paths=…)`. That costs a question to git and never a walk: without
        git the files that the index holds are counted once they are all in it."""
        if in_repository(self.root):
            found = watermark.from_git(self.root, self.options.walk.index_folder)
            if found is not None:
                return found
        return watermark.from_files(())

    def _counted_watermark(self, snapshot: Snapshot) -> dict[str, str]:
        """Return the watermark of a folder without git, counted from the files of the index: it differs from
        that of the folder if a file changed that no caller named."""
        held = snapshot.extent()
        mark = watermark.from_totals(held.file_count, held.latest_mtime_ns, held.total_bytes)
        return {"watermark": encode_watermark(mark)}

    def _already_indexed(
        self, walk: Walk, paths: Sequence[str], meta: dict[str, str], mark: watermark.Watermark | None
    ) -> Refresh | None:
        with suppress(IndexProblem):
            snapshot = self.snapshot()
            if mark is not None:
                sealed = self._counted_watermark(snapshot) if mark.file_count is not None else None
                meta = meta | (sealed or {"watermark": encode_watermark(mark)})
            return already_indexed(self._tree, snapshot, walk, paths, meta)
        return None

    def _generation(self) -> int | None:
        """Return the generation that a walk of now starts from; None if no walk can be overtaken."""
        if self._tree.content_id:
            return None
        if not self.store.exists():
            return 0
        with suppress(IndexProblem, ConfigError), closing(self.store.snapshot()) as snapshot:
            return snapshot.generation
        return None

    def _needs_walk(self, paths: Sequence[str], mark: watermark.Watermark | None) -> bool:
        """Return whether more than these files may have changed: a folder, an ignore rule or the commit."""
        try:
            self.snapshot()
        except IndexProblem:  # an index that cannot be read is built from all files
            return True
        if mark is not None and (mark.git_head or "") != self.snapshot().meta().get(HISTORY_HEAD, ""):
            return True
        if any(path.rpartition("/")[2] in RULE_FILES or (self.root / path).is_dir() for path in paths):
            return True
        gone = [path for path in paths if not (self.root / path).exists() and not self.snapshot().file(path)]
        return bool(gone) and any(
            record.path.startswith(f"{path}/") for record in self.snapshot().files() for path in gone
        )

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

    def _final_meta(self) -> dict[str, str]:
        """Return the meta values of a complete index of a tree that never changes. The root is among them,
        because another root may be another part of the same commit."""
        wanted = self._signature()
        return {"signature": wanted, "root_path": str(self.root), CONTENT: self._tree.content_id}

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
        for root in linked_worktrees.other_work_trees(self.root):
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


def _noted(mark: watermark.Watermark | None) -> dict[str, str]:
    """Return what an index notes of a mark that git gave; one without git is counted when all is written."""
    if mark is None or mark.file_count is not None:
        return {}
    return {"watermark": encode_watermark(mark)}


def _lacks_objects(walk: Walk) -> bool:
    """Return whether objects of a commit are not in this clone. They may come later, so its index is not
    final."""
    return any(item.reason is SkipReason.UNREADABLE for item in walk.skipped)
