"""What was read of the files of one index generation, and what of it the next one keeps."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from satchel.caching import Cache
from satchel.storage.file_table import PackedFiles
from satchel.storage.records import ChunkRecord, FileRecord, Outline
from satchel.types import Reference

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

_FILES_KEPT = 600  # the files of some dozen queries: about 40 MB with their passages
_OUTLINES_KEPT = 10_000  # of the candidates of some hundred queries: about 90 MB
_GRAPH_FILES_KEPT = 2_000  # whose edges or definitions were asked for: about 20 MB
_LINKING_FILES_KEPT = 10_000  # most files have no link, so that an entry is one slot of a dictionary
_RANGES_KEPT = 2_000  # line ranges and units of other files: about 3 MB
_CONTENT_BYTES = 64 << 20  # of all texts that `grep` scans; Django has 26 MB
_LINES_KEPT = 2_000_000  # line ends of texts that messages were looked for in: 8 MB


def encode_name(name: str) -> bytes:
    """Return a name as `DefinedNames` is searched for. It may hold lone surrogates."""
    return name.encode("utf-8", "surrogatepass")


class DefinedNames:
    """The names that a file defines, laid out so that all names with some substring are found at once."""

    def __init__(self, types: Sequence[str], others: Sequence[str]) -> None:
        self._joined = encode_name("\n".join((*types, *others)))
        # Lowering bytes leaves letters beyond ASCII alone, so positions are the same in both.
        self._folded = self._joined.lower()
        self._types_end = len(encode_name("\n".join(types)))

    def holding(self, parts: Iterable[bytes]) -> tuple[Iterable[bytes], Iterable[bytes]]:
        """Return the names of types and the other names that hold one of some encoded parts."""
        types: dict[bytes, None] = {}
        others: dict[bytes, None] = {}
        joined, folded = self._joined, self._folded
        for part in filter(None, parts):  # an empty part would be found everywhere
            start = folded.find(part)
            while start >= 0:
                last = folded.find(b"\n", start)
                last = len(folded) if last < 0 else last
                name = joined[folded.rfind(b"\n", 0, start) + 1 : last]
                (types if start < self._types_end else others)[name] = None
                start = folded.find(part, last)
        return types, others


class LoadedOutline(msgspec.Struct, frozen=True, gc=False):
    """A file's outline with the vectors of its units, and parts of it in the form of lookups."""

    outline: Outline
    vectors: bytes
    head: frozenset[str]
    names: DefinedNames

    @property
    def defines(self) -> dict[str, None]:
        """Return every name that the file defines, once."""
        return dict.fromkeys((*self.outline.types, *self.outline.others))


class DocumentLink(msgspec.Struct, frozen=True):
    """A link in a document and the two paths that it can mean: from the folder, or from the root."""

    relative: str
    rooted: str
    line: int

    @classmethod
    def of(cls, use: Reference, source: str, root: str = "") -> DocumentLink:
        """Return a link as it is written in the document `source`, of the repository in the folder `root`."""
        relative = posixpath.normpath(posixpath.join(posixpath.dirname(source), use.name))
        return cls(relative, posixpath.normpath(posixpath.join(root, use.name.lstrip("/"))), use.line)

    def leads_to(self, target: str) -> bool:
        """Return whether the link means a file, named with its suffix or without."""
        stem = target.rpartition(".")[0]
        return target in (self.relative, self.rooted) or (bool(stem) and stem in (self.relative, self.rooted))


