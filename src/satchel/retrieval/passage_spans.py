"""How is a file divided into passages that may enter a pack? No query matters here, so it is done once.

A passage is a definition with its comments, small neighbours together, or a window of a long definition.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import msgspec

from satchel import ids
from satchel.retrieval.corpus import Corpus
from satchel.storage.records import ChunkRecord
from satchel.types import ChunkKind, Label, LineRange, Passage

_WHOLE_CHARS = 3_200  # a longer definition is offered in windows
_MOST_HEAD_LINES = 6  # of a signature; of a longer signature the first line is taken
_WORD_CHARACTER = re.compile(r"\w")
_COMMENT = re.compile(r"\s*(?:#(?![\[a-z])|//|/?\*|--|;|%|\"\"\"|'''|<!--)")  # not `#define` or `#[derive]`
_TEST_MODULES = frozenset({"test", "tests"})
_PROSE = frozenset({ChunkKind.SECTION, ChunkKind.TEXT})
DEFINITIONS = frozenset(ChunkKind) - {
    ChunkKind.MODULE,
    ChunkKind.SECTION,
    ChunkKind.CONFIG,
    ChunkKind.TEXT,
    ChunkKind.FILE,
}


class PassageSpan(msgspec.Struct, frozen=True, gc=False):
    """The lines of one passage, its units (counted from the first of the file), and the chunks that it holds
    or is a part of."""

    first_unit: int
    stop_unit: int
    chunks: tuple[ChunkRecord, ...]
    first_line: int
    last_line: int
    size: int  # characters
    names: frozenset[str]  # of the chunks
    defined: tuple[str, ...]  # the names of definitions, as often as they are defined


class PassageTraits(msgspec.Struct, frozen=True, gc=False):
    """What a pack says of a passage beside its lines. The fields are those of `Passage`."""

    chunk_id: str
    head: LineRange
    names: tuple[tuple[int, ChunkKind, str], ...]
    whole: bool
    defines: bool
    only_imports: bool


class FilePassages:
    """The passages of one file. Traits and users are computed when a query first needs them."""

    def __init__(self, path: str, spans: Sequence[PassageSpan]) -> None:
        self.path = path
        self.spans = spans
        self._traits: dict[int, PassageTraits] = {}
        self._users: dict[str, tuple[int, ...]] | None = None

    def traits(self, corpus: Corpus, number: int) -> PassageTraits:
        """Return the traits of the passage with a number."""
        found = self._traits.get(number)
        if found is None:
            found = self._traits[number] = _traits(corpus, self.path, self.spans[number])
        return found

    def users(self, corpus: Corpus) -> dict[str, tuple[int, ...]]:
        """Return for each name the numbers of the passages that call, use or extend it."""
        if self._users is None:
            starts = [span.first_line for span in self.spans]
            found: dict[str, dict[int, None]] = defaultdict(dict)
            for name, line in corpus.uses(self.path):
                found[name][max(0, bisect_right(starts, line) - 1)] = None
            self._users = {name: tuple(numbers) for name, numbers in found.items()}
        return self._users


def file_passages(corpus: Corpus, at: int) -> FilePassages:
    """Return all passages of a file, in order."""
    path = corpus.files[at].path
    return corpus.file_passages(path, lambda: FilePassages(path, tuple(_spans(corpus, at))))


def unit_passage(corpus: Corpus, at: int, unit: int) -> FilePassages:
    """Return one unit of a file as its only passage."""
    path = corpus.files[at].path
    return corpus.unit_passage(path, unit, lambda: FilePassages(path, (_unit_span(corpus, at, unit),)))


def qualified_name(chunk: ChunkRecord) -> str:
    """Return the title path of a chunk as it is shown."""
    return (" > " if chunk.kind is ChunkKind.SECTION else ".").join(chunk.title_path)


def is_comment(line: str) -> bool:
    """Return whether a line of code begins as a comment."""
    return _COMMENT.match(line) is not None


def is_inner_test(chunk: ChunkRecord) -> bool:
    """Return whether a chunk is a test in the same file as the tested code, as is usual in Rust."""
    modules = chunk.title_path if chunk.kind is ChunkKind.MODULE else chunk.title_path[:-1]
    return not _TEST_MODULES.isdisjoint(modules)


def is_listing(chunk: ChunkRecord) -> bool:
    """Return whether a chunk only lists the names that a file defines, as `__all__` does: it holds all their
    words and explains none."""
    return chunk.title_path[-1:] == ("__all__",)


def is_definition(chunk: ChunkRecord) -> bool:
    """Return whether a chunk is a named definition, not a module."""
    return bool(chunk.title_path) and chunk.kind in DEFINITIONS


def _span(
    start: int, stop: int, chunks: Sequence[ChunkRecord], first: int, last: int, lines: Sequence[str]
) -> PassageSpan:
    size = sum(map(len, lines[first - 1 : last]))
    names = frozenset(chunk.title_path[-1] for chunk in chunks if chunk.title_path)
    defined = tuple(chunk.title_path[-1] for chunk in chunks if is_definition(chunk))
    return PassageSpan(start, stop, tuple(chunks), first, last, size, names, defined)


def _spans(corpus: Corpus, at: int) -> Iterator[PassageSpan]:
    """Yield the passages of the file at a position, in order."""
    path = corpus.files[at].path
    units = _unit_lines(corpus, at)
    chunks = corpus.snapshot.chunks(path)
    lines = corpus.lines(path)
    start = position = 0
    while start < len(units):
        first, last = units[start]
        while chunks[position].end_line < first:
            position += 1
        longest = chunks[position]
        if longest.end_line > last:  # this unit is the first of several windows of the chunk
            stop = start + 1
            while stop < len(units) and units[stop][0] <= longest.end_line:
                stop += 1
            size = sum(map(len, lines[longest.start_line - 1 : longest.end_line]))
            step = stop - start if size <= _WHOLE_CHARS else 1
            for unit in range(start, stop, step):
                yield _span(unit, unit + step, (longest,), units[unit][0], units[unit + step - 1][1], lines)
            start = stop
        else:
            inside = position
            while inside < len(chunks) and chunks[inside].start_line <= last:
                inside += 1
            yield _span(start, start + 1, chunks[position:inside], first, last, lines)
            start += 1


def _unit_span(corpus: Corpus, at: int, unit: int) -> PassageSpan:
    first, last = _unit_lines(corpus, at)[unit]
    path = corpus.files[at].path
    return _span(unit, unit + 1, corpus.snapshot.chunks(path, first, last), first, last, corpus.lines(path))


def _unit_lines(corpus: Corpus, at: int) -> list[LineRange]:
    """Return the first and last line of each unit of a file."""
    start = int(corpus.unit_offsets[at])
    stop = start + corpus.files[at].unit_count
    return list(
        zip(corpus.first_lines[start:stop].tolist(), corpus.last_lines[start:stop].tolist(), strict=True)
    )


def _traits(corpus: Corpus, path: str, span: PassageSpan) -> PassageTraits:
    """Return what a pack says of a passage."""
    head = _head(corpus, path, span)
    is_part = span.chunks[0].start_line < span.first_line or span.chunks[-1].end_line > span.last_line
    return PassageTraits(
        chunk_id=_id(span),
        head=head,
        names=tuple(
            (chunk.start_line, chunk.kind, qualified_name(chunk)) for chunk in span.chunks if chunk.title_path
        ),
        whole=not is_part and head[0] >= span.first_line,
        defines=bool(span.defined),
        only_imports=_only_imports(corpus, path, span),
    )


def _head(corpus: Corpus, path: str, span: PassageSpan) -> LineRange:
    """Return the lines of the signature of the first definition that starts in a passage, or of the innermost
    definition that the passage is a part of. The part may be the comment above the definition."""
    known = corpus.definitions(path)
    at = bisect_left(known, (span.chunks[0].start_line,))
    if at < len(known) and known[at][0] <= max(span.last_line, span.chunks[0].end_line):
        start, _, name = known[at]
    else:
        around = next((item for item in reversed(known[:at]) if item[1] >= span.first_line), None)
        start, _, name = around or (_telling_line(corpus, path, span), 0, "")
    return _signature(corpus, path, start, name)


def _signature(corpus: Corpus, path: str, start: int, name: str) -> LineRange:
    """Return the lines of the signature of a definition that starts at a line."""
    lines = corpus.lines(path)[start - 1 : start - 1 + _MOST_HEAD_LINES]
    # The name may stand below the first line, as under `static int`.
    named = next((number for number, line in enumerate(lines) if name in line), 0)
    depth = 0
    for number, line in enumerate(lines):
        depth += _depth(line)
        if number >= named and depth <= 0:
            return start, start + number
    return start, start + named


def signature_at(corpus: Corpus, path: str, line: int) -> LineRange:
    """Return the signature of the innermost definition around a line; the line itself outside of all."""
    known = corpus.definitions(path)
    around = [
        item for item in known[: bisect_right(known, line, key=lambda item: item[0])] if item[1] >= line
    ]
    return _signature(corpus, path, around[-1][0], around[-1][2]) if around else (line, line)


def naming_line(corpus: Corpus, passage: Passage, within: LineRange, worth_of: Callable[[str], float]) -> int:
    """Return the line that names a definition of a passage which starts within a range: the one whose name is
    worth most, of equal ones the first; else the first line of the passage's signature that has its name."""
    known = corpus.definitions(passage.path)
    first, last = (bisect_left(known, (line,)) for line in (within[0], within[1] + 1))
    if passage.whole and first < last:
        start, _, name = max(known[first:last], key=lambda item: worth_of(item[2]))
        first, last = _signature(corpus, passage.path, start, name)
    else:
        (first, last), name = passage.head, passage.name.rpartition(".")[2]
    lines = corpus.lines(passage.path)[first - 1 : last]
    return next((number for number, line in enumerate(lines, first) if name and name in line), first)


