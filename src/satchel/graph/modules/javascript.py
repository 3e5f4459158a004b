"""JavaScript and TypeScript: relative paths, `tsconfig.json` aliases and the packages of the repository.

The rules are those of Node and of the TypeScript compiler, with one difference. A package says which *built*
file an import means (`./dist/index.js`), and a repository holds no built files: the source that it is built
from is found instead.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from satchel.graph.modules.module_system import FileTable, Module, ModulePlugin, ModuleSystem, nearest

# In the order in which the compiler tries them.
_SUFFIXES = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mts", ".cts", ".d.mts", ".d.cts", ".mjs", ".cjs")
# TypeScript is written with the suffix of the file that it becomes.
_SOURCE_SUFFIXES = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx", ".d.ts"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
_BUILT_SUFFIX = re.compile(r"(?:\.d)?\.[mc]?[jt]sx?$")
# Folders that a build writes to; the source of `dist/client/x.js` is `src/client/x.ts`.
_BUILT_FOLDERS = frozenset(
    {"dist", "build", "lib", "out", "output", "es", "esm", "cjs", "umd", "module", "modules", "types",
     "typings", "compiled", "commonjs", "browser", "node", "bundle", "bundles", "_build", "target"}
)  # fmt: skip
_CONFIG_NAMES = ("tsconfig.json", "jsconfig.json")
_MOST_EXTENDED = 12  # tsconfig files that extend each other
# Line and block comments and trailing commas, which tsconfig files may have; strings are stepped over.
_NOT_JSON = re.compile(
    r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/|,(?=\s*(?:(?://[^\n]*|/\*.*?\*/)\s*)*[}\]])', re.DOTALL
)


class _Aliases(NamedTuple):
    """What a tsconfig file says about modules, with the files that it extends."""

    base: str | None = None  # the folder that names without a dot may start from
    paths: tuple[tuple[str, tuple[str, ...]], ...] = ()  # (pattern, places relative to `paths_from`)
    paths_from: str = ""


class _Package(NamedTuple):
    """A package of the repository: its folder and its description."""

    folder: str
    content: dict[str, object]


class JavaScriptModules(ModuleSystem):
    """Finds the file of an import."""

    def __init__(self, table: FileTable) -> None:
        self._read = table.read
        self._every_path = table.every_path
        self._paths = frozenset(table.paths)
        self._aliases: dict[str, _Aliases] = {}
        self._folder_aliases: dict[str, tuple[_Aliases, ...]] = {}
        self._packages: dict[str, list[_Package]] = {}
        self._package_folders: dict[str, _Package] = {}
        self._found: dict[tuple[str, str], str] = {}
        for path in table.files_named("package.json"):
            if "node_modules/" not in path:
                content = _json(table.read(path))
                package = _Package(posixpath.dirname(path), content)
                self._package_folders[package.folder] = package
                if isinstance(name := content.get("name"), str) and name:
                    self._packages.setdefault(name, []).append(package)

    def module(self, importer: str, written: str) -> Module | None:
        folder = posixpath.dirname(importer)
        written = written.partition("?")[0]  # `./icon?raw`, a question to the bundler
        key = folder, written
        if key not in self._found:
            self._found[key] = self._find(folder, written)
        path = self._found[key]
        return Module(path, (path,)) if path else None

    def _find(self, folder: str, written: str) -> str:
        """Return the path of the file that an import in a folder means, empty if it is none of them."""
        if written.startswith("."):
            return self._at(_join(folder, written))
        if written.startswith("#"):
            return self._private(folder, written) or self._aliased(folder, written)
        return self._aliased(folder, written) or self._of_package(folder, written)

    # Places

    def _at(self, place: str | None) -> str:
        """Return the file at a place that may lack its suffix, or be a folder."""
        if place is None:
            return ""
        return self._file(place) or self._folder(place)

    def _file(self, place: str) -> str:
        stem, suffix = posixpath.splitext(place)
        for source in _SOURCE_SUFFIXES.get(suffix, ()):
            if stem + source in self._paths:
                return stem + source
        if place in self._paths:
            return place
        return (
            next((place + suffix for suffix in _SUFFIXES if place + suffix in self._paths), "")
            if place
            else ""
        )

    def _folder(self, place: str) -> str:
        package = self._package_folders.get(place)
        if package is not None and (found := self._entry(package)):
            return found
        return self._file(f"{place}/index" if place else "index")

    # Aliases

    def _aliased(self, folder: str, written: str) -> str:
        """Return the file of a name that a tsconfig file explains: that of the nearest folder, else of those
        above, because a file may be compiled as a part of a larger project."""
        for aliases in self._aliases_above(folder):
            if found := self._by_alias(aliases, written):
                return found
        return ""

    def _by_alias(self, aliases: _Aliases, written: str) -> str:
        best, rest = "", ""
        places: tuple[str, ...] = ()
        for pattern, targets in aliases.paths:
            caught = _caught(pattern, written)
            if caught is not None and (not places or _is_closer(pattern, best)):
                best, rest, places = pattern, caught, targets
        for place in places:
            if found := self._at(_join(aliases.paths_from, place.replace("*", rest, 1))):
                return found
        if aliases.base is not None:
            return self._at(_join(aliases.base, written))
        return ""

    def _aliases_above(self, folder: str) -> tuple[_Aliases, ...]:
        if folder not in self._folder_aliases:
            above = self._aliases_above(posixpath.dirname(folder)) if folder else ()
            here = [self._config(posixpath.join(folder, name)) for name in _CONFIG_NAMES]
            mine = tuple(aliases for aliases in here if aliases.paths or aliases.base is not None)
            self._folder_aliases[folder] = (*mine, *above)
        return self._folder_aliases[folder]

    def _config(self, path: str) -> _Aliases:
        """Return the aliases of a tsconfig file; of one that only lists projects, those of its projects."""
        if path not in self._every_path:
            return _Aliases()
        found = self._extended(path, posixpath.dirname(path), 0)
        if found.paths or found.base is not None:
            return found
        references = _json(self._read(path)).get("references")
        for item in references if isinstance(references, list) else ():
            place = item.get("path") if isinstance(item, dict) else None
            target = _join(posixpath.dirname(path), place) if isinstance(place, str) else None
            # A project in another folder speaks for that folder, not for this one.
            if target and posixpath.dirname(target) == posixpath.dirname(path) and target in self._every_path:
                found = self._extended(target, posixpath.dirname(path), 0)
                if found.paths or found.base is not None:
                    return found
        return _Aliases()

    def _extended(self, path: str, top: str, depth: int) -> _Aliases:
        """Return the aliases of a tsconfig file and of those that it extends; `top` is where the first is."""
        content = _json(self._read(path))
        folder = posixpath.dirname(path)
        found = _Aliases()
        extended = content.get("extends")
        for name in extended if isinstance(extended, list) else [extended]:
            if (
                isinstance(name, str)
                and depth < _MOST_EXTENDED
                and (above := self._extended_path(folder, name))
            ):
                inherited = self._extended(above, top, depth + 1)
                found = _Aliases(
                    inherited.base if inherited.base is not None else found.base,
                    inherited.paths or found.paths,
                    inherited.paths_from if inherited.paths else found.paths_from,
                )
        options = content.get("compilerOptions")
        if not isinstance(options, dict):
            return found
        base, paths_from = found.base, found.paths_from
        if isinstance(written := options.get("baseUrl"), str):
            base = _join(folder, _from_top(written, top, folder))
        paths = found.paths
        if isinstance(options.get("paths"), dict):
            paths = tuple(
                (pattern, tuple(_from_top(place, top, folder) for place in places if isinstance(place, str)))
                for pattern, places in options["paths"].items()
                if isinstance(places, list)
            )
            paths_from = base if base is not None else folder
        return _Aliases(base, paths, paths_from)

    def _extended_path(self, folder: str, name: str) -> str:
        """Return the tsconfig file that another one names, if it is in the repository."""
        if name.startswith("."):
            place = _join(folder, name)
        else:
            package, rest = _package_and_rest(name)
            known = self._packages.get(package)
            place = _join(_nearest_package(known, folder).folder, rest or "tsconfig.json") if known else None
        candidates = (place, f"{place}.json", f"{place}/tsconfig.json") if place is not None else ()
        return next((path for path in candidates if path in self._every_path), "")

    # Packages

    def _of_package(self, folder: str, written: str) -> str:
        """Return the file of a package of this repository."""
        name, rest = _package_and_rest(written)
        known = self._packages.get(name)
        if not known:
            return ""
        package = _nearest_package(known, folder)
        exports = package.content.get("exports")
        if exports is not None and (found := self._exported(package, exports, f"./{rest}" if rest else ".")):
            return found
        if not rest:
            return self._entry(package) or self._source(package.folder, "index")
        return self._at(_join(package.folder, rest)) or self._source(package.folder, rest)

    def _entry(self, package: _Package) -> str:
        """Return the file that a package is as a whole."""
        exports = package.content.get("exports")
        if exports is not None and (found := self._exported(package, exports, ".")):
            return found
        for key in ("source", "types", "typings", "module", "main"):
            target = package.content.get(key)
            if isinstance(target, str) and (found := self._built(package.folder, target)):
                return found
        return ""

    def _private(self, folder: str, written: str) -> str:
        """Return the file of a name that the package around a folder gives to itself: `#config`."""
        while folder and folder not in self._package_folders:
            folder = posixpath.dirname(folder)
        package = self._package_folders.get(folder)
        imports = package.content.get("imports") if package is not None else None
        return (
            self._exported(package, imports, written) if package is not None and imports is not None else ""
        )

    def _exported(self, package: _Package, exports: object, wanted: str) -> str:
        """Return the file that the exports (or imports) of a package give to a name."""
        if not isinstance(exports, dict) or not any(key.startswith((".", "#")) for key in exports):
            exports = {".": exports}
        best, rest, target = "", "", None
        for pattern, value in exports.items():
            caught = _caught(pattern, wanted)
            if caught is not None and (target is None or _is_closer(pattern, best)):
                best, rest, target = pattern, caught, value
        for place in _leaves(target):
            if place.startswith(".") and (found := self._built(package.folder, place.replace("*", rest))):
                return found
        return ""

    def _built(self, folder: str, place: str) -> str:
        """Return the file at a place in a package, or the source that it is built from."""
        joined = _join(folder, place)
        if joined is None:
            return ""
        if joined in self._paths:
            return joined
        if joined == folder:
            return self._file(posixpath.join(folder, "index"))
        inside = posixpath.relpath(joined, folder or ".")
        stem = _BUILT_SUFFIX.sub("", inside)
        return self._source(folder, stem) or self._at(joined)

    def _source(self, folder: str, stem: str) -> str:
        """Return the source of a built file: `src/x` for `dist/x`, `dist/esm/x` and `x`."""
        parts = stem.split("/")
        while True:
            for start in ("src", "source", "lib", ""):
                place = posixpath.join(folder, start, *parts)
                if found := self._at(posixpath.normpath(place)):
                    return found
            if len(parts) < 2 or not (parts[0] in _BUILT_FOLDERS or parts[0].startswith("dist")):
                return ""
            parts.pop(0)


def _nearest_package(known: list[_Package], folder: str) -> _Package:
    """Return the package of several with one name that stands nearest to a folder."""
    if len(known) == 1:
        return known[0]
    chosen = nearest((posixpath.join(item.folder, "package.json") for item in known), f"{folder}/x")
    return next(item for item in known if posixpath.join(item.folder, "package.json") == chosen)


def _json(text: str) -> dict[str, object]:
    """Return the content of a JSON file that may have comments and trailing commas; empty if it is broken."""
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        try:
            found = msgspec.json.decode(_NOT_JSON.sub(lambda match: match[1] or "", text))
        except msgspec.DecodeError:
            return {}
    return found if isinstance(found, dict) else {}


def _join(folder: str, place: str) -> str | None:
    """Return the path of a place relative to a folder, None if it is outside of the repository."""
    found = posixpath.normpath(posixpath.join(folder, place))
    if found == ".." or found.startswith(("../", "/")):
        return None
    return "" if found == "." else found


def _from_top(place: str, top: str, folder: str) -> str:
    """Return a place with `${configDir}` replaced by the folder of the outermost tsconfig file."""
    if "${configDir}" not in place:
        return place
    return place.replace("${configDir}", posixpath.relpath(top or ".", folder or "."))


def _caught(pattern: str, written: str) -> str | None:
    """Return what the star of a pattern stands for in a name, None if they do not match."""
    before, star, after = pattern.partition("*")
    if not star:
        return "" if pattern == written else None
    if len(written) < len(before) + len(after) or not (
        written.startswith(before) and written.endswith(after)
    ):
        return None
    return written[len(before) : len(written) - len(after)]


def _is_closer(pattern: str, other: str) -> bool:
    """Return whether a pattern goes before another: without a star, or with more before it."""
    if "*" not in pattern or "*" not in other:
        return "*" not in pattern
    return pattern.index("*") > other.index("*")


def _leaves(value: object) -> Iterator[str]:
    """Yield the places of an export under all its conditions, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)


def _package_and_rest(written: str) -> tuple[str, str]:
    """Return the name of a package and the place inside it: `@scope/name` and `sub/file`."""
    parts = written.split("/")
    count = 2 if written.startswith("@") else 1
    return "/".join(parts[:count]), "/".join(parts[count:])


MODULES = ModulePlugin(
    "javascript", JavaScriptModules, settings=("package.json", "tsconfig*.json", "jsconfig*.json")
)
