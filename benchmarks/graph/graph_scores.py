"""How true is what is built on the graph? Related items of `context_pack`, and the first symbols of `map`."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from graph.answers import Satchel
from graph.sampling import GROUPS, is_aside
from graph.truth import Definition, Truth

ASKED_PACKS = 40  # questions of a repository
PACK_TOKENS = 20_000
MAP_TOKENS = 8_000
MAP_SHOWN = 30
_JUDGED = frozenset({"calls", "uses", "extends", "tested_by"})


class Lines(NamedTuple):
    """Some lines of a file."""

    path: str
    start: int
    end: int

    def hold(self, path: str, line: int) -> bool:
        """Return whether a line is among these."""
        return self.path == path and self.start <= line <= self.end


class UseGraph:
    """All true uses of a repository."""

    def __init__(self, truth: Truth) -> None:
        self.definitions = truth.definitions
        self.files = frozenset(truth.files)
        self._by_name = {(item.path, item.qualified_name): item for item in truth.definitions}
        self._used_in: dict[str, list[tuple[int, Definition]]] = defaultdict(list)
        for definition in truth.definitions:
            for use in definition.direct if definition.direct is not None else definition.uses:
                self._used_in[use.path].append((use.line, definition))

    def lines_of(self, item: Mapping[str, Any]) -> list[Lines]:
        """Return the lines that an item of a pack stands for: its own, and those of the definition that it is
        a part of."""
        found = [Lines(item["file"], item["start_line"], item["end_line"])]
        definition = self._by_name.get((item["file"], item.get("symbol", "")))
        if definition is not None:
            found += [Lines(definition.path, start, end) for start, end in definition.ranges]
        return found

    def joins(self, one: Sequence[Lines], other: Sequence[Lines]) -> bool:
        """Return whether something in the lines of one uses a definition in the lines of the other."""
        return any(
            any(part.hold(place.path, place.line) for part in other for place in definition.names)
            for part_of_one in one
            for line, definition in self._used_in[part_of_one.path]
            if part_of_one.hold(part_of_one.path, line)
        )

    def files_that_refer(self, definition: Definition) -> int:
        """Return how many other files use a definition."""
        return len({use.path for use in definition.uses} - {definition.path})

    def is_referred_to(self, path: str, name: str) -> bool:
        """Return whether anything outside a definition uses it; an unknown one counts as used by nobody."""
        definition = self._by_name.get((path, name))
        if definition is None:
            return False
        own = [Lines(path, start, end) for start, end in definition.ranges]
        return any(not any(part.hold(use.path, use.line) for part in own) for use in definition.uses)


class RelatedScore(NamedTuple):
    """Related items at distance 1 by label: how many have a true edge, and a line for each without.

    An item that is no function, method or type is not judged where no edge is found: the truth has no uses of
    constants and of other names.
    """

    true: Counter[str]
    false: Counter[str]
    not_judged: Counter[str]
    wrong: list[str]


def score_related(satchel: Satchel, graph: UseGraph, sampled: Sequence[Definition]) -> RelatedScore:
    """Ask for packs about sampled definitions and look for the edges behind their related items."""
    asked = sorted(sampled, key=lambda item: (item.path, item.qualified_name))
    random.Random("related").shuffle(asked)
    found = RelatedScore(Counter(), Counter(), Counter(), [])
    for definition in asked[:ASKED_PACKS]:
        query = {"query": definition.qualified_name, "budget_tokens": PACK_TOKENS}
        answer = satchel.ask("context_pack", query)
        if answer is not None:
            _score_pack(answer["items"], graph, found, definition.qualified_name)
    return found


def _score_pack(items: Iterable[dict[str, Any]], graph: UseGraph, found: RelatedScore, query: str) -> None:
    """Add the related items of one pack to a score."""
    items = list(items)
    primary = [graph.lines_of(item) for item in items if item["role"] == "primary"]
    for item in items:
        label = (item.get("relationship") or ["?"])[0]
        is_judged = item["role"] == "related" and item.get("distance") == 1 and label in _JUDGED
        if not is_judged or item["file"] not in graph.files:
            continue
        lines = graph.lines_of(item)
        if any(graph.joins(lines, other) or graph.joins(other, lines) for other in primary):
            found.true[label] += 1
        elif item.get("type", "") not in GROUPS:
            found.not_judged[label] += 1
        else:
            found.false[label] += 1
            found.wrong.append(
                f"{query}: {label} {item['file']}:{item['start_line']} {item.get('symbol', '')}"
            )


class MapScore(NamedTuple):
    """The first symbols of the map, those that most files refer to, and the symbols nobody refers to."""

    shown: list[tuple[str, str]]
    best: list[tuple[str, str]]
    unused: list[tuple[str, str]]

    @property
    def overlap(self) -> int:
        """Return how many of the shown symbols are among the best."""
        return len(set(self.shown) & set(self.best))


def score_map(satchel: Satchel, graph: UseGraph) -> MapScore:
    """Compare the first symbols of `map` with the definitions that most files refer to."""
    answer = satchel.ask("map", {"budget_tokens": MAP_TOKENS})
    symbols = answer["symbols"][:MAP_SHOWN] if answer else []
    shown = [(symbol["path"], symbol["name"]) for symbol in symbols]
    mapped = [item for item in graph.definitions if not is_aside(item.path) and item.name[:2] != "__"]
    mapped.sort(
        key=lambda item: (-graph.files_that_refer(item), -len(item.uses), item.path, item.qualified_name)
    )
    best = [(item.path, item.qualified_name) for item in mapped[:MAP_SHOWN]]
    return MapScore(shown, best, [symbol for symbol in shown if not graph.is_referred_to(*symbol)])
