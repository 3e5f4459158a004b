"""Is an index still true to its tree, and where are the files about it?

Every answer states how the generation that it was made from stands to the tree of now. The segment brings the
index up to date.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from satchel import settings
from satchel.embedding import model_id
from satchel.errors import (
    ConfigError,
    IndexCorrupt,
    IndexIncompatible,
    IndexMissing,
    IndexProblem,
    IndexStale,
    PathNotAllowed,
)
from satchel.file_writing import make_folder, replace_file
from satchel.indexing.index_state import (
    IndexState,
    Look,
    StaleReason,
    changes_since_walk,
    decode_watermark,
    encode_watermark,
    remember_look,
)
from satchel.indexing.plan import signature
from satchel.plugins import late
from satchel.settings import Options
from satchel.storage.protocol import KEEP_ELSEWHERE, Snapshot, Store
from satchel.storage.snapshots import SnapshotSource
from satchel.types import Walk
from satchel.walking.work_tree import SourceTree, in_repository

if TYPE_CHECKING:
    from satchel.walking import own_output
else:  # what a search of a fresh index does without
    own_output = late("satchel.walking.own_output")

WALK_FILE = "context.walk"  # beside the index: what the last walk rested on


class TrackedIndex(SnapshotSource):
    """The index in a store, compared with the tree that it was made of."""

    def __init__(self, root: Path, store: Store, options: Options, tree: SourceTree) -> None:
        super().__init__(store)
        self.root = root
        self.options = options
        self._tree = tree
        self._in_answer = False
        self._answer_state: IndexState | None = None  # of the answer that is being made

    @contextmanager
    def answering(self, known: IndexState | None = None) -> Iterator[None]:
        """Make one answer inside: from one generation, and with one state of it.

        `known` is the state of an index version that a watcher of the tree found out. A later generation of
        that index has at least the same changes, so it is fresh as well; for any other version the tree is
        looked at.
        """
        with self.pinned():
            if known is not None and self._generation_of_pin() < known.generation:
                # The log of the index was removed and written anew. SQLite gives a process that has the old
                # one open no other.
                self.release()
            self._in_answer, self._answer_state = True, known
            try:
                yield
            finally:
                self._in_answer, self._answer_state = False, None

    def state(self) -> IndexState:
        """Return whether the snapshot that answers are made from is true to the tree, and why not."""
        if not self._in_answer:
            return self._compared()
        if self._answer_state is None or self._answer_state.version != self._version():
            self._answer_state = self._followed(self._answer_state) or self._compared()
        return self._answer_state

    def _note_state(self, project: dict[str, Any] | None) -> None:
        """Note the watermark that the tree was just found to have, so that the answer which is being made
        does not look for it again."""
        if self._in_answer and project is not None and self._answer_state is None:
            self._answer_state = IndexState.of(project, self.snapshot())

    def _followed(self, known: IndexState | None) -> IndexState | None:
        """Return the state of a snapshot that was written after one that is known to be fresh.

        While files change all the time, every other answer has a newer snapshot, and asking git takes longer
        than the answer.
        """
        if known is None or known.stale:
            return None
        with suppress(IndexProblem, ConfigError):
            snapshot = self.snapshot()
            kept = decode_watermark(snapshot.meta().get("watermark"))
            same_index = snapshot.version.partition(":")[0] == known.version.partition(":")[0]
            if kept is not None and same_index and snapshot.generation > known.generation:
                return IndexState.of(kept, snapshot)
        return None

    def _compared(self) -> IndexState:
        """Compare the tree of now with the tree that the snapshot was made from.

        Without git a watermark is a count, a time and a size, and a change may leave all three as they are.
        There the stamps of the indexed files decide.
        """
        remembered = self._remembered()
        if remembered is not None:
            return remembered
        plain = not self._tree.content_id and not in_repository(self.root)
        walk = self._tree.entries() if plain else None
        project = decode_watermark(encode_watermark(self._tree.take_watermark(walk)))
        assert project is not None
        try:
            snapshot = self.snapshot()
            found = IndexState.of(project, snapshot)
            if walk is not None and not found.stale and _has_other_stamps(walk, snapshot):
                return replace(found, stale_reasons=(StaleReason.FILESYSTEM_CHANGED,))
            return found
        except IndexMissing:
            return IndexState.missing(project)
        except (IndexCorrupt, IndexIncompatible, IndexStale):
            return IndexState.corrupt(project)

    def _remembered(self) -> IndexState | None:
        """Return the state of an index whose tree is proved to be as the last walk found it."""
        with suppress(IndexProblem, ConfigError):
            snapshot, wanted = self.snapshot(), self._signature()
            changes = changes_since_walk(self._tree, snapshot, wanted, self._walk_file())
            mark = None if changes is None else changes.unchanged_watermark
            return None if mark is None else IndexState.of(mark, snapshot)
        return None

    def _signature(self) -> str:
        """Return what the index depends on beside the files."""
        return signature(self.options.walk, model_id())

    def _remember(self, look: Look) -> None:
        """Save what proves later that the tree is still as this look found it, which the index was made
        from."""
        file = self._walk_file()
        if file is not None and not self._tree.content_id:
            with suppress(IndexProblem, ConfigError):
                snapshot = self.snapshot()
                mark = decode_watermark(snapshot.meta().get("watermark"))
                remember_look(self._tree, snapshot, self._signature(), look, file, mark)

    def _generation_of_pin(self) -> int:
        with suppress(IndexProblem, ConfigError):
            return self.snapshot().generation
        return 0

    def _version(self) -> str:
        with suppress(IndexProblem, ConfigError):
            return self.snapshot().version
        return ""

    def index_folder(self) -> Path | None:
        """Return the folder for files about the index, made if it is not there; None where there is none."""
        self._prepare_folder()
        return self.store.scratch

    def _walk_file(self) -> Path | None:
        """Return the file where a walk is remembered; None where a link could lead out of the root."""
        folder = self.store.scratch
        return None if folder is None or self._is_linked(folder) else folder / WALK_FILE

    def _prepare_folder(self, *, make: bool = True) -> bool:
        """Make the folder of the index, and keep our files in it out of git, but not the user's. Without
        `make` only a folder that is there already is looked at. Return whether git may see other files."""
        folder = self.store.scratch
        if folder is None or not (make or folder.is_dir()):
            return False
        if self._is_linked(folder):
            raise PathNotAllowed(f"{folder.name!r} is a link", hint="remove it, or use --index-dir DIR")
        named_ours = folder.name == settings.INDEX_FOLDER
        inside = self.root in folder.resolve().parents
        ours = named_ours or inside or not folder.exists() or not any(folder.iterdir())
        what = f"the index folder {folder.name!r}"
        make_folder(folder, what=what, elsewhere=KEEP_ELSEWHERE)
        ignore = folder / ".gitignore"
        outdated = named_ours and ignore.is_file() and ignore.read_bytes() in own_output.OLD_GITIGNORES
        is_missing = ours and (outdated or not ignore.exists())
        if is_missing:
            replace_file(ignore, own_output.gitignore(self.store.file), what=what, elsewhere=KEEP_ELSEWHERE)
        return is_missing

    def _is_linked(self, folder: Path) -> bool:
        """Return whether a folder is that of the root and a link, which may have come with the repository."""
        return folder == self.root / settings.INDEX_FOLDER and folder.is_symlink()


def _has_other_stamps(walk: Walk, snapshot: Snapshot) -> bool:
    """Return whether an indexed file has another size, time or number now."""
    known = {record.path: record.stamp for record in snapshot.files()}
    return any(known.get(entry.path, entry.stamp) != entry.stamp for entry in walk.files)
