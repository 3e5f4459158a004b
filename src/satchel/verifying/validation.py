"""Is a three-layer pack true? Checks its shape, its ids, and every statement against the files of now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from satchel import ids
from satchel.lines import split_lines
from satchel.packing.layers import SCHEMA_VERSION, LayeredPack, PackChunk, doc_entry, index_entry
from satchel.types import Skipped, Source

ReadSource = Callable[[str], Source | Skipped]
_Sources = dict[str, Source | Skipped]


class Problem(msgspec.Struct, frozen=True):
    """One statement of a pack that is not true; `subject` is the id or path that it is about."""

    kind: str
    subject: str
    detail: str


def decode(data: bytes) -> LayeredPack | Problem:
    """Decode a pack; return the problem if the bytes are no three-layer pack."""
    try:
        return msgspec.json.decode(data, type=LayeredPack)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return Problem("schema", "context_pack.json", str(error))


def validate(pack: LayeredPack, read: ReadSource) -> list[Problem]:
    """Return all problems of a pack, in the order of the pack."""
    problems = list(_check_shape(pack))
    sources: _Sources = {}
    for item in pack.source_files:
        source = sources[item.path] = read(item.path)
        if isinstance(source, Skipped):
            problems.append(Problem("source_missing", item.path, source.detail or source.reason.value))
        elif source.file_hash != item.sha256:
            problems.append(Problem("source_changed", item.path, "the file's sha256 is another one now"))
    problems.extend(_check_documents(pack, sources))
    # A chunk whose text is not the file's is reported once; its counts and its id are not checked as well.
    broken: set[str] = set()
    for chunk in pack.chunks:
        found = list(_check_text(chunk, sources))
        broken.update(chunk.id for problem in found if problem.kind == "citation_broken")
        problems.extend(found)
    true = [chunk for chunk in pack.chunks if chunk.id not in broken]
    problems.extend(_check_ids(pack.chunks, broken))
    problems.extend(_check_counts(true))
    problems.extend(_check_index(pack, true))
    return problems


def _check_shape(pack: LayeredPack) -> Iterator[Problem]:
    """Check that every id is unique, and that digest, index and chunks name the same chunks."""
    if pack.schema_version != SCHEMA_VERSION:
        yield Problem("schema", "schema_version", f"{pack.schema_version} instead of {SCHEMA_VERSION}")
    known = Counter(chunk.id for chunk in pack.chunks)
    indexed = Counter(entry.id for entry in pack.index)
    for counts, holders in ((known, "chunks"), (indexed, "entries of the index")):
        for chunk_id, count in counts.items():
            if count > 1:
                yield Problem("duplicate_id", chunk_id, f"{count} {holders} have it")
    for entry in pack.index:
        if entry.id not in known:
            yield Problem("missing_chunk", entry.id, "in the index, but not among the chunks")
    for chunk_id in known:
        if chunk_id not in indexed:
            yield Problem("missing_index_entry", chunk_id, "among the chunks, but not in the index")
    for digest_entry in pack.digest:
        for chunk_id in digest_entry.source_chunk_ids:
            if chunk_id not in known:
                yield Problem("missing_chunk", chunk_id, f"named by the digest of {digest_entry.doc}")


def _check_documents(pack: LayeredPack, sources: _Sources) -> Iterator[Problem]:
    """Check that each source has one document entry, and that its values are true of the source."""
    wanted = {ids.doc_of(item.path): item for item in pack.source_files}
    counts = Counter(doc.doc for doc in pack.docs)
    for name in dict.fromkeys((*wanted, *counts)):
        if name not in wanted or counts[name] != 1:
            detail = f"{counts[name]} entries in docs, {int(name in wanted)} in source_files"
            yield Problem("doc_mismatch", name, detail)
    chunks = Counter(doc for doc, _ in {(chunk.doc, chunk.id) for chunk in pack.chunks})
    for doc in pack.docs:
        listed = wanted.get(doc.doc)
        source = sources[listed.path] if listed is not None else None
        if listed is not None and isinstance(source, Source) and source.file_hash == listed.sha256:
            yield from _differences("doc_mismatch", doc, doc_entry(listed.path, source.text, chunks[doc.doc]))


def _check_text(chunk: PackChunk, sources: _Sources) -> Iterator[Problem]:
    source = sources.get(chunk.source_path)
    if source is None:
        yield Problem("source_unlisted", chunk.id, f"{chunk.source_path} is not among source_files")
    elif isinstance(source, Source):
        lines = split_lines(source.text)
        if "".join(lines[chunk.start_line - 1 : chunk.end_line]) != chunk.text:
            where = f"{chunk.source_path}:{chunk.start_line}:{chunk.end_line}"
            yield Problem("citation_broken", chunk.id, f"{where} reads otherwise now")


def _check_ids(chunks: Sequence[PackChunk], broken: set[str]) -> Iterator[Problem]:
    """Check that each id belongs to its source, and follows from its title path and text."""
    given: dict[str, ids.Digests] = {}
    met: set[str] = set()
    for chunk in chunks:
        doc, _, digest = chunk.id.rpartition(":")
        if doc != chunk.doc or ids.doc_of(chunk.source_path) != chunk.doc or len(digest) != ids.SHORT_DIGEST:
            yield Problem("id_mismatch", chunk.id, f"does not belong to {chunk.source_path}")
        elif chunk.id not in met:
            matches = _has_digest(given.setdefault(doc, ids.Digests(doc)), chunk, digest)
            if not matches and chunk.id not in broken:
                yield Problem("id_mismatch", chunk.id, "is not the id of this title path and text")
        met.add(chunk.id)


def _has_digest(given: ids.Digests, chunk: PackChunk, wanted: str) -> bool:
    """Return whether the id of a chunk has the wanted digest. The body that is hashed begins after the
    heading, whose number of lines the pack does not tell."""
    lines = split_lines(chunk.text)
    for heading in range(len(lines) + 1):
        body_hash = ids.hash_text(ids.normalize_markdown("".join(lines[heading:])))
        if given.would_be(chunk.title_path, body_hash).startswith(wanted):
            given.take(chunk.title_path, body_hash)
            return True
        if not chunk.heading_level:
            break
    return False


def _check_counts(chunks: Sequence[PackChunk]) -> Iterator[Problem]:
    for chunk in chunks:
        line_count = chunk.end_line - chunk.start_line + 1
        counted = replace(chunk, char_count=len(chunk.text), line_count=line_count)
        yield from _differences("chunk_mismatch", chunk, counted)


def _check_index(pack: LayeredPack, chunks: Sequence[PackChunk]) -> Iterator[Problem]:
    """Check the index entry of each chunk."""
    wanted = {chunk.id: chunk for chunk in chunks}
    for entry in pack.index:
        if (chunk := wanted.get(entry.id)) is not None:
            yield from _differences("index_mismatch", entry, index_entry(chunk))


def _differences(kind: str, found: msgspec.Struct, wanted: msgspec.Struct) -> Iterator[Problem]:
    """Yield a problem for each field of an entry that has another value than wanted."""
    subject = getattr(found, found.__struct_fields__[0])
    for name in found.__struct_fields__:
        value, right = getattr(found, name), getattr(wanted, name)
        if value != right:
            yield Problem(kind, subject, f"{name} is {value!r} instead of {right!r}")
