"""Keep the answers to questions about files, and note what each of them rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import msgspec

from satchel.caching import Cache
from satchel.code_facts import Rule
from satchel.graph.answers import Answer, name_key
from satchel.graph.interfaces import Definition, Interface, Member
from satchel.graph.modules.module_system import Module, ModuleSystem

_MODULES_KEPT = 50_000  # imports whose module was found
_DEEPEST = 40  # look-ups inside each other; longer chains of imports and bases are cycles


class IncludesOf(NamedTuple):
    """Stands for all files that a file includes, also through others, wherever these names lead to. A choice
    among several definitions rests on them, and there may be hundreds."""

    path: str


Noted = str | tuple[str, str] | IncludesOf
"""What an answer rests on: a key, a look at a name of a file, or what a file includes."""


class _Kept(msgspec.Struct, frozen=True, gc=False):
    """An answer with the files that it rests on."""

    answer: Answer | None
    consulted: frozenset[Noted]


class Members(msgspec.Struct, frozen=True, gc=False):
    """The members of a class by name, nearest first: with its own, and of its bases alone."""

    own: list[Mapping[str, Member]]
    of_bases: list[Mapping[str, Member]]
    consulted: frozenset[Noted]
    is_spread: bool  # over a package of so many files that the names are noted instead


class Questions:
    """Answers questions about the files of one module system.

    `interface_of` returns what a file shows, `interfaces` has those that were loaded. Answers about names of
    a file are kept: most files ask for the same. An answer that a cycle cut short depends on where the
    question began, so it is kept until that question is answered, and no longer. Without it, types that refer
    to each other, as those of Rust's library do, would be gone through in every possible order.
    The rules are layers, one on the other; those below ask the ones above by the methods that raise here.
    """

    def __init__(
        self,
        modules: ModuleSystem,
        interface_of: Callable[[str], Interface | None],
        interfaces: Mapping[str, Interface] | None = None,
    ) -> None:
        self._modules = modules
        self._finds_by_name = modules.finds_by_name
        self._has_open_types = modules.has_open_types
        self._sees_only_imports = modules.sees_only_imports
        self._fields_apart = modules.fields_apart
        self._interface_of = interface_of
        self._interfaces = interfaces if interfaces is not None else {}
        self._kept: dict[tuple[str, str, str], _Kept] = {}
        self._cut_short: dict[tuple[str, str, str], _Kept] = {}  # while one question is answered
        self._members: dict[Definition, Members] = {}
        self._open: set[tuple[str, str, str]] = set()
        self._cut = 0
        self._consulted: set[Noted] = set()
        self._is_plain = not (modules.has_open_types or modules.finds_by_name or modules.fields_apart)
        self._asking = ""  # the file whose expressions are asked for
        self._begun: dict[str, Answer | None] = {}  # what its expressions begin with
        self._packages: dict[str, dict[str, str]] = {}  # qualified names of packages → their file
        # Each with what a file notes that imports it.
        self._found_modules: Cache[tuple[str, str], tuple[Module | None, frozenset[str]]] = Cache(
            _MODULES_KEPT
        )

    def consulted(self, asking: str) -> set[str]:
        """Return what the answers since the last call rest on, as the file that asked for them notes it.
        Its own names are left out: it is resolved anew whenever it changes."""
        noted, self._consulted = self._consulted, set()
        found: set[str] = set()
        for key in noted:
            if isinstance(key, str):
                found.add(key)
            elif isinstance(key, IncludesOf):
                found.update(self._keys_of_includes(key.path))
            else:
                path, name = key
                found.add(path)
                if path != asking and name:
                    found.add(name_key(path, name))
        return found

    def _look(self, path: str, name: str) -> Interface | None:
        """Return what a file shows, for a look at one of its names or at the members of that; for no name, at
        what concerns the file as a whole."""
        self._consulted.add((path, name))
        return self._interfaces.get(path) or self._interface_of(path)

    def _guarded(self, path: str, kind: str, written: str) -> Answer | None:
        """Return the answer to a question about a file, kept or found once."""
        key = path, kind, written
        kept = self._kept.get(key)
        if kept is None and (kept := self._cut_short.get(key)) is not None:
            self._cut += 1
        if kept is not None:
            self._consulted |= kept.consulted
            return kept.answer
        if key in self._open or len(self._open) > _DEEPEST:
            self._cut += 1
            return None
        before, cut = self._consulted, self._cut
        self._consulted = set()
        self._open.add(key)
        answer = self._find(path, kind, written)
        self._open.discard(key)
        is_whole = self._cut == cut or not self._open
        (self._kept if is_whole else self._cut_short)[key] = _Kept(answer, frozenset(self._consulted))
        if not self._open:
            self._cut_short.clear()
        before |= self._consulted  # not the other way round: a file has noted much more than one answer
        self._consulted = before
        return answer

    def _keys_of_includes(self, path: str) -> Iterable[str]:
        """Return what `IncludesOf` stands for."""
        raise NotImplementedError

    def _find(self, path: str, kind: str, written: str) -> Answer | None:
        """Return the answer to a question of a kind, which was not asked before."""
        raise NotImplementedError

    def _expression(self, path: str, expression: str) -> Answer | None:
        """Return what an expression of a file means."""
        raise NotImplementedError

    def name(self, path: str, name: str) -> Answer | None:
        """Return what a name of a file means."""
        raise NotImplementedError

    def _member(self, answer: Answer, name: str, names: int = 0) -> Answer | None:
        """Return a member of what an answer means."""
        raise NotImplementedError

    def _type_member(self, owner: Definition, name: str, rule: Rule, *, above: bool = False) -> Answer | None:
        """Return a member of a class, or of the first of its bases that has it."""
        raise NotImplementedError
