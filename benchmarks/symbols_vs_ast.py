"""Does Satchel find the classes and functions that Python's own parser finds?

    python benchmarks/symbols_vs_ast.py [FOLDER] [--samples 10]

For every `.py` file of Django (or of FOLDER) the classes, functions and async functions of `ast`, nested
ones with dotted names, are looked up among Satchel's symbols: the same qualified name with the same first
and last line is *found*. A definition inside `if` or `try` has the name of what encloses the statement.
Files that `ast` itself refuses (Django keeps some on purpose) are counted and left out.
Exit code 1 when fewer than 98 % are found. The figures go to `benchmarks/results/symbols_vs_ast.txt`.
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from corpora import default_cache, get

from satchel.chunking import parse_source
from satchel.types import ChunkKind

REQUIRED_SHARE = 0.98
RESULT = Path(__file__).parent / "results" / "symbols_vs_ast.txt"
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
COMPARED = {ChunkKind.CLASS, ChunkKind.FUNCTION, ChunkKind.METHOD}  # what `ast` can answer for


@dataclass(frozen=True, slots=True, order=True)
class Definition:
    """A definition as both sides can state it."""

    name: str
    start_line: int
    end_line: int


@dataclass(slots=True)
class Comparison:
    """What came out over all files; the lists hold `path: definition` lines."""

    files: int = 0
    refused: int = 0
    expected: int = 0
    found: int = 0
    other_lines: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    additional: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The part of the expected definitions that was found exactly."""
        return self.found / self.expected if self.expected else 0.0


def definitions(node: ast.AST, prefix: str = "") -> Iterator[Definition]:
    """Every definition below a node, by its dotted name."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DEFINITIONS):
            name = f"{prefix}{child.name}"
            yield Definition(name, child.lineno, child.end_lineno or child.lineno)
            yield from definitions(child, f"{name}.")
        else:
            yield from definitions(child, prefix)


def compare_file(path: Path, label: str, result: Comparison) -> None:
    """Adds one file to the comparison."""
    content = path.read_bytes()
    try:
        expected = set(definitions(ast.parse(content)))
        text = content.decode(tokenize.detect_encoding(io.BytesIO(content).readline)[0])
    except (SyntaxError, ValueError):
        result.refused += 1
        return
    symbols = [symbol for symbol in parse_source(text, "python").symbols if symbol.kind in COMPARED]
    found = {Definition(symbol.qualified_name, symbol.start_line, symbol.end_line) for symbol in symbols}
    names = {definition.name for definition in found}
    result.files += 1
    result.expected += len(expected)
    result.found += len(expected & found)
    for definition in sorted(expected - found):
        (result.other_lines if definition.name in names else result.missing).append(f"{label}: {definition}")
    result.additional += [f"{label}: {definition}" for definition in sorted(found - expected)]


def compare(folder: Path) -> Comparison:
    """All Python files of a folder."""
    result = Comparison()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in other people's files
        for path in sorted(folder.rglob("*.py")):
            compare_file(path, path.relative_to(folder).as_posix(), result)
    return result


def report(name: str, result: Comparison, samples: int) -> str:
    """The figures and some differences of each kind."""
    lines = [
        f"{name}: {result.files} Python files ({result.refused} refused by ast)",
        f"definitions by ast     {result.expected}",
        f"found exactly          {result.found} ({result.share:.2%}, at least {REQUIRED_SHARE:.0%} required)",
        f"found, other lines     {len(result.other_lines)}",
        f"missing                {len(result.missing)}",
        f"only found by Satchel  {len(result.additional)}",
    ]
    for title in ("other_lines", "missing", "additional"):
        entries: list[str] = getattr(result, title)
        if entries:
            lines += ["", f"{title.replace('_', ' ')}, the first {min(samples, len(entries))}:"]
            lines += [f"  {entry}" for entry in entries[:samples]]
    return "\n".join(lines) + "\n"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--cache", type=Path, default=default_cache())
    arguments = parser.parse_args()
    folder: Path = arguments.folder or get("django", arguments.cache)
    result = compare(folder)
    text = report(folder.name, result, arguments.samples)
    print(text, end="")
    if arguments.folder is None:
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(text, encoding="utf-8")
    return 0 if result.share >= REQUIRED_SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
