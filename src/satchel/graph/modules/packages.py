"""Java, Kotlin, C#, PHP: a clause in the file names its package, wherever the file stands."""

from __future__ import annotations

from collections import defaultdict

from satchel.graph.modules.module_system import FileTable, Module, ModulePlugin, ModuleSystem, nearest

# Languages that call each other's code by package; any other language stays by itself.
_FAMILIES = {"java": "jvm", "jav": "jvm", "kt": "jvm", "kts": "jvm", "cs": "cs", "csx": "cs"}
_OTHER_FAMILY = "php"


class PackageModules(ModuleSystem):
    """Knows the packages that files declare. The names of a package are found by asking for the files that
    define a name, so that no package is read as a whole: some have a thousand files."""

    def __init__(self, table: FileTable) -> None:
        self._table = table
        self._packages = {path: _dotted(written).split() for path, written in table.packages.items()}
        # Packages and what is around them, for each family: `a.b.c` makes `a`, `a.b` and `a.b.c` known.
        self._known: dict[str, set[str]] = defaultdict(set)
        for path, packages in self._packages.items():
            known = self._known[_family(path)]
            for package in packages:
                while package and package not in known:
                    known.add(package)
                    package = package.rpartition(".")[0]

    def module(self, importer: str, written: str) -> Module | None:
        name = _dotted(written)
        return self._package(name, importer) if name else None

    def submodule(self, module: Module, name: str) -> Module | None:
        return self._package(f"{module.name}.{name}".lstrip("."), module.importer)

    def home(self, path: str) -> Module | None:
        packages = self._packages.get(path)
        return Module(packages[0] if packages else "", importer=path)

    def outer(self, module: Module) -> Module | None:
        return Module(module.name.rpartition(".")[0], importer=module.importer) if module.name else None

    def definition(self, module: Module, name: str) -> tuple[str, str] | None:
        # C# and PHP definitions carry their namespace, Java and Kotlin ones do not.
        for qualified in dict.fromkeys((f"{module.name}.{name}".lstrip("."), name)):
            if found := self._definers(qualified, module.name, module.importer):
                return nearest(found, module.importer), qualified
        return None

    def parts(self, path: str, name: str) -> tuple[str, ...]:
        package = next(iter(self._packages.get(path, ())), "")
        return tuple(sorted(found for found in self._definers(name, package, path) if found != path))

    def _definers(self, qualified: str, package: str, importer: str) -> list[str]:
        family = _family(importer)
        return [
            path
            for path in self._table.definers(qualified)
            if package in (self._packages.get(path) or ("",)) and _family(path) == family
        ]

    def _package(self, name: str, importer: str) -> Module | None:
        return Module(name, importer=importer) if name in self._known[_family(importer)] else None


def _dotted(written: str) -> str:
    """Return the name of a package with dots, as qualified names have it."""
    return written.replace("\\", ".").replace("::", ".").strip(".")


def _family(path: str) -> str:
    return _FAMILIES.get(path.rpartition(".")[2], _OTHER_FAMILY)


MODULES = ModulePlugin("packages", PackageModules)
