"""What do some lines depend on: names that are defined elsewhere, definitions that they use, imports?"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from satchel.retrieval.corpus import Corpus
from satchel.retrieval.references import Edge, clear_definitions, definitions_of, imports_file
from satchel.terms import last_name
from satchel.types import Label, LineRange, Reference

_LOOKED_UP = 12  # names, the most used first
_LOOKED_UP_FOR_SOME = 36  # so that the names of any choice of the ranges are nearly always among them
_LEAST_LETTERS = 4  # shorter names are mostly local
_USED_CONFIDENCE = 0.5  # of a definition that is told by its folder or by an import
# Definitions that are not called by their name: code that makes or uses the object depends on its type.
IMPLICIT_NAMES = frozenset({"constructor", "initialize", "new", "init", "deinit", "drop", "fmt", "default"})
_MOST_LINES = 60  # of a statement; what is longer is code around an import, or a list nobody reads
_IMPORTING = re.compile(r"\b(alias|export|from|import|include|require|use|using)\b")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_ALIAS = re.compile(r"\bas\s+([^\W\d]\w*)")
_OPENING, _CLOSING = "([{", ")]}"


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
    used: Counter[str] = Counter()
    for path, own in inside.items():
        used.update(name for name, line in corpus.uses(path) if line in own)
    found = []
    ranked = sorted(used.items(), key=lambda item: (-item[1], item[0]))
    most = _LOOKED_UP_FOR_SOME if some else _LOOKED_UP
    for name, uses in [item for item in ranked if len(item[0]) >= _LEAST_LETTERS][:most]:
        definitions = clear_definitions(corpus, name)
        if definitions and (some or not any(line in inside.get(path, ()) for path, line in definitions)):
            found.append(ExternalName(name, uses, *definitions[0]))
    return found


def used_definitions(corpus: Corpus, path: str, ranges: Sequence[LineRange]) -> Iterator[Edge]:
    """Yield the definitions that some lines of a file use, where it is clear which are meant: the only one of
    that name, in a file that is imported or stands in the same folder."""
    imports = [use.name for use in corpus.references(path) if use.label is Label.IMPORTS]
    seen: set[str] = set()
    for use in corpus.references(path):
        name = last_name(use.name)
        here = any(first <= use.line <= last for first, last in ranges)
        if not here or name in seen or name in IMPLICIT_NAMES or use.label in (Label.IMPORTS, Label.LINKS_TO):
            continue
        seen.add(name)
        records = definitions_of(corpus, name)
        folder = path.rpartition("/")[0]
        near = [
            record
            for record in records
            if record.path.rpartition("/")[0] == folder
            or any(imports_file(written, record.path) for written in imports)
        ]
        for record in near if len(records) == 1 else []:
            line = record.symbol.start_line
            for chunk in corpus.snapshot.chunks(record.path, line, line)[:1]:
                yield Edge(chunk, line, use.label, _USED_CONFIDENCE, name)


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
    """Whether a line is continued on the next."""
    return line.rstrip().endswith("\\")


def _opened(line: str) -> int:
    """Return how many more brackets a line opens than it closes."""
    return sum(map(line.count, _OPENING)) - sum(map(line.count, _CLOSING))
