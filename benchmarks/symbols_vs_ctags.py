"""Where do Satchel's symbols and those of universal-ctags differ, and who is right?

    python benchmarks/symbols_vs_ctags.py [c go java rust javascript] [--samples 15]

ctags is a second opinion, not the truth, so nothing here passes or fails: the shares and samples of the
differences go to `benchmarks/results/symbols_vs_ctags.txt` to be read. Only kinds that define something
by name and have a body are compared, see `KINDS`: variables, fields, enumerators, parameters and
prototypes are left out, and names that ctags makes up for anonymous things. Macros, type aliases,
modules and `impl` blocks are counted as *optional*: what of them Satchel has, but not whether it is all.

A ctags entry is *found* where Satchel has a symbol of that name in that file whose lines hold ctags's
line (ctags gives the line of the name; a C function starts a line earlier when its type stands alone),
*exactly* where the first lines are equal. In the other direction a symbol counts as Satchel's alone
when ctags has no entry of that name and file of any kind at all.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from corpora import default_cache, get

from satchel.chunking import parse_source
from satchel.types import ChunkKind, Symbol

MADE_UP = re.compile(r"(__anon|Anonymous[A-Za-z]*)[0-9a-f]{6,}")  # what ctags calls a thing without a name
_Entry = TypeVar("_Entry")
RESULT = Path(__file__).parent / "results" / "symbols_vs_ctags.txt"
COMPARED = {
    ChunkKind.FUNCTION,
    ChunkKind.METHOD,
    ChunkKind.CLASS,
    ChunkKind.STRUCT,
    ChunkKind.ENUM,
    ChunkKind.INTERFACE,
    ChunkKind.TRAIT,
}


@dataclass(frozen=True, slots=True)
class Kinds:
    """How one language is compared; kinds are ctags's long names."""

    ctags_language: str
    suffixes: tuple[str, ...]
    corpora: tuple[str, ...]
    definitions: frozenset[str]
    optional: frozenset[str] = frozenset()
    class_line: str = ""  # what the line of a `class` must look like to be taken for one


KINDS = {
    "c": Kinds(
        "C",
        (".c", ".h"),
        ("redis",),
        frozenset({"function", "struct", "union", "enum"}),
        frozenset({"typedef", "macro"}),
    ),
    "go": Kinds(
        "Go",
        (".go",),
        ("gin", "cobra"),
        frozenset({"func", "struct", "interface", "type"}),
        frozenset({"talias", "methodSpec"}),
    ),
    "java": Kinds(
        "Java",
        (".java",),
        ("commons-lang",),
        frozenset({"class", "interface", "enum", "method", "annotation"}),
    ),
    "rust": Kinds(
        "Rust",
        (".rs",),
        ("tokio", "clap"),
        frozenset({"function", "method", "struct", "enum", "interface"}),
        frozenset({"macro", "typedef", "module", "implementation"}),
    ),
    "javascript": Kinds(
        "JavaScript",
        (".js", ".mjs", ".cjs"),
        ("eslint",),
        frozenset({"function", "class", "method", "generator", "getter", "setter"}),
        class_line=r"\b(class|function)\b",  # ctags calls every object literal a class
    ),
}


@dataclass(frozen=True, slots=True, order=True)
class Tag:
    """One entry of ctags."""

    path: str
    line: int
    name: str
    kind: str


def tags_of(folder: Path, kinds: Kinds) -> list[Tag]:
    """What ctags finds in the files of one language; `.h` is read as the language at hand."""
    language = kinds.ctags_language
    command = ["ctags", "-R", "--output-format=json", "--fields=+neK", f"--languages={language}"]
    command += [f"--map-{language}=+{suffix}" for suffix in kinds.suffixes]
    command += ["--extras=-F", "-f", "-", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True)
    entries = [json.loads(line) for line in done.stdout.decode(errors="replace").splitlines()]
    return [
        Tag(entry["path"].removeprefix("./"), entry["line"], entry["name"], entry["kind"])
        for entry in entries
        if entry["_type"] == "tag" and _is_definition(entry, kinds)
    ]


def _is_definition(entry: dict[str, str], kinds: Kinds) -> bool:
    """False for names that ctags made up and for classes that are none."""
    if MADE_UP.search(entry["name"]):
        return False
    return entry["kind"] != "class" or re.search(kinds.class_line, entry["pattern"]) is not None


