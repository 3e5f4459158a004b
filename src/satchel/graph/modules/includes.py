"""C and C++: `#include` copies files, and the linker finds the rest by name."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Collection, Sequence

from satchel.caching import Cache
from satchel.graph.interfaces import MACRO
from satchel.graph.modules.module_system import (
    FileTable,
    Linkage,
    Module,
    ModulePlugin,
    ModuleSystem,
    NamedDefinition,
    Sighting,
)

_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".m")
_MOST_INCLUDED = 3_000  # files of one closure; the kernel has about a thousand in most
_CLOSURES_KEPT = 256
_INCLUDES_KEPT = 50_000


class Includes(ModuleSystem):
    """Finds included files, and the one definition that a name means.

    A name that only one file of the repository can define for others is that of this file. Among several,
    what the file includes goes first, then what the linker would find nearest to it; equals give no answer.
    """

    has_linkage = True
    has_scopes = True
    members_are_spread = True

    def __init__(self, table: FileTable) -> None:
        self._table = table
        self._paths = frozenset(table.paths)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in table.paths:
            self._by_name[posixpath.basename(path)].append(path)
        self._found: Cache[tuple[str, str], str] = Cache(_INCLUDES_KEPT)
        self._qualified: Cache[str, dict[str, list[NamedDefinition]]] = Cache(_INCLUDES_KEPT)
        self._direct: dict[str, tuple[str, ...]] = {}  # what each file includes itself
        self._closures: Cache[str, dict[str, int]] = Cache(_CLOSURES_KEPT)
        self._stems: Cache[str, frozenset[str]] = Cache(_CLOSURES_KEPT)

    def module(self, importer: str, written: str) -> Module | None:
        path = self._included(importer, written)
        return Module(path, (path,)) if path else None

    def _included(self, importer: str, written: str) -> str:
        """Return the file of an `#include`: beside the importer, else the one whose path ends so."""
        folder = importer.rpartition("/")[0]
        return self._found.get_or_compute((folder, written), lambda: self._find(folder, importer, written))

    def _find(self, folder: str, importer: str, written: str) -> str:
        beside = posixpath.normpath(posixpath.join(folder, written))
        if beside in self._paths:
            return beside
        plain = posixpath.normpath(written).lstrip("./")
        ending = f"/{plain}"
        found = [
            path
            for path in self._by_name.get(posixpath.basename(plain), ())
            if path == plain or path.endswith(ending)
        ]
        return _nearest(found, importer) if found else ""

    def linked(self, path: str, name: str, space: str) -> str:
        found = [
            item
            for item in self._table.definitions_named(name)
            if item.qualified_name == name and space in item.spaces and item.path != path
        ]
        shown = [item for item in found if item.linkage is not Linkage.FILE or not _is_source(item.path)]
        if len(shown) == 1 and len(found) == 1:
            return shown[0].path
        included = self._closure(path) if found else {}
        near = [item for item in found if item.path in included]
        outer = [item for item in shown if item.linkage is Linkage.PROGRAM]
        if near:
            # A function of the program that a header replaces for some builds is still that function.
            if len(outer) == 1 and all(item.linkage is Linkage.FILE for item in near):
                return outer[0].path
            return min(near, key=lambda item: (included[item.path], item.path)).path
        return _only_nearest([item.path for item in outer or shown], path)

    def definers(self, name: str) -> Sequence[str]:
        return tuple(dict.fromkeys(item.path for item in self._definitions(name)))

    def seen(self, path: str, qualified: str) -> Sighting | None:
        return self._choose(path, self._definitions(qualified))

    def seen_macro(self, path: str, name: str) -> tuple[Sighting, str] | None:
        macros = [item for item in self._table.definitions_named(name) if MACRO in item.spaces]
        found = self._choose(path, macros)
        if found is None:
            return None
        return found, next(item.qualified_name for item in macros if item.path == found.path)

    def _definitions(self, qualified: str) -> list[NamedDefinition]:
        """Return all definitions of a qualified name."""
        name = qualified.rpartition(".")[2]
        return self._qualified.get_or_compute(name, lambda: self._by_qualified_name(name)).get(qualified, [])

    def _by_qualified_name(self, name: str) -> dict[str, list[NamedDefinition]]:
        found: dict[str, list[NamedDefinition]] = defaultdict(list)
        for item in self._table.definitions_named(name):
            found[item.qualified_name].append(item)
        return dict(found)

    def _choose(self, path: str, found: Sequence[NamedDefinition]) -> Sighting | None:
        """Return which of several definitions a file means: its own, what it includes, what is linked."""
        if not found:
            return None
        if any(item.path == path for item in found):
            return Sighting(path)
        # What only its own source file can mean is seen by no other, unless that is included.
        shown = [item for item in found if not _is_source(item.path) or item.linkage is Linkage.PROGRAM]
        if len(shown) == 1 and len(found) == 1:
            return Sighting(shown[0].path)
        included = self._closure(path)
        near = [item.path for item in found if item.path in included]
        if near:
            nearest = min(near, key=lambda each: (included[each], each))
            return Sighting(nearest, is_included=True, is_chosen=True)
        # A header shows nothing to those who do not include it; a source file is declared by its own header.
        linked = [item.path for item in shown if _is_source(item.path)]
        declared = [each for each in linked if _stem(each) in self._included_stems(path)]
        nearest = _only_nearest(declared or linked, path)
        return Sighting(nearest, is_chosen=True) if nearest else None

    def included(self, path: str) -> Collection[str]:
        return self._closure(path)

    def _included_stems(self, path: str) -> frozenset[str]:
        """Return the names, without ending, of the files that a file includes, also through others."""
        return self._stems.get_or_compute(path, lambda: frozenset(map(_stem, self._closure(path))))

    def _closure(self, path: str) -> dict[str, int]:
        """Return the files that a file includes, also through others, with their distance."""
        return self._closures.get_or_compute(path, lambda: self._include_all(path))

    def _include_all(self, path: str) -> dict[str, int]:
        distances = {path: 0}
        waiting = [path]
        for each in waiting:
            if len(waiting) > _MOST_INCLUDED:
                break
            for other in self._includes_of(each):
                if other not in distances:
                    distances[other] = distances[each] + 1
                    waiting.append(other)
        return distances

    def _includes_of(self, path: str) -> tuple[str, ...]:
        if path not in self._direct:
            found = (self._included(path, written) for written in self._table.imports_of(path))
            self._direct[path] = tuple(other for other in found if other)
        return self._direct[path]


def _is_source(path: str) -> bool:
    return path.endswith(_SOURCES)


def _shared(path: str, other: str) -> int:
    """Return how many leading folders two paths share."""
    count = 0
    for mine, its in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if mine != its:
            break
        count += 1
    return count


def _nearest(found: Sequence[str], importer: str) -> str:
    if len(found) == 1:
        return found[0]
    return min(found, key=lambda path: (-_shared(path, importer), path.count("/"), path))


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def _only_nearest(found: Sequence[str], importer: str) -> str:
    """Return the path that shares more folders with the importer than all others, empty if none does."""
    if not found:
        return ""
    ranked = sorted({(-_shared(path, importer), path) for path in found})
    if len(ranked) > 1 and ranked[0][0] == ranked[1][0]:
        return ""
    return ranked[0][1]


MODULES = ModulePlugin("includes", Includes)
