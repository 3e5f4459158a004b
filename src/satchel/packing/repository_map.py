"""The map of a repository: its most-referenced symbols by file, inside a token budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from satchel.storage.records import SymbolRecord
from satchel.terms import words
from satchel.types import ChunkKind, Symbol

_SHOWN = frozenset(
    {
        ChunkKind.FUNCTION,
        ChunkKind.METHOD,
        ChunkKind.CLASS,
        ChunkKind.STRUCT,
        ChunkKind.ENUM,
        ChunkKind.INTERFACE,
        ChunkKind.TRAIT,
        ChunkKind.MODULE,
    }
)
_COMMON_WORD = 10  # mentions of a function whose name is one word count so many times less
_LEAST_NAME = 3  # letters; shorter names are mentioned everywhere and mean nothing


@dataclass(frozen=True, slots=True)
class MapSymbol:
    """A symbol with the number of units that mention its name."""

    path: str
    name: str
    kind: ChunkKind
    signature: str
    line: int
    mentions: int


def rank(
    symbols: Iterable[SymbolRecord], mentions: Callable[[str], int], is_aside: Callable[[str], bool]
) -> list[MapSymbol]:
    """Return symbols by how often their name is mentioned; definitions of the same name share its mentions.

    Left out are names that the language gives (`__init__`), symbols inside a function, and files that are
    not the project itself, such as tests and examples (`is_aside`).
    """
    by_name: dict[str, list[SymbolRecord]] = defaultdict(list)
    functions: set[tuple[str, str]] = set()
    for item in symbols:
        symbol = item.symbol
        outer = symbol.qualified_name.rpartition(".")[0]
        if symbol.kind in (ChunkKind.FUNCTION, ChunkKind.METHOD):
            functions.add((item.path, symbol.qualified_name))
        local = (item.path, outer) in functions
        named = len(symbol.name) >= _LEAST_NAME and not symbol.name.startswith("__")
        if symbol.kind in _SHOWN and named and not local and not is_aside(item.path):
            by_name[symbol.name].append(item)
    ranked = []
    for name, items in by_name.items():
        share = max(0, mentions(name) - len(items)) // len(items)
        for item in items:
            symbol = item.symbol
            weight = share / (_COMMON_WORD if _is_common_word(symbol) else 1)
            shown = MapSymbol(
                item.path,
                symbol.qualified_name,
                symbol.kind,
                symbol.signature or symbol.name,
                symbol.start_line,
                share,
            )
            ranked.append((weight, shown))
    ranked.sort(key=lambda pair: (-pair[0], pair[1].path, pair[1].line, pair[1].name))
    return [shown for _, shown in ranked]


def _is_common_word(symbol: Symbol) -> bool:
    """Whether a function is named by one word (`get`, `line`, `_list`): most text with such a word does not
    mean the function."""
    return symbol.kind in (ChunkKind.FUNCTION, ChunkKind.METHOD) and len(words(symbol.name)) == 1


def fit(ranked: Sequence[MapSymbol], budget: int, count: Callable[[str], int]) -> list[MapSymbol]:
    """Return as many symbols, best first, as fit the budget when rendered."""
    low, high = 0, len(ranked)
    while low < high:  # the rendered size grows with every symbol, so bisection finds the cut
        middle = (low + high + 1) // 2
        if count(render(ranked[:middle])) <= budget:
            low = middle
        else:
            high = middle - 1
    return list(ranked[:low])


def render(symbols: Sequence[MapSymbol]) -> str:
    """Return the map as text: files in the order of their best symbol, the symbols of a file by line."""
    by_path: dict[str, list[MapSymbol]] = {}
    for item in symbols:
        by_path.setdefault(item.path, []).append(item)
    rows = []
    for path, items in by_path.items():
        rows.append(f"{path}:")
        for item in sorted(items, key=lambda item: (item.line, item.name)):
            rows.append(f"  {item.line:>5} {item.signature}")
    return "\n".join(rows) + "\n" if rows else ""
