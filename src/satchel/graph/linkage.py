"""Find the definitions of a name in the whole repository.

A refresh of a few files asks the store for each name. A first index asks for most names there are: then all
definitions are read once into flat arrays, 13 bytes each (33 MB for the 2.5 million of Linux). Redis took
0.7 s so, and 18.8 s when the store was asked, which has no index by name before all files are in it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from satchel.graph.interfaces import name_spaces
from satchel.graph.modules.module_system import NamedDefinition, linkage_of
from satchel.storage.records import SymbolRecord


def as_definitions(found: Iterable[SymbolRecord], name: str, paths: frozenset[str]) -> list[NamedDefinition]:
    """Return those symbols of a name that stand at the top of one of some files."""
    return [_definition(item) for item in found if item.symbol.qualified_name == name and item.path in paths]


def _definition(item: SymbolRecord) -> NamedDefinition:
    return NamedDefinition(item.path, linkage_of(item.symbol), name_spaces(item.symbol))


class DefinitionTable:
    """All definitions at the top of files, by the hash of their name.

    Two names with one hash are expected once in six million repositories of the size of Linux.
    """

    def __init__(self, symbols: Iterable[SymbolRecord]) -> None:
        hashes, files, forms = array("q"), array("i"), array("b")
        self._paths: list[str] = []
        self._forms: dict[tuple[object, str], int] = {}
        self._examples: list[NamedDefinition] = []
        for item in symbols:
            if item.symbol.name != item.symbol.qualified_name:
                continue
            if not self._paths or self._paths[-1] != item.path:
                self._paths.append(item.path)
            hashes.append(hash(item.symbol.name))
            files.append(len(self._paths) - 1)
            forms.append(self._form(_definition(item)))
        every = np.asarray(hashes, dtype=np.int64)
        order = np.argsort(every, kind="stable")  # definitions of one name stay in the order of their paths
        self._hashes = every[order]
        self._files = np.asarray(files, dtype=np.int32)[order]
        self._codes = np.asarray(forms, dtype=np.int8)[order]

    def _form(self, definition: NamedDefinition) -> int:
        """Return the number of a linkage with its spaces of names; there are about ten."""
        key = definition.linkage, definition.spaces
        number = self._forms.setdefault(key, len(self._forms))
        if number == len(self._examples):
            self._examples.append(definition)
        return number

    def named(self, name: str) -> Sequence[NamedDefinition]:
        """Return the definitions of a name, by path."""
        wanted = hash(name)
        first, last = self._hashes.searchsorted(wanted), self._hashes.searchsorted(wanted, side="right")
        return [
            self._examples[code]._replace(path=self._paths[file])
            for file, code in zip(
                self._files[first:last].tolist(), self._codes[first:last].tolist(), strict=True
            )
        ]
