"""Sources → packed files and their terms. This is what worker processes run.

Nothing here depends on which files share a batch or on how many workers there are.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from satchel import ids
from satchel.embedding.table import WordVectors
from satchel.indexing import vectors
from satchel.indexing.outlines import outline
from satchel.indexing.segment_builder import TermBatch, Vocabulary
from satchel.indexing.units import unit_lines
from satchel.lines import split_lines
from satchel.storage.postings import BODY, COMMENT, FOLDER, NAME, STEM
from satchel.storage.records import FileRecord, PackedFile, pack
from satchel.terms import terms
from satchel.types import ChunkKind, FileEntry, Parsed, Skipped, Source

_IN_NAME, _IN_STEM, _IN_FOLDER = 1 << NAME.shift, 1 << STEM.shift, 1 << FOLDER.shift
_MAX_LENGTH = 65_535  # lengths are kept in 2 bytes


def no_words() -> WordVectors | None:
    """No model: units have no vectors."""
    return None


@dataclass(frozen=True, slots=True)
class Stages:
    """The neighbours' work: reading files, and parsing a text. Both cross process boundaries."""

    read: Callable[[Sequence[FileEntry]], Iterable[tuple[FileEntry, Source | Skipped]]]
    parse: Callable[[str, str], Parsed]
    prepare: Callable[[Iterable[FileEntry]], None] | None = None  # loads what all workers will need
    words: Callable[[], WordVectors | None] = no_words  # the model, if there is to be one


@dataclass(frozen=True, slots=True)
class AnalysedFile:
    """A file ready for the store."""

    record: FileRecord
    packed: PackedFile
    vector: bytes = b""


@dataclass(slots=True)
class Batch:
    """What one job gave."""

    files: list[AnalysedFile] = field(default_factory=list)
    skipped: list[tuple[FileEntry, Skipped]] = field(default_factory=list)
    terms: TermBatch | None = None


class TermCollector:
    """Counts the terms of units, field by field."""

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()
        self._term_ids = array("I")
        self._packed = array("H")
        self._lengths = array("H")
        self._lines = array("I")
        self._sizes: list[int] = []

    def add(self, path: str, parsed: Parsed, lines: Sequence[str]) -> int:
        """Add the units of one file, and say how many they are."""
        stem_terms, folder_terms = path_terms(path)
        units = unit_lines(parsed.chunks, lines)
        starts = [start for start, _ in units]
        names: list[list[str]] = [[] for _ in units]
        for line, name in named_lines(parsed):
            names[bisect_right(starts, line) - 1].append(name)
        for unit, unit_names in zip(units, names, strict=True):
            body, comment = split_comments(unit, parsed.comments, lines)
            self._add_unit(body, comment, unit_names, stem_terms, folder_terms)
            self._lines.extend(unit)
        return len(units)

    def _add_unit(
        self, body: str, comment: str, names: list[str], stem_terms: set[str], folder_terms: set[str]
    ) -> None:
        counts: dict[str, int] = Counter(terms(body))
        body_length = sum(counts.values())
        if body_length > BODY.limit and max(counts.values()) > BODY.limit:
            counts = {term: min(count, BODY.limit) for term, count in counts.items()}
        comment_counts = Counter(terms(comment)) if comment else {}
        for term, count in comment_counts.items():
            counts[term] = counts.get(term, 0) + (min(count, COMMENT.limit) << COMMENT.shift)
        if names:
            for term in set(terms(" ".join(names))):
                counts[term] = counts.get(term, 0) + _IN_NAME
        for term in stem_terms:
            counts[term] = counts.get(term, 0) + _IN_STEM
        for term in folder_terms:
            counts[term] = counts.get(term, 0) + _IN_FOLDER
        self._term_ids.extend(map(self._vocabulary.__getitem__, counts))
        self._packed.extend(counts.values())
        self._sizes.append(len(counts))
        self._lengths.append(min(body_length, _MAX_LENGTH))
        self._lengths.append(min(sum(comment_counts.values()), _MAX_LENGTH))

    def batch(self) -> TermBatch:
        """Everything collected so far."""
        return TermBatch(
            vocabulary=list(self._vocabulary),
            term_ids=self._term_ids.tobytes(),
            packed=self._packed.tobytes(),
            sizes=self._sizes,
            lengths=self._lengths.tobytes(),
            lines=self._lines.tobytes(),
        )


