"""Is a three-layer pack true? Its shape, its ids, and every citation against the files of now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import msgspec

from satchel import ids
from satchel.lines import split_lines
from satchel.packing.layers import SCHEMA_VERSION, LayeredPack, PackChunk
from satchel.types import Skipped, Source

ReadSource = Callable[[str], Source | Skipped]


class Problem(msgspec.Struct, frozen=True):
    """One thing that does not hold."""

    kind: str
    subject: str
    detail: str


def decode(data: bytes) -> LayeredPack | Problem:
    """The pack in a file, or why it is none."""
    try:
        return msgspec.json.decode(data, type=LayeredPack)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return Problem("schema", "context_pack.json", str(error))


def validate(pack: LayeredPack, read: ReadSource) -> list[Problem]:
    """All problems, in the order of the pack."""
    problems = list(_shape(pack))
    sources: dict[str, Source | Skipped] = {}
    for item in pack.source_files:
        source = sources[item.path] = read(item.path)
        if isinstance(source, Skipped):
            problems.append(Problem("source_missing", item.path, source.detail or source.reason.value))
        elif source.file_hash != item.sha256:
            problems.append(Problem("source_changed", item.path, "the file's sha256 is another one now"))
    for chunk in pack.chunks:
        problems.extend(_citation(chunk, sources))
    return problems


def _shape(pack: LayeredPack) -> Iterator[Problem]:
    if pack.schema_version != SCHEMA_VERSION:
        yield Problem("schema", "schema_version", f"{pack.schema_version} instead of {SCHEMA_VERSION}")
    known = Counter(chunk.id for chunk in pack.chunks)
    for chunk_id, count in known.items():
        if count > 1:
            yield Problem("duplicate_id", chunk_id, f"{count} chunks have it")
    for entry in pack.index:
        if entry.id not in known:
            yield Problem("missing_chunk", entry.id, "in the index, but not among the chunks")
    indexed = {entry.id for entry in pack.index}
    for chunk_id in known:
        if chunk_id not in indexed:
            yield Problem("missing_index_entry", chunk_id, "among the chunks, but not in the index")
    for digest_entry in pack.digest:
        for chunk_id in digest_entry.source_chunk_ids:
            if chunk_id not in known:
                yield Problem("missing_chunk", chunk_id, f"named by the digest of {digest_entry.doc}")


def _citation(chunk: PackChunk, sources: dict[str, Source | Skipped]) -> Iterator[Problem]:
    source = sources.get(chunk.source_path)
    if source is None:
        yield Problem("source_unlisted", chunk.id, f"{chunk.source_path} is not among source_files")
    elif isinstance(source, Source):
        lines = split_lines(source.text)
        if "".join(lines[chunk.start_line - 1 : chunk.end_line]) != chunk.text:
            where = f"{chunk.source_path}:{chunk.start_line}:{chunk.end_line}"
            yield Problem("citation_broken", chunk.id, f"{where} reads otherwise now")
    doc, _, digest = chunk.id.rpartition(":")
    if doc != chunk.doc or ids.doc_of(chunk.source_path) != chunk.doc or len(digest) != ids.SHORT_DIGEST:
        yield Problem("id_mismatch", chunk.id, f"does not belong to {chunk.source_path}")
