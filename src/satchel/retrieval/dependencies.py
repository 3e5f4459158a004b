"""What do some lines depend on: names that are defined elsewhere, definitions that they use, imports?"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

import msgspec

from satchel.code_facts import CONFIDENCE, Target
from satchel.retrieval.code_graph import SureUse, file_uses, uses_between
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.references import Edge, clear_definitions_of, definition_chunk, definition_line
from satchel.types import Label, LineRange, Reference

_LOOKED_UP = 12  # names, the most used first
_LOOKED_UP_FOR_SOME = 36  # so that the names of any choice of the ranges are nearly always among them
_LEAST_LETTERS = 4  # shorter names are mostly local
# Definitions that are not called by their name: code that makes or uses the object depends on its type.
_IMPLICIT_NAMES = frozenset({"constructor", "initialize", "new", "init", "deinit", "drop", "fmt", "default"})
_MOST_LINES = 60  # of a statement; what is longer is code around an import, or a list nobody reads
_IMPORTING = re.compile(r"\b(alias|export|from|import|include|require|use|using)\b")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_ALIAS = re.compile(r"\bas\s+([^\W\d]\w*)")
_OPENING, _CLOSING = "([{", ")]}"


def is_implicit(name: str) -> bool:
    """Return whether a member of that name is used through its type, not by its own name."""
    return name in _IMPLICIT_NAMES or (name.startswith("__") and name.endswith("__"))


class ExternalName(msgspec.Struct, frozen=True):
    """A name that some lines use, how often they do, and where it is defined outside of them."""

    name: str
    uses: int
    path: str
    line: int


def external_names(
    corpus: Corpus, ranges: Sequence[tuple[str, int, int]], *, some: bool = False
) -> list[ExternalName]:
    """Return the names that lines of these ranges call, use or extend and that this index defines outside of
    them, the most used first. `some` gives those that may be found when only some of the ranges are shown."""
    inside: dict[str, set[int]] = defaultdict(set)
    for path, first, last in ranges:
        inside[path].update(range(first, last + 1))
    used = Counter(_meanings(corpus, inside))
    ranked = sorted(used.items(), key=lambda item: (-item[1], item[0]))
    most = _LOOKED_UP_FOR_SOME if some else _LOOKED_UP
    found = [
        ExternalName(name, uses, path, line)
        for (name, path, line), uses in ranked
        if len(name) >= _LEAST_LETTERS and (some or line not in inside.get(path, ()))
    ]
    return found[:most]


def _meanings(corpus: Corpus, inside: Mapping[str, Container[int]]) -> Iterator[tuple[str, str, int]]:
    """Yield (name, path of its definition, line of that) for each use on some lines of files that means a
    definition: by the code graph, or by name where the language has no rules and the name is clear."""
    named: list[str] = []
    for path, lines in inside.items():
        if corpus.has_graph(path):
            for use in file_uses(corpus, path).uses:
                if use.line in lines and _is_telling(use) and (line := definition_line(corpus, use)):
                    yield use.target.name.rpartition(".")[2], use.target.path, line
        else:
            named += [name for name, used in corpus.uses(path) if used in lines]
    clear = clear_definitions_of(corpus, named)
    yield from ((name, *clear[name][0]) for name in named if clear[name])


def _is_telling(use: SureUse) -> bool:
    """Return whether a use is worth a look at its definition: a call, a base or a type, not a constant."""
    return use.label in (Label.CALLS, Label.EXTENDS) or (use.name[:1].isupper() and not use.name.isupper())


def used_definitions(corpus: Corpus, path: str, ranges: Sequence[LineRange]) -> Iterator[Edge]:
    """Yield the definitions that some lines of a file use, each once, by line."""
    seen: set[tuple[Target, bool]] = set()
    for first, last in ranges:
        for use in uses_between(corpus, path, first, last):
            if (use.target, use.is_value) in seen or use.label is Label.IMPORTS:
                continue
            seen.add((use.target, use.is_value))
            found = definition_chunk(corpus, use)
            if found is not None:
                yield Edge(found[0], found[1], use.label, CONFIDENCE[use.rule], use.name)


class ImportStatement(msgspec.Struct, frozen=True):
    """An import statement as written, and the names that it may bring in."""

    text: str
    names: frozenset[str]


def import_statements(references: Iterable[Reference], lines: Sequence[str]) -> list[ImportStatement]:
    """Return the statement of each import of a file, in its order."""
    return [
        ImportStatement(_statement(lines, use.line - 1), _imported_names(use.name, lines[use.line - 1]))
        for use in references
        if use.label is Label.IMPORTS and use.line <= len(lines)
    ]


def needed_imports(statements: Iterable[ImportStatement], content: str) -> list[str]:
    """Return the statements that bring in a name which `content` uses, without those it shows itself."""
    used = set(_IDENTIFIER.findall(content))
    found = (one.text for one in statements if not used.isdisjoint(one.names) and one.text not in content)
    return list(dict.fromkeys(found))


def _imported_names(imported: str, line: str) -> frozenset[str]:
    """Return the last part of what is imported, and the alias that the line gives it."""
    parts = [part for part in imported.replace("::", ".").replace("/", ".").split(".") if part.isidentifier()]
    return frozenset((*parts[-1:], *_ALIAS.findall(line)))


def _statement(lines: Sequence[str], index: int) -> str:
    """Return the statement around a line: from the line that opens its bracket, if that line imports, to the
    line that closes it."""
    first = _first(lines, index)
    depth = 0
    for last in range(first, min(len(lines), first + _MOST_LINES)):
        depth += _opened(lines[last])
        if depth <= 0 and last >= index and not _goes_on(lines[last]):
            return "".join(lines[first : last + 1]).strip()
    return lines[index].strip()


def _first(lines: Sequence[str], index: int) -> int:
    """Return where the statement around a line begins."""
    while index and _goes_on(lines[index - 1]):
        index -= 1
    depth = _opened(lines[index])
    wanted = 0 if depth < 0 else 1  # a line that closes a bracket is the end of what opened it
    for first in range(index - 1, max(-1, index - _MOST_LINES), -1):
        if depth >= wanted:
            break
        depth += _opened(lines[first])
        if depth >= wanted:
            return first if _IMPORTING.search(lines[first]) else index
    return index


def _goes_on(line: str) -> bool:
    """Return whether a line is continued on the next."""
    return line.rstrip().endswith("\\")


def _opened(line: str) -> int:
    """Return how many more brackets a line opens than it closes."""
    return sum(map(line.count, _OPENING)) - sum(map(line.count, _CLOSING))
