"""Sources → packed files and their terms. This is what worker processes run.

Nothing here depends on which files share a batch or on how many workers there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from satchel import ids
from satchel.embedding.word_vectors import WordVectors
from satchel.indexing import vectors
from satchel.indexing.outlines import outline
from satchel.indexing.posting_run_builder import TermBatch
from satchel.indexing.term_collector import TermCollector
from satchel.lines import split_lines
from satchel.storage.records import BY_LINES_TAG, FileRecord, PackedFile, pack, unpack_outline
from satchel.types import FileEntry, Parsed, Skipped, Source


def no_words() -> WordVectors | None:
    """No model: units have no vectors."""
    return None


@dataclass(frozen=True, slots=True)
class Stages:
    """The neighbours' work: reading files, and parsing a text. Both cross process boundaries."""

    read: Callable[[Sequence[FileEntry]], Iterable[tuple[FileEntry, Source | Skipped]]]
    parse: Callable[[str, str], Parsed]
    prepare: Callable[[Iterable[FileEntry]], None] | None = None  # loads what all workers will need
    prepare_worker: Callable[[], None] | None = None  # lets files end a worker; the pool replaces it then
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


def analyse_source(
    source: Source, entry: FileEntry, parsed: Parsed, collector: TermCollector
) -> AnalysedFile:
    """One source with what parsing gave, as the store keeps it."""
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
            batch.files.append(analyse_source(source, entry, parsed, collector))
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
    filled = [file for file in files if file.packed.unit_count]
    counts = [file.packed.unit_count for file in filled]
    own = iter(vectors.file_vectors(words, units, counts, list(map(_described, filled))))
    start = 0
    result = []
    for file in files:
        end = start + file.packed.unit_count
        packed = replace(file.packed, vectors=units[start:end].tobytes())
        result.append(AnalysedFile(file.record, packed, next(own).tobytes() if end > start else b""))
        start = end
    return result


def _described(file: AnalysedFile) -> vectors.Described:
    known = unpack_outline(file.packed.outline)
    return vectors.Described((*known.types, *known.others), file.record.path, known.head)
