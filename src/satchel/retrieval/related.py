"""Which chunks belong to some lines: callees, callers, their class, tests and documents?

Edges are the sure ones of the code graph, both ways, one hop or two. A definition that half the repository
uses leads nowhere in particular, so only some of the files that use it are read. Languages without rules for
the graph are followed by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from satchel.code_facts import Target
from satchel.retrieval.code_graph import uses_between, uses_of
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.references import (
    CODE_KINDS,
    TYPE_KINDS,
    clear_definitions_of,
    definition_chunk,
    files_mentioning,
    find_links,
    means_chunk,
)
from satchel.storage.records import ChunkRecord
from satchel.terms import last_name, terms
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
_SHARE_OF_LABEL = 0.5  # of the related items; no label may fill more while there are others
_FILES_READ = 30  # of those that mention a name
_USES_OF_FILE = 2
_NAMES_FOLLOWED = 12  # of those that a chunk uses, in their order


class RelatedChunk(msgspec.Struct, frozen=True):
    """A chunk that belongs to a primary passage, and by what edges it is reached."""

    chunk: ChunkRecord
    labels: tuple[Label, ...]
    distance: int
    worth: float
    primary: int  # the number of the primary passage that it belongs to


class _Step(msgspec.Struct, frozen=True):
    """A chunk that is one hop away, and the label of the hop."""

    chunk: ChunkRecord
    label: Label


def find_related(
    corpus: Corpus,
    primaries: Sequence[tuple[str, int, int]],
    asked: set[str],
    *,
    hops: int,
    mode: RelatedMode,
    per_primary: int,
) -> list[RelatedChunk]:
    """Return the chunks that belong to the primary passages, in turn for each passage, most telling first."""
    found = [_of_one(corpus, number, primary, asked, hops, mode) for number, primary in enumerate(primaries)]
    taken: set[int] = set()
    chosen: list[RelatedChunk] = []
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
    own: list[RelatedChunk],
    taken: set[int],
    shown: Counter[Label],
    cap: int,
    primaries: Sequence[tuple[str, int, int]],
) -> RelatedChunk | None:
    """Take the best chunk that is left of one passage. Other labels go first once a label has its share."""
    while own:
        free = [item for item in own if shown[item.labels[0]] < cap] or own
        item = free[0]
        own.remove(item)
        if item.chunk.number not in taken and not _is_inside(item.chunk, primaries):
            return item
    return None


def _is_inside(chunk: ChunkRecord, passages: Iterable[tuple[str, int, int]]) -> bool:
    """Return whether a chunk shares a line with one of some passages."""
    return any(
        chunk.path == path and chunk.start_line <= last and first <= chunk.end_line
        for path, first, last in passages
    )


def _of_one(
    corpus: Corpus,
    number: int,
    primary: tuple[str, int, int],
    asked: set[str],
    hops: int,
    mode: RelatedMode,
) -> list[RelatedChunk]:
    """Return all chunks within some hops of a primary passage, best first."""
    reached: dict[int, tuple[ChunkRecord, list[Label], int]] = {}
    frontier = corpus.snapshot.chunks(*primary)
    start = {chunk.number for chunk in frontier}
    for distance in range(1, hops + 1):
        following: list[ChunkRecord] = []
        for step in (step for chunk in frontier for step in _steps(corpus, chunk)):
            known = reached.get(step.chunk.number)
            if step.chunk.number in start:
                continue
            if known is None:
                reached[step.chunk.number] = (step.chunk, [step.label], distance)
                following.append(step.chunk)
            elif known[2] == distance and step.label not in known[1]:
                known[1].append(step.label)
        frontier = following[:_NAMES_FOLLOWED]
    found = []
    for chunk, labels, distance in reached.values():
        worth = max(EDGE_WORTH[label] for label in labels) / (distance + 1)
        if mode is RelatedMode.FOCUS and _mentions(corpus, chunk, asked):
            worth += 1.0  # before all chunks that hold no term of the query
        ordered = tuple(sorted(labels, key=lambda label: -EDGE_WORTH[label]))
        found.append(RelatedChunk(chunk, ordered, distance, round(worth, 4), number))
    return sorted(found, key=lambda item: (-item.worth, item.chunk.path, item.chunk.start_line))


def _mentions(corpus: Corpus, chunk: ChunkRecord, asked: set[str]) -> bool:
    """Return whether a chunk holds a term of the query."""
    text = "".join(corpus.lines(chunk.path)[chunk.start_line - 1 : chunk.end_line])
    return not asked.isdisjoint(terms(text))


def _steps(corpus: Corpus, chunk: ChunkRecord) -> Iterator[_Step]:
    """Yield the chunks that are one hop away from a chunk."""
    yield from _used_here(corpus, chunk)
    if chunk.kind in CODE_KINDS and chunk.title_path:
        yield from _members(corpus, chunk)
        yield from _users(corpus, chunk)
    elif chunk.kind is ChunkKind.SECTION:
        for path, line in find_links(corpus, chunk.path):
            if path != chunk.path:
                yield from _chunks_at(corpus, path, line, Label.LINKS_TO)


def _used_here(corpus: Corpus, chunk: ChunkRecord) -> Iterator[_Step]:
    """Yield the definitions that a chunk calls, uses or extends."""
    if not corpus.has_graph(chunk.path):
        yield from _named_here(corpus, chunk)
        return
    seen: set[tuple[Target, bool]] = set()
    for use in uses_between(corpus, chunk.path, chunk.start_line, chunk.end_line):
        if (use.target, use.is_value) in seen or len(seen) >= _NAMES_FOLLOWED:
            continue
        seen.add((use.target, use.is_value))
        found = definition_chunk(corpus, use)
        if found is not None:
            yield _Step(found[0], use.label)


def _named_here(corpus: Corpus, chunk: ChunkRecord) -> Iterator[_Step]:
    """Yield the definitions whose names a chunk of a language without rules uses, if they are few."""
    labels: dict[str, Label] = {}
    for use in corpus.references(chunk.path):
        if chunk.start_line <= use.line <= chunk.end_line and use.label is not Label.LINKS_TO:
            labels.setdefault(last_name(use.name), use.label)
    names = list(labels)[:_NAMES_FOLLOWED]
    for name, places in clear_definitions_of(corpus, names).items():
        for path, line in places:
            yield from _chunks_at(corpus, path, line, labels[name])


def _members(corpus: Corpus, chunk: ChunkRecord) -> Iterator[_Step]:
    """Yield the members of a type, or the type of a member."""
    own = chunk.title_path
    for other in corpus.snapshot.chunks(chunk.path):
        inside = other.title_path[:-1] == own and chunk.kind in TYPE_KINDS
        around = own[:-1] == other.title_path and other.kind in TYPE_KINDS and bool(other.title_path)
        if (inside or around) and other.number != chunk.number:
            yield _Step(other, Label.CONTAINS)


def _users(corpus: Corpus, chunk: ChunkRecord) -> Iterator[_Step]:
    """Yield the chunks that call, use or extend a definition, or test it."""
    if corpus.has_graph(chunk.path):
        target = Target(chunk.path, ".".join(chunk.title_path))
        found = (use for use in uses_of(corpus, [target], _FILES_READ) if means_chunk(corpus, use, chunk))
        uses = [(use.path, use.line, use.label) for use in found]
    else:
        uses = _uses_by_name(corpus, chunk.title_path[-1])
    shown: Counter[str] = Counter()
    for path, line, label in uses:
        own = path == chunk.path and chunk.start_line <= line <= chunk.end_line
        if own or label in (Label.IMPORTS, Label.LINKS_TO) or shown[path] >= _USES_OF_FILE:
            continue
        shown[path] += 1
        yield from _chunks_at(corpus, path, line, Label.TESTED_BY if corpus.is_test(path) else label)


def _uses_by_name(corpus: Corpus, name: str) -> list[tuple[str, int, Label]]:
    """Return the uses of a name in some files that mention it, for languages without rules."""
    return [
        (path, use.line, use.label)
        for path in (corpus.files[at].path for at in files_mentioning(corpus, name)[:_FILES_READ])
        for use in corpus.references(path)
        if last_name(use.name) == name
    ]


def _chunks_at(corpus: Corpus, path: str, line: int, label: Label) -> Iterator[_Step]:
    """Yield the chunk at a line, if there is one."""
    for chunk in corpus.snapshot.chunks(path, line, line)[:1]:
        yield _Step(chunk, label)
