"""Java, Kotlin, C#, PHP: a clause in the file names its package, wherever the file stands."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator

from satchel.graph.modules.module_system import FileTable, Module, ModulePlugin, ModuleSystem, nearest

# Languages that call each other's code by package; any other language stays by itself.
_FAMILIES = {"java": "jvm", "jav": "jvm", "kt": "jvm", "kts": "jvm", "cs": "cs", "csx": "cs"}
_OTHER_FAMILY = "php"
# C#: what is imported for a whole project stands in the project, or in a file that is named for it.
_PROJECT_SUFFIXES = (".csproj", "Directory.Build.props", "Directory.Build.targets", "Usings.cs")
_COMMON = "/commonMain/"
_SHARED_IMPORT = re.compile(
    r'<Using\s+Include="([\w.]+)"|^\s*global\s+using\s+(?:static\s+)?([\w.]+)\s*;', re.MULTILINE
)


class PackageModules(ModuleSystem):
    """Finds what a package defines by asking for the definitions of a name, and which packages their files
    declare. So no package is read as a whole: some have a thousand files. Any name may be that of a package,
    because none is asked for that."""

    finds_by_name = True

    def __init__(self, table: FileTable) -> None:
        self._table = table
        self._paths = frozenset(table.paths)
        self._definers_of: dict[str, tuple[str, ...]] = {}
        self._packages: dict[str, tuple[str, ...]] = {}
        self._imports_of: dict[str, tuple[str, ...]] = {}
        self._project_files: dict[str, list[str]] = defaultdict(list)
        for path in sorted(path for path in table.every_path if path.endswith(_PROJECT_SUFFIXES)):
            self._project_files[path.rpartition("/")[0]].append(path)

    def module(self, importer: str, written: str) -> Module | None:
        if "/" in written or written.endswith(".php"):
            return self._file(importer, written)
        name = _dotted(written)
        return self._package(name, importer) if name else None

    def _file(self, importer: str, written: str) -> Module | None:
        """Return the file that a file includes by a path from its own folder."""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(importer), written.lstrip("/")))
        return Module(path, (path,)) if path in self._paths else None

    def submodule(self, module: Module, name: str) -> Module | None:
        return self._package(f"{module.name}.{name}".lstrip("."), module.importer)

    def home(self, path: str) -> Module | None:
        return Module(self._packages_of(path)[0], importer=path)

    def outer(self, module: Module) -> Module | None:
        return Module(module.name.rpartition(".")[0], importer=module.importer) if module.name else None

    def definition(self, module: Module, name: str) -> tuple[str, str] | None:
        importer = module.importer
        for package in (module.name, *self._relative(module)):
            # C# and PHP definitions carry their namespace, Java and Kotlin ones do not.
            for qualified in dict.fromkeys((f"{package}.{name}".lstrip("."), name)):
                if found := self._definers(qualified, package, importer):
                    return nearest(self._main_parts(found, name, importer), importer), qualified
        return None

    def _relative(self, module: Module) -> Iterator[str]:
        """Yield the namespaces that a name of C# may mean below those around the importer."""
        around = (
            self._packages_of(module.importer)[0] if module.name and _family(module.importer) == "cs" else ""
        )
        while around:
            if module.name != around and not module.name.startswith(f"{around}."):
                yield f"{around}.{module.name}"
            around = around.rpartition(".")[0]

    def holds(self, module: Module, path: str) -> bool:
        return self._is_in(path, module.name, module.importer)

    def is_defined(self, name: str) -> bool:
        return bool(self._table.definitions_named(name.rpartition(".")[2]))

    def namesakes(self, module: Module, name: str) -> tuple[tuple[str, str], ...]:
        return tuple(
            (item.path, item.qualified_name)
            for item in self._table.definitions_named(name)
            if self._is_in(item.path, module.name, module.importer)
        )

    def _main_parts(self, paths: list[str], name: str, importer: str) -> list[str]:
        """Return the files where to look first for a definition that has parts: those of its name, then what
        Kotlin expects of every platform, except from a platform itself."""
        named = [path for path in paths if path.rpartition("/")[2].rpartition(".")[0] == name] or paths
        common = [path for path in named if _COMMON in path]
        source_set = importer.rpartition("/src/")[2].partition("/")[0]
        own = [path for path in named if f"/src/{source_set}/" in path]
        return own or common or named

    def parts(self, path: str, name: str) -> tuple[str, ...]:
        packages = self._packages_of(path)
        found = {other for package in packages for other in self._definers(name, package, path)}
        return tuple(sorted(found - {path}))

    def shared_imports(self, path: str) -> tuple[str, ...]:
        if _family(path) != "cs":
            return ()
        folder, found = path, dict[str, None]()
        while folder:
            folder = folder.rpartition("/")[0]
            found.update(dict.fromkeys(self._project_imports(folder)))
        return tuple(found)

    def _project_imports(self, folder: str) -> tuple[str, ...]:
        """Return the namespaces that the projects of a folder import for all of their files."""
        known = self._imports_of.get(folder)
        if known is None:
            found = [
                name
                for path in self._project_files.get(folder, ())
                for name in _SHARED_IMPORT.findall(self._table.read(path))
            ]
            known = self._imports_of[folder] = tuple(first or second for first, second in found)
        return known

    def _definers(self, qualified: str, package: str, importer: str) -> list[str]:
        known = self._definers_of.get(qualified)
        if known is None:
            rows = self._table.definitions_named(qualified.rpartition(".")[2])
            found = {item.path for item in rows if item.qualified_name == qualified}
            known = self._definers_of[qualified] = tuple(sorted(found))
        return [path for path in known if self._is_in(path, package, importer)]

    def _is_in(self, path: str, package: str, importer: str) -> bool:
        return _family(path) == _family(importer) and package in self._packages_of(path)

    def _packages_of(self, path: str) -> tuple[str, ...]:
        """Return the packages that a file declares, one that is empty if it declares none."""
        known = self._packages.get(path)
        if known is None:
            known = self._packages[path] = tuple(_dotted(self._table.package_of(path)).split()) or ("",)
        return known

    def _package(self, name: str, importer: str) -> Module | None:
        # The packages of Java and Kotlin are in lower case; types without a definition here are no packages.
        if _family(importer) == "jvm" and name[name.rfind(".") + 1 :][:1].isupper():
            return None
        return Module(name, importer=importer)


def _dotted(written: str) -> str:
    """Return the name of a package with dots, as qualified names have it."""
    return written.replace("\\", ".").replace("::", ".").strip(".")


def _family(path: str) -> str:
    return _FAMILIES.get(path.rpartition(".")[2], _OTHER_FAMILY)


MODULES = ModulePlugin(
    "packages", PackageModules, settings=tuple(f"*{suffix}" for suffix in _PROJECT_SUFFIXES)
)
