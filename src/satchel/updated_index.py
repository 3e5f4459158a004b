"""How is the index of one tree brought up to date?

A walk, or the paths that a caller names, say which files are read; `indexing` does the rest. The segment says
which tree that is, and which other indexes a new one may take from.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from satchel import settings
from satchel.cancellation import CancelToken
from satchel.errors import ConfigError, IndexCorrupt, IndexIncompatible, IndexProblem
from satchel.indexing.index_state import (
    ChangesSinceWalk,
    FreshIndex,
    Look,
    already_indexed,
    changes_since_walk,
    decode_watermark,
    encode_watermark,
    find_fresh,
)
from satchel.indexing.plan import CONTENT, HISTORY_HEAD, NOTES, Refresh, notes_of_content
from satchel.plugins import late
from satchel.settings import Options
from satchel.storage.protocol import Snapshot, Store
from satchel.tracked_index import TrackedIndex
from satchel.types import FileEntry, SkipReason, Walk
from satchel.walking.work_tree import SourceTree, in_repository

if TYPE_CHECKING:
    from satchel import chunking
    from satchel.embedding import word_vectors
    from satchel.graph import update as graph_update
    from satchel.graph.scip import binding as scip_binding
    from satchel.graph.scip import documents as scip_documents
    from satchel.indexing import analysis, refresh, workers
    from satchel.storage import history, ref_indexes
    from satchel.walking import source_reader, watermark
else:  # what a search of a fresh index does without
    chunking, word_vectors = late("satchel.chunking"), late("satchel.embedding.word_vectors")
    graph_update = late("satchel.graph.update")
    scip_binding, scip_documents = (late(f"satchel.graph.scip.{name}") for name in ("binding", "documents"))
    analysis, refresh, workers = (
        late(f"satchel.indexing.{name}") for name in ("analysis", "refresh", "workers")
    )
    history, ref_indexes = late("satchel.storage.history"), late("satchel.storage.ref_indexes")
    source_reader, watermark = late("satchel.walking.source_reader"), late("satchel.walking.watermark")


RULE_FILES = frozenset({".gitignore", ".ignore", ".satchelignore", settings.PROJECT_FILE})
_TIMES_OVERTAKEN = 4  # by other processes that index the same folder; then the older walk has to do
_LOST_SCIP = "its SCIP files have to be given again: satchel index --scip FILE"
_NOTHING = "no file of this folder is indexed: there is none, or ignore rules leave everything out"


_Files = Sequence[str | os.PathLike[str]]


class UpdatedIndex(TrackedIndex):
    """The index in a store, refreshed whenever its tree changed and built anew where it cannot be used."""

    def __init__(
        self,
        root: Path,
        store: Store,
        options: Options,
        tree: SourceTree,
        *,
        token: CancelToken | None = None,
        progress: refresh.Progress | None = None,
        analyse: workers.Analyse | None = None,
    ) -> None:
        """Make the index of one caller: `token` ends its long work, `progress` hears of it, and `analyse`
        does the part of it that parses files, in place of a pool on this machine."""
        super().__init__(root, store, options, tree)
        self.token = token or CancelToken()
        self.progress = progress
        self._analyse = analyse
        self.notes: tuple[str, ...] = ()
        self.last_refresh: Refresh | None = None  # None as long as the index was only opened
        self._alone = False  # whether nothing may be taken from other indexes
        self._rebuilding = False
        self._looked: Look | None = None  # what was found since the last refresh, if that calls for one

    def ensure_fresh(self, token: CancelToken | None = None) -> None:
        """Refresh the index if its tree changed. A glance at what the last walk rested on, a look at the few
        files that changed since, or one walk tells; if nothing changed, nothing is written. A `token` ends
        the refresh earlier than that of the segment."""
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

    def _final_meta(self) -> dict[str, str]:
        """Return the meta values of a complete index of a tree that never changes. The root is among them,
        because another root may be another part of the same commit."""
        wanted = self._signature()
        return {"signature": wanted, "root_path": str(self.root), CONTENT: self._tree.content_id}

    def refresh(
        self,
        *,
        force: bool = False,
        paths: Sequence[str] | None = None,
        mark: watermark.Watermark | None = None,
        looked: bool = False,
        token: CancelToken | None = None,
        scip: _Files | None = None,
    ) -> Refresh:
        """Bring the index up to date and return what that took.

        A caller who knows which files changed gives their `paths`, and only these are read. With the `mark`
        of a moment up to which nothing else had changed, the index is noted as true to that moment; so it is
        where the paths were `looked` at by `look_at` just before. An index that cannot be used is set aside
        and built anew. A `token` ends the work earlier than that of the segment; the index then stays as it
        was. What the files of `scip` say replaces what such files said before; with an empty list nothing
        takes its place.
        """
        token = token or self.token
        with self.unpinned():  # the caller wants to see what came of it
            for _ in range(_TIMES_OVERTAKEN):
                base = self._looked.generation if self._looked else self._generation()
                try:
                    return self._refresh(force, None if looked else paths, mark, base, token, scip)
                except refresh.Overtaken:
                    mark, looked = None, False  # the other process may know of newer changes
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
        # Long, because it is the recipe of a refresh: what was looked at, what is asked for, what is noted.
        imported = self._scip_import(scip)
        looked, self._looked = self._looked, None
        if paths is not None and scip is None and self.store.exists() and not self._needs_walk(paths, mark):
            walk = self._tree.entries_at(paths)
            meta = {"signature": self._signature()}
            done = self._already_indexed(walk, paths, meta, mark)
            if done is not None and not force:
                return done
            meta |= _noted(mark)
            counts = mark is not None and mark.file_count is not None
        else:
            # Files that an earlier version hid from git are seen by this walk.
            if self._prepare_folder(make=False) or looked is None:
                looked = self._walk_all(base)
            walk, meta = looked.walk, looked.meta
            paths = None if looked.changes is None else looked.changes.paths
            counts = paths is not None and "watermark" not in meta
            done = None if paths is None else self._already_indexed(walk, paths, meta, None)
            if done is not None and not force:
                self._remember(looked)
                return done
        self.notes = walk.notes if walk.files or paths else (*walk.notes, _NOTHING)
        meta |= self._content_meta(walk)
        # A snapshot of the segment itself would keep the writer from cutting the log.
        self._forget()
        self._prepare_folder()
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
        if looked is not None:
            self._remember(looked)
        # A walk of everything may have begun long before its refresh was done.
        if looked is not None and looked.changes is not None:
            self._note_state(decode_watermark(self.snapshot().meta().get("watermark")))
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

    def _look(self, changes: ChangesSinceWalk | None) -> Look:
        """Look at the files that changed, or at the whole tree if that is not known, and keep what was found
        for the refresh that follows if it is new."""
        self._looked = self._look_at(changes) or self._walk_all(self._generation())
        return self._looked

    def look_at(self, paths: Sequence[str]) -> bool:
        """Look at files that changed, for the refresh that follows; return False if a look at these alone
        cannot tell what became of the tree."""
        self._looked = None
        with suppress(IndexProblem):
            file, wanted = self._walk_file(), self._signature()
            self._looked = self._look_at(changes_since_walk(self._tree, self.snapshot(), wanted, file, paths))
        return self._looked is not None

    def _look_at(self, changes: ChangesSinceWalk | None) -> Look | None:
        """Return a look at the files that changed; None if a walk has to tell."""
        found = changes.look() if changes is not None else None
        if changes is None or found is None or any(map(_is_rule_file, changes.paths)):
            return None
        walk, mark = found
        # The changes are those since the walk that this generation was made from.
        generation = self.snapshot().generation
        return Look(walk, {"signature": self._signature()} | _noted(mark), generation, changes)

    def _walk_all(self, generation: int | None) -> Look:
        """Walk the whole tree of an index that had this generation before."""
        before = self._tree.take_watermark() if in_repository(self.root) else None
        walk = self._tree.entries()
        meta = {
            "signature": self._signature(),
            "watermark": encode_watermark(before or self._tree.take_watermark(walk)),
            "root_path": str(self.root),
            HISTORY_HEAD: self._tree.head(),
        }
        return Look(walk, meta, generation)

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
        if any(_is_rule_file(path) or (self.root / path).is_dir() for path in paths):
            return True
        gone = [path for path in paths if not (self.root / path).exists() and not self.snapshot().file(path)]
        return bool(gone) and any(
            record.path.startswith(f"{path}/") for record in self.snapshot().files() for path in gone
        )

    def _sources(
        self, wanted: str, files: Sequence[FileEntry], force: bool
    ) -> AbstractContextManager[ref_indexes.Sources]:
        """Open the other indexes that a new one may take from: none, unless a kind of index knows some."""
        return nullcontext(ref_indexes.Sources())


def _is_rule_file(path: str) -> bool:
    """Return whether a file says which others belong."""
    return path.rpartition("/")[2] in RULE_FILES


def _noted(mark: watermark.Watermark | None) -> dict[str, str]:
    """Return what an index notes of a mark that git gave; one without git is counted when all is written."""
    if mark is None or mark.file_count is not None:
        return {}
    return {"watermark": encode_watermark(mark)}


def _lacks_objects(walk: Walk) -> bool:
    """Return whether objects of a commit are not in this clone. They may come later, so its index is not
    final."""
    return any(item.reason is SkipReason.UNREADABLE for item in walk.skipped)
