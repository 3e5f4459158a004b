"""The three-layer pack, schema v1: digest and index for the prompt of an agent, chunks to be fetched by id.

The digest shows the chunks that say best what a document is about, scored by title, heading level and size.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from satchel import ids
from satchel.lines import split_lines
from satchel.storage.protocol import Snapshot
from satchel.storage.records import ChunkRecord, FileRecord
from satchel.tokenizers import chars4

SCHEMA_VERSION = 1
MAX_CHARS = 6000
METHOD = "headings+paragraph_fallback+fence_aware"
DIGEST_CHARS = 1200  # characters of the chosen chunks together
DIGEST_CHUNKS = 2
_PREVIEW_CHARS = 180
_FLUFF_CHARS = 300  # characters; an overview that is shorter says nothing
_TELLING = frozenset(
    {
        "api",
        "architecture",
        "commands",
        "core",
        "critical",
        "mandatory",
        "protocol",
        "rules",
        "setup",
        "usage",
        "workflow",
    }
)
_FLUFF = frozenset({"overview", "intro", "introduction"})
_WORD = re.compile(r"\w+")
_WHITE_SPACE = re.compile(r"\s+")


class SourceFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file that the pack was built from; `sha256` is that of its raw bytes."""

    path: str
    sha256: str
    mtime: int
    chars: int
    size: int


class Chunking(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The method and limit by which files were cut into chunks."""

    method: str
    max_chars: int


class Doc(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A document; `sha256` and `total_chars` are those of its normalised text."""

    doc: str
    file: str
    sha256: str
    chunk_count: int
    total_chars: int


class DigestEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line that says what a document is about, and the chunks that it was taken from."""

    doc: str
    summary: str
    source_chunk_ids: list[str]


class IndexEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A chunk without its text."""

    id: str
    doc: str
    title_path: list[str]
    preview: str
    token_est: int
    source_path: str
    heading_level: int
    char_count: int
    line_count: int
    start_line: int
    end_line: int


class PackChunk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A chunk with its text: lines `start_line` to `end_line` of `source_path`, byte for byte."""

    id: str
    doc: str
    title_path: list[str]
    text: str
    source_path: str
    heading_level: int
    char_count: int
    line_count: int
    start_line: int
    end_line: int


class LayeredPack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `_ctx/context_pack.json`."""

    schema_version: int
    segment: str
    created_at: str
    generator_version: str
    source_files: list[SourceFile]
    chunking: Chunking
    docs: list[Doc]
    digest: list[DigestEntry]
    index: list[IndexEntry]
    chunks: list[PackChunk]


def build_pack(
    snapshot: Snapshot,
    files: Iterable[FileRecord],
    *,
    segment: str,
    created_at: datetime,
    generator_version: str,
) -> LayeredPack:
    """Build the pack of some files of a snapshot; they are given in path order."""
    pack = LayeredPack(
        schema_version=SCHEMA_VERSION,
        segment=segment,
        created_at=created_at.isoformat(),
        generator_version=generator_version,
        source_files=[],
        chunking=Chunking(METHOD, MAX_CHARS),
        docs=[],
        digest=[],
        index=[],
        chunks=[],
    )
    for record in files:
        _add_file(pack, snapshot, record)
    return pack


def _add_file(pack: LayeredPack, snapshot: Snapshot, record: FileRecord) -> None:
    text = snapshot.text(record.path)
    lines = split_lines(text)
    doc = ids.doc_of(record.path)
    chunks = [_pack_chunk(doc, chunk, lines) for chunk in snapshot.chunks(record.path)]
    pack.source_files.append(
        SourceFile(record.path, record.file_hash, max(0, record.mtime_ns) // 10**9, len(text), record.size)
    )
    pack.docs.append(doc_entry(record.path, text, len(chunks)))
    pack.chunks.extend(chunks)
    pack.index.extend(index_entry(chunk) for chunk in chunks)
    if chunks:
        scored = [
            DigestCandidate(chunk.id, tuple(chunk.title_path), chunk.heading_level, chunk.text)
            for chunk in chunks
        ]
        chosen = choose_digest(scored)
        pack.digest.append(DigestEntry(doc, digest_summary(chosen), [chunk.id for chunk in chosen]))


def doc_entry(path: str, text: str, chunk_count: int) -> Doc:
    """Return the entry of a document."""
    normalized = ids.normalize_markdown(text)
    return Doc(
        doc=ids.doc_of(path),
        file=path.rpartition("/")[2],
        sha256=ids.hash_text(normalized),
        chunk_count=chunk_count,
        total_chars=len(normalized),
    )


def _pack_chunk(doc: str, chunk: ChunkRecord, lines: Sequence[str]) -> PackChunk:
    text = "".join(lines[chunk.start_line - 1 : chunk.end_line])
    return PackChunk(
        id=ids.canonical_id(doc, chunk.digest),
        doc=doc,
        title_path=list(chunk.title_path),
        text=text,
        source_path=chunk.path,
        heading_level=chunk.level,
        char_count=len(text),
        line_count=chunk.end_line - chunk.start_line + 1,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
    )


def index_entry(chunk: PackChunk) -> IndexEntry:
    """Return the index entry of a chunk."""
    return IndexEntry(
        id=chunk.id,
        doc=chunk.doc,
        title_path=chunk.title_path,
        preview=preview(chunk.text),
        token_est=chars4.count(chunk.text),
        source_path=chunk.source_path,
        heading_level=chunk.heading_level,
        char_count=chunk.char_count,
        line_count=chunk.line_count,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
    )


@dataclass(frozen=True, slots=True)
class DigestCandidate:
    """A chunk with the fields that the digest scores."""

    id: str
    title_path: tuple[str, ...]
    level: int
    text: str


def score_chunk(title: str, level: int, text: str) -> int:
    """Return the score of a chunk: +3 for a telling word in the title, +2 for a heading of level 1 or 2, -2
    for a short overview."""
    words = set(_WORD.findall(title.lower()))
    score = 3 if words & _TELLING else 0
    score += 2 if level <= 2 else 0
    return score - (2 if words & _FLUFF and len(text) < _FLUFF_CHARS else 0)


def choose_digest(chunks: Sequence[DigestCandidate]) -> list[DigestCandidate]:
    """Return the best chunks that fit the digest together; a chunk that does not fit is passed over. If none
    fits, the best chunk alone stands for its document."""
    ranked = sorted(chunks, key=lambda chunk: -score_chunk(_title(chunk), chunk.level, chunk.text))
    chosen: list[DigestCandidate] = []
    used = 0
    for chunk in ranked:
        if len(chosen) < DIGEST_CHUNKS and used + len(chunk.text) <= DIGEST_CHARS:
            chosen.append(chunk)
            used += len(chunk.text)
    return chosen or ranked[:1]


def digest_summary(chosen: Sequence[DigestCandidate]) -> str:
    """Return the title paths of chunks on one line: `A → B | A → C`."""
    return " | ".join(
        " → ".join(_WHITE_SPACE.sub(" ", title) for title in chunk.title_path) or "Introduction"
        for chunk in chosen
    )


def preview(text: str, max_chars: int = _PREVIEW_CHARS) -> str:
    """Return a text on one line, cut with an ellipsis."""
    line = _WHITE_SPACE.sub(" ", text.strip())
    return line[:max_chars] + ("…" if len(line) > max_chars else "")


def _title(chunk: DigestCandidate) -> str:
    return chunk.title_path[-1] if chunk.title_path else "Introduction"
