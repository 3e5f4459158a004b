"""Rust: the crates that the `Cargo.toml` files name, and the tree of files below the root of each."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from typing import Any

from satchel.graph.modules.module_system import FileTable, Module, ModulePlugin, ModuleSystem, nearest

_ROOT_NAMES = ("lib.rs", "main.rs")
# Folders of a package whose files are crates of their own, and the key of `Cargo.toml` that lists them.
_TARGET_FOLDERS = {"src/bin": "bin", "tests": "test", "examples": "example", "benches": "bench"}
_HOME = "home of "


class RustModules(ModuleSystem):
    """Knows the crates of a repository, and which file is the module above or below another."""

    members_are_spread = True
    homes_hold_modules = True
    fields_apart = True

    def __init__(self, table: FileTable) -> None:
        self._table = table
        self._paths = frozenset(table.paths)
        self._read = table.read
        self._libraries: dict[str, list[str]] = defaultdict(list)  # name of a crate → root file
        self._renamed: dict[
            tuple[str, str], str
        ] = {}  # (folder of a package, name there) → name of the crate
        self._roots: set[str] = set()
        self._packages: set[str] = set()
        self._parents: dict[str, str | None] = {}
        self._macros: dict[str, tuple[str, ...]] = {}
        self._homes: dict[str, Module] = {}
        for manifest in table.files_named("Cargo.toml"):
            self._add_package(manifest)
        self._roots_by_folder: dict[str, list[str]] = defaultdict(list)
        for root in sorted(self._roots):
            self._roots_by_folder[root.rpartition("/")[0]].append(root)

    def _add_package(self, manifest: str) -> None:
        try:
            said = tomllib.loads(self._read(manifest))
        except tomllib.TOMLDecodeError:
            return
        package = said.get("package")
        if not isinstance(package, dict) or not isinstance(package.get("name"), str):
            return
        folder = manifest.rpartition("/")[0]
        self._packages.add(folder)
        library = _table(said, "lib")
        root = _at(folder, str(library.get("path", "src/lib.rs")))
        if root in self._paths:
            self._roots.add(root)
            self._libraries[str(library.get("name", package["name"])).replace("-", "_")].append(root)
        self._roots |= {_at(folder, name) for name in ("src/main.rs", "build.rs")} & self._paths
        if isinstance(package.get("build"), str):
            self._roots.add(_at(folder, package["build"]))
        for place, key in _TARGET_FOLDERS.items():
            self._roots |= self._targets(said, folder, place, key)
        for key in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, wanted in _table(said, key).items():
                if isinstance(wanted, dict) and isinstance(wanted.get("package"), str):
                    self._renamed[folder, name.replace("-", "_")] = wanted["package"].replace("-", "_")

    def _targets(self, said: dict[str, Any], folder: str, place: str, key: str) -> set[str]:
        """Return the root files of the programs, tests, examples or benchmarks of a package."""
        listed = said.get(key, [])
        if not isinstance(listed, list):
            listed = []
        named = {
            _at(folder, str(item["path"])) for item in listed if isinstance(item, dict) and "path" in item
        }
        # Beside files that are listed, the others of their folder are most likely modules of those.
        own = _at(folder, place) + "/"
        if any(path.startswith(own) for path in named):
            return named & self._paths
        return {
            path
            for path in self._paths
            if path.startswith(own)
            and (path.count("/") == own.count("/") or path.removeprefix(own).partition("/")[2] == "main.rs")
        } | (named & self._paths)

    def module(self, importer: str, written: str) -> Module | None:
        first, *rest = written.split("::")
        found = self._first(importer, first)
        for name in rest:
            if found is None:
                return None
            found = self._below(found, name)
        return _module(found) if found is not None else None

    def submodule(self, module: Module, name: str) -> Module | None:
        if module.name.startswith(_HOME):
            found = self._first(module.name.removeprefix(_HOME), name)
        elif module.paths:
            found = self._below(module.paths[0], name)
        else:
            found = None
        return _module(found) if found is not None else None

    def home(self, path: str) -> Module | None:
        # Every file knows `crate`, `super` and the other crates: they stand below this module. Its files are
        # those whose macros the whole crate knows.
        if path not in self._homes:
            root = self._crate_root(path)
            places = self._macro_places(root) if root is not None else ()
            files = tuple(place for place in places if place in self._paths)
            rests_on = (*self._places_above(path), *places)
            self._homes[path] = Module(f"{_HOME}{path}", files, shared=True, rests_on=rests_on)
        return self._homes[path]

    def definers(self, name: str) -> tuple[str, ...]:
        return self._table.definers(name)

    def inner_path(self, written: str) -> str:
        return written.replace("::", ".").removeprefix("self.")

    def _macro_places(self, root: str) -> tuple[str, ...]:
        """Return where the modules are whose macros the whole crate knows: `#[macro_use] mod x;`."""
        if root not in self._macros:
            names = self._table.imports_of(root)
            self._macros[root] = tuple(place for name in names for place in self._places_below(root, name))
        return self._macros[root]

    def _places_above(self, path: str) -> tuple[str, ...]:
        """Return where the modules above a file are, or would be if they were written."""
        found: dict[str, None] = {}
        above: str | None = path
        for _ in range(path.count("/") + 2):
            if above is None:
                break
            folder = self._place(above)[0]
            places = [] if self._is_root(above) else [_at(folder, "mod.rs"), f"{folder}.rs"]
            found.update(dict.fromkeys((*places, *self._roots_in(folder))))
            above = self._parent(above)
        return tuple(found)

    def _first(self, importer: str, name: str) -> str | None:
        """Return the file of the first name of a path."""
        if name == "self":
            return importer
        if name == "crate":
            return self._crate_root(importer)
        found = self._below(importer, name)
        if found is not None or name == "super":
            return found
        package = self._package_of(importer)
        libraries = self._libraries.get(self._renamed.get((package, name), name))
        return nearest(libraries, importer) if libraries else None

    def _below(self, path: str, name: str) -> str | None:
        if name == "super":
            return self._parent(path)
        if name == "self":
            return path
        return next((place for place in self._places_below(path, name) if place in self._paths), None)

    def _places_below(self, path: str, name: str) -> tuple[str, str]:
        """Return where a module below that of a file is, or would be."""
        place = _at(self._folder_below(path), name)
        return f"{place}.rs", f"{place}/mod.rs"

    def _is_root(self, path: str) -> bool:
        return path in self._roots or (not self._packages and path.rpartition("/")[2] in _ROOT_NAMES)

    def _folder_below(self, path: str) -> str:
        """Return the folder of the modules below a file."""
        folder, _, name = path.rpartition("/")
        if name == "mod.rs" or self._is_root(path):
            return folder
        return _at(folder, name.removesuffix(".rs"))

    def _parent(self, path: str) -> str | None:
        """Return the file of the module above that of a file, None for the root of a crate."""
        if path not in self._parents:
            self._parents[path] = self._find_parent(path)
        return self._parents[path]

    def _find_parent(self, path: str) -> str | None:
        if self._is_root(path):
            return None
        folder, name = self._place(path)
        if (above := _at(folder, "mod.rs")) in self._paths and above != path:
            return above
        if f"{folder}.rs" in self._paths:
            return f"{folder}.rs"
        roots = self._roots_in(folder)
        if len(roots) > 1:
            declared = re.compile(rf"^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+{re.escape(name)}\s*;", re.MULTILINE)
            roots = [root for root in roots if declared.search(self._read(root))]
        return roots[0] if roots else None

    def _place(self, path: str) -> tuple[str, str]:
        """Return the folder that a module is in, and its name."""
        folder, _, file_name = path.rpartition("/")
        if file_name != "mod.rs":
            return folder, file_name.removesuffix(".rs")
        folder, _, name = folder.rpartition("/")
        return folder, name

    def _roots_in(self, folder: str) -> list[str]:
        """Return the roots of crates in a folder."""
        if self._packages:
            return self._roots_by_folder.get(folder, [])
        return [root for root in (_at(folder, each) for each in _ROOT_NAMES) if root in self._paths]

    def _crate_root(self, path: str) -> str | None:
        for _ in range(path.count("/") + 2):
            above = self._parent(path)
            if above is None:
                return path if self._is_root(path) else None
            path = above
        return None

    def _package_of(self, path: str) -> str:
        folder = path.rpartition("/")[0]
        while folder and folder not in self._packages:
            folder = folder.rpartition("/")[0]
        return folder


def _module(path: str) -> Module:
    return Module(path, (path,))


def _at(folder: str, name: str) -> str:
    name = name.removeprefix("./")
    return f"{folder}/{name}" if folder else name


def _table(said: dict[str, Any], key: str) -> dict[str, Any]:
    found = said.get(key)
    return found if isinstance(found, dict) else {}


MODULES = ModulePlugin("rust", RustModules, ("Cargo.toml",))
