"""Which members of base types does a member override, and which members of derived types override it?

A call on a value whose declared type is an interface or a base class means the member of that type, and runs
the member of the same name in whatever type the value has. Constructors are left out: they are called by the
name of their type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from satchel.code_facts import Target
from satchel.retrieval.code_graph import uses_between, uses_of
from satchel.retrieval.code_symbols import code_symbols, enclosing
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.dependencies import is_implicit
from satchel.retrieval.references import TYPE_KINDS
from satchel.types import Label

_MOST_TYPES = 200  # that a walk over bases or derived types goes through


def overridden(corpus: Corpus, member: Target) -> list[Target]:
    """Return the members of base types that a member overrides or implements, those of the nearest first."""
    return list(_namesakes(corpus, member, _bases))


def overriding(corpus: Corpus, member: Target) -> list[Target]:
    """Return the members of derived types that override or implement a member, those of the nearest first."""
    return list(_namesakes(corpus, member, _derived))


def _namesakes(
    corpus: Corpus, member: Target, neighbours: Callable[[Corpus, Target], Iterator[Target]]
) -> Iterator[Target]:
    """Yield the members of the same name in the types that a walk from the type of a member reaches."""
    first, _, name = member.name.rpartition(".")
    if not first or is_implicit(name):
        return
    seen = {Target(member.path, first)}
    reached = list(seen)
    for owner in reached:
        for other in sorted({*neighbours(corpus, owner)} - seen, key=_order):
            if len(seen) == _MOST_TYPES:
                return
            seen.add(other)
            reached.append(other)
            wanted = f"{other.name}.{name}"
            if any(item.qualified_name == wanted for item in code_symbols(corpus, other.path)):
                yield Target(other.path, wanted)


def _order(target: Target) -> tuple[str, str]:
    return target.path, target.name


def _bases(corpus: Corpus, owner: Target) -> Iterator[Target]:
    """Yield the types that a type extends or implements."""
    for symbol in code_symbols(corpus, owner.path):
        if symbol.qualified_name == owner.name and symbol.kind in TYPE_KINDS:
            for use in uses_between(corpus, owner.path, symbol.start_line, symbol.end_line):
                if use.label is Label.EXTENDS and enclosing(corpus, owner.path, use.line) == symbol:
                    yield use.target


def _derived(corpus: Corpus, owner: Target) -> Iterator[Target]:
    """Yield the types that extend or implement a type."""
    for use in uses_of(corpus, [owner]):
        around = enclosing(corpus, use.path, use.line) if use.label is Label.EXTENDS else None
        if around is not None and around.kind in TYPE_KINDS:
            yield Target(use.path, around.qualified_name)