def symbols_of(folder: Path, language: str, kinds: Kinds) -> Iterator[tuple[str, Symbol]]:
    """What Satchel finds in the same files."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in kinds.suffixes and path.is_file() and not path.is_symlink():
            text = path.read_bytes().decode(errors="replace")
            for symbol in parse_source(text, language).symbols:
                yield path.relative_to(folder).as_posix(), symbol


@dataclass(frozen=True, slots=True)
class Difference:
    """The comparison of one corpus."""

    corpus: str
    expected: int
    exact: int
    found: int
    missing: tuple[Tag, ...]
    optional: Counter[str]
    optional_found: Counter[str]
    symbols: int
    alone: tuple[tuple[str, Symbol], ...]


def compare(corpus: str, folder: Path, language: str) -> Difference:
    """ctags and Satchel on one folder."""
    kinds = KINDS[language]
    tags = tags_of(folder, kinds)
    symbols = list(symbols_of(folder, language, kinds))
    by_name: dict[tuple[str, str], list[Symbol]] = {}
    for path, symbol in symbols:
        by_name.setdefault((path, symbol.name), []).append(symbol)

    def holds(tag: Tag) -> bool:
        candidates = by_name.get((tag.path, tag.name), ())
        return any(symbol.start_line <= tag.line <= symbol.end_line for symbol in candidates)

    expected = sorted({tag for tag in tags if tag.kind in kinds.definitions})
    missing = tuple(tag for tag in expected if not holds(tag))
    exact = {(path, symbol.name, symbol.start_line) for path, symbol in symbols}
    optional = [tag for tag in tags if tag.kind in kinds.optional]
    named = {(tag.path, tag.name) for tag in tags}
    compared = [(path, symbol) for path, symbol in symbols if symbol.kind in COMPARED]
    return Difference(
        corpus=corpus,
        expected=len(expected),
        exact=sum((tag.path, tag.name, tag.line) in exact for tag in expected),
        found=len(expected) - len(missing),
        missing=missing,
        optional=Counter(tag.kind for tag in optional),
        optional_found=Counter(tag.kind for tag in optional if holds(tag)),
        symbols=len(compared),
        alone=tuple((path, symbol) for path, symbol in compared if (path, symbol.name) not in named),
    )


def report(language: str, difference: Difference, samples: int) -> Iterator[str]:
    """The lines about one corpus. Samples are spread over the whole list, not its first file."""
    expected = difference.expected or 1
    yield f"{language}, {difference.corpus}"
    yield f"  ctags definitions  {difference.expected}"
    yield f"  found              {difference.found} ({difference.found / expected:.2%})"
    yield f"  on the same line   {difference.exact} ({difference.exact / expected:.2%})"
    for kind, count in sorted(difference.optional.items()):
        yield f"  optional {kind:15} {difference.optional_found[kind]} of {count}"
    yield f"  Satchel symbols    {difference.symbols}"
    yield f"  Satchel alone      {len(difference.alone)}"
    yield f"  missing by kind    {dict(sorted(Counter(tag.kind for tag in difference.missing).items()))}"
    for tag in _spread(difference.missing, samples):
        yield f"    only ctags    {tag.kind:10} {tag.name}  {tag.path}:{tag.line}"
    for path, symbol in _spread(difference.alone, samples):
        yield f"    only Satchel  {symbol.kind:10} {symbol.qualified_name}  {path}:{symbol.start_line}"
    yield ""


def _spread(entries: tuple[_Entry, ...], count: int) -> Iterable[_Entry]:
    return entries[:: max(1, len(entries) // count)][:count]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help=", ".join(KINDS))
    parser.add_argument("--samples", type=int, default=15)
    parser.add_argument("--cache", type=Path, default=default_cache())
    arguments = parser.parse_args()
    lines: list[str] = []
    for language in arguments.languages or KINDS:
        for corpus in KINDS[language].corpora:
            difference = compare(corpus, get(corpus, arguments.cache), language)
            lines += report(language, difference, arguments.samples)
    text = "\n".join(lines)
    print(text)
    if not arguments.languages:
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
