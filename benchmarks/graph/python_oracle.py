"""The truth about a Python repository: pyright's references, and the bases that it resolves.

Limits: pyright is blind where a receiver has no type, such as a pytest fixture without annotation, and
where a name exists only at run time.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from graph.language_server import LanguageServer
from graph.python_imports import import_edges
from graph.repositories import Lab, Repository, listed_files
from graph.sampling import is_aside
from graph.truth import Base, Definition, Place, Truth, collect

_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_KEYWORD = re.compile(r"\s*(?:async\s+)?(?:def|class)\s+")
_CONFIG = "pyrightconfig.json"


class _File(NamedTuple):
    """A file that Python can parse."""

    path: str
    lines: list[str]
    tree: ast.Module


def ask(lab: Lab, repository: Repository, definitions: Sequence[Definition], commit: str) -> Truth:
    """Return the truth about a Python repository."""
    clone = lab.clone(repository)
    files = list(_parsed(clone, listed_files(clone, repository.suffixes)))
    names = _defined_names(files)
    for definition in definitions:
        definition.take_names(names[definition.path, definition.name])
    truth = collect(repository, commit, (file.path for file in files), definitions)
    command = [str(lab.tools / "node_modules" / ".bin" / "pyright-langserver"), "--stdio"]
    with _configured(clone, lab), LanguageServer(command, clone, "python") as server:
        for path, members in groupby(truth.definitions, key=lambda item: item.path):
            for definition in members:
                _ask_uses(server, definition)
            server.close(path)
        classes = _class_lines(files)
        truth.bases = [base for file in files for base in _bases(server, file, classes)]
        truth.undecided = list(_undecided(server, files, truth.definitions))
    truth.imports = import_edges(clone, {file.path: file.tree for file in files})
    return truth


def _parsed(clone: Path, paths: Sequence[str]) -> Iterator[_File]:
    """Parse files; those that Python refuses are left out."""
    for path in paths:
        content = (clone / path).read_bytes()
        try:
            tree = ast.parse(content)
        except (SyntaxError, ValueError):
            continue
        yield _File(path, content.decode("utf-8", "replace").split("\n"), tree)


def _defined_names(files: Sequence[_File]) -> dict[tuple[str, str], list[Place]]:
    """Return the positions of the names of all classes and functions, by path and name."""
    found: dict[tuple[str, str], list[Place]] = defaultdict(list)
    for file in files:
        for node in ast.walk(file.tree):
            if isinstance(node, _DEFINING) and (match := _KEYWORD.match(file.lines[node.lineno - 1])):
                found[file.path, node.name].append(Place(file.path, node.lineno, match.end()))
    return found


def _ask_uses(server: LanguageServer, definition: Definition) -> None:
    """Ask for the uses of a definition. Overloads are one definition: any of their names brings uses.

    A test function is not asked about, because only the test runner calls it: most definitions of a large
    repository are such functions, and pyright needs most of its time for them.
    """
    if is_aside(definition.path) and definition.name.startswith("test_"):
        return
    definition.take_uses(use for place in definition.names for use in server.references(place))


def _undecided(
    server: LanguageServer, files: Sequence[_File], definitions: Sequence[Definition]
) -> Iterator[Place]:
    """Return the attributes with the name of a sampled definition that pyright knows no definition of."""
    names = {item.name for item in definitions if item.sample}
    resolved = {use for item in definitions for use in item.uses}
    for file in files:
        for node in ast.walk(file.tree):
            if not isinstance(node, ast.Attribute) or node.attr not in names:
                continue
            column = (node.end_col_offset or 0) - len(node.attr)
            place = Place(file.path, node.end_lineno or node.lineno, column)
            if place not in resolved and server.definition(place) is None:
                yield place
        server.close(file.path)


def _class_lines(files: Sequence[_File]) -> set[tuple[str, int]]:
    """Return path and line of every class."""
    return {
        (file.path, node.lineno)
        for file in files
        for node in ast.walk(file.tree)
        if isinstance(node, ast.ClassDef)
    }


def _bases(server: LanguageServer, file: _File, classes: set[tuple[str, int]]) -> Iterator[Base]:
    """Return the bases of the classes of a file. A base that is a variable, and one that pyright cannot
    resolve, is left out: nobody can say whether an edge for it is true."""
    for node in ast.walk(file.tree):
        for base in node.bases if isinstance(node, ast.ClassDef) else ():
            written = base.value if isinstance(base, ast.Subscript) else base
            if not isinstance(written, (ast.Name, ast.Attribute)):
                continue
            name = written.id if isinstance(written, ast.Name) else written.attr
            line, column = written.end_lineno or 0, (written.end_col_offset or 0) - len(name)
            found = server.definition(Place(file.path, line, column))
            if found is None:
                continue
            targets = [place for place in found if (place.path, place.line) in classes]
            if targets or not found:
                yield Base(path=file.path, line=line, name=name, targets=targets)
    server.close(file.path)


@contextmanager
def _configured(clone: Path, lab: Lab) -> Iterator[None]:
    """Give pyright its configuration while it runs. It has to lie in the folder, because only there it goes
    before the repository's own, which often leaves the tests out."""
    path = clone / _CONFIG
    before = path.read_bytes() if path.exists() else None
    settings = {
        "include": ["."],
        "extraPaths": ["src"] if (clone / "src").is_dir() else [],
        "venvPath": str(lab.tools.resolve()),
        "venv": "venv",
        "pythonVersion": "3.11",
    }
    path.write_text(json.dumps(settings), encoding="utf-8")
    try:
        yield
    finally:
        if before is None:
            path.unlink()
        else:
            path.write_bytes(before)
