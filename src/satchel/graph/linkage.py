"""Find the definitions of a name in the whole repository.

A refresh of a few files asks the store for each name. A first index asks for most names there are: then all
definitions are read once into flat arrays, 17 bytes each (43 MB for the 2.5 million of Linux). Redis took
0.7 s so, and 18.8 s when the store was asked, which has no index by name before all files are in it.
"""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Sequence

import numpy as np

from satchel.graph.interfaces import name_spaces
from satchel.graph.modules.module_system import NamedDefinition, linkage_of
from satchel.storage.records import SymbolRecord


def as_definitions(found: Iterable[SymbolRecord], paths: Container[str]) -> list[NamedDefinition]:
    """Return those symbols that stand in one of some files."""
    return [_definition(item) for item in found if item.path in paths]


def _definition(item: SymbolRecord) -> NamedDefinition:
    symbol = item.symbol
    return NamedDefinition(item.path, symbol.qualified_name, linkage_of(symbol), name_spaces(symbol))


class DefinitionTable:
    """All definitions, by the hash of their name.

    Two names with one hash are expected once in six million repositories of the size of Linux.
    """

    def __init__(self, symbols: Iterable[SymbolRecord]) -> None:
        hashes, files, holders, forms = array("q"), array("i"), array("i"), array("b")
        self._paths: list[str] = []
        known: dict[str, int] = {}  # what stands before the names in qualified names
        self._forms: dict[tuple[object, str], int] = {}
        self._examples: list[NamedDefinition] = []
        for item in symbols:
            if not self._paths or self._paths[-1] != item.path:
                self._paths.append(item.path)
            hashes.append(hash(item.symbol.name))
            files.append(len(self._paths) - 1)
            holder = item.symbol.qualified_name.removesuffix(item.symbol.name)
            holders.append(known.setdefault(holder, len(known)))
            forms.append(self._form(_definition(item)))
        every = np.asarray(hashes, dtype=np.int64)
        order = np.argsort(every, kind="stable")  # definitions of one name stay in the order of their paths
        self._hashes = every[order]
        self._files = np.asarray(files, dtype=np.int32)[order]
        self._held_by = np.asarray(holders, dtype=np.int32)[order]
        self._codes = np.asarray(forms, dtype=np.int8)[order]
        self._holder_names = list(known)

    def _form(self, definition: NamedDefinition) -> int:
        """Return the number of a linkage with its spaces of names; there are about ten."""
        key = definition.linkage, definition.spaces
        number = self._forms.setdefault(key, len(self._forms))
        if number == len(self._examples):
            self._examples.append(definition)
        return number

    def named(self, name: str) -> Sequence[NamedDefinition]:
        """Return the definitions whose qualified names end with a name, by path."""
        wanted = hash(name)
        first, last = self._hashes.searchsorted(wanted), self._hashes.searchsorted(wanted, side="right")
        columns = (column[first:last].tolist() for column in (self._files, self._held_by, self._codes))
        return [
            self._examples[code]._replace(
                path=self._paths[file], qualified_name=self._holder_names[holder] + name
            )
            for file, holder, code in zip(*columns, strict=True)
        ]
