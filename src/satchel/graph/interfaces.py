"""What a file shows to others: its definitions, its imports, and the types of its names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from satchel.code_facts import ALL_NAMES, FileFacts, Import
from satchel.types import ChunkKind, Symbol

TYPE_KINDS = frozenset(
    {ChunkKind.CLASS, ChunkKind.STRUCT, ChunkKind.ENUM, ChunkKind.INTERFACE, ChunkKind.TRAIT, ChunkKind.IMPL}
)


class Definition(NamedTuple):
    """A definition by its file and qualified name."""

    path: str
    name: str


Member = Definition | tuple[tuple[str, str], ...]
"""A definition inside a class, or what an attribute holds: expressions, each with the file it stands in."""


ORDINARY, TAG, MACRO = "n", "t", "m"
_TAGGED = re.compile(r"(typedef\s+)?(?:\w+\s+)?(?:struct|union|enum)\s+(\w+)?")


def name_spaces(symbol: Symbol) -> str:
    """Return the spaces of names that a definition of C is found in: ordinary names, the tags behind
    `struct`, and macros, which are ordinary names too."""
    if symbol.signature.startswith("#"):
        return ORDINARY + MACRO
    if symbol.kind is ChunkKind.CONST and _is_parameter(symbol):
        return ""
    tagged = _TAGGED.match(symbol.signature) if symbol.kind in (ChunkKind.STRUCT, ChunkKind.ENUM) else None
    if tagged is None:
        return ORDINARY
    return (ORDINARY if tagged[1] else "") + (TAG if tagged[2] == symbol.name else "")


def _is_parameter(symbol: Symbol) -> bool:
    """Return whether a variable is really a parameter of a function that the grammar could not read."""
    before = symbol.signature.partition(symbol.name)[0]
    opening, _, parameters = before.partition("(")
    return "," in parameters and "=" not in opening


@dataclass(frozen=True, slots=True)
class Interface:
    """The names of one file, laid out for look-ups. Lines are left out, so that an edit inside a function
    leaves the interface as it is."""

    path: str
    language: str
    package: str
    kinds: dict[str, ChunkKind]  # of definitions, by qualified name
    spaces: dict[str, str]  # of the definitions with other spaces of names than the ordinary one
    imports: dict[str, tuple[Import, ...]]  # by the name that they bind
    stars: tuple[str, ...]  # modules that all names are imported from
    unnamed: tuple[str, ...]  # modules whose import names nothing: `#include`, the packages of Go
    values: dict[tuple[str, str], tuple[str, ...]]  # (owner, name) → what it holds
    bases: dict[str, tuple[str, ...]]
    returns: dict[str, str]
    _members: dict[str, dict[str, Member]]

    def members(self, owner: str) -> dict[str, Member]:
        """Return the members that the file itself gives to a class of it."""
        return self._members.get(owner, {})

    def defines(self, name: str, space: str = "") -> bool:
        """Return whether the file defines a name, in a space of names if the language has several."""
        return name in self.kinds and (not self.spaces or (space or ORDINARY) in self.spaces[name])

    def is_type(self, name: str) -> bool:
        """Return whether a qualified name is that of a type."""
        return self.kinds.get(name) in TYPE_KINDS


def make_interface(
    path: str, language: str, facts: FileFacts, symbols: Sequence[Symbol], *, has_name_spaces: bool = False
) -> Interface:
    """Return the interface of a file. The first definition of a name counts; types go before the rest."""
    kinds: dict[str, ChunkKind] = {}
    for symbol in symbols:
        known = kinds.get(symbol.qualified_name)
        if known is None or (symbol.kind in TYPE_KINDS and known not in TYPE_KINDS):
            kinds[symbol.qualified_name] = symbol.kind
    spaces: dict[str, str] = {}
    for symbol in symbols if has_name_spaces else ():
        name = symbol.qualified_name
        spaces[name] = spaces.get(name, "") + name_spaces(symbol)
    imports: dict[str, list[Import]] = defaultdict(list)
    for item in facts.imports:
        if item.name:
            imports[item.name].append(item)
    values: dict[tuple[str, str], list[str]] = defaultdict(list)
    for value in facts.values:
        values[value.owner, value.name].append(value.expression)
    bases: dict[str, list[str]] = defaultdict(list)
    for name, base in facts.bases:
        bases[name].append(base)
    members: dict[str, dict[str, Member]] = defaultdict(dict)
    for name in kinds:
        owner, _, short = name.rpartition(".")
        if owner:
            members[owner][short] = Definition(path, name)
    for (owner, name), found in values.items():
        if owner:
            members[owner].setdefault(name, tuple((path, expression) for expression in found))
    return Interface(
        path=path,
        language=language,
        package=facts.package,
        kinds=kinds,
        spaces=spaces,
        imports={name: tuple(found) for name, found in imports.items()},
        stars=tuple(dict.fromkeys(item.module for item in facts.imports if item.imported == ALL_NAMES)),
        unnamed=tuple(
            dict.fromkeys(item.module for item in facts.imports if not item.name and not item.imported)
        ),
        values={key: tuple(found) for key, found in values.items()},
        bases={name: tuple(found) for name, found in bases.items()},
        returns=dict(facts.returns),
        _members=members,
    )


def shown_to_others(facts: FileFacts, symbols: Iterable[Symbol]) -> tuple[object, ...]:
    """Return all that other files can see of a file: two versions that show the same need no new look at the
    files that use them."""
    return (
        facts.package,
        tuple((item.name, item.module, item.imported) for item in facts.imports),
        facts.values,
        facts.bases,
        facts.returns,
        tuple((symbol.qualified_name, symbol.kind) for symbol in symbols),
    )
