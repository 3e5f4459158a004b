"""The records that a store keeps, and the bytes that it keeps of one file.

A file is packed where it is parsed, so that what crosses from a worker process to the writer is
rows and bytes, not objects; every store keeps the same bytes. The file is long because the layout of all
parts of a file is written down here, once.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import msgspec

from satchel.code_facts import FileEdges, FileFacts, ScipUses
from satchel.errors import IndexCorrupt
from satchel.ids import name_key
from satchel.lines import split_lines
from satchel.parsed import Parsed
from satchel.storage.deflate import DeflateError, compress, crc32, decompress
from satchel.types import ByLines, Chunk, ChunkKind, Label, Reference, Skipped, Symbol

_TITLE_SEPARATOR = "\x1f"
RETIRED_LIMIT = 50_000  # the newest ended ids that a store remembers
REPOSITORIES = (
    "repositories"  # the key of the names of the repositories that an index holds, one on each line
)
_LABELS = tuple(Label)
_as_reference = partial(tuple.__new__, Reference)
_LABEL_NUMBERS = {label: number for number, label in enumerate(_LABELS)}
_KINDS = {kind.value: kind for kind in ChunkKind}
_NO_FACTS = FileFacts()
_NO_EDGES = FileEdges()
_WITH_USED = b"\0"  # the first byte where keys stand before edges; compressed data never begins with it
_USED_START = 5  # where the keys begin, behind that byte and their length

ChunkRow = tuple[str, str, int, int, int, int, str]
_Extras = tuple[list[tuple[str, int, int]], tuple[tuple[int, int], ...]]
SymbolRow = tuple[str, str, str, int, int, str, str]
Stamp = tuple[int, int, int, int]
"""Size, modification time, change time and number of a file."""


class FileRecord(msgspec.Struct, frozen=True, gc=False):
    """An indexed file: its stamp, its content hash and the numbers of its chunks and units."""

    path: str
    size: int
    mtime_ns: int
    file_hash: str
    language: str
    encoding: str
    line_count: int
    redactions: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    first_chunk: int = 0
    chunk_count: int = 0
    first_unit: int = 0
    unit_count: int = 0
    settled: bool = True  # False: written so shortly before it was read that it may have changed since
    ctime_ns: int = 0  # as in a `FileEntry`
    inode: int = 0

    @property
    def stamp(self) -> Stamp:
        """Return the values that only change when the file does."""
        return self.size, self.mtime_ns, self.ctime_ns, self.inode


BY_LINES_TAG = "by-lines:"  # a tag of this start says why a file is read by lines


def by_lines(tags: Sequence[str]) -> ByLines:
    """Return why a file with these tags was chunked by lines; `NO` if it was not."""
    reasons = (tag.removeprefix(BY_LINES_TAG) for tag in tags if tag.startswith(BY_LINES_TAG))
    return ByLines(next(reasons, ""))


class ChunkRecord(msgspec.Struct, frozen=True, gc=False):
    """A chunk without its text, which is lines `start_line … end_line` of the file's text."""

    kind: ChunkKind
    title_path: tuple[str, ...]
    level: int
    start_line: int
    end_line: int
    body_offset: int
    digest: str  # the first 16 hexadecimal digits
    number: int = 0
    path: str = ""


class PostingRun(msgspec.Struct, frozen=True):
    """A part of the full-text index: the files that it covers and their units, as packed arrays."""

    number: int
    files: bytes  # first unit and count of units of each file, 4 bytes each
    lengths: bytes  # words in the code and in the comments of each unit, 2 bytes each
    lines: bytes  # first and last line of each unit, 4 bytes each
    vectors: bytes = b""  # one for each file, a byte for each dimension; empty without a model

    @property
    def unit_count(self) -> int:
        return len(self.lengths) // 4


