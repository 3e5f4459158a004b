"""The map of a repository: its most central symbols by file, inside a token budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from satchel.types import ChunkKind, Symbol

_FIRST = 64  # symbols that are looked at; a map of 1,024 tokens has about 50


@dataclass(frozen=True, slots=True)
class MapSymbol:
    """A symbol with the number of other files that refer to it."""

    path: str
    name: str
    kind: ChunkKind
    signature: str
    line: int
    files: int


class Ranking:
    """Symbols, most central first, which are read as far as somebody asks for them, and kept."""

    def __init__(self, symbols: Iterator[MapSymbol]) -> None:
        self._waiting = symbols
        self._known: list[MapSymbol] = []

    def __iter__(self) -> Iterator[MapSymbol]:
        at = 0
        while True:
            if at == len(self._known):
                self._known += islice(self._waiting, 1)
            if at == len(self._known):
                return
            yield self._known[at]
            at += 1


def map_symbol(path: str, symbol: Symbol, files: int) -> MapSymbol:
    """Return a symbol as the map shows it: by its signature, or by kind and name where that does not name
    it, as with a type of C that stands before its name."""
    signature = symbol.signature
    if symbol.name not in signature:
        signature = f"{symbol.kind.value} {symbol.name}"
    return MapSymbol(path, symbol.qualified_name, symbol.kind, signature, symbol.start_line, files)


def fit(ranked: Iterable[MapSymbol], budget: int, count: Callable[[str], int]) -> list[MapSymbol]:
    """Return as many symbols, best first, as fit the budget when rendered. Few more than these are asked
    for."""
    waiting = iter(ranked)
    taken = list(islice(waiting, _FIRST))
    while count(render(taken)) <= budget and (more := list(islice(waiting, len(taken)))):
        taken += more
    low, high = 0, len(taken)
    while low < high:  # the rendered size grows with every symbol, so bisection finds the cut
        middle = (low + high + 1) // 2
        if count(render(taken[:middle])) <= budget:
            low = middle
        else:
            high = middle - 1
    return taken[:low]


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
