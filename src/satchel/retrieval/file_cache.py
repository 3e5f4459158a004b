"""What was read of the files of one index generation, and what of it the next one keeps."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from satchel.caching import Cache
from satchel.storage.file_table import IndexedFiles, is_same_file
from satchel.storage.records import ChunkRecord, FileRecord, Outline
from satchel.types import Reference

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

_FILES_KEPT = 600  # the files of some dozen queries: about 40 MB with their passages
_OUTLINE_BYTES = 96 << 20  # of the candidates of some hundred queries
_NAMES_BYTES = 5_000  # what an outline takes without the vectors of its units
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


class FileNumbers:
    """A row of numbers for each of some files. There is room for those that were asked for: a row for every
    file of a library would be as large as all that is known of its units."""

    def __init__(self, file_count: int, width: int) -> None:
        self.width = width
        self._place_of = np.full(file_count, -1, np.int32)
        self._rows = np.zeros((0, width))
        self._count = 0

    def has(self, files: NDArray[np.signedinteger[Any]]) -> NDArray[np.bool_]:
        """Return for each of some files whether its numbers are known."""
        found: NDArray[np.bool_] = self._place_of[files] >= 0
        return found

    def put(self, at: int, numbers: Sequence[float] | NDArray[np.float64]) -> None:
        """Keep the numbers of the file at a position."""
        if self._count == len(self._rows):
            self._rows = np.concatenate((self._rows, np.zeros((max(256, self._count), self.width))))
        self._rows[self._count] = numbers
        self._place_of[at] = self._count
        self._count += 1

    def rows(self, files: NDArray[np.signedinteger[Any]]) -> NDArray[np.float64]:
        """Return the numbers of some files, which have to be known."""
        found: NDArray[np.float64] = self._rows[self._place_of[files]]
        return found

    def items(self) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield the position and the numbers of each file."""
        for at in np.flatnonzero(self._place_of >= 0).tolist():
            yield at, self._rows[self._place_of[at]]


class FileCache:
    """What was read of the files of one generation. An edit changes one file of thousands: what was read of
    the others is adopted by the cache of the next generation."""

    def __init__(self, index: str, signature: str, files: Sequence[FileRecord]) -> None:
        self.index = index
        self.signature = signature
        self.files = files
        self.position_of: Mapping[str, int] = (
            files.position_of
            if isinstance(files, IndexedFiles)
            else {record.path: at for at, record in enumerate(files)}
        )
        self.outlines: dict[int, LoadedOutline] = {}  # by the position of the file
        self._outline_bytes = 0
        self.lines: Cache[str, Sequence[str]] = Cache(_FILES_KEPT)
        self.definitions: Cache[str, list[tuple[int, int, str]]] = Cache(_FILES_KEPT)
        self.references: Cache[str, tuple[Reference, ...]] = Cache(_FILES_KEPT)
        # Tuples: the collector of cycles does not look into tuples of texts and numbers.
        self.uses: Cache[str, tuple[tuple[str, int], ...]] = Cache(_FILES_KEPT)
        # Path → the mark of its edges and its `FileUses`; edges may change while their file does not.
        self.sure_uses: Cache[str, tuple[int, Any]] = Cache(_GRAPH_FILES_KEPT)
        # Path → qualified name → line
        self.definition_lines: Cache[str, dict[tuple[str, bool], int]] = Cache(_GRAPH_FILES_KEPT)
        self.links: Cache[str, tuple[DocumentLink, ...]] = Cache(_LINKING_FILES_KEPT)
        self.import_statements: Cache[str, Any] = Cache(_FILES_KEPT)  # path → its `ImportStatement`s
        self.passages: Cache[str, Any] = Cache(_FILES_KEPT)  # path → its `FilePassages`
        self.unit_passages: Cache[tuple[str, int], Any] = Cache(_RANGES_KEPT)  # path and unit → that passage
        self.chunks: Cache[tuple[str, int, int], list[ChunkRecord]] = Cache(_RANGES_KEPT)  # path and lines
        # Function of a record → its numbers for the files that were asked for
        self.numbers: dict[Callable[[FileRecord], tuple[float, ...]], FileNumbers] = {}
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

    @property
    def is_full(self) -> bool:
        """Return whether no further outlines are kept."""
        return self._outline_bytes > _OUTLINE_BYTES

    def forget_outlines(self) -> None:
        """Drop all outlines."""
        self.outlines.clear()
        self._outline_bytes = 0

    def keep_outline(self, at: int, loaded: LoadedOutline) -> None:
        """Keep the outline of the file at a position."""
        self.outlines[at] = loaded
        self._outline_bytes += len(loaded.vectors) + _NAMES_BYTES

    def _adopt_outlines(self, before: FileCache, same: _SameFiles) -> None:
        """Keep the outlines of unchanged files."""
        for old, loaded in before.outlines.items():
            if (at := same[before.path(old)]) is not None:
                self.keep_outline(at, loaded)

    def _adopt_numbers(self, before: FileCache, same: _SameFiles) -> None:
        """Keep the numbers of unchanged files."""
        for row, known in before.numbers.items():
            kept = self.numbers_of(row, known.width)
            for old, numbers in known.items():
                if (at := same[before.path(old)]) is not None:
                    kept.put(at, numbers)

    def numbers_of(self, row: Callable[[FileRecord], tuple[float, ...]], width: int) -> FileNumbers:
        """Return what is kept of the `width` numbers that a function gives for a file."""
        if row not in self.numbers:
            self.numbers[row] = FileNumbers(len(self.files), width)
        return self.numbers[row]

    def path(self, at: int) -> str:
        """Return the path of the file at a position."""
        return self.files.path(at) if isinstance(self.files, IndexedFiles) else self.files[at].path


class _SameFiles(dict[str, int | None]):
    """Path → the position of the file if its content and numbers are as they were, or None."""

    def __init__(self, cache: FileCache, before: FileCache) -> None:
        self._cache, self._before = cache, before

    def __missing__(self, path: str) -> int | None:
        at, old = self._cache.position_of.get(path), self._before.position_of.get(path)
        is_same = at is not None and old is not None and self._has_same(at, old)
        self[path] = at if is_same else None
        return self[path]

    def _has_same(self, at: int, old: int) -> bool:
        files, before = self._cache.files, self._before.files
        if isinstance(files, IndexedFiles):
            return files.has_same(at, before, old)
        return is_same_file(files[at], before[old])
