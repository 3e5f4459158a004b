"""How is clangd started for a repository, and how are its files compiled?"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from graph.language_server import LanguageServer
from graph.truth import Definition, Place

_INDEX_SECONDS = 1800
_DEFINE = re.compile(r"\s*#\s*define\s+(\w+)")
_INDEX_TASK = "backgroundIndexProgress"


class Build(NamedTuple):
    """How the files of a repository are compiled."""

    sources: tuple[str, ...]
    flags: tuple[str, ...]


def write_commands(
    folder: Path, clone: Path, sources: Sequence[str], flags: Sequence[str], compiler: str = "clang"
) -> Path:
    """Write the compilation database that clangd reads, and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = [
        {"directory": str(clone.resolve()), "file": source, "arguments": [compiler, *flags, "-c", source]}
        for source in sources
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
    return folder


def start_command(commands: Path) -> list[str]:
    """Return how clangd is started: with its index, and without a limit of references."""
    program = next(filter(shutil.which, ("clangd-19", "clangd")), "clangd")
    return [
        program,
        f"--compile-commands-dir={commands.resolve()}",
        "--background-index",
        "-j=2",
        "--limit-references=0",
        "--limit-results=0",
        "--log=error",
    ]


def wait_for_index(server: LanguageServer) -> None:
    """Wait until clangd has read all files; before that its references are not complete."""
    end = time.monotonic() + _INDEX_SECONDS
    time.sleep(5)  # it reports one short task before the long one
    while not server.has_ended(_INDEX_TASK):
        if time.monotonic() > end:
            raise TimeoutError("clangd did not finish its index")
        time.sleep(1)


def by_path(definitions: Sequence[Definition], files: set[str]) -> dict[str, list[Definition]]:
    """Return the definitions of the files that are compiled, by file: opening one costs clangd most."""
    found: dict[str, list[Definition]] = defaultdict(list)
    for definition in definitions:
        if definition.path in files:
            found[definition.path].append(definition)
    return found


def macros(clone: Path, path: str) -> Iterator[tuple[str, Place]]:
    """Return the names of the macros that a file defines, which an outline does not have."""
    for number, line in enumerate(lines_of(clone / path), 1):
        if match := _DEFINE.match(line):
            yield match[1], Place(path, number, match.start(1))


def line_of(clone: Path, place: Place) -> str:
    """Return the source line of a position."""
    return lines_of(clone / place.path)[place.line - 1]


@lru_cache(maxsize=512)
def lines_of(path: Path) -> list[str]:
    return path.read_text("utf-8", "replace").split("\n")
