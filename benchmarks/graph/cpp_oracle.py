"""The truth about a C++ repository: the index that clangd writes of all its files.

Asking its server about every definition would parse every file once more, so the index is read as it lies on
disk (`clangd_index`). The limits of `c_oracle` hold here too. What a template does with a value whose type is
its parameter has no references. Constructors are not asked about: their uses are those of their class. A use
of a method that others override is a use of that method alone. The lines between two conditions of the
preprocessor that clangd knows no name of are taken for lines that it left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from graph.clangd import Build, line_of, lines_of, start_command, wait_for_index, write_commands
from graph.clangd_index import ClangdIndex, IndexedSymbol
from graph.language_server import LanguageServer
from graph.repositories import Lab, Repository, listed_files
from graph.truth import Base, Definition, ImportEdge, Place, Truth, collect

_STANDARD = "-std=c++17"
_BUILDS = {
    "fmt": Build(("src/*.cc", "test/*.cc"), ("-Iinclude", "-Itest", "-Itest/gtest")),
    "leveldb": Build(
        ("db/*.cc", "table/*.cc", "util/*.cc", "helpers/**/*.cc", "issues/*.cc", "benchmarks/*.cc"),
        ("-Iinclude", "-I.", "-DLEVELDB_PLATFORM_POSIX=1"),
    ),
    "ninja": Build(("src/*.cc",), ("-Isrc",)),
    "spdlog": Build(("src/*.cpp", "example/*.cpp"), ("-Iinclude", "-DSPDLOG_COMPILED_LIB")),
    "tinyxml2": Build(("*.cpp",), ("-I.",)),
    "yaml-cpp": Build(("src/**/*.cpp", "util/*.cpp"), ("-Iinclude", "-Isrc")),
}
_ABSENT = re.compile(r"win|msvc|getopt|fuzz|_test\.cc|-test\.cc|module")  # other systems, or no tests of them
_HEAD = re.compile(r"\b(?:class|struct)\b[^;{()]*?:(?!:)([^;{]*)\{")
_BASE = re.compile(r"(?:\w+\s*::\s*)*(\w+)\s*(?:<[^{}]*?>)?\s*(?:,|$)")
_WORDS = frozenset({"public", "private", "protected", "virtual"})
_CONDITION = re.compile(r"\s*#\s*(?:if|ifdef|ifndef|elif|else|endif)\b")
_HEADERS = (".h", ".hpp", ".hh", ".inl")


def ask(lab: Lab, repository: Repository, definitions: Sequence[Definition], commit: str) -> Truth:
    """Return the truth about a C++ repository, as far as its files are compiled."""
    clone = lab.clone(repository)
    index = _read_index(lab, repository, clone)
    files = sorted(index.files & set(listed_files(clone, repository.suffixes)))
    by_place = defaultdict(list)
    for symbol in index.symbols.values():
        for place in symbol.places:
            by_place[place.path, symbol.name].append((place, symbol))
    for definition in definitions:
        if _is_constructor(definition):
            definition.sample = ""
        _take(clone, index, definition, by_place[definition.path, definition.name])
    truth = collect(repository, commit, files, definitions)
    truth.imports = sorted(
        ImportEdge(path, target, 0, "") for path, target in index.includes if {path, target} <= set(files)
    )
    types = {(place.path, place.line) for item in definitions if item.group == "type" for place in item.names}
    truth.bases = [base for path in files for base in _bases(clone, index, path, types)]
    truth.left_out = {path: lines for path in files if (lines := list(_left_out(clone, index, path)))}
    return truth


def _read_index(lab: Lab, repository: Repository, clone: Path) -> ClangdIndex:
    """Let clangd write its index, and read it."""
    build = _BUILDS[repository.name]
    sources = sorted(
        {
            path.relative_to(clone).as_posix()
            for glob in build.sources
            for path in clone.glob(glob)
            if not _ABSENT.search(path.name)
        }
    )
    flags = (_STANDARD, *build.flags)
    commands = write_commands(lab.tools / "clangd" / repository.name, clone, sources, flags, "clang++")
    with LanguageServer(start_command(commands), clone, "cpp") as server:
        server.open(sources[0])
        wait_for_index(server)
    return ClangdIndex(commands / ".cache" / "clangd" / "index", clone)


def _is_constructor(definition: Definition) -> bool:
    return definition.qualified_name.split(".")[-2:] == [definition.name, definition.name]


def _take(
    clone: Path,
    index: ClangdIndex,
    definition: Definition,
    candidates: Sequence[tuple[Place, IndexedSymbol]],
) -> None:
    """Give a definition its names and its uses. One that is a template may have several symbols."""
    inside = [
        (place, symbol)
        for place, symbol in candidates
        if any(start <= place.line <= end for start, end in definition.ranges)
    ]
    definition.take_names([place for place, _ in inside])
    chosen = {symbol.number for place, symbol in inside if place in definition.names}
    if definition.group == "type":  # also a typedef of its name, and what is made of a template
        scopes = {symbol.scope for _, symbol in inside if symbol.number in chosen}
        chosen |= {number for scope in scopes for number in index.named[scope, definition.name]}
    definition.take_uses(
        use
        for number in chosen
        for use in index.uses[number]
        if use not in index.declared and line_of(clone, use)[use.column :].startswith(definition.name)
    )
    own = {(place.path, place.line) for place in definition.names}
    definition.uses = [use for use in definition.uses if (use.path, use.line) not in own]


def _bases(clone: Path, index: ClangdIndex, path: str, types: set[tuple[str, int]]) -> Iterator[Base]:
    """Yield the bases of the classes of a file that clangd resolves. One that is a parameter of a template or
    another name of a type is left out."""
    text = "\n".join(map(_without_comment, lines_of(clone / path)))
    for head in _HEAD.finditer(text):
        for match in _BASE.finditer(head[1]):
            if match[1] in _WORDS:
                continue
            position = head.start(1) + match.start(1)
            line = text.count("\n", 0, position) + 1
            column = position - (text.rfind("\n", 0, position) + 1)
            found = index.meanings.get(Place(path, line, column))
            if not found:
                continue
            means = [
                place for number in found if number in index.symbols for place in index.symbols[number].places
            ]
            targets = [place for place in means if (place.path, place.line) in types]
            if targets or not means:
                yield Base(path=path, line=line, name=match[1], targets=targets)


def _left_out(clone: Path, index: ClangdIndex, path: str) -> Iterator[tuple[int, int]]:
    """Yield the lines between two conditions of the preprocessor that have no known name."""
    lines = lines_of(clone / path)
    marks = [number for number, line in enumerate(lines, 1) if _CONDITION.match(line)]
    known = index.named_lines.get(path, frozenset())
    for first, last in pairwise(marks):
        if not any(number in known for number in range(first + 1, last)):
            yield first + 1, last - 1


def _without_comment(line: str) -> str:
    code, mark, comment = line.partition("//")
    return code + " " * len(mark + comment)
