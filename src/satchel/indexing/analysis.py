"""Sources → packed files and their terms. This is what worker processes run.

Nothing here depends on which files share a batch or on how many workers there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from msgspec.structs import replace

from satchel import ids
from satchel.embedding.word_vectors import WordVectors
from satchel.indexing import vectors
from satchel.indexing.posting_run_builder import TermBatch
from satchel.indexing.term_collector import TermCollector
from satchel.lines import split_lines
from satchel.storage.records import BY_LINES_TAG, FileRecord, Outline, PackedFile, pack, unpack_outline
from satchel.terms import terms
from satchel.types import ChunkKind, FileEntry, Label, Parsed, Skipped, Source

_TYPE_KINDS = frozenset(
    {ChunkKind.CLASS, ChunkKind.STRUCT, ChunkKind.ENUM, ChunkKind.INTERFACE, ChunkKind.TRAIT}
)
_MEMBER_KINDS = frozenset({ChunkKind.FUNCTION, ChunkKind.METHOD, ChunkKind.CONST})
_LINK, _IMPORT = Label.LINKS_TO, Label.IMPORTS  # looked up once: a file has hundreds of references
_MOST_NAMES = 2_000  # of each sort; only generated tables define more
_HEAD_LINES = 40
_HEAD_CHARS = 600  # an opening comment says what a file is for within its first sentences
_DOCSTRING = re.compile(r"[rRuU]?(\"\"\"|''')")
_LAST_NAME = re.compile(r"[^\W\d]\w*(?=\W*$)")
_TELLING = re.compile(r"[a-z0-9][A-Z]|[^\W_]_+[^\W_]|^[A-Z]\w{3,}")  # several words, or a type's name


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


def outline(parsed: Parsed, lines: Sequence[str]) -> Outline:
    """The outline of one parsed file."""
    types = _distinct([item.name for item in parsed.symbols if item.kind in _TYPE_KINDS])
    others = _distinct([item.name for item in parsed.symbols if item.kind in _MEMBER_KINDS])
    used = {name: None for name, label, _ in parsed.references if label is not _LINK}
    own = {*types, *others, ""}
    return Outline(
        types=types,
        others=others,
        uses=_distinct([name for name in map(_telling, used) if name not in own]),
        imports=_distinct([name for name, label, _ in parsed.references if label is _IMPORT]),
        head=_distinct(terms(_head(parsed, lines))),
    )


@lru_cache(maxsize=100_000)
def _telling(written: str) -> str:
    """The name that a use ends in, if it says what is meant; else nothing."""
    match = _LAST_NAME.search(written)
    return match.group() if match and _TELLING.search(match.group()) else ""


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))[:_MOST_NAMES]


def _head(parsed: Parsed, lines: Sequence[str]) -> str:
    """The comments and the docstring among the first lines: what a file is for is said there."""
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
