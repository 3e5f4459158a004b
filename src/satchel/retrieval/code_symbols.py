"""Which definitions does a file have in code, which are in some of its lines, and which is around a line?"""

from __future__ import annotations

from bisect import bisect_right

from satchel.caching import Cache
from satchel.code_facts import Target
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.references import CODE_KINDS, TYPE_KINDS
from satchel.types import Symbol

_FILES_KEPT = 2_000


def definitions_in(corpus: Corpus, path: str, first: int = 1, last: int = 2**31) -> list[Target]:
    """Return the definitions of a file that share a line with a range, without those around it: the innermost
    ones, or all of a file."""
    symbols = [
        item for item in code_symbols(corpus, path) if item.start_line <= last and first <= item.end_line
    ]
    inner = [item for item in symbols if not any(_is_inside(other, item) for other in symbols)]
    chosen = symbols if (first, last) == (1, 2**31) else inner
    return list(dict.fromkeys(Target(path, item.qualified_name) for item in chosen))


def _is_inside(inner: Symbol, outer: Symbol) -> bool:
    return inner.qualified_name.startswith(outer.qualified_name + ".")


def enclosing(corpus: Corpus, path: str, line: int) -> Symbol | None:
    """Return the innermost definition around a line of a file."""
    symbols = code_symbols(corpus, path)
    at = bisect_right(symbols, line, key=lambda item: item.start_line)
    holding = (item for item in reversed(symbols[:at]) if item.end_line >= line)
    return next(holding, None)


def code_symbols(corpus: Corpus, path: str) -> list[Symbol]:
    """Return the definitions of a file in code by their first lines, outer ones first."""
    kept: Cache[str, list[Symbol]] = corpus.memo(_cache)
    return kept.get_or_compute(
        path,
        lambda: sorted(
            (item for item in corpus.snapshot.symbols(path) if item.kind in CODE_KINDS),
            key=lambda item: (item.start_line, -item.end_line),
        ),
    )


def _cache(corpus: Corpus) -> Cache[str, list[Symbol]]:
    return Cache(_FILES_KEPT)


def with_members(corpus: Corpus, target: Target) -> list[Target]:
    """Return a definition, and for a type its members as well: a change of the type is one of them."""
    symbols = code_symbols(corpus, target.path)
    own = [item for item in symbols if item.qualified_name == target.name]
    if not any(item.kind in TYPE_KINDS for item in own):
        return [target]
    inside = [item for item in symbols if item.qualified_name.startswith(target.name + ".")]
    return [target, *dict.fromkeys(Target(target.path, item.qualified_name) for item in inside)]
