"""Which definitions are asked about? Satchel's own symbols, and two seeded samples of them.

The development sample (`dev`) is for work on the resolver; the held sample (`held`) shares no definition
with it and is looked at rarely. Both have equal shares of functions, methods and types.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable

from graph.repositories import Repository
from graph.truth import Definition
from satchel.storage.records import SymbolRecord

SAMPLES = ("dev", "held")
GROUPS = {
    "function": "function",
    "method": "method",
    "class": "type",
    "struct": "type",
    "interface": "type",
    "enum": "type",
    "trait": "type",
}
_ASIDE_FOLDERS = frozenset(
    {
        *("test", "tests", "__tests__", "testing", "testdata", "t"),
        *("example", "examples", "sample", "playground", "docs", "docs_src"),
        *("bench", "benchmarks", "scripts", "deps", "vendor", "modules"),
    }
)
_ASIDE_MARKS = (".test.", ".spec.", "_test.")


def is_aside(path: str) -> bool:
    """Return whether a file is a test, an example, a document or somebody else's code."""
    *folders, name = path.lower().split("/")
    if not _ASIDE_FOLDERS.isdisjoint(folders):
        return True
    return name.startswith(("test_", "conftest")) or any(mark in name for mark in _ASIDE_MARKS)


def definitions_of(symbols: Iterable[SymbolRecord], repository: Repository) -> list[Definition]:
    """Return the functions, methods and types among Satchel's symbols that the oracle can be asked about."""
    found: dict[tuple[str, str], Definition] = {}
    for record in symbols:
        symbol = record.symbol
        group = GROUPS.get(symbol.kind.value)
        if group is None or not record.path.endswith(repository.suffixes) or not _is_name(symbol.name):
            continue
        lines = (symbol.start_line, symbol.end_line)
        known = found.get((record.path, symbol.qualified_name))
        if known is not None:
            known.ranges.append(lines)
            continue
        found[record.path, symbol.qualified_name] = Definition(
            path=record.path,
            name=symbol.name,
            qualified_name=symbol.qualified_name,
            group=group,
            ranges=[lines],
        )
    return [found[key] for key in sorted(found)]


def mark_samples(definitions: Iterable[Definition], repository: Repository) -> None:
    """Set the sample of the definitions that were drawn. The draw depends on the names alone."""
    by_group: dict[str, list[Definition]] = defaultdict(list)
    for definition in definitions:
        if _may_be_drawn(definition, repository):
            by_group[definition.group].append(definition)
    for sample in SAMPLES:
        chooser = random.Random(f"satchel-graph:{sample}:{repository.name}")
        pools = {group: [item for item in members if not item.sample] for group, members in by_group.items()}
        for group in sorted(pools):
            chooser.shuffle(pools[group])
            if sample == SAMPLES[0]:  # half of a small group is left for the other sample
                del pools[group][(len(pools[group]) + 1) // 2 :]
        _draw(pools, sample, repository.sampled)


def _may_be_drawn(definition: Definition, repository: Repository) -> bool:
    """Return whether a definition belongs to the project itself and is called by its name."""
    # Names with a dollar sign came later: without them in the draw the samples stay those of before.
    is_special = "$" in definition.name or (
        definition.name.startswith("__") and definition.name.endswith("__")
    )
    return definition.path.startswith(repository.within) and not is_aside(definition.path) and not is_special


def _is_name(name: str) -> bool:
    """Return whether a name is an identifier, in which JavaScript allows a dollar sign."""
    return name.replace("$", "_").isidentifier()


def _draw(pools: dict[str, list[Definition]], sample: str, count: int) -> None:
    """Take definitions in turn from every group until there are enough or none is left."""
    drawn = 0
    while drawn < count and any(pools.values()):
        for group in sorted(pools):
            if pools[group] and drawn < count:
                pools[group].pop().sample = sample
                drawn += 1
