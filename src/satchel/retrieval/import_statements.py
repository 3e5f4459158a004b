"""Which import statements of a file does a piece of it need?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from satchel.types import Label, Reference

_MOST_LINES = 60  # of a statement; what is longer is code around an import, or a list nobody reads
_IMPORTING = re.compile(r"\b(alias|export|from|import|include|require|use|using)\b")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_ALIAS = re.compile(r"\bas\s+([^\W\d]\w*)")
_OPENING, _CLOSING = "([{", ")]}"


class ImportStatement(msgspec.Struct, frozen=True):
    """A statement as written, and the names that it may bring in."""

    text: str
    names: frozenset[str]


def import_statements(references: Iterable[Reference], lines: Sequence[str]) -> list[ImportStatement]:
    """One for each name that is imported, in the order of the file."""
    return [
        ImportStatement(_statement(lines, use.line - 1), _names(use.name, lines[use.line - 1]))
        for use in references
        if use.label is Label.IMPORTS and use.line <= len(lines)
    ]


def needed(statements: Iterable[ImportStatement], content: str) -> list[str]:
    """Those that bring in a name which the content uses, once each; not those which it shows itself."""
    used = set(_IDENTIFIER.findall(content))
    found = (one.text for one in statements if not used.isdisjoint(one.names) and one.text not in content)
    return list(dict.fromkeys(found))


def _names(imported: str, line: str) -> frozenset[str]:
    """The last part of what is imported, or what the line calls it instead."""
    parts = [part for part in imported.replace("::", ".").replace("/", ".").split(".") if part.isidentifier()]
    return frozenset((*parts[-1:], *_ALIAS.findall(line)))


def _statement(lines: Sequence[str], place: int) -> str:
    """The lines from the bracket that holds the line, if an import opens it, to the one that closes it."""
    first = _first(lines, place)
    depth = 0
    for last in range(first, min(len(lines), first + _MOST_LINES)):
        depth += _opened(lines[last])
        if depth <= 0 and last >= place and not _goes_on(lines[last]):
            return "".join(lines[first : last + 1]).strip()
    return lines[place].strip()


def _first(lines: Sequence[str], place: int) -> int:
    while place and _goes_on(lines[place - 1]):
        place -= 1
    depth = _opened(lines[place])
    wanted = 0 if depth < 0 else 1  # a line that closes a bracket is the end of what opened it
    for first in range(place - 1, max(-1, place - _MOST_LINES), -1):
        if depth >= wanted:
            break
        depth += _opened(lines[first])
        if depth >= wanted:
            return first if _IMPORTING.search(lines[first]) else place
    return place


def _goes_on(line: str) -> bool:
    return line.rstrip().endswith("\\")


def _opened(line: str) -> int:
    """By how many brackets a line opens more than it closes."""
    return sum(map(line.count, _OPENING)) - sum(map(line.count, _CLOSING))
