"""What a file shows to others: its definitions, its imports, and the types of its names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from satchel.code_facts import ALL_NAMES, FileFacts, Import
from satchel.graph.modules.module_system import linkage_of
from satchel.types import ChunkKind, Symbol

TYPE_KINDS = frozenset(
    {ChunkKind.CLASS, ChunkKind.STRUCT, ChunkKind.ENUM, ChunkKind.INTERFACE, ChunkKind.TRAIT, ChunkKind.IMPL}
)


class Definition(msgspec.Struct, frozen=True, order=True, gc=False):
    """A definition by its file and qualified name. `is_value` tells it from the type of the same name."""

    path: str
    name: str
    is_value: bool = False


Member = Definition | tuple[tuple[str, str], ...]
"""A definition inside a class, or what an attribute holds: expressions, each with the file it stands in."""


ORDINARY, TAG, MACRO = "n", "t", "m"
_TAGGED = re.compile(r"(typedef\s+)?(?:\w+\s+)?(?:struct|union|enum)\b([^{]*)")


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
    if not tagged[1]:
        return TAG
    return ORDINARY + (TAG if symbol.name in tagged[2].split() else "")


def _is_parameter(symbol: Symbol) -> bool:
    """Return whether a variable is really a parameter of a function that the grammar could not read."""
    before = symbol.signature.partition(symbol.name)[0]
    opening, _, parameters = before.partition("(")
    return "," in parameters and "=" not in opening


class Interface(msgspec.Struct, frozen=True, gc=False):
    """The names of one file, laid out for look-ups. Lines are left out, so that an edit inside a function
    leaves the interface as it is."""

    path: str
    language: str
    package: str
    kinds: dict[str, ChunkKind]  # of definitions, by qualified name
    types_and_values: frozenset[str]  # qualified names that a type and something else have
    containers: frozenset[str]  # qualified names of what holds definitions and is none itself (a namespace)
    spaces: dict[str, str]  # of the definitions with other spaces of names than the ordinary one
    imports: dict[str, tuple[Import, ...]]  # by the name that they bind
    exports: frozenset[str]  # the names that others see, as far as the file says so
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
    # Long, because each table of an interface is made here, the later of the earlier ones.
    kinds: dict[str, ChunkKind] = {}
    types_and_values = set()
    for symbol in symbols:
        known = kinds.get(symbol.qualified_name)
        if known is not None and (symbol.kind in TYPE_KINDS) != (known in TYPE_KINDS):
            types_and_values.add(symbol.qualified_name)
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
        types_and_values=frozenset(types_and_values),
        containers=frozenset(_holders(kinds)),
        spaces=spaces,
        imports={name: tuple(found) for name, found in imports.items()},
        exports=frozenset(facts.exports),
        stars=tuple(dict.fromkeys(item.module for item in facts.imports if item.imported == ALL_NAMES)),
        unnamed=tuple(
            dict.fromkeys(item.module for item in facts.imports if not item.name and not item.imported)
        ),
        values={key: tuple(found) for key, found in values.items()},
        bases={name: tuple(found) for name, found in bases.items()},
        returns=_agreed(facts.returns),
        _members=members,
    )


def _agreed(returns: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return what functions return. Overloads that return different things return nothing known."""
    found: dict[str, str] = {}
    for name, expression in returns:
        found[name] = expression if found.get(name, expression) == expression else ""
    return {name: expression for name, expression in found.items() if expression}


def _holders(kinds: Iterable[str]) -> Iterator[str]:
    """Yield the names before the last one of qualified names, as far as they are no definitions."""
    known = set(kinds)
    for name in known:
        holder = name.rpartition(".")[0]
        while holder and holder not in known:
            yield holder
            holder = holder.rpartition(".")[0]


_BEHIND_OUTERMOST = re.compile(r"[.@#]")


def outermost(name: str) -> str:
    """Return the first name of a qualified one, without the mark of a scope or of a result behind it."""
    found = _BEHIND_OUTERMOST.search(name)
    return name[: found.start()] if found else name


class Shown(NamedTuple):
    """All that other files can see of a file: two versions that show the same need no new look at the files
    that use them."""

    package: str
    whole: tuple[object, ...]  # what concerns all names of the file
    definitions: frozenset[tuple[str, ...]]  # name, kind and who can mean it
    names: dict[str, list[object]]  # everything else, by the outermost name that it belongs to


NOTHING_SHOWN = Shown("", (), frozenset(), {})


def shown_to_others(facts: FileFacts, symbols: Iterable[Symbol], *, has_name_spaces: bool = False) -> Shown:
    """Return what a file shows, for a language with rules."""
    names: dict[str, list[object]] = defaultdict(list)
    for item in facts.imports:
        names[outermost(item.name)].append((item.name, item.module, item.imported))
    for value in facts.values:
        names[outermost(value.owner or value.name)].append((value.owner, value.name, value.expression))
    for kind, rows in (("base", facts.bases), ("return", facts.returns)):
        for name, expression in rows:
            names[outermost(name)].append((kind, name, expression))
    for name in facts.exports:
        names[outermost(name)].append(name)
    definitions = []
    for symbol in symbols:
        spaces = name_spaces(symbol) if has_name_spaces else ""
        row = symbol.qualified_name, symbol.kind.value, linkage_of(symbol).value, spaces
        definitions.append(row)
        names[outermost(symbol.qualified_name)].append(row)
    whole = (
        [(item.name, item.module) for item in facts.imports if not item.name or item.imported == ALL_NAMES],
        [value for value in facts.values if value.owner.startswith("+")],
        bool(facts.exports),
    )
    return Shown(facts.package, whole, frozenset(definitions), dict(names))
