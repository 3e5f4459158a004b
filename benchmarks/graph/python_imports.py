"""Which files does a Python file import? Resolved with `ast` and the rules of Python's own finder.

A module is looked up below the folders that are on the path when the file runs: its own (that of its
outermost package), the root, and every folder above it with a project file, each with its `src/`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from graph.truth import ImportEdge

_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
_INIT = "__init__.py"


def import_edges(clone: Path, trees: Mapping[str, ast.Module]) -> list[ImportEdge]:
    """Return the import edges between the files of `trees`, each once, the demanded before the implied."""
    edges: dict[tuple[str, str], ImportEdge] = {}
    finder = _Finder(clone, trees)
    for source in sorted(trees):
        for edge in finder.edges_of(source):
            known = edges.get((source, edge.target))
            if edge.target != source and (known is None or (known.implied and not edge.implied)):
                edges[source, edge.target] = edge
    return [edges[key] for key in sorted(edges)]


class _Finder:
    """Finds modules among the files of one repository."""

    def __init__(self, clone: Path, trees: Mapping[str, ast.Module]) -> None:
        self._clone = clone
        self._trees = trees
        self._folders = {str(parent) for path in trees for parent in PurePosixPath(path).parents}
        self._bound = cache(self._bound_names)

    def edges_of(self, source: str) -> Iterator[ImportEdge]:
        """Return what the import statements of a file mean."""
        for node in ast.walk(self._trees[source]):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._plain(source, node.lineno, alias.name)
            elif isinstance(node, ast.ImportFrom):
                yield from self._from(source, node)

    def _plain(self, source: str, line: int, written: str) -> Iterator[ImportEdge]:
        """`import a.b` means `a/b.py`, and implies `a/__init__.py`."""
        for root in self._path(source):
            target = self._module(root, written)
            if target:
                yield ImportEdge(source, target, line, written)
                for parent in _parents(written):
                    if outer := self._module(root, parent):
                        yield ImportEdge(source, outer, line, written, True)
                return

    def _from(self, source: str, node: ast.ImportFrom) -> Iterator[ImportEdge]:
        """`from a import b` means the module `a`, or `a/b.py` where `a` itself has no `b`."""
        written = "." * node.level + (node.module or "")
        root, module = self._base(source, node)
        if root is None:
            return
        package = self._module(root, module)
        for alias in node.names:
            inner = self._module(root, f"{module}.{alias.name}" if module else alias.name)
            if not inner and package:
                yield ImportEdge(source, package, node.lineno, written)
            elif inner:
                # Where the package binds the name of its own module, both files are a right answer.
                is_bound = bool(package) and alias.name in self._bound(package)
                yield ImportEdge(source, inner, node.lineno, written, is_bound)
                if package:
                    yield ImportEdge(source, package, node.lineno, written, True)

    def _base(self, source: str, node: ast.ImportFrom) -> tuple[str | None, str]:
        """Return the folder on the path and the module below it that a `from` statement names."""
        if node.level:
            folders = [str(parent) for parent in PurePosixPath(source).parents]
            root = folders[node.level - 1] if node.level <= len(folders) else None
            return root, node.module or ""
        module = node.module or ""
        for root in self._path(source):
            if self._module(root, module) or _join(root, module) in self._folders:
                return root, module
        return None, module

    def _module(self, root: str, name: str) -> str:
        """Return the file of a module below a folder; empty if there is none."""
        stem = _join(root, name)
        for path in (_join(stem, _INIT), f"{stem}.py"):
            if path in self._trees:
                return path
        return ""

    @cache  # noqa: B019 (a finder lives as long as one measurement)
    def _path(self, source: str) -> tuple[str, ...]:
        """Return the folders that a file's absolute imports are looked up in, in order."""
        parents = [str(parent) for parent in PurePosixPath(source).parents]
        own = next(folder for folder in parents if _join(folder, _INIT) not in self._trees)
        projects = [folder for folder in parents if folder == "." or self._is_project(folder)]
        found = [own]
        for folder in projects:
            found += [folder, _join(folder, "src")]
        return tuple(dict.fromkeys(found))

    def _is_project(self, folder: str) -> bool:
        return any((self._clone / folder / name).is_file() for name in _PROJECT_FILES)

    def _bound_names(self, path: str) -> frozenset[str]:
        """Return the names that a module binds at its top level, without those of star imports."""
        return frozenset(_bindings(self._trees[path].body))


def _bindings(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Return the names that statements bind, also inside `if`, `try` and `with`."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For)):
            yield from (
                part.id
                for part in ast.walk(node)
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            )
        else:
            for field in ("body", "orelse", "finalbody"):
                yield from _bindings(getattr(node, field, ()))
            for handler in getattr(node, "handlers", ()):
                yield from _bindings(handler.body)


def _parents(module: str) -> Iterator[str]:
    """Return the packages around a dotted module name."""
    while "." in module:
        module = module.rpartition(".")[0]
        yield module


def _join(folder: str, name: str) -> str:
    """Return a path below a folder; the name may be dotted and may be empty."""
    below = name if name.endswith(".py") else name.replace(".", "/")
    return below if folder in (".", "") else f"{folder}/{below}".rstrip("/")