class Outline(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The names and opening comment of a file, for ranking. Names are as written, without repetitions."""

    types: tuple[str, ...] = ()
    others: tuple[str, ...] = ()  # functions, methods, constants …
    uses: tuple[str, ...] = ()  # names of other files' definitions, as far as they are telling
    imports: tuple[str, ...] = ()
    head: tuple[str, ...] = ()  # the terms of the comment that opens the file


class HistoryCommit(msgspec.Struct, frozen=True):
    """A past commit: its time, its message and the paths that it changed."""

    seconds: int  # since 1970, when it was committed
    message: str
    paths: tuple[str, ...]


class SymbolRecord(msgspec.Struct, frozen=True, gc=False):
    """A symbol and the file that defines it."""

    path: str
    symbol: Symbol


class RetiredChunk(msgspec.Struct, frozen=True, gc=False):
    """A chunk id that has ended, with the path and the title that its chunk had."""

    digest: str
    path: str
    title_path: tuple[str, ...]
    file_hash: str
    place: int = 0  # among the chunks of its file with that title, from 1; 0: there was no other
    successor: str = ""  # the digest in its place when it ended, where that could be told


class SkippedRecord(msgspec.Struct, frozen=True, gc=False):
    """A file that was left out, with its stamp, by which it is known to be unchanged."""

    skipped: Skipped
    size: int = -1  # -1: left out by its name or place, without a look inside
    mtime_ns: int = -1
    ctime_ns: int = 0
    inode: int = 0

    @property
    def stamp(self) -> Stamp:
        """Return the values that only change when the file does."""
        return self.size, self.mtime_ns, self.ctime_ns, self.inode


class PackedFile(msgspec.Struct, frozen=True):
    """One file as the rows and bytes that a store keeps; `pack_file` makes it."""

    text: bytes
    extras: bytes
    outline: bytes
    chunks: list[ChunkRow]
    symbols: list[SymbolRow]
    unit_count: int
    vectors: bytes = b""  # one for each unit, a byte for each dimension; empty without a model
    facts: bytes = b""  # empty for a file that says nothing about names


def pack_file(
    text: str, parsed: Parsed, digests: Sequence[str], outline: Outline, unit_count: int
) -> PackedFile:
    """Return a parsed file as the rows and bytes that a store keeps."""
    references = [(name, _LABEL_NUMBERS[label], line) for name, label, line in parsed.references]
    extras = msgspec.msgpack.encode((references, parsed.comments))
    return PackedFile(
        text=compress(text.encode("utf-8", "surrogatepass")),
        extras=compress(extras),
        outline=msgspec.msgpack.encode(outline),
        facts=_pack_facts(parsed.facts),
        unit_count=unit_count,
        chunks=[
            (
                chunk.kind.value,
                join_title(chunk.title_path),
                chunk.level,
                chunk.start_line,
                chunk.end_line,
                chunk.body_offset,
                digest[:16],
            )
            for chunk, digest in zip(parsed.chunks, digests, strict=True)
        ],
        symbols=[
            (
                item.name,
                item.qualified_name,
                item.kind.value,
                item.start_line,
                item.end_line,
                item.signature,
                item.doc,
            )
            for item in parsed.symbols
        ],
    )


def fold(name: str) -> bytes:
    """Return a name as look-ups compare it: with ASCII letters in lower case, as SQLite's NOCASE does."""
    return name.encode("utf-8", "surrogatepass").lower()


def unpack_encoded_text(data: bytes) -> bytes:
    """Return the text of a packed file as UTF-8."""
    try:
        return decompress(data)
    except DeflateError as error:
        raise IndexCorrupt(f"a text in the index cannot be read: {error}") from error


def unpack_text(data: bytes) -> str:
    """Return the text of a packed file."""
    try:
        return unpack_encoded_text(data).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise IndexCorrupt(f"a text in the index cannot be read: {error}") from error


def unpack_extras(data: bytes) -> tuple[tuple[Reference, ...], tuple[tuple[int, int], ...]]:
    """Return the references and comment ranges of a packed file."""
    try:
        references, comments = msgspec.msgpack.decode(decompress(data), type=_Extras)
    except (DeflateError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise IndexCorrupt(f"references in the index cannot be read: {error}") from error
    if not references:
        return (), comments
    # A pack reads tens of thousands of references: made by maps of C functions they take a third of the time.
    names, labels, lines = zip(*references, strict=True)
    rows = zip(names, map(_LABELS.__getitem__, labels), lines, strict=True)
    return tuple(map(_as_reference, rows)), comments


def unpack_outline(data: bytes) -> Outline:
    """Return the outline of a packed file."""
    try:
        return msgspec.msgpack.decode(data, type=Outline)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise IndexCorrupt(f"an outline in the index cannot be read: {error}") from error


# Labels and rules are kept as their texts: numbers instead save 3.1 to 3.5 % of the compressed facts of four
# files of Django, and would have to be turned into enums one by one when they are read.
def _pack_facts(facts: FileFacts) -> bytes:
    if facts == _NO_FACTS:
        return b""
    return compress(msgspec.msgpack.encode(facts))


def unpack_facts(data: bytes) -> FileFacts:
    """Return the facts of a packed file."""
    if not data:
        return _NO_FACTS
    try:
        return msgspec.msgpack.decode(decompress(data), type=FileFacts)
    except (DeflateError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise IndexCorrupt(f"facts in the index cannot be read: {error}") from error


def pack_edges(path: str, edges: FileEdges) -> bytes:
    """Return the edges of a file as the bytes that a store keeps; empty for no edges.

    Before them stands which definitions of other files it uses, as keys: whoever counts over all files reads
    these alone.
    """
    if edges == _NO_EDGES:
        return b""
    used = _pack_used(path, edges)
    return _WITH_USED + struct.pack("<I", len(used)) + used + compress(msgspec.msgpack.encode(edges))


def _pack_used(path: str, edges: FileEdges) -> bytes:
    """Return the keys of the path and of the name of each definition that a file uses of others, by path and
    name, each once."""
    numbers = {use[1] for use in edges.uses}.union(use[3] for use in edges.by_line)
    targets = {(target.path, target.name) for target in map(edges.targets.__getitem__, numbers)}
    return b"".join(name_key(part) for target in sorted(targets) if target[0] != path for part in target)


def used_part(path: str, data: bytes) -> bytes:
    """Return the keys that stand before the edges of a file."""
    if data.startswith(_WITH_USED):
        return data[_USED_START : _used_end(data)]
    # No edges, or those of an index that was not brought up to date.
    return _pack_used(path, unpack_edges(data)) if data else b""


def _used_end(data: bytes) -> int:
    """Return where the keys before edges end."""
    return _USED_START + int.from_bytes(data[_USED_START - 4 : _USED_START], "little")


def unpack_edges(data: bytes) -> FileEdges:
    """Return the edges of a file."""
    if not data:
        return _NO_EDGES
    try:
        packed = data[_used_end(data) :] if data.startswith(_WITH_USED) else data
        return msgspec.msgpack.decode(decompress(packed), type=FileEdges)
    except (DeflateError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise IndexCorrupt(f"edges in the index cannot be read: {error}") from error


def pack_scip(uses: ScipUses) -> bytes:
    """Return what a SCIP index says about a file as the bytes that a store keeps."""
    return compress(msgspec.msgpack.encode(uses))


def unpack_scip(data: bytes) -> ScipUses:
    """Return what a SCIP index says about a file."""
    try:
        return msgspec.msgpack.decode(decompress(data), type=ScipUses)
    except (DeflateError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise IndexCorrupt(f"SCIP edges in the index cannot be read: {error}") from error


def pack_consulted(keys: Iterable[str]) -> bytes:
    """Return the hashes of what the edges of a file rest on, each once, ascending, 4 bytes each."""
    hashes = sorted(set(map(key_hash, keys)))
    return struct.pack(f"<{len(hashes)}I", *hashes)


def unpack_consulted(data: bytes) -> tuple[int, ...]:
    """Return the hashes of what the edges of a file rest on."""
    return struct.unpack(f"<{len(data) // 4}I", data)


def key_hash(key: str) -> int:
    """Return the hash under which something consulted is kept."""
    return crc32(key.encode("utf-8", "surrogatepass"))


def join_title(title_path: Sequence[str]) -> str:
    """Return a title path as the text of one column."""
    joined = _TITLE_SEPARATOR.join(title_path)
    if joined.count(_TITLE_SEPARATOR) >= len(title_path):  # a title holds one; for identity it is a blank
        joined = _TITLE_SEPARATOR.join(title.replace(_TITLE_SEPARATOR, " ") for title in title_path)
    return joined


def split_title(title: str) -> tuple[str, ...]:
    """Return the title path that a column holds."""
    return tuple(title.split(_TITLE_SEPARATOR)) if title else ()


def chunk_record(row: Sequence[Any], number: int, path: str) -> ChunkRecord:
    """Return the record of a chunk row, with the number and path that its store knows."""
    kind, title, level, start_line, end_line, body_offset, digest = row
    return ChunkRecord(
        _KINDS[kind], split_title(title), level, start_line, end_line, body_offset, digest, number, path
    )


def symbol(row: Sequence[Any]) -> Symbol:
    """Return the symbol of a symbol row."""
    name, qualified_name, kind, start_line, end_line, signature, doc = row
    return Symbol(name, qualified_name, _KINDS[kind], start_line, end_line, signature, doc)


def retired_chunks(record: FileRecord, chunks: Sequence[ChunkRecord]) -> list[RetiredChunk]:
    """Return the ids of a file whose chunks end; each knows which of several chunks of one title it was."""
    alike = Counter(chunk.title_path for chunk in chunks)
    met: Counter[tuple[str, ...]] = Counter()
    found = []
    for chunk in chunks:
        title = chunk.title_path
        met[title] += 1
        place = met[title] if alike[title] > 1 else 0
        found.append(RetiredChunk(chunk.digest, record.path, title, record.file_hash, place))
    return found


def parsed_from(
    text: str,
    chunks: Sequence[ChunkRecord],
    symbols: Sequence[Symbol],
    references: tuple[Reference, ...],
    comments: tuple[tuple[int, int], ...],
    facts: FileFacts,
) -> Parsed:
    """Return the parse result that a file was indexed with: content that only moved is not parsed again."""
    lines = split_lines(text)
    return Parsed(
        chunks=tuple(
            Chunk(
                kind=item.kind,
                title_path=item.title_path,
                start_line=item.start_line,
                end_line=item.end_line,
                text="".join(lines[item.start_line - 1 : item.end_line]),
                level=item.level,
                body_offset=item.body_offset,
            )
            for item in chunks
        ),
        symbols=tuple(symbols),
        references=references,
        comments=comments,
        facts=facts,
    )
