"""What belongs to a piece of code: what it calls and extends, who calls it, its class, tests and documents.

Edges come from the references in the index, both ways, one hop or two. A name that half the repository uses
leads nowhere in particular: only so many files are looked into for each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np

from satchel.retrieval.corpus import Corpus
from satchel.retrieval.names import last_name
from satchel.retrieval.references import find_file_references
from satchel.storage.records import ChunkRecord
from satchel.terms import compound, terms
from satchel.types import ChunkKind, Label, RelatedMode

EDGE_WORTH = {
    Label.CALLS: 1.0,
    Label.USES: 0.8,
    Label.CONTAINS: 0.7,
    Label.EXTENDS: 0.6,
    Label.IMPORTS: 0.5,
    Label.LINKS_TO: 0.5,
    Label.TESTED_BY: 0.4,
}
_SHARE_OF_LABEL = 0.5  # of the related items; no label may fill more while others are there
_FILES_READ = 30  # that mention a name, for those that use it
_NAMES_FOLLOWED = 12  # of those that a piece uses, as they come
_TOO_COMMON = 3  # definitions of a name; above this it is not clear which is meant
_CODE = frozenset(ChunkKind) - {ChunkKind.SECTION, ChunkKind.CONFIG, ChunkKind.TEXT, ChunkKind.FILE}
_TYPES = frozenset(
    {ChunkKind.CLASS, ChunkKind.STRUCT, ChunkKind.INTERFACE, ChunkKind.TRAIT, ChunkKind.ENUM, ChunkKind.IMPL}
)


class Related(msgspec.Struct, frozen=True):
    """A chunk that belongs to a primary one."""

    chunk: ChunkRecord
    labels: tuple[Label, ...]
    distance: int
    worth: float
    primary: int  # which of the primary pieces it belongs to


class _Edge(msgspec.Struct, frozen=True):
    chunk: ChunkRecord
    label: Label


def related(
    corpus: Corpus,
    primaries: Sequence[tuple[str, int, int]],
    asked: set[str],
    *,
    hops: int,
    mode: RelatedMode,
    per_primary: int,
) -> list[Related]:
    """What belongs to the primaries, round-robin over them, most telling first."""
    found = [_of_one(corpus, number, primary, asked, hops, mode) for number, primary in enumerate(primaries)]
    taken: set[int] = set()
    chosen: list[Related] = []
    shown: Counter[Label] = Counter()
    cap = max(1, round(_SHARE_OF_LABEL * per_primary * len(primaries)))
    for _ in range(per_primary):
        for own in found:
            item = _next(own, taken, shown, cap, primaries)
            if item is not None:
                taken.add(item.chunk.number)
                shown[item.labels[0]] += 1
                chosen.append(item)
    return chosen


def _next(
    own: list[Related],
    taken: set[int],
    shown: Counter[Label],
    cap: int,
    primaries: Sequence[tuple[str, int, int]],
) -> Related | None:
    """The best that is left of one primary; another label goes first once one has its share."""
    while own:
        free = [item for item in own if shown[item.labels[0]] < cap] or own
        item = free[0]
        own.remove(item)
        if item.chunk.number not in taken and not _inside(item.chunk, primaries):
            return item
    return None


def _inside(chunk: ChunkRecord, spans: Iterable[tuple[str, int, int]]) -> bool:
    return any(
        chunk.path == path and chunk.start_line <= last and first <= chunk.end_line
        for path, first, last in spans
    )


def _of_one(
    corpus: Corpus,
    number: int,
    primary: tuple[str, int, int],
    asked: set[str],
    hops: int,
    mode: RelatedMode,
) -> list[Related]:
    """Everything within some hops of a primary, best first."""
    reached: dict[int, tuple[ChunkRecord, list[Label], int]] = {}
    frontier = corpus.snapshot.chunks(*primary)
    start = {chunk.number for chunk in frontier}
    for distance in range(1, hops + 1):
        following: list[ChunkRecord] = []
        for edge in (edge for chunk in frontier for edge in _edges(corpus, chunk)):
            known = reached.get(edge.chunk.number)
            if edge.chunk.number in start:
                continue
            if known is None:
                reached[edge.chunk.number] = (edge.chunk, [edge.label], distance)
                following.append(edge.chunk)
            elif known[2] == distance and edge.label not in known[1]:
                known[1].append(edge.label)
        frontier = following[:_NAMES_FOLLOWED]
    found = []
    for chunk, labels, distance in reached.values():
        worth = max(EDGE_WORTH[label] for label in labels) / (distance + 1)
        if mode is RelatedMode.FOCUS and _mentions(corpus, chunk, asked):
            worth += 1.0  # before all that mention nothing that was asked for
        ordered = tuple(sorted(labels, key=lambda label: -EDGE_WORTH[label]))
        found.append(Related(chunk, ordered, distance, round(worth, 4), number))
    return sorted(found, key=lambda item: (-item.worth, item.chunk.path, item.chunk.start_line))


def _mentions(corpus: Corpus, chunk: ChunkRecord, asked: set[str]) -> bool:
    text = "".join(corpus.lines(chunk.path)[chunk.start_line - 1 : chunk.end_line])
    return not asked.isdisjoint(terms(text))


def _edges(corpus: Corpus, chunk: ChunkRecord) -> Iterator[_Edge]:
    yield from _used_here(corpus, chunk)
    if chunk.kind in _CODE and chunk.title_path:
        yield from _members(corpus, chunk)
        yield from _users(corpus, chunk)
    elif chunk.kind is ChunkKind.SECTION:
        for use in find_file_references(corpus, chunk.path):
            if use.label is Label.LINKS_TO and use.path != chunk.path:
                yield from _chunks_at(corpus, use.path, use.line, Label.LINKS_TO)


def _used_here(corpus: Corpus, chunk: ChunkRecord) -> Iterator[_Edge]:
    """The definitions that a chunk calls, uses or extends."""
    seen: set[str] = set()
    for use in corpus.references(chunk.path):
        name = last_name(use.name)
        if not chunk.start_line <= use.line <= chunk.end_line or name in seen or len(seen) >= _NAMES_FOLLOWED:
            continue
        if use.label is Label.LINKS_TO:
            continue
        seen.add(name)
        for record in _definitions(corpus, name):
            yield from _chunks_at(corpus, record[0], record[1], use.label)


def _definitions(corpus: Corpus, name: str) -> list[tuple[str, int]]:
    found = [
        (record.path, record.symbol.start_line)
        for record in corpus.snapshot.symbols_named(name)
        if record.symbol.name == name and record.symbol.kind in _CODE
    ]
    return found if len(found) <= _TOO_COMMON else []


def _members(corpus: Corpus, chunk: ChunkRecord) -> Iterator[_Edge]:
    """The members of a type, or the type of a member."""
    own = chunk.title_path
    for other in corpus.snapshot.chunks(chunk.path):
        inside = other.title_path[:-1] == own and chunk.kind in _TYPES
        around = own[:-1] == other.title_path and other.kind in _TYPES and bool(other.title_path)
        if (inside or around) and other.number != chunk.number:
            yield _Edge(other, Label.CONTAINS)


def _users(corpus: Corpus, chunk: ChunkRecord) -> Iterator[_Edge]:
    """Who calls, uses or extends the definition; in a test file it is tested."""
    name = chunk.title_path[-1]
    places, _ = corpus.postings(compound(name))
    files = np.sort(corpus.file_of[places])
    distinct = files[np.r_[True, np.diff(files) > 0]].tolist() if len(files) else []
    by_path: dict[str, list[tuple[int, Label]]] = defaultdict(list)
    for at in distinct[:_FILES_READ]:
        record = corpus.files[at]
        for use in corpus.references(record.path):
            if last_name(use.name) == name and use.label not in (Label.IMPORTS, Label.LINKS_TO):
                label = Label.TESTED_BY if "test" in record.tags else use.label
                by_path[record.path].append((use.line, label))
    for path, uses in by_path.items():
        for line, how in uses[:2]:
            if path != chunk.path or not chunk.start_line <= line <= chunk.end_line:
                yield from _chunks_at(corpus, path, line, how)


def _chunks_at(corpus: Corpus, path: str, line: int, label: Label) -> Iterator[_Edge]:
    for chunk in corpus.snapshot.chunks(path, line, line)[:1]:
        yield _Edge(chunk, label)