def path_terms(path: str) -> tuple[set[str], set[str]]:
    """The terms of a file's stem and of its folders."""
    folder, _, name = path.rpartition("/")
    return set(terms(name.partition(".")[0] or name)), set(terms(folder))


def named_lines(parsed: Parsed) -> Iterator[tuple[int, str]]:
    """What is defined on which line; a section of a document names all that it stands under."""
    for symbol in parsed.symbols:
        if symbol.kind is not ChunkKind.SECTION:
            yield symbol.start_line, symbol.name
    for chunk in parsed.chunks:
        if chunk.kind is ChunkKind.SECTION:
            yield chunk.start_line, " ".join(chunk.title_path)


def split_comments(
    unit: tuple[int, int], comments: Sequence[tuple[int, int]], lines: Sequence[str]
) -> tuple[str, str]:
    """The text of a unit without its comment lines, and those lines."""
    first_line, last_line = unit
    first = max(0, bisect_right(comments, (first_line, 0)) - 1)
    comment_lines: list[str] = []
    body_lines: list[str] = []
    cursor = first_line
    for start, end in comments[first:]:
        if start > last_line:
            break
        start, end = max(start, cursor), min(end, last_line)
        if end >= start:
            body_lines += lines[cursor - 1 : start - 1]
            comment_lines += lines[start - 1 : end]
            cursor = end + 1
    body_lines += lines[cursor - 1 : last_line]
    return "".join(body_lines), "".join(comment_lines)


def analyse_source(source: Source, mtime_ns: int, parsed: Parsed, collector: TermCollector) -> AnalysedFile:
    """One source with what parsing gave, as the store keeps it."""
    lines = split_lines(source.text)
    seeds = [(chunk.title_path, ids.body_hash(chunk)) for chunk in parsed.chunks]
    digests = ids.digests(ids.doc_of(source.path), seeds)
    unit_count = collector.add(source.path, parsed, lines)
    record = FileRecord(
        path=source.path,
        size=source.size,
        mtime_ns=mtime_ns,
        file_hash=source.file_hash,
        language=source.language,
        encoding=source.encoding,
        line_count=len(lines),
        redactions=source.redactions,
        tags=source.tags,
    )
    return AnalysedFile(record, pack(source.text, parsed, digests, outline(parsed, lines), unit_count))


def analyse(stages: Stages, entries: Sequence[FileEntry]) -> Batch:
    """Read, parse and count some files."""
    batch = Batch()
    collector = TermCollector()
    for entry, source in stages.read(entries):
        if isinstance(source, Skipped):
            batch.skipped.append((entry, source))
        else:
            parsed = stages.parse(source.text, source.language)
            batch.files.append(analyse_source(source, entry.mtime_ns, parsed, collector))
    batch.terms = collector.batch()
    batch.files = with_vectors(batch.files, batch.terms, stages.words())
    return batch


def with_vectors(
    files: list[AnalysedFile], batch: TermBatch, words: WordVectors | None
) -> list[AnalysedFile]:
    """The files of a batch, each with the vectors of its units and its own; as they are without a model."""
    if words is None or not batch.sizes:
        return files
    units = vectors.unit_vectors(words, batch)
    counts = [file.packed.unit_count for file in files if file.packed.unit_count]
    own = iter(vectors.file_vectors(units, counts))
    start = 0
    result = []
    for file in files:
        end = start + file.packed.unit_count
        packed = replace(file.packed, vectors=units[start:end].tobytes())
        result.append(AnalysedFile(file.record, packed, next(own).tobytes() if end > start else b""))
        start = end
    return result
