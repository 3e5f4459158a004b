"""Turn sources into what a store keeps: packed files, outlines and terms. Worker processes run this module.

The result for a file does not depend on the other files of its batch or on the number of workers. The outline
of a file lists what it defines and what it uses of other files: the few names that ranking needs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import msgspec
from msgspec.structs import replace

from satchel import ids
from satchel.code_facts import imports_of, telling_names
from satchel.embedding.word_vectors import WordVectors
from satchel.indexing import vectors
from satchel.indexing.posting_run_builder import TermBatch
from satchel.indexing.term_collector import TermCollector
from satchel.lines import split_lines
from satchel.parsed import Parsed
from satchel.storage.protocol import KnownParses, Snapshot, Writer
from satchel.storage.records import BY_LINES_TAG, FileRecord, Outline, PackedFile, pack_file, unpack_outline
from satchel.terms import terms
from satchel.types import ChunkKind, FileEntry, Label, Skipped, Source

_TYPE_KINDS = frozenset(
    {ChunkKind.CLASS, ChunkKind.STRUCT, ChunkKind.ENUM, ChunkKind.INTERFACE, ChunkKind.TRAIT}
)
_MEMBER_KINDS = frozenset({ChunkKind.FUNCTION, ChunkKind.METHOD, ChunkKind.CONST})
_LINKS_TO, _IMPORTS = (
    Label.LINKS_TO,
    Label.IMPORTS,
)  # looked up once, because a file has hundreds of references
_MOST_NAMES = 2_000  # names of each sort; only generated tables define more
_HEAD_LINES = 40
_HEAD_CHARS = 600  # an opening comment says what a file is for within its first sentences
_DOCSTRING = re.compile(r"[rRuU]?(\"\"\"|''')")
_LAST_NAME = re.compile(r"[^\W\d]\w*(?=\W*$)")
_MEANINGFUL = re.compile(r"[a-z0-9][A-Z]|[^\W_]_+[^\W_]|^[A-Z]\w{3,}")  # several words, or a type's name


def no_words() -> WordVectors | None:
    """Return no word vectors, so that units have no vectors."""
    return None


class GraphStage(Protocol):
    """Keeps the edges of an index true to its files. One is made for each refresh."""

    def note(self, snapshot: Snapshot, path: str) -> None:
        """Remember what a file shows to others before it is replaced or dropped."""

    def keep(self, record: FileRecord, packed: PackedFile) -> None:
        """Keep what was parsed of a file that is being put, so that it need not be read from the store."""

    def resolve(self, writer: Writer, *, everything: bool, check: Callable[[], None]) -> int:
        """Put the edges of all files that the noted changes touch, or of everything; return how many."""


@dataclass(frozen=True, slots=True)
class Stages:
    """The functions of the neighbouring stages: reading files and parsing text. All of them cross process
    boundaries."""

    read: Callable[[Sequence[FileEntry]], Iterable[tuple[FileEntry, Source | Skipped]]]
    parse: Callable[[str, str], Parsed]
    prepare: Callable[[Iterable[FileEntry]], None] | None = None  # runs once before the workers start
    prepare_worker: Callable[[], None] | None = None  # lets files end a worker; the pool replaces it then
    words: Callable[[], WordVectors | None] = no_words  # loads the word vectors, if there are any
    graph: Callable[[], GraphStage] | None = None  # None: no edges
    known: KnownParses | None = None  # what other indexes know already; None: nothing


class AnalysedFile(msgspec.Struct, frozen=True):
    """A file ready for the store."""

    record: FileRecord
    packed: PackedFile
    vector: bytes = b""


class Batch(msgspec.Struct):
    """The result of one job of a worker."""

    files: list[AnalysedFile] = []
    skipped: list[tuple[FileEntry, Skipped]] = []
    terms: TermBatch | None = None
    known: int = 0  # files whose content another index knew


def analyse_source(
    source: Source, entry: FileEntry, parsed: Parsed, collector: TermCollector
) -> AnalysedFile:
    """Return one source with its parsed content, as the store keeps it. Its terms are added to the
    collector."""
    lines = split_lines(source.text)
    seeds = [(chunk.title_path, ids.body_hash(chunk)) for chunk in parsed.chunks]
    digests = ids.digests(ids.doc_of(source.path), seeds)
    unit_count = collector.add(source.path, parsed, lines)
    record = FileRecord(
        path=source.path,
        size=source.size,
        mtime_ns=entry.mtime_ns,
        ctime_ns=entry.ctime_ns,
        inode=entry.inode,
        file_hash=source.file_hash,
        language=source.language,
        encoding=source.encoding,
        line_count=len(lines),
        redactions=source.redactions,
        tags=(*source.tags, BY_LINES_TAG + parsed.by_lines) if parsed.by_lines else source.tags,
    )
    return AnalysedFile(record, pack_file(source.text, parsed, digests, outline(parsed, lines), unit_count))


def analyse(stages: Stages, entries: Sequence[FileEntry]) -> Batch:
    """Read and parse some files and count their terms."""
    batch = Batch()
    collector = TermCollector()
    for entry, source, known in _with_known(stages, entries):
        if isinstance(source, Skipped):
            batch.skipped.append((entry, source))
        else:
            parsed = known or stages.parse(source.text, source.language)
            batch.known += known is not None
            batch.files.append(analyse_source(source, entry, parsed, collector))
    batch.terms = collector.batch()
    batch.files = with_vectors(batch.files, batch.terms, stages.words())
    return batch


def _with_known(
    stages: Stages, entries: Sequence[FileEntry]
) -> Iterator[tuple[FileEntry, Source | Skipped, Parsed | None]]:
    """Yield files as they are read, each with what another index knows of its content."""
    if stages.known is None:
        for entry, source in stages.read(entries):
            yield entry, source, None
        return
    read = list(stages.read(entries))
    names = [(source.file_hash, source.language) for _, source in read if isinstance(source, Source)]
    known = stages.known(names)
    for entry, source in read:
        found = known.get((source.file_hash, source.language)) if isinstance(source, Source) else None
        yield entry, source, found


def with_vectors(
    files: list[AnalysedFile], batch: TermBatch, words: WordVectors | None
) -> list[AnalysedFile]:
    """Return the files with the vectors of their units and of each file; unchanged if there are no word
    vectors."""
    if words is None or not batch.sizes:
        return files
    units = vectors.unit_vectors(words, batch)
    filled = [file for file in files if file.packed.unit_count]
    counts = [file.packed.unit_count for file in filled]
    own = iter(vectors.file_vectors(words, units, counts, list(map(_describe, filled))))
    start = 0
    result = []
    for file in files:
        end = start + file.packed.unit_count
        packed = replace(file.packed, vectors=units[start:end].tobytes())
        result.append(AnalysedFile(file.record, packed, next(own).tobytes() if end > start else b""))
        start = end
    return result


def _describe(file: AnalysedFile) -> vectors.FileDescription:
    """Return what stands for a file beside its text."""
    known = unpack_outline(file.packed.outline)
    return vectors.FileDescription((*known.types, *known.others), file.record.path, known.head)


def outline(parsed: Parsed, lines: Sequence[str]) -> Outline:
    """Return the outline of one parsed file."""
    types = _first_distinct([item.name for item in parsed.symbols if item.kind in _TYPE_KINDS])
    others = _first_distinct([item.name for item in parsed.symbols if item.kind in _MEMBER_KINDS])
    used, imports = _used_and_imported(parsed)
    own = {*types, *others, ""}
    return Outline(
        types=types,
        others=others,
        uses=_first_distinct([name for name in map(_meaningful_name, used) if name not in own]),
        imports=_first_distinct(imports),
        head=_first_distinct(terms(_opening_comment(parsed, lines))),
    )


def _used_and_imported(parsed: Parsed) -> tuple[Iterable[str], Iterable[str]]:
    """Return what a file uses and what it imports, as written."""
    if parsed.references:
        used = {name: None for name, label, _ in parsed.references if label is not _LINKS_TO}
        return used, [name for name, label, _ in parsed.references if label is _IMPORTS]
    imports = imports_of(parsed.facts)
    return (*imports, *telling_names(parsed.facts)), imports


@lru_cache(maxsize=100_000)
def _meaningful_name(written: str) -> str:
    """Return the name that a use ends in if it is specific enough to tell what is meant, otherwise an empty
    string."""
    match = _LAST_NAME.search(written)
    return match.group() if match and _MEANINGFUL.search(match.group()) else ""


def _first_distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names without repetitions, up to the limit."""
    return tuple(dict.fromkeys(names))[:_MOST_NAMES]


def _opening_comment(parsed: Parsed, lines: Sequence[str]) -> str:
    """Return the comments and the docstring among the first lines, where a file says what it is for."""
    found: list[str] = []
    for first, last in parsed.comments:
        if first > _HEAD_LINES:
            break
        found.extend(lines[first - 1 : last])
    for number, line in enumerate(lines[:_HEAD_LINES]):
        if match := _DOCSTRING.match(line):
            for part in lines[number : number + _HEAD_LINES]:
                found.append(part)
                if part.rstrip().endswith(match.group(1)) and (
                    part is not line or part.count(match.group(1)) > 1
                ):
                    break
            break
        if line.strip() and not line.startswith(("#", "from __future__")):
            break
    return "".join(found)[:_HEAD_CHARS]
