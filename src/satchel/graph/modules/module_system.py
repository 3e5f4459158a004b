"""What a way of finding the files of imports promises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import msgspec


class Module(msgspec.Struct, frozen=True):
    """What an import names: a file, or all files of a package. `name` tells packages without files apart.

    `importer` is the file that asks. Of several definitions with one name, the nearest to it is meant.
    """

    name: str
    paths: tuple[str, ...] = ()
    importer: str = ""


@dataclass(frozen=True, slots=True)
class FileTable:
    """The files that imports may lead to, and a reader of those that say how (`go.mod`, `tsconfig.json`).

    `read` returns an empty text for a file that is not in the index, and notes that it was asked for.
    `package_of` returns `FileFacts.package` of a file. `named` returns the definitions whose qualified names
    end with a name, as (path, qualified name).
    """

    paths: tuple[str, ...]  # of the languages that share this way of importing, sorted
    every_path: frozenset[str]  # of all files
    read: Callable[[str], str]
    package_of: Callable[[str], str] = lambda path: ""
    named: Callable[[str], Sequence[tuple[str, str]]] = lambda name: ()


class ModuleSystem(Protocol):
    """Finds modules. It is made once for a set of files.

    With `finds_by_name`, packages have no list of their files: `definition` finds what they define.
    """

    finds_by_name: ClassVar[bool] = False

    def module(self, importer: str, written: str) -> Module | None:
        """Return the module that an import in the file `importer` names, None if it is not in this
        repository."""

    def submodule(self, module: Module, name: str) -> Module | None:
        """Return the module of a name below another, None where the language has none."""

    def home(self, path: str) -> Module | None:
        """Return the package whose names the file sees without importing them; None where there is none."""

    def outer(self, module: Module) -> Module | None:
        """Return the package around another, None where the language has none."""
        return None

    def definition(self, module: Module, name: str) -> tuple[str, str] | None:
        """Return the file and the qualified name of what a package defines under a name."""
        return None

    def shared_imports(self, path: str) -> tuple[str, ...]:
        """Return the modules all of whose names a file sees because its project imports them."""
        return ()

    def namesakes(self, module: Module, name: str) -> tuple[tuple[str, str], ...]:
        """Return all definitions of a package that end with a name, as (path, qualified name)."""
        return ()

    def parts(self, path: str, name: str) -> tuple[str, ...]:
        """Return the other files with parts of the type that a file defines under a qualified name."""
        return ()


class ModulePlugin(msgspec.Struct, frozen=True):
    """A way of importing, as its file registers it: `MODULES = ModulePlugin(NAME, open)`.

    `settings` are patterns of the names of files that say how imports find their files. When one of them
    changes, everything is resolved anew.
    """

    name: str
    open: Callable[[FileTable], ModuleSystem]
    settings: tuple[str, ...] = ()


def nearest(candidates: Iterable[str], importer: str) -> str:
    """Return the path that shares most leading folders with the importer; the first by name among equals."""
    folders = importer.split("/")[:-1]

    def shared(path: str) -> int:
        count = 0
        for mine, other in zip(folders, path.split("/")[:-1], strict=False):
            if mine != other:
                break
            count += 1
        return count

    return min(candidates, key=lambda path: (-shared(path), path))
