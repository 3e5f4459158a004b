"""What a way of finding the files of imports promises."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import msgspec


class Module(msgspec.Struct, frozen=True):
    """What an import names: a file, or all files of a package. `name` tells packages without files apart."""

    name: str
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileTable:
    """The files that imports may lead to, and a reader of those that say how (`go.mod`, `tsconfig.json`).

    `read` returns an empty text for a file that is not in the index, and notes that it was asked for.
    """

    paths: tuple[str, ...]  # of the languages that share this way of importing, sorted
    every_path: frozenset[str]  # of all files
    read: Callable[[str], str]


class ModuleSystem(Protocol):
    """Finds modules. It is made once for a set of files."""

    def module(self, importer: str, written: str) -> Module | None:
        """Return the module that an import in the file `importer` names, None if it is not in this
        repository."""

    def submodule(self, module: Module, name: str) -> Module | None:
        """Return the module of a name below another, None where the language has none."""

    def home(self, path: str) -> Module | None:
        """Return the package whose names the file sees without importing them; None where there is none."""


class ModulePlugin(msgspec.Struct, frozen=True):
    """A way of importing, as its file registers it: `MODULES = ModulePlugin(NAME, open)`."""

    name: str
    open: Callable[[FileTable], ModuleSystem]


_TRIAL_FOLDERS = frozenset({"test", "tests", "spec", "specs", "examples", "features", "benchmarks"})


def most_likely(candidates: Iterable[str], importer: str, name: str) -> str | None:
    """Return which of several files that define parts of a type stands for it: the file with its name, the
    importer itself, or the nearest. Files of tests count only for files beside them."""
    usable = [path for path in candidates if _is_visible(path, importer)]
    if not usable:
        return None
    named = [path for path in usable if is_named(path, name)]
    if named:
        return nearest(named, importer)
    return importer if importer in usable else nearest(usable, importer)


def is_named(path: str, name: str) -> bool:
    """Return whether a file has the qualified name of a definition: `lib/rack/mock_request.rb` that of
    `Rack.MockRequest`."""
    place = name.replace(".", "/").replace("_", "").lower()
    stem = path.rpartition(".")[0].replace("_", "").lower()
    return stem == place or stem.endswith(f"/{place}")


def _is_visible(path: str, importer: str) -> bool:
    folders = path.split("/")[:-1]
    for at, folder in enumerate(folders):
        if folder in _TRIAL_FOLDERS:
            return importer.split("/")[: at + 1] == folders[: at + 1]
    return True


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
