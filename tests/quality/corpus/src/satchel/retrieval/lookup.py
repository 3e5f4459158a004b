"""An id → the chunk it names, or what became of it.

Three spellings are taken: `doc:0123456789`, `chunk_0123456789abcdef` and the locator `path:12:40`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from satchel import ids
from satchel.lines import split_lines
from satchel.storage.protocol import Snapshot
from satchel.storage.records import ChunkRecord, RetiredChunk

_LOCATOR = re.compile(r"(.+):(\d{1,9}):(\d{1,9})", re.DOTALL)
_CANONICAL = re.compile(r"(.+):([0-9a-f]{10})", re.DOTALL)
_LONG = re.compile(r"chunk_([0-9a-f]{16})")


class Fate(StrEnum):
    """What an id stands for today."""

    CURRENT = "current"
    CHANGED = "changed"  # the same place holds other text, under a new id
    MOVED = "moved"  # the file was renamed
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to one asked id: `chunk` is what it names or has become."""

    asked: str
    fate: Fate
    chunk: ChunkRecord | None = None
    detail: str = ""


def find(snapshot: Snapshot, asked: str) -> Found:
    """Look an id up. An id that has gone stale is answered with what became of it."""
    asked = asked.strip()
    if match := _LONG.fullmatch(asked):
        current = snapshot.chunks_by_digest(match.group(1))
        return (
            Found(asked, Fate.CURRENT, current[0]) if current else _stale(snapshot, asked, match.group(1), "")
        )
    if match := _LOCATOR.fullmatch(asked):
        return _by_lines(snapshot, asked, match.group(1), int(match.group(2)), int(match.group(3)))
    if match := _CANONICAL.fullmatch(asked):
        path = ids.path_of(match.group(1))
        for chunk in snapshot.chunks(path):
            if chunk.digest.startswith(match.group(2)):
                return Found(asked, Fate.CURRENT, chunk)
        return _stale(snapshot, asked, match.group(2), path)
    return Found(asked, Fate.UNKNOWN, detail="not an id: use doc:digest, chunk_digest or path:start:end")


def _by_lines(snapshot: Snapshot, asked: str, path: str, start: int, end: int) -> Found:
    """Any span of whole lines inside an indexed file can be cited."""
    record = snapshot.file(path)
    if record is None:
        return Found(asked, Fate.UNKNOWN, detail=f"{path} is not in the index")
    if not record.chunk_count:
        return Found(asked, Fate.UNKNOWN, detail=f"{path} is blank")
    if not 1 <= start <= end <= record.line_count:
        detail = f"{path} has {record.line_count} lines, asked were {start} to {end}"
        return Found(asked, Fate.UNKNOWN, detail=detail)
    chunks = snapshot.chunks(path)
    inside = [chunk for chunk in chunks if chunk.start_line <= start and end <= chunk.end_line]
    exact = [chunk for chunk in inside if (chunk.start_line, chunk.end_line) == (start, end)]
    if exact:
        return Found(asked, Fate.CURRENT, exact[0])
    holder = inside[0] if inside else None
    lines = split_lines(snapshot.text(path))
    text = "".join(lines[start - 1 : end])
    title_path = holder.title_path if holder else ()
    digest = ids.chunk_digest(ids.doc_of(path), (*title_path, f"{start}-{end}"), text)
    span = ChunkRecord(
        kind=holder.kind if holder else chunks[0].kind,
        title_path=title_path,
        level=holder.level if holder else 0,
        start_line=start,
        end_line=end,
        body_offset=0,
        digest=digest[: ids.LONG_DIGEST],
        path=path,
    )
    return Found(asked, Fate.CURRENT, span)


def _stale(snapshot: Snapshot, asked: str, digest: str, path: str) -> Found:
    for old in snapshot.retired(digest):
        if not path or old.path == path:
            return _became(snapshot, asked, old)
    if path and snapshot.file(path) is not None:
        count = len(snapshot.chunks(path))
        return Found(asked, Fate.UNKNOWN, detail=f"{path} is indexed with {count} chunks, none has this id")
    return Found(asked, Fate.UNKNOWN, detail="no chunk of this index has or had this id")


def _became(snapshot: Snapshot, asked: str, old: RetiredChunk) -> Found:
    if (same := _same_title(snapshot, old.path, old)) is not None:
        return Found(asked, Fate.CHANGED, same, f"the text under {_title(old)} in {old.path} has changed")
    for record in snapshot.files():
        if (
            record.file_hash == old.file_hash
            and (moved := _same_title(snapshot, record.path, old)) is not None
        ):
            return Found(asked, Fate.MOVED, moved, f"{old.path} is now {record.path}")
    if snapshot.file(old.path) is None:
        return Found(asked, Fate.GONE, detail=f"{old.path} is no longer in the index")
    return Found(asked, Fate.GONE, detail=f"{old.path} no longer has {_title(old)}")


def _same_title(snapshot: Snapshot, path: str, old: RetiredChunk) -> ChunkRecord | None:
    wanted = ids.normalize_title_path(old.title_path)
    for chunk in snapshot.chunks(path):
        if ids.normalize_title_path(chunk.title_path) == wanted:
            return chunk
    return None


def _title(old: RetiredChunk) -> str:
    return repr(" > ".join(old.title_path)) if old.title_path else "its unnamed part"