def _telling_line(corpus: Corpus, path: str, span: PassageSpan) -> int:
    """Return the first line that is no comment and no import, for code that defines nothing."""
    if span.chunks[0].kind in _PROSE:
        return span.first_line
    imports = {use.line for use in corpus.references(path) if use.label is Label.IMPORTS}
    lines = corpus.lines(path)[span.first_line - 1 : span.last_line]
    telling = (
        number
        for number, line in enumerate(lines, span.first_line)
        if number not in imports and _WORD_CHARACTER.search(line) and not is_comment(line)
    )
    return next(telling, span.first_line)


def _depth(line: str) -> int:
    """Return how many more round brackets a line opens than it closes."""
    return line.count("(") - line.count(")")


def _id(span: PassageSpan) -> str:
    """Return the id of the only chunk of a passage, or a locator of its lines."""
    chunk = span.chunks[0]
    if len(span.chunks) == 1:
        return ids.canonical_id(ids.doc_of(chunk.path), chunk.digest)
    return f"{chunk.path}:{span.first_line}:{span.last_line}"


def _only_imports(corpus: Corpus, path: str, span: PassageSpan) -> bool:
    """Return whether most lines of module code are imports."""
    if any(chunk.kind is not ChunkKind.MODULE for chunk in span.chunks):
        return False
    imports = {use.line for use in corpus.references(path) if use.label is Label.IMPORTS}
    lines = corpus.lines(path)[span.first_line - 1 : span.last_line]
    said = [number for number, line in enumerate(lines, span.first_line) if _WORD_CHARACTER.search(line)]
    return bool(said) and sum(number in imports for number in said) * 2 > len(said)
