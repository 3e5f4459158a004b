"""Look up ids and locators: the chunk or lines that one names, or what became of them.

Ids are `doc:0123456789` and `chunk_0123456789abcdef`; `retrieval.locators` says how lines may be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from satchel import ids
from satchel.plugins import late
from satchel.retrieval.locators import (
    CANONICAL,
    LONG,
    WHOLE,
    Locator,
    plain_path,
    possible_locators,
    possible_paths,
    split_joined,
    without_blanks,
)
from satchel.storage.open_files import OpenFile, OpenFiles
from satchel.storage.protocol import Snapshot
from satchel.storage.records import ChunkRecord, RetiredChunk
from satchel.types import ChunkKind
from satchel.wording import counted

if TYPE_CHECKING:
    from satchel.retrieval import fuzzy_match
else:  # only an unknown path needs it
    fuzzy_match = late("satchel.retrieval.fuzzy_match")

WHOLE_FILE_LINES = 2000  # a longer file is more than a reader wants at once, about 20,000 tokens
_NAMED_PATHS = 3
_NAMED_CHUNKS = 5
_NO_ID = "not an id: use doc:digest, chunk_digest, path:start:end or a path"


class Fate(StrEnum):
    """What became of an id."""

    CURRENT = "current"
    CHANGED = "changed"  # the chunk has other text now, under a new id
    MOVED = "moved"  # the file was renamed
    GONE = "gone"
    TOO_LONG = "too_long"  # a path alone, of a file that is too long to be given whole
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class LookupResult:
    """The answer to one id. `chunk` is what the id names or has become; `holder` is the chunk of the index
    that has these lines, None if they belong to several chunks."""

    asked: str
    fate: Fate
    chunk: ChunkRecord | None = None
    detail: str = ""
    holder: ChunkRecord | None = None


def find(snapshot: Snapshot, asked: str) -> LookupResult:
    """Look up one id. For a stale id the result says what became of it."""
    return Lookup(OpenFiles(snapshot)).find(asked)


class Lookup:
    """Looks up the ids of one request. Each file is read once for all of them."""

    def __init__(self, files: OpenFiles, longest_file: int = WHOLE_FILE_LINES) -> None:
        self.files = files
        self.longest_file = longest_file

    def split(self, joined: str) -> Iterator[str]:
        """Return the ids in a text that joins them by commas."""
        if "," in joined:
            return split_joined(joined, self._knows)
        return iter([joined] if joined.strip() or self._knows(joined) else [])

    def find(self, asked: str) -> LookupResult:
        """Return what an id names, or what became of it."""
        asked = without_blanks(asked, self._knows)
        if match := LONG.fullmatch(asked):
            current = self.files.snapshot.chunks_by_digest(match[1])
            return _found(asked, current[0]) if current else self._stale(asked, match[1], ())
        canonical = CANONICAL.fullmatch(asked)
        if canonical:
            paths = _paths(canonical[1])
            for file in filter(None, map(self.files.get, paths)):
                for chunk in file.chunks:
                    if chunk.digest.startswith(canonical[2]):
                        return _found(asked, chunk)
        if known := self._first_known(asked):
            return self._by_lines(asked, *known)
        return self._stale(asked, canonical[2], paths) if canonical else self._by_unknown_path(asked)

    def _knows(self, text: str) -> bool:
        """Return whether a text names a file of the index, in any form."""
        canonical = CANONICAL.fullmatch(text)
        named = canonical is not None and any(map(self.files.get, _paths(canonical[1])))
        return named or self._first_known(text) is not None

    def _first_known(self, asked: str) -> tuple[OpenFile, Locator] | None:
        for lines in possible_locators(asked):
            for path in possible_paths(lines.path):
                if (file := self.files.get(path)) is not None:
                    return file, lines
        return None

    def _by_lines(self, asked: str, file: OpenFile, lines: Locator) -> LookupResult:
        """Return lines of a file. Any range of whole lines inside an indexed file can be cited."""
        path, count = file.path, file.record.line_count
        if not file.record.chunk_count:
            return LookupResult(asked, Fate.UNKNOWN, detail=f"{path} is blank")
        if lines.first == WHOLE:
            if count > self.longest_file:
                return LookupResult(asked, Fate.TOO_LONG, detail=_too_long(path, count, self.longest_file))
            return self._span(asked, file, 1, count)
        if not 1 <= lines.first <= lines.last <= count:
            detail = f"{path} has {counted(count, 'line')}, asked were {lines.first} to {lines.last}"
            return LookupResult(asked, Fate.UNKNOWN, detail=detail)
        return self._span(asked, file, lines.first, lines.last)

    def _span(self, asked: str, file: OpenFile, first: int, last: int) -> LookupResult:
        """Return the lines of a file: a chunk of the index if they are exactly one, else a chunk made for
        them."""
        if (exact := file.chunk_at(first, last)) is not None:
            return _found(asked, exact)
        touched = [item for item in file.chunks if item.start_line <= last and first <= item.end_line]
        holder = touched[0] if len(touched) == 1 else None
        title_path = holder.title_path if holder else ()
        seed = (*title_path, f"{first}-{last}")
        span = ChunkRecord(
            kind=holder.kind if holder else _kind_of_several(file, touched),
            title_path=title_path,
            level=holder.level if holder else 0,
            start_line=first,
            end_line=last,
            body_offset=0,
            digest=ids.chunk_digest(ids.doc_of(file.path), seed, file.text(first, last))[: ids.LONG_DIGEST],
            path=file.path,
        )
        return LookupResult(asked, Fate.CURRENT, span, holder=holder)

    def _by_unknown_path(self, asked: str) -> LookupResult:
        """Return the result for a path that is not in the index: renamed, left out, a folder, or mistyped."""
        read = list(possible_locators(asked))
        lines = next((item for item in read if item.first != WHOLE), read[0])
        path = plain_path(lines.path)
        if (renamed := self._renamed(path)) is not None:
            found = self._by_lines(asked, renamed, lines)
            detail = f"{path} is now {renamed.path}"
            return replace(found, fate=Fate.MOVED, detail=detail) if found.chunk is not None else found
        return LookupResult(asked, Fate.UNKNOWN, detail=self._why_unknown(path, lines))

    def _why_unknown(self, path: str, lines: Locator) -> str:
        """Return a sentence that says why a path is not in the index, and what is near it."""
        if (reason := self._skipped.get(path)) is not None:
            return f"{path} was left out of the index: {reason}"
        folder = path.rstrip("/") + "/"
        if inside := [name for name in self._paths if name.startswith(folder)]:
            return f"{path} is a folder of {counted(len(inside), 'file')}: {', '.join(inside[:_NAMED_PATHS])}"
        near = self._matcher.nearest(path, _NAMED_PATHS)
        if not near and lines.first == WHOLE and not set("/.\\").intersection(path):
            return _NO_ID
        return f"{path} is not in the index" + (f"; near it are {', '.join(near)}" if near else "")

    def _renamed(self, path: str) -> OpenFile | None:
        """Return the file that holds the content which a removed file of that path last had."""
        return self.files.get(self._by_content.get(self._ended.get(path, ""), ""))

    def _stale(self, asked: str, digest: str, paths: tuple[str, ...]) -> LookupResult:
        for old in self.files.snapshot.retired(digest):
            if not paths or old.path in paths:
                return self._became(asked, old)
        for file in filter(None, map(self.files.get, paths)):
            detail = f"{file.path} is indexed with {counted(len(file.chunks), 'chunk')}, none has this id"
            return LookupResult(asked, Fate.UNKNOWN, detail=detail)
        return LookupResult(asked, Fate.UNKNOWN, detail="no chunk of this index has or had this id")

    def _became(self, asked: str, old: RetiredChunk) -> LookupResult:
        """Return what became of a chunk that is no longer in the index."""
        alike = self._same_title(old.path, old)
        now = self._successor(old) or (alike[0] if len(alike) == 1 and not old.place else None)
        if now is not None:
            detail = f"the text under {_title(old)} in {old.path} has changed"
            return _found(asked, now, Fate.CHANGED, detail)
        if (moved := self._in_renamed(old)) is not None:
            return _found(asked, moved, Fate.MOVED, f"{old.path} is now {moved.path}")
        if alike:  # which of them the chunk became would be a guess
            return LookupResult(asked, Fate.GONE if old.place else Fate.CHANGED, detail=_several(old, alike))
        if self.files.get(old.path) is None:
            return LookupResult(asked, Fate.GONE, detail=f"{old.path} is no longer in the index")
        return LookupResult(asked, Fate.GONE, detail=f"{old.path} no longer has {_title(old)}")

    def _in_renamed(self, old: RetiredChunk) -> ChunkRecord | None:
        """Return the chunk in the file to which the old path was renamed. A path that still has a file was
        not renamed, even if another file has the text that it once had."""
        if self.files.get(old.path) is not None or (renamed := self._renamed(old.path)) is None:
            return None
        alike = self._same_title(renamed.path, old)
        if renamed.record.file_hash == old.file_hash:
            return next(iter(alike[max(0, old.place - 1) :]), None)
        return alike[0] if len(alike) == 1 and not old.place else None  # it was edited before it moved

    def _successor(self, old: RetiredChunk) -> ChunkRecord | None:
        """Return the current chunk that succeeded an old one, through all edits in between."""
        file, met = self.files.get(old.path), {""}
        current = {chunk.digest: chunk for chunk in file.chunks} if file is not None else {}
        following: RetiredChunk | None = old
        while following is not None and following.successor not in met:
            met.add(digest := following.successor)
            if digest in current:
                return current[digest]
            later = self.files.snapshot.retired(digest)
            following = next((item for item in later if item.path == old.path), None)
        return None

    def _same_title(self, path: str, old: RetiredChunk) -> list[ChunkRecord]:
        """Return the chunks of a file that have the title path of an old chunk."""
        file = self.files.get(path)
        wanted = ids.normalize_title_path(old.title_path)
        chunks = file.chunks if file is not None else ()
        return [chunk for chunk in chunks if ids.normalize_title_path(chunk.title_path) == wanted]

    @cached_property
    def _paths(self) -> list[str]:
        return [record.path for record in self.files.snapshot.files()]

    @cached_property
    def _matcher(self) -> fuzzy_match.PathMatcher:
        return fuzzy_match.PathMatcher(self._paths)

    @cached_property
    def _by_content(self) -> dict[str, str]:
        """Return for each file hash the first path that has it."""
        return {record.file_hash: record.path for record in reversed(self.files.snapshot.files())}

    @cached_property
    def _skipped(self) -> dict[str, str]:
        return {item.skipped.path: item.skipped.reason.value for item in self.files.snapshot.skipped()}

    @cached_property
    def _ended(self) -> dict[str, str]:
        """Return for each path that had chunks once the hash of its last content. Earlier content may be in a
        file to which the path was never renamed."""
        return {old.path: old.file_hash for old in self.files.snapshot.retired("")}


def _found(asked: str, chunk: ChunkRecord, fate: Fate = Fate.CURRENT, detail: str = "") -> LookupResult:
    return LookupResult(asked, fate, chunk, detail, holder=chunk)


def _paths(doc: str) -> tuple[str, ...]:
    """Return the paths that the document part of an id may mean."""
    return tuple(dict.fromkeys(ids.path_of(written) for written in (doc, doc.replace("\\", "/"))))


def _kind_of_several(file: OpenFile, touched: list[ChunkRecord]) -> ChunkKind:
    kinds = {chunk.kind for chunk in touched}
    if len(touched) == len(file.chunks):
        return ChunkKind.FILE
    return kinds.pop() if len(kinds) == 1 else ChunkKind.TEXT


def _too_long(path: str, count: int, limit: int) -> str:
    return (
        f"{path} has {count} lines, a whole file is given up to {limit}:"
        f" ask for lines ({path}:1:{limit}) or for the mode skeleton"
    )


def _several(old: RetiredChunk, alike: list[ChunkRecord]) -> str:
    named = (
        f"{ids.canonical_id(ids.doc_of(item.path), item.digest)} (lines {item.start_line}-{item.end_line})"
        for item in alike[:_NAMED_CHUNKS]
    )
    return f"{old.path} no longer has this text; under {_title(old)} are now {len(alike)}: {', '.join(named)}"


def _title(old: RetiredChunk) -> str:
    return repr(" > ".join(old.title_path)) if old.title_path else "its unnamed part"