class FileCache:
    """What was read of the files of one generation. An edit changes one file of thousands: what was read of
    the others is adopted by the cache of the next generation."""

    def __init__(self, index: str, signature: str, files: Sequence[FileRecord]) -> None:
        self.index = index
        self.signature = signature
        self.files = files
        self.position_of = (
            files.position_of
            if isinstance(files, PackedFiles)
            else {record.path: at for at, record in enumerate(files)}
        )
        self.outlines: dict[int, LoadedOutline] = {}  # by the position of the file
        # Name → the files that define it, of those with a loaded outline.
        self.defining: dict[str, tuple[int, ...]] = {}
        self.lines: Cache[str, Sequence[str]] = Cache(_FILES_KEPT)
        self.definitions: Cache[str, list[tuple[int, int, str]]] = Cache(_FILES_KEPT)
        self.references: Cache[str, tuple[Reference, ...]] = Cache(_FILES_KEPT)
        self.uses: Cache[str, list[tuple[str, int]]] = Cache(_FILES_KEPT)
        # Path → the mark of its edges and its `FileUses`; edges may change while their file does not.
        self.sure_uses: Cache[str, tuple[int, Any]] = Cache(_GRAPH_FILES_KEPT)
        # Path → qualified name → line
        self.definition_lines: Cache[str, dict[tuple[str, bool], int]] = Cache(_GRAPH_FILES_KEPT)
        self.links: Cache[str, tuple[DocumentLink, ...]] = Cache(_LINKING_FILES_KEPT)
        self.import_statements: Cache[str, Any] = Cache(_FILES_KEPT)  # path → its `ImportStatement`s
        self.passages: Cache[str, Any] = Cache(_FILES_KEPT)  # path → its `FilePassages`
        self.unit_passages: Cache[tuple[str, int], Any] = Cache(_RANGES_KEPT)  # path and unit → that passage
        self.chunks: Cache[tuple[str, int, int], list[ChunkRecord]] = Cache(_RANGES_KEPT)  # path and lines
        # Function of a record → for which files its numbers are known, and a row of them for each file
        self.numbers: dict[Callable[[FileRecord], tuple[float, ...]], tuple[Any, NDArray[np.float64]]] = {}
        self.contents: Cache[str, bytes] = Cache(_CONTENT_BYTES)  # path → its text, with line ends as \\n
        self.line_ends: Cache[str, NDArray[np.int32]] = Cache(_LINES_KEPT)  # path → where these stand in it

    def adopt(self, before: FileCache) -> None:
        """Keep what an earlier generation of the same index read of files that did not change since."""
        if (before.index, before.signature) != (self.index, self.signature):
            return
        same = _SameFiles(self, before)
        self._adopt_outlines(before, same)
        self._adopt_numbers(before, same)

        def is_same(path: str) -> bool:
            return same[path] is not None

        self.lines.adopt(before.lines, is_same)
        self.definitions.adopt(before.definitions, is_same)
        self.references.adopt(before.references, is_same)
        self.uses.adopt(before.uses, is_same)
        self.sure_uses.adopt(before.sure_uses, is_same)
        self.definition_lines.adopt(before.definition_lines, is_same)
        self.links.adopt(before.links, is_same)
        self.import_statements.adopt(before.import_statements, is_same)
        self.passages.adopt(before.passages, is_same)
        self.unit_passages.adopt(before.unit_passages, lambda key: is_same(key[0]))
        self.chunks.adopt(before.chunks, lambda key: is_same(key[0]))
        for path, content in before.contents.items():
            if is_same(path):
                self.contents.keep(path, content, len(content))
        for path, ends in before.line_ends.items():
            if is_same(path):
                self.line_ends.keep(path, ends, len(ends))

    def is_full_with(self, more: int) -> bool:
        """Return whether so many further outlines are more than are kept."""
        return more > 0 and len(self.outlines) + more > _OUTLINES_KEPT

    def forget_outlines(self) -> None:
        """Drop all outlines, and the names that they define."""
        self.outlines.clear()
        self.defining.clear()

    def keep_outline(self, at: int, loaded: LoadedOutline) -> None:
        """Keep the outline of the file at a position."""
        self.outlines[at] = loaded
        # Most names are defined by one file only: they share its tuple.
        defining, alone = self.defining, (at,)
        for name in loaded.defines:
            defining[name] = defining.get(name, ()) + alone

    def _adopt_outlines(self, before: FileCache, same: _SameFiles) -> None:
        """Keep the outlines of unchanged files. If no position changed, others are taken out."""
        paths = list(before.position_of)
        if list(self.position_of) != paths:
            for old, loaded in before.outlines.items():
                at = same[paths[old]]
                if at is not None:
                    self.keep_outline(at, loaded)
            return
        self.outlines, self.defining = dict(before.outlines), dict(before.defining)
        for at in before.outlines:
            if same[paths[at]] is None:
                for name in self.outlines.pop(at).defines:
                    self.defining[name] = tuple(other for other in self.defining[name] if other != at)

    def _adopt_numbers(self, before: FileCache, same: _SameFiles) -> None:
        """Keep the numbers of unchanged files."""
        paths = list(before.position_of)
        for row, (known, table) in before.numbers.items():
            places = {at: same[paths[at]] for at in np.flatnonzero(known).tolist()}
            kept = {old: here for old, here in places.items() if here is not None}
            still_known, rows = np.zeros(len(self.files), bool), np.zeros((len(self.files), table.shape[1]))
            still_known[list(kept.values())], rows[list(kept.values())] = True, table[list(kept)]
            self.numbers[row] = still_known, rows


class _SameFiles(dict[str, int | None]):
    """Path → the position of the file if its content and numbers are as they were, or None."""

    def __init__(self, cache: FileCache, before: FileCache) -> None:
        self._cache, self._before = cache, before

    def __missing__(self, path: str) -> int | None:
        at, old = self._cache.position_of.get(path), self._before.position_of.get(path)
        is_same = (
            at is not None and old is not None and _is_same(self._cache.files[at], self._before.files[old])
        )
        self[path] = at if is_same else None
        return self[path]


def _is_same(one: FileRecord, other: FileRecord) -> bool:
    """Return whether two records of a path are of the same content with the same numbers and tags."""
    return one is other or (
        (one.file_hash, one.language, one.first_chunk, one.first_unit, one.tags)
        == (other.file_hash, other.language, other.first_chunk, other.first_unit, other.tags)
    )
