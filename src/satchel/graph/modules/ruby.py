"""Ruby: the files that `require` and `require_relative` load. Names need no import: every file knows all."""

from __future__ import annotations

import posixpath
from collections import defaultdict

from satchel.graph.modules.module_system import FileTable, Module, ModulePlugin, ModuleSystem, nearest

# Folders that programs and test runners put on the load path; also those inside a gem of a larger repository.
_LOAD_FOLDERS = frozenset({"lib", "test", "spec", "app"})


class RubyModules(ModuleSystem):
    """Knows each file by the paths that a load path may give it."""

    members_are_spread = True
    has_open_types = True

    def __init__(self, table: FileTable) -> None:
        self._table = table
        self._paths = frozenset(table.paths)
        self._by_feature: dict[str, list[str]] = defaultdict(list)
        for path in table.paths:
            parts = path.split("/")
            for at, folder in enumerate(parts[:-1]):
                if folder in _LOAD_FOLDERS:
                    self._by_feature["/".join(parts[at + 1 :]).removesuffix(".rb")].append(path)

    def module(self, importer: str, written: str) -> Module | None:
        folder = importer.rpartition("/")[0]
        if written.startswith("."):
            found = self._at(posixpath.normpath(posixpath.join(folder, written)))
        else:
            features = self._by_feature.get(written.removesuffix(".rb"))
            found = nearest(features, importer) if features else None
        return Module(found, (found,)) if found is not None else None

    def definers(self, name: str) -> tuple[str, ...]:
        return self._table.definers(name)

    def parts(self, path: str, name: str) -> tuple[str, ...]:
        return tuple(sorted(other for other in self._table.definers(name) if other != path))

    def _at(self, place: str) -> str | None:
        return next((path for path in (place, f"{place}.rb") if path in self._paths), None)


MODULES = ModulePlugin("ruby", RubyModules)
