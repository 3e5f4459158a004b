"""Which definitions does a repository rest on? Counted by the files that refer to them, over sure edges."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from satchel.code_facts import Target
from satchel.retrieval.code_graph import files_referring
from satchel.retrieval.corpus import Corpus
from satchel.storage.records import FileRecord, SymbolRecord
from satchel.terms import compound, words
from satchel.types import ChunkKind

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


class CentralSymbol(msgspec.Struct, frozen=True):
    """A definition, how many other files refer to it, and its share of the attention of all files."""

    record: SymbolRecord
    files: int
    rank: float


def central_symbols(
    corpus: Corpus, *, focus: Sequence[str] = (), path_prefix: str = ""
) -> list[CentralSymbol]:
    """Return the definitions that other files refer to, most central first, each name once.

    Without a focus, those go first that most files refer to. With one, some paths, those go first that the
    files of the focus and what these refer to lead to. Tests, examples and documents refer, but what they
    define is left out.
    """
    paths = [record.path for record in corpus.files if corpus.has_graph(record.path)]
    referring = files_referring(corpus, paths)
    referring.update(_referring_by_name(corpus))
    ranks = _ranks(corpus, referring, set(focus))
    found = [
        CentralSymbol(record, len(referring[target]), ranks.get(target, 0.0))
        for target, record in _candidates(corpus, referring, path_prefix)
    ]
    if focus:
        found.sort(key=lambda item: (-item.rank, -item.files, *_place(item.record)))
    else:
        found.sort(key=lambda item: (-item.files, -item.rank, *_place(item.record)))
    first: dict[str, CentralSymbol] = {}
    for item in found:
        first.setdefault(item.record.symbol.qualified_name, item)
    return list(first.values())


def _place(record: SymbolRecord) -> tuple[str, int, str]:
    return record.path, record.symbol.start_line, record.symbol.name


def _candidates(
    corpus: Corpus, referring: dict[Target, set[str]], path_prefix: str
) -> Iterable[tuple[Target, SymbolRecord]]:
    """Yield the definitions that may be shown, of those that other files refer to."""
    by_path: dict[str, set[str]] = defaultdict(set)
    for target in referring:
        by_path[target.path].add(target.name)
    prefix = path_prefix.strip("/") + "/" if path_prefix.strip("/.") else ""
    for path, names in by_path.items():
        at = corpus.position_of.get(path)
        if at is None or not path.startswith(prefix) or is_aside(corpus.files[at]):
            continue
        seen: set[str] = set()
        for symbol in corpus.snapshot.symbols(path):
            name = symbol.qualified_name
            if (
                name in names
                and name not in seen
                and symbol.kind in _SHOWN
                and _IDENTIFIER.fullmatch(symbol.name)
            ):
                seen.add(name)
                yield Target(path, name), SymbolRecord(path, symbol)


def is_aside(record: FileRecord) -> bool:
    """Return whether a file is not the project itself, but tests it, shows how to use it or measures it."""
    return not _ASIDE.isdisjoint(record.tags) or not _ASIDE_FOLDERS.isdisjoint(record.path.lower().split("/"))


def _referring_by_name(corpus: Corpus) -> dict[Target, set[str]]:
    """Return the files that mention a definition of a language without rules by its name, if that is the only
    one of the name and of more than one word."""
    found: dict[str, list[Target]] = defaultdict(list)
    for record in corpus.files:
        if corpus.has_graph(record.path) or not corpus.is_code(record.path):
            continue
        for symbol in corpus.snapshot.symbols(record.path):
            if symbol.kind in _SHOWN and _IDENTIFIER.fullmatch(symbol.name):
                found[symbol.name].append(Target(record.path, symbol.qualified_name))
    result: dict[Target, set[str]] = {}
    for name, targets in found.items():
        telling = len(name) >= _LEAST_NAME and (len(words(name)) > 1 or name[:1].isupper())
        if len(targets) == 1 and telling:
            holding = {corpus.files[at].path for at in corpus.files_holding(compound(name))}
            if others := holding - {targets[0].path}:
                result[targets[0]] = others
    return result


def _ranks(corpus: Corpus, referring: dict[Target, set[str]], focus: set[str]) -> dict[Target, float]:
    """Return the share of each definition in the attention that flows from files to what they refer to, and
    on from the files that define it."""
    count = len(corpus.files)
    rows: list[tuple[int, int, int]] = []
    targets: Sequence[Target] = sorted(referring, key=lambda item: (item.path, item.name))
    for number, target in enumerate(targets):
        defined = corpus.position_of.get(target.path)
        if defined is None:
            continue
        rows += [(corpus.position_of[path], defined, number) for path in sorted(referring[target])]
    if not rows:
        return {}
    source, defining, used = np.array(rows, np.int64).T
    share = 1.0 / np.bincount(source, minlength=count)[source]
    start = np.zeros(count)
    start[
        [corpus.position_of[path] for path in sorted(focus) if path in corpus.position_of] or slice(None)
    ] = 1.0
    start /= start.sum()
    rank = start.copy()
    for _ in range(_ROUNDS):
        flow = np.bincount(defining, weights=rank[source] * share, minlength=count)
        # What flows into files that refer to nothing starts again.
        rank = _DAMPING * flow + (1.0 - _DAMPING * flow.sum()) * start
    totals = np.bincount(used, weights=rank[source] * share, minlength=len(targets))
    return {target: round(float(total), 9) for target, total in zip(targets, totals.tolist(), strict=True)}
