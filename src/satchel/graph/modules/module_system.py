"""What a way of finding the files of imports promises."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple

import msgspec

from satchel.types import ChunkKind, Symbol

_STATIC = re.compile(r"(?:\w+\s+){0,3}static\b")  # `inline static`, `EXPORT static`


class Module(msgspec.Struct, frozen=True):
    """What an import names: a file, or all files of a package. `name` tells packages without files apart.

    The files of a package that is `shared` are one: what one defines, all define; imports stay their own.
    `rests_on` are the paths of files that say, or would say, which files these are.
    `importer` is the file that asks. Of several definitions with one name, the nearest to it is meant.
    """

    name: str
    paths: tuple[str, ...] = ()
    shared: bool = False
    rests_on: tuple[str, ...] = ()
    importer: str = ""


class Linkage(Enum):
    """Who can mean a definition of C by its name."""

    FILE = "file"  # a static one: the file, and those that include it
    PROGRAM = "program"  # every file of the program
    INCLUDED = "included"  # a macro or a type: the files that include its file


class NamedDefinition(NamedTuple):
    """A definition that is found by its name in the whole repository."""

    path: str
    qualified_name: str
    linkage: Linkage
    spaces: str = "n"  # as `name_spaces` says


class Sighting(NamedTuple):
    """The file with a definition that another file means."""

    path: str
    is_included: bool = False  # by the file that means it
    is_chosen: bool = False  # among several, by what the file that means it includes


def linkage_of(symbol: Symbol) -> Linkage:
    """Return who can mean a definition of C, as its signature says."""
    is_type = symbol.kind in (ChunkKind.STRUCT, ChunkKind.ENUM, ChunkKind.CLASS, ChunkKind.TRAIT)
    if is_type or symbol.signature.startswith(("#", "typedef", "using ")):
        return Linkage.INCLUDED
    return Linkage.FILE if _STATIC.match(symbol.signature) else Linkage.PROGRAM


def _no_definitions(_name: str) -> Sequence[NamedDefinition]:
    return ()


def _no_imports(_path: str) -> Sequence[str]:
    return ()


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
    package_of: Callable[[str], str] = lambda _path: ""  # the package clause of a file, as written
    imports_of: Callable[[str], Sequence[str]] = _no_imports  # the modules that a file imports unnamed
    # Whose qualified names end with a name.
    definitions_named: Callable[[str], Sequence[NamedDefinition]] = _no_definitions

    def files_named(self, name: str) -> list[str]:
        """Return the files of a name in all folders, sorted."""
        # Most paths end otherwise, and splitting all of them takes longer.
        found = (path for path in self.every_path if path.endswith(name))
        return sorted(path for path in found if path.rpartition("/")[2] == name)

    def definers(self, name: str) -> tuple[str, ...]:
        """Return the files that define a qualified name."""
        found = self.definitions_named(name.rpartition(".")[2])
        return tuple(dict.fromkeys(item.path for item in found if item.qualified_name == name))


class ModuleSystem:
    """Finds modules. It is made once for a set of files.

    With `finds_by_name`, packages have no list of their files: `definition` finds what they define.
    """

    finds_by_name: ClassVar[bool] = False

    modules_name_themselves = False  # whether `own_name` has answers
    has_linkage = False  # whether `linked` has answers
    has_scopes = False  # whether `seen` has answers
    members_are_spread = False  # whether members may stand in other files than their type, as `definers` says
    has_open_types = False  # whether a type or module may be written in parts, in several files
    homes_hold_modules = False  # whether a file knows the modules below `home` by their names
    sees_only_imports = False  # whether a file sees no name of another without importing it
    fields_apart = False  # whether a member that is not called is a field, also if a method has its name

    def module(self, importer: str, written: str) -> Module | None:
        """Return the module that an import in the file `importer` names, None if it is not in this
        repository."""
        raise NotImplementedError

    def submodule(self, module: Module, name: str) -> Module | None:
        """Return the module of a name below another, None where the language has none."""
        return None

    def home(self, path: str) -> Module | None:
        """Return the package whose names the file sees without importing them; None where there is none."""
        return None

    def own_name(self, module: Module) -> str:
        """Return the name that an import of a module binds if the module itself chooses it, else nothing."""
        return ""

    def linked(self, path: str, name: str, space: str) -> str:
        """Return the file whose definition of a name, in a space of names, a file means without importing it,
        as a linker finds it; empty if there is none."""
        return ""

    def seen(self, path: str, qualified: str) -> Sighting | None:
        """Return where the definition of a qualified name stands that a file means by it."""
        return None

    def included(self, path: str) -> Collection[str]:
        """Return the files that a file includes, also through others."""
        return ()

    def seen_macro(self, path: str, name: str) -> tuple[Sighting, str] | None:
        """Return where the macro stands that a file means by a name, and its qualified name."""
        return None

    def definers(self, name: str) -> Sequence[str]:
        """Return the files that define a qualified name, where all files know it."""
        return ()

    def inner_path(self, written: str) -> str:
        """Return the expression of a module that may stand inside a file, empty where no module does."""
        return ""

    def outer(self, module: Module) -> Module | None:
        """Return the package around another, None where the language has none."""
        return None

    def definition(self, module: Module, name: str) -> tuple[str, str] | None:
        """Return the file and the qualified name of what a package defines under a name."""
        return None

    def holds(self, module: Module, path: str) -> bool:
        """Return whether a file belongs to a package."""
        return path in module.paths

    def is_defined(self, name: str) -> bool:
        """Return whether some file may define a name that no import gives to a file."""
        return True

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
    if isinstance(candidates, list) and len(candidates) == 1:
        return str(candidates[0])
    folders = importer.split("/")[:-1]

    def shared(path: str) -> int:
        count = 0
        for mine, other in zip(folders, path.split("/")[:-1], strict=False):
            if mine != other:
                break
            count += 1
        return count

    return min(candidates, key=lambda path: (-shared(path), path))
