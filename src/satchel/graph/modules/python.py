"""Python: dotted names of packages, from the folder that the outermost package stands in."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

from satchel.graph.modules.module_system import Module, ModulePlugin, ModuleSystem, nearest

_SUFFIXES = (".py", ".pyi", ".pyw")


class PythonModules(ModuleSystem):
    """Knows each file by its dotted name: the folders above the outermost `__init__.py` are no part of it.
    A folder without `__init__.py` is a package too, so that a name from the root of the repository, or from
    its `src`, is known as well."""

    sees_only_imports = True

    def __init__(self, paths: tuple[str, ...]) -> None:
        self._packages = {
            path.rpartition("/")[0] for path in paths if path.rpartition("/")[2].startswith("__init__.py")
        }
        self._is_package = "" in self._packages
        self._by_name: dict[str, list[str]] = defaultdict(list)
        self._names: dict[str, str] = {}
        self._folders: set[str] = set()
        for path in paths:
            parts = path.rpartition(".")[0].split("/")
            if parts[-1] == "__init__":
                parts.pop()
            start = self._package_start(path)
            self._names[path] = ".".join(parts[start:])
            for first in {start, 0, 1 if parts[:1] in (["src"], ["lib"]) else start}:
                if first < len(parts):
                    self._by_name[".".join(parts[first:])].append(path)
                    for last in range(first + 1, len(parts)):
                        self._folders.add(".".join(parts[first:last]))

    def _package_start(self, path: str) -> int:
        """Return how many leading folders of a path are no package."""
        folders = path.split("/")[:-1]
        start = len(folders)
        while start and "/".join(folders[:start]) in self._packages:
            start -= 1
        return start

    def module(self, importer: str, written: str) -> Module | None:
        if not written.startswith("."):
            return self._named(written, importer)
        rest = written.lstrip(".")
        above = len(written) - len(rest)
        parts = importer.split("/")[:-1]
        if above - 1 > len(parts):
            return None
        folder = parts[: len(parts) - (above - 1)]
        return self._at("/".join([*folder, *(rest.split(".") if rest else ())]))

    def submodule(self, module: Module, name: str) -> Module | None:
        if module.paths:
            path = module.paths[0]
            if path.rpartition("/")[2].startswith("__init__."):
                return self._at(f"{path.rpartition('/')[0]}/{name}".lstrip("/"))
            return None
        if module.name.startswith("/"):
            return self._at(f"{module.name[1:]}/{name}".lstrip("/"))
        return self._named(f"{module.name}.{name}", "")

    def _named(self, name: str, importer: str) -> Module | None:
        """Return the module of a dotted name; of several the one nearest to the importer."""
        found = self._by_name.get(name)
        if not found and self._is_package:  # the first name is that of the folder that is indexed
            found = self._by_name.get(name.partition(".")[2])
        if found:
            return Module(name, (nearest(found, importer),))
        return Module(name) if name in self._folders else None

    def _at(self, place: str) -> Module | None:
        """Return the module at a place in the tree, given without its suffix."""
        prefix = f"{place}/" if place else ""
        for path in (
            *(f"{place}{suffix}" for suffix in _SUFFIXES),
            f"{prefix}__init__.py",
            f"{prefix}__init__.pyi",
        ):
            if path in self._names:
                return Module(self._names[path], (path,))
        return Module(f"/{place}")


@lru_cache(maxsize=2)
def _modules_of(paths: tuple[str, ...]) -> PythonModules:
    """Return the modules of some files. Most refreshes of a process find the same files as the last one."""
    return PythonModules(paths)


MODULES = ModulePlugin("python", lambda table: _modules_of(table.paths))
