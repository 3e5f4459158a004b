"""Go: packages are folders, known by the path of the module around them (`go.mod`)."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict

from satchel.graph.modules.module_system import FileTable, Module, ModulePlugin, ModuleSystem

_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)
_REPLACE = re.compile(r"^\s*(?:replace\s+)?([^\s\"(]+)(?:\s+v\S+)?\s*=>\s*(\.[^\s]*)", re.MULTILINE)
_TEST_END = "_test.go"
# Files for one system or processor by their names. Of namesakes in several, that of Linux counts: build
# servers see it.
_FOREIGN = re.compile(
    r"_(?:windows|darwin|freebsd|netbsd|openbsd|dragonfly|solaris|illumos|aix|plan9|js|wasip1|android|ios"
    r"|386|arm|arm64|mips\w*|ppc64\w*|riscv64|s390x|loong64|wasm)(?:_test)?\.go$"
)
_BLANK_PACKAGES = frozenset({"", "_"})


class GoModules(ModuleSystem):
    """Knows the packages of each folder: that of its name, `main`, and the tests beside them.

    An import is a path below that of a module of the repository, below one that `replace` leads to a folder,
    or a folder of `vendor`.
    """

    modules_name_themselves = True

    def __init__(self, table: FileTable) -> None:
        self._package_of = table.package_of
        self._folders: dict[str, list[str]] = defaultdict(list)
        for path in sorted(table.paths, key=lambda path: (bool(_FOREIGN.search(path)), path)):
            self._folders[posixpath.dirname(path)].append(path)
        self._roots: dict[str, str] = {}  # path of a module → its folder
        for path in table.files_named("go.mod"):
            self._add_module(posixpath.dirname(path), table.read(path))
        self._vendors = sorted({each for folder in self._folders if (each := _vendor_of(folder)) is not None})
        self._found: dict[tuple[str, bool], Module | None] = {}
        self._homes: dict[tuple[str, str, bool], Module] = {}

    def _add_module(self, folder: str, text: str) -> None:
        if named := _MODULE.search(text):
            self._roots.setdefault(named[1], folder)
        for written, place in _REPLACE.findall(text):
            self._roots.setdefault(written, posixpath.normpath(posixpath.join(folder, place)).lstrip("."))

    def module(self, importer: str, written: str) -> Module | None:
        folder = self._folder_of(importer, written)
        if folder is None:
            return None
        # The tests beside a package see what its own tests show them.
        beside = importer.endswith(_TEST_END) and posixpath.dirname(importer) == folder
        key = folder, beside
        if key not in self._found:
            self._found[key] = self._package(folder, beside)
        return self._found[key]

    def home(self, path: str) -> Module | None:
        folder, package, is_test = posixpath.dirname(path), self._package_of(path), path.endswith(_TEST_END)
        key = folder, package, is_test
        if key not in self._homes:
            self._homes[key] = self._module(folder, package, is_test)
        return self._homes[key]

    def own_name(self, module: Module) -> str:
        return self._package_of(module.paths[0]) if module.paths else ""

    def _module(self, folder: str, package: str, with_tests: bool) -> Module:
        paths = tuple(
            path
            for path in self._folders.get(folder, ())
            if self._package_of(path) == package and (with_tests or not path.endswith(_TEST_END))
        )
        return Module(f"{folder}:{package}{':test' if with_tests else ''}", paths, shared=True)

    def _package(self, folder: str, with_tests: bool) -> Module | None:
        """Return the package of a folder that can be imported: the one with most files, never a program."""
        counts: dict[str, int] = defaultdict(int)
        for path in self._folders.get(folder, ()):
            package = self._package_of(path)
            if not path.endswith(_TEST_END) and package not in _BLANK_PACKAGES:
                counts[package] += package != "main"
        if not counts:
            return None
        return self._module(folder, min(counts, key=lambda name: (-counts[name], name)), with_tests)

    def _folder_of(self, importer: str, written: str) -> str | None:
        for vendor in self._vendors:
            above = vendor.removesuffix("vendor")
            if importer.startswith(above) and f"{vendor}/{written}" in self._folders:
                return f"{vendor}/{written}"
        start = written
        while start:
            root = self._roots.get(start)
            if root is not None:
                folder = posixpath.join(root, written[len(start) + 1 :]).rstrip("/")
                return folder if folder in self._folders else None
            start = start.rpartition("/")[0]
        return None


def _vendor_of(folder: str) -> str | None:
    """Return the `vendor` folder that a folder is in."""
    if folder.startswith("vendor/"):
        return "vendor"
    before, found, _ = folder.rpartition("/vendor/")
    return f"{before}/vendor" if found else None


MODULES = ModulePlugin("go", GoModules, settings=("go.mod",))
