"""What did the oracle say? The types of a truth file, and how it is read and written.

A truth file has everything that is measured of one repository: definitions with all places that use them,
import edges between files, and the bases of classes as they are written. Lines count from 1, columns from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from pathlib import Path
from typing import NamedTuple

import msgspec

from graph.repositories import Repository


class Place(NamedTuple):
    """A position in a file of the repository."""

    path: str
    line: int
    column: int


class Definition(msgspec.Struct, kw_only=True):
    """A definition as Satchel lists it, with the position of its name and its uses by the oracle.

    Several symbols of one file that share a qualified name (overloads, `#ifdef` branches) are one definition
    with several `ranges`. `sample` is `dev`, `held` or empty. `direct` leaves out the uses that reach a
    method through another one that it overrides or implements; it is there where the oracle tells them apart.
    """

    path: str
    name: str
    qualified_name: str
    group: str
    sample: str = ""
    ranges: list[tuple[int, int]]
    names: list[Place] = []
    uses: list[Place] = []
    direct: list[Place] | None = None

    def take_names(self, candidates: Sequence[Place]) -> None:
        """Keep the first candidate inside each range as a name: a later one is nested in the definition."""
        found: set[Place] = set()
        for start, end in self.ranges:
            inside = [place for place in candidates if start <= place.line <= end]
            found.update(inside and [min(inside)])
        self.names = sorted(found)

    def meets(self, start: int, end: int) -> bool:
        """Tell whether lines hold a part of this definition, and not only a constant of the same name."""
        return any(first <= end and start <= last for first, last in self.ranges)

    def take_uses(self, places: Iterable[Place]) -> None:
        """Keep places as uses, without those where the definition itself stands."""
        self.uses = sorted(set(places).difference(self.names))


class ImportEdge(NamedTuple):
    """A file imports another one; `written` is the module as the source names it.

    An edge that is `implied` exists when the program runs, but the statement does not mean its target
    (`import a.b` runs `a/__init__.py`): it is neither demanded nor wrong.
    """

    source: str
    target: str
    line: int
    written: str
    implied: bool = False


class Base(msgspec.Struct, kw_only=True):
    """A base of a class, as written: its last name, and the definitions of the repository that it means.

    There are no targets where the base is defined outside the repository.
    """

    path: str
    line: int
    name: str
    targets: list[Place] = []


class Truth(msgspec.Struct, kw_only=True):
    """All that an oracle said of one repository.

    `files` are those that the oracle read; nothing can be said of others. The definitions are all that the
    oracle knows, with the uses of each; the samples are marked among them.
    """

    repository: str
    commit: str
    language: str
    missing: int = 0  # sampled definitions that the oracle does not know
    files: list[str]
    definitions: list[Definition]
    imports: list[ImportEdge] = []
    bases: list[Base] = []
    left_out: dict[str, list[tuple[int, int]]] = {}  # lines that the preprocessor leaves out, by file
    undecided: list[
        Place
    ] = []  # names of sampled definitions that the oracle cannot resolve, for want of a type
    notes: list[str] = []  # what the oracle could not read

    def within(self, files: Set[str]) -> Truth:
        """Return what is known of some files: nothing can be asked about one that is not indexed."""
        return msgspec.structs.replace(
            self,
            files=[path for path in self.files if path in files],
            imports=[edge for edge in self.imports if edge.source in files and edge.target in files],
            bases=[base for base in self.bases if base.path in files],
        )

    def judges(self) -> Callable[[str, int], bool]:
        """Return the function that says whether the oracle read a line."""
        files, left_out = frozenset(self.files), self.left_out

        def judge(path: str, line: int) -> bool:
            regions = left_out.get(path, ())
            return path in files and not any(start <= line <= end for start, end in regions)

        return judge


def collect(
    repository: Repository, commit: str, files: Iterable[str], definitions: Sequence[Definition]
) -> Truth:
    """Return the truth about a repository without its edges between files and classes."""
    return Truth(
        repository=repository.name,
        commit=commit,
        language=repository.language,
        missing=sum(bool(item.sample) and not item.names for item in definitions),
        files=sorted(set(files)),
        definitions=[item for item in definitions if item.names],
    )


def write(path: Path, truth: Truth) -> None:
    """Write a truth file, complete or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(msgspec.json.encode(truth))
    part.replace(path)


def read(path: Path) -> Truth:
    """Read a truth file."""
    return msgspec.json.decode(path.read_bytes(), type=Truth)
