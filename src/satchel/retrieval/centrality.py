"""Which definitions does a repository rest on? Counted by the files that refer to them, over sure edges."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel.retrieval.code_graph import cross_uses
from satchel.retrieval.corpus import Corpus
from satchel.storage.cross_uses import CrossUses, key_number, run_starts
from satchel.storage.records import FileRecord, SymbolRecord
from satchel.terms import compound, tokens, words
from satchel.types import ChunkKind

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_SHOWN = frozenset(
    {
        ChunkKind.FUNCTION,
        ChunkKind.METHOD,
        ChunkKind.CLASS,
        ChunkKind.STRUCT,
        ChunkKind.ENUM,
        ChunkKind.INTERFACE,
        ChunkKind.TRAIT,
    }
)
_ASIDE = frozenset({"test", "example", "docs"})  # tags of files that are not the project itself
_ASIDE_FOLDERS = frozenset({"bench", "benches", "benchmark", "benchmarks", "perf"})
_IDENTIFIER = re.compile(r"[^\W\d][\w$]*[?!]?")
_LEAST_NAME = 3  # letters of a name that is matched as a word
_DAMPING = 0.85
_ROUNDS = 30
_DIGITS = 9  # of a rank
_AT_ONCE = 1_000  # rows that become objects; few callers ask for more
_MIXING = np.uint64(0x9E3779B97F4A7C15)  # an odd number: no two files have the same multiple of it


class CentralSymbol(msgspec.Struct, frozen=True):
    """A definition, how many other files refer to it, and its share of the attention of all files."""

    record: SymbolRecord
    files: int
    rank: float


class _Targets(msgspec.Struct, frozen=True):
    """What files refer to of other files, as columns: the position of the file that defines it, the key of
    its name, how many files refer to it, and its rank."""

    definers: NDArray[np.int32]
    names: NDArray[np.uint64]
    files: NDArray[np.int64]
    ranks: NDArray[np.float64]

    def rows(self, order: NDArray[np.int64]) -> Iterator[tuple[int, float, int, int]]:
        """Yield the files, the rank, the definer and the name of each in an order."""
        columns = self.files, self.ranks, self.definers, self.names
        for start in range(0, len(order), _AT_ONCE):
            some = order[start : start + _AT_ONCE]
            yield from zip(*(column[some].tolist() for column in columns), strict=True)


def central_symbols(
    corpus: Corpus, *, focus: Sequence[str] = (), path_prefix: str = ""
) -> Iterator[CentralSymbol]:
    """Yield the definitions that other files refer to, most central first, each name once.

    Without a focus, those go first that most files refer to. With one, some paths, those go first that the
    files of the focus and what these refer to lead to. Tests, examples and documents refer, but what they
    define is left out. Symbols are read when they are asked for: most callers want a few of many.
    """
    found = _ranked(corpus, focus) if focus else corpus.memo(_ranked)
    keys = (-found.files, -found.ranks) if focus else (-found.ranks, -found.files)
    order = np.lexsort((found.definers, *keys))
    prefix = path_prefix.strip("/") + "/" if path_prefix.strip("/.") else ""
    defining: dict[int, dict[int, SymbolRecord]] = {}
    met: set[str] = set()
    for (files, rank, at), alike in groupby(found.rows(order), key=itemgetter(0, 1, 2)):
        if at not in defining:
            defining[at] = _shown(corpus, at, prefix)
        records = [record for *_, name in alike if (record := defining[at].get(name))]
        for record in sorted(records, key=lambda item: (item.symbol.start_line, item.symbol.name)):
            if record.symbol.qualified_name not in met:
                met.add(record.symbol.qualified_name)
                yield CentralSymbol(record, files, rank)


def _shown(corpus: Corpus, at: int, prefix: str) -> dict[int, SymbolRecord]:
    """Return the definitions of a file that may be shown, each by the key of its name."""
    record = corpus.files[at]
    if not record.path.startswith(prefix) or is_aside(record):
        return {}
    found: dict[int, SymbolRecord] = {}
    for symbol in corpus.snapshot.symbols(record.path):
        if symbol.kind in _SHOWN and _IDENTIFIER.fullmatch(symbol.name):
            found.setdefault(key_number(symbol.qualified_name), SymbolRecord(record.path, symbol))
    return found


def is_aside(record: FileRecord) -> bool:
    """Return whether a file is not the project itself, but tests it, shows how to use it or measures it."""
    return not _ASIDE.isdisjoint(record.tags) or not _ASIDE_FOLDERS.isdisjoint(record.path.lower().split("/"))


def _used_by_name(corpus: Corpus) -> CrossUses:
    """Return the files that mention a definition of a language without rules by its name, if that is the only
    one of the name, and of more than one word or with a capital. One word is looked for as it is written, in
    files of the same language."""
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for at in np.flatnonzero(corpus.code & ~corpus.with_graph).tolist():
        for symbol in corpus.snapshot.symbols(corpus.files[at].path):
            if symbol.kind in _SHOWN and _IDENTIFIER.fullmatch(symbol.name):
                found[symbol.name].append((at, symbol.qualified_name))
    telling = [
        (name, targets[0])
        for name, targets in found.items()
        if len(targets) == 1 and len(name) >= _LEAST_NAME and (len(words(name)) > 1 or name[:1].isupper())
    ]
    rows: list[tuple[int, int, int]] = []
    of_words: dict[int, dict[str, tuple[int, int]]] = defaultdict(dict)
    held = corpus.postings_many([compound(name) for name, _ in telling])
    for (name, (defining, qualified)), (positions, _) in zip(telling, held, strict=True):
        key = key_number(qualified)
        users = [at for at in sorted(set(corpus.file_of[positions].tolist())) if at != defining]
        if len(words(name)) > 1:
            rows += [(user, defining, key) for user in users]
        else:
            language = corpus.files[defining].language
            for user in users:
                if corpus.files[user].language == language:
                    of_words[user][name] = defining, key
    for user, wanted in of_words.items():
        rows += [(user, *wanted[name]) for name in _words_of(corpus, user) & wanted.keys()]
    rows.sort()
    using, definers, names = np.array(rows, np.int64).reshape(-1, 3).T
    return CrossUses(using.astype(np.int32), definers.astype(np.int32), names.astype(np.uint64))


def _words_of(corpus: Corpus, at: int) -> set[str]:
    """Return the words and names of a file as they are written. The term of a name of one word says too
    little: `Linter` shares it with `SwiftLint` and `linted`."""
    return set(tokens(corpus.snapshot.text(corpus.files[at].path)))


def _ranked(corpus: Corpus, focus: Sequence[str] = ()) -> _Targets:
    """Return what files refer to, with the share of each definition in the attention that flows from files to
    what they refer to, and on from the files that define it."""
    uses = CrossUses.joined([(cross_uses(corpus), 0), (_used_by_name(corpus), 0)])
    firsts, target = _distinct(uses)
    rank = _file_ranks(corpus, uses, focus)
    used = np.bincount(uses.users, minlength=len(corpus.files))
    share = np.divide(rank, used, out=np.zeros(len(rank)), where=used > 0)
    ranks = np.bincount(target, weights=share[uses.users])
    # Rounded, so that shares that differ by the order of their sums alone are equal.
    return _Targets(uses.definers[firsts], uses.names[firsts], np.bincount(target), np.round(ranks, _DIGITS))


def _distinct(uses: CrossUses) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return one row of each definition, and for each row the number of its definition."""
    # One key for both columns: to sort by two takes three times as long.
    keys = uses.definers.astype(np.uint64) * _MIXING + uses.names
    order = np.argsort(keys)
    starts = run_starts(keys[order])
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    return order[starts], numbers


def _file_ranks(corpus: Corpus, uses: CrossUses, focus: Sequence[str]) -> Floats:
    """Return the attention that each file gets where all of it starts at the files of the focus, or at every
    file without one."""
    count = len(corpus.files)
    start = np.zeros(count)
    start[[corpus.position_of[path] for path in focus if path in corpus.position_of] or slice(None)] = 1.0
    start /= max(1.0, start.sum())
    # Rows of one file that lead to the same file stand together: they flow as one.
    starts = run_starts(uses.users, uses.definers)
    users, definers = uses.users[starts], uses.definers[starts].astype(np.int64)
    together = np.diff(np.append(starts, len(uses.users)))
    weights = together / np.bincount(users, weights=together, minlength=count)[users]
    rank = start.copy()
    for _ in range(_ROUNDS):
        flow = np.bincount(definers, weights=rank[users] * weights, minlength=count)
        # What flows into files that refer to nothing starts again.
        rank = _DAMPING * flow + (1.0 - _DAMPING * flow.sum()) * start
    return rank
