"""Where does a text stand, best first? In code of the project, in its tests and examples, in documents.

In each of these, lines that define what was looked for go before lines in central files. A file is as central
as other files with a sure use of what it defines are many. Matches are grouped by the innermost definition
around them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from satchel.cancellation import CancelToken
from satchel.retrieval.centrality import is_aside
from satchel.retrieval.code_graph import users_of_files
from satchel.retrieval.code_symbols import enclosing
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.file_cache import encode_name
from satchel.retrieval.filters import Filters
from satchel.retrieval.text_pattern import TextPattern
from satchel.retrieval.text_scan import FileMatches, content_of, matching_lines, scan
from satchel.types import Symbol

_GRAPH_FILES = 20_000  # of a larger tree the graph is not read: files go by their kind and path
_LINES_OF_FILE = 400  # lines of one file that are told apart; further ones are counted
_FILES_WITH_NAMES = 300  # of the best files with matches, whose names of definitions are looked at
_NAME = re.compile(r"[^\W\d]\w*")
_LEAST_NAME = 3  # letters
_CHARS_PER_TOKEN = 2  # of lines that are read: the citation of a line takes more tokens than its text
_FIRST_GROUPS = 3  # of one file, before other files have their turn
_FIRST_LINES = 3  # of one group, before other groups have their turn


class MatchLine(msgspec.Struct, frozen=True):
    """A line with a match. `first` and `last` are where its first match starts and ends, in bytes."""

    line: int
    first: int
    last: int


class MatchGroup(msgspec.Struct, frozen=True):
    """The matching lines inside one definition, or outside of all definitions of a file. `defines`: the first
    line defines a name that was looked for."""

    at: int
    symbol: Symbol | None
    lines: tuple[MatchLine, ...]
    defines: bool = False


class TextMatches(msgspec.Struct, frozen=True):
    """All matches as counts, and the groups that may be shown, best first. With `by_line`, counts are of
    matching lines."""

    files: tuple[FileMatches, ...]
    total: int
    groups: tuple[MatchGroup, ...]
    read: int
    unread: int
    by_line: bool = False


def find_text(
    corpus: Corpus, pattern: TextPattern, filters: Filters, room: int, token: CancelToken
) -> TextMatches:
    """Return where a pattern matches. `room` is the number of tokens that the answer may show."""
    order = corpus.memo(best_first)
    if filters.active():
        accepts = filters.acceptor()
        order = [at for at in order if accepts(corpus.files[at])]
    found = scan(corpus, pattern, order, token)
    files = found.files
    if filters.by_kind:
        files = tuple(_of_kind(corpus, pattern, filters, files))
    groups = _Grouping(corpus, pattern, filters, files).groups(room * _CHARS_PER_TOKEN)
    total = sum(file.count for file in files)
    return TextMatches(files, total, tuple(groups), found.read, found.unread, filters.by_kind)


def best_first(corpus: Corpus) -> list[int]:
    """Return the positions of all files: code first, then tests, then others; central files before others."""
    count = len(corpus.files)
    users = corpus.memo(users_of_files) if count <= _GRAPH_FILES else [0] * count
    return sorted(range(count), key=lambda at: (_remoteness(corpus, at), -users[at], at))


def _remoteness(corpus: Corpus, at: int) -> int:
    """Return 0 for code of the project, 1 for code that tests, shows or measures it, 2 for anything else."""
    record = corpus.files[at]
    if not corpus.is_code(record.path):
        return 2
    return int(is_aside(record))


def _of_kind(
    corpus: Corpus, pattern: TextPattern, filters: Filters, files: Sequence[FileMatches]
) -> Iterator[FileMatches]:
    """Yield the files with lines that lie in chunks of the wanted kind; lines are counted, not matches."""
    for file in files:
        lines = matching_lines(pattern, content_of(corpus, file.at))
        count = sum(_is_in_kind(corpus, filters, file.at, line) for line, _, _ in lines)
        if count:
            yield FileMatches(file.at, count)


def _is_in_kind(corpus: Corpus, filters: Filters, at: int, line: int) -> bool:
    record = corpus.files[at]
    chunks = corpus.snapshot.chunks(record.path, line, line)
    return any(filters.accepts_chunk(record, chunk.kind) for chunk in chunks)


class _Grouping:
    """Makes groups of the matches of some files, as many as the answer can show."""

    def __init__(
        self, corpus: Corpus, pattern: TextPattern, filters: Filters, files: Sequence[FileMatches]
    ) -> None:
        self.corpus, self.pattern, self.filters, self.files = corpus, pattern, filters, files

    def groups(self, chars: int) -> list[MatchGroup]:
        """Return groups whose lines have at least `chars` characters together, or all groups."""
        defining = self._defining_files()
        told: list[MatchGroup] = []
        rank = {file.at: number for number, file in enumerate(self.files)}
        remote = {at: _remoteness(self.corpus, at) for at in rank}
        for at in sorted(rank, key=lambda at: (remote[at], at not in defining, rank[at])):
            groups = list(self._of_file(at, defining.get(at, frozenset())))
            told += groups
            chars -= sum(line.last - line.first + 40 for group in groups for line in group.lines)
            if chars < 0:
                break
        exact = frozenset(_names_in(self.pattern))
        return sorted(told, key=lambda group: (remote[group.at], *_group_key(group, rank, exact)))

    def _defining_files(self) -> dict[int, frozenset[str]]:
        """Return the files that define a name of the pattern, in their order, with these names."""
        parts = [encode_name(name.lower()) for name in _names_in(self.pattern)]
        if not parts:
            return {}
        first = [file.at for file in self.files[:_FILES_WITH_NAMES]]
        found: dict[int, frozenset[str]] = {}
        for at, loaded in zip(first, self.corpus.outlines(first), strict=True):
            types, others = loaded.names.holding(parts)
            names = frozenset(name.decode("utf-8", "surrogatepass") for name in (*types, *others))
            if names:
                found[at] = names
        return found

    def _of_file(self, at: int, names: frozenset[str]) -> Iterator[MatchGroup]:
        """Yield the groups of one file, in the order of their first lines."""
        path = self.corpus.files[at].path
        content = content_of(self.corpus, at)
        by_symbol: dict[Symbol | None, list[MatchLine]] = {}
        defining: set[Symbol] = set()
        for line, first, last in islice(matching_lines(self.pattern, content), _LINES_OF_FILE):
            if self.filters.by_kind and not _is_in_kind(self.corpus, self.filters, at, line):
                continue
            symbol = enclosing(self.corpus, path, line)
            by_symbol.setdefault(symbol, []).append(MatchLine(line, first, last))
            if symbol is not None and symbol.start_line == line and symbol.name in names:
                place = (
                    self.corpus.lines(path)[line - 1]
                    .encode("utf-8", "surrogatepass")
                    .find(encode_name(symbol.name))
                )
                if first < place + len(encode_name(symbol.name)) and place < last:
                    defining.add(symbol)
        for symbol, lines in by_symbol.items():
            yield MatchGroup(at, symbol, tuple(lines), symbol in defining)


def _group_key(group: MatchGroup, rank: dict[int, int], exact: frozenset[str]) -> tuple[bool, bool, int, int]:
    """Return the order of groups of like files: definitions of just the name, other definitions, files."""
    is_exact = group.defines and group.symbol is not None and group.symbol.name in exact
    return not is_exact, not group.defines, rank[group.at], group.lines[0].line


def in_turns(groups: Sequence[MatchGroup]) -> list[tuple[int, MatchLine]]:
    """Return the lines of groups, each with the number of its group, in the order in which they are shown:
    the first lines of the first groups of every file, then what is left."""
    seen: Counter[int] = Counter()
    turns: list[tuple[int, int, int, MatchLine]] = []
    for number, group in enumerate(groups):
        late = 0 if group.defines else seen[group.at] // _FIRST_GROUPS
        seen[group.at] += not group.defines
        for place, line in enumerate(group.lines):
            turns.append((late + place // _FIRST_LINES, number, place, line))
    turns.sort(key=lambda turn: turn[:3])
    return [(number, line) for _, number, _, line in turns]


def _names_in(pattern: TextPattern) -> list[str]:
    """Return the names that a pattern looks for, as far as they are written in it."""
    parts = [part.text for clause in pattern.required if len(clause) == 1 for part in clause]
    names = (name for text in parts for name in _NAME.findall(text))
    return list(dict.fromkeys(name for name in names if len(name) >= _LEAST_NAME))
