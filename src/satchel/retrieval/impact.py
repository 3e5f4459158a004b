"""What may break when definitions change, and how are two definitions connected? Walks over sure edges.

A member that changes is also run by who calls the member of a base type that it overrides, and those that
override it have to follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from satchel.code_facts import Rule, Target
from satchel.retrieval.code_graph import SureUse, importers_of, uses_between, uses_of
from satchel.retrieval.code_symbols import code_symbols, enclosing, with_members
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.dependencies import is_implicit
from satchel.retrieval.overrides import overridden, overriding
from satchel.types import ChunkKind, Label, Symbol

_MOST_VISITED = 3_000  # definitions that a walk goes through; a path that is longer explains nothing


class Dependant(msgspec.Struct, frozen=True):
    """A definition that may break: it uses what changes, at `line`, or uses something that does."""

    path: str
    line: int
    name: str  # of the definition around the use, empty for code outside of definitions
    label: Label
    distance: int
    through: Target  # what it uses
    is_test: bool


class Step(msgspec.Struct, frozen=True):
    """One step on the way from a definition to another: which one uses which, and where."""

    user: Target
    used: Target
    path: str
    line: int
    label: Label


def find_dependants(corpus: Corpus, targets: Sequence[Target], depth: int, limit: int) -> list[Dependant]:
    """Return what uses some definitions, directly or through others, nearest first; each definition once.

    A target without a name is a file: whoever imports it depends on it.
    """
    seen: set[Target] = set()
    frontier = [member for target in targets for member in with_members(corpus, target)]
    seen.update(frontier)
    found = _overriding(corpus, targets)
    seen.update(Target(item.path, item.name) for item in found)
    for distance in range(1, depth + 1):
        following: list[Target] = []
        bases = (base for member in frontier for base in overridden(corpus, member))
        for use in _uses(corpus, list(dict.fromkeys((*frontier, *bases)))):
            around = enclosing(corpus, use.path, use.line)
            owner = Target(use.path, around.qualified_name if around else "")
            if owner in seen:
                continue
            seen.add(owner)
            found.append(_dependant(corpus, use, owner, around, distance))
            if len(found) >= limit:
                return found[:limit]
            # Code outside of definitions is used by nobody, and a test by no code.
            if owner.name and not found[-1].is_test:
                following.append(_as_called(owner))
        frontier = following
    return found


def _overriding(corpus: Corpus, targets: Sequence[Target]) -> list[Dependant]:
    """Return the members of derived types that override some definitions."""
    return [
        Dependant(
            path=other.path,
            line=symbol.start_line,
            name=other.name,
            label=Label.EXTENDS,
            distance=1,
            through=target,
            is_test=corpus.is_test(other.path) or _is_test_name(symbol),
        )
        for target in targets
        for other in overriding(corpus, target)
        for symbol in code_symbols(corpus, other.path)
        if symbol.qualified_name == other.name
    ]


def _as_called(owner: Target) -> Target:
    """Return a definition as others name it: a constructor is used through its class."""
    outer, _, name = owner.name.rpartition(".")
    return Target(owner.path, outer) if outer and is_implicit(name) else owner


def _uses(corpus: Corpus, targets: Sequence[Target]) -> Iterator[SureUse]:
    """Yield the uses of definitions, code before tests, without the imports of files that use them too."""
    uses = uses_of(corpus, [target for target in targets if target.name])
    used = {use.path for use in uses if use.label is not Label.IMPORTS}
    kept = [use for use in uses if use.label is not Label.IMPORTS or use.path not in used]
    yield from sorted(kept, key=lambda use: (corpus.is_test(use.path), use.path, use.line))
    for target in targets:
        if not target.name:
            yield from (
                SureUse(path, line, Label.IMPORTS, "", target, Rule.IMPORT)
                for path, line in importers_of(corpus, target.path)
            )


def _dependant(
    corpus: Corpus, use: SureUse, owner: Target, around: Symbol | None, distance: int
) -> Dependant:
    return Dependant(
        path=use.path,
        line=use.line,
        name=owner.name,
        label=use.label,
        distance=distance,
        through=use.target,
        is_test=corpus.is_test(use.path) or _is_test_name(around),
    )


def _is_test_name(symbol: Symbol | None) -> bool:
    """Return whether a definition is a test by the module around it (`mod tests` of Rust)."""
    return symbol is not None and "tests" in symbol.qualified_name.split(".")[:-1]


def find_path(corpus: Corpus, start: Target, end: Target, most_steps: int = 8) -> list[Step]:
    """Return the shortest way between two definitions over uses in either direction; empty if there is none
    within the limit."""
    came_by: dict[Target, Step | None] = {start: None}
    frontier = [start]
    for _ in range(most_steps):
        following: list[Target] = []
        for target in frontier:
            for step, other in _neighbours(corpus, target):
                if other in came_by:
                    continue
                came_by[other] = step
                if other == end:
                    return _way(came_by, start, end)
                following.append(other)
            if len(came_by) > _MOST_VISITED:
                return []
        frontier = following
    return []


def _neighbours(corpus: Corpus, target: Target) -> Iterator[tuple[Step, Target]]:
    """Yield what a definition uses, then what uses it."""
    for symbol in code_symbols(corpus, target.path):
        if symbol.qualified_name != target.name:
            continue
        for use in uses_between(corpus, target.path, symbol.start_line, symbol.end_line):
            if use.label is not Label.IMPORTS:
                yield Step(target, use.target, use.path, use.line, use.label), use.target
    for use in uses_of(corpus, [target]):
        around = enclosing(corpus, use.path, use.line)
        if around is not None and around.kind is not ChunkKind.MODULE:
            owner = Target(use.path, around.qualified_name)
            yield Step(owner, target, use.path, use.line, use.label), owner


def _way(came_by: dict[Target, Step | None], start: Target, end: Target) -> list[Step]:
    steps: list[Step] = []
    at = end
    while at != start:
        step = came_by[at]
        assert step is not None
        steps.append(step)
        at = step.user if step.used == at else step.used
    return steps[::-1]
