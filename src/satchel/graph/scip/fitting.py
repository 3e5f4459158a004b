"""Compare a SCIP document with the text of its file, and take what fits.

A SCIP file does not say which version of a file it was made of. A document fits a text if each of its
positions holds whole words of it, and if every definition stands where its name does. An edit that moves
anything shows in that. What fits is still only believed name by name: where the text is not the name of its
symbol and no import gives it that name, the occurrence is left aside. scip-python 0.6.6 has many of these:
for a name that a package hands on it writes down the symbol of another one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from satchel.graph.scip.documents import Occurrence, ScipDocument
from satchel.lines import split_lines

Position = tuple[int, int]
"""A line from 1, and a column in characters from 0."""

_BYTES, _UTF_16, _CHARACTERS = 1, 2, 3  # units of columns
_GUESSES = (_UTF_16, _BYTES, _CHARACTERS)  # where an indexer does not say; most are written in JavaScript
_MARKS = "'\"`:@$"  # around or before a name that is used as a key or a variable
_WORD = re.compile(r"[\w$]")
# A symbol is `local ID`, or a scheme, a package and *descriptors*, of which each ends with what it is:
# `src/`app.ts`/Basket#total().` is the method `total` of the type `Basket` of a file.
LOCAL = "local "
_SYMBOL_NAME = r"(?:`((?:[^`]|``)*)`|([\w$+\-]+))"
_LAST_NAME = re.compile(
    rf"{_SYMBOL_NAME}(\([\w$+\-]*\)\.|[/#.:!])\Z|(?:\({_SYMBOL_NAME}\)|\[{_SYMBOL_NAME}\])\Z"
)
_TAIL = 1_000  # characters; longer names are cut off, and then fit no text
_MODULE_ENDS = ("/", ":")


class FittedUse(NamedTuple):
    """A use of a symbol under a name."""

    position: Position
    name: str
    symbol: str


class Fitted(NamedTuple):
    """The definitions and uses of a document that fits."""

    definitions: list[FittedUse]
    uses: list[FittedUse]


def fit_document(document: ScipDocument, text: str, aliases: Mapping[str, Sequence[str]]) -> Fitted | None:
    """Return what a document says about a text, None if it was made of another one. `aliases` are the names
    that imports of the file give, each with what they stand for."""
    lines = [line.rstrip("\r\n") for line in split_lines(text)]
    encodings = _GUESSES if document.encoding not in _GUESSES else (document.encoding,)
    for encoding in encodings[:1] if text.isascii() else encodings:
        found = _fit(document.occurrences, lines, encoding, aliases)
        if found is not None:
            return found
    return None


def _fit(
    occurrences: Sequence[Occurrence],
    lines: Sequence[str],
    encoding: int,
    aliases: Mapping[str, Sequence[str]],
) -> Fitted | None:
    fitted = Fitted([], [])
    defined: dict[tuple[Position, str], list[bool]] = defaultdict(list)
    for item in occurrences:
        if item.end < 0 or (item.start == item.end and item.line <= len(lines)):
            continue  # several lines, or none of the text: nothing that has a name
        word = _word_at(lines, item, encoding)
        if word is None:
            return None
        column, written = word
        position = item.line + 1, column
        plain = written.strip(_MARKS)
        own = own_name(item.symbol)
        is_own = plain == own.name.strip(_MARKS)
        if item.is_definition:
            if own.is_written:
                defined[position, written].append(is_own)
            if own.is_definition and is_own:
                fitted.definitions.append(FittedUse(position, plain, item.symbol))
        elif own.is_definition and (is_own or own.name in aliases.get(plain, ())):
            fitted.uses.append(FittedUse(position, plain, item.symbol))
    # One position may define several symbols: a property and the functions that read and write it.
    return fitted if all(map(any, defined.values())) else None


def _word_at(lines: Sequence[str], item: Occurrence, encoding: int) -> tuple[int, str] | None:
    """Return the column in characters and the text of an occurrence, None where no whole words stand."""
    line = lines[item.line] if item.line < len(lines) else ""
    start, end = item.start, item.end
    if not line.isascii() and encoding != _CHARACTERS:
        try:
            start, end = (_column(line, column, encoding) for column in (start, end))
        except UnicodeDecodeError:
            return None
    if not 0 <= start < end <= len(line):
        return None
    if is_word(line[start - 1 : start]) and is_word(line[start]):
        return None
    if is_word(line[end - 1]) and is_word(line[end : end + 1]):
        return None
    return start, line[start:end]


def _column(line: str, column: int, encoding: int) -> int:
    """Return the character at which a column lies."""
    if encoding == _BYTES:
        data = line.encode("utf-8", "surrogatepass")
        return len(data[:column].decode("utf-8", "surrogatepass")) if column <= len(data) else -1
    data = line.encode("utf-16-le", "surrogatepass")
    return len(data[: 2 * column].decode("utf-16-le")) if 2 * column <= len(data) else -1


def is_word(character: str) -> bool:
    """Return whether a character is part of names; an empty text is not."""
    return _WORD.match(character) is not None


def columns_of(line: str, name: str) -> list[int]:
    """Return where a name stands in a line as a whole word."""
    found, at = [], line.find(name)
    while name and at >= 0:
        end = at + len(name)
        if not is_word(line[at - 1 : at] if at else "") and not is_word(line[end : end + 1]):
            found.append(at)
        at = line.find(name, end)
    return found


class OwnName(NamedTuple):
    """The last name of a symbol. `is_written` tells a name that stands in the text from that of a module, or
    of something without a name, as a constructor (`<constructor>`). `is_definition` tells a definition from a
    parameter."""

    name: str
    is_written: bool = False
    is_definition: bool = False


@lru_cache(maxsize=100_000)
def own_name(symbol: str) -> OwnName:
    """Return the last name of a symbol; an empty one for a local symbol."""
    match = None if symbol.startswith(LOCAL) else _LAST_NAME.search(symbol[-_TAIL:])
    if match is None:
        return OwnName("")
    quoted, bare, end, *inside = match.groups()
    found = [text for text in (quoted, bare, *inside) if text is not None]
    name = found[0].replace("``", "`") if found else ""
    is_written = bool(name) and end not in _MODULE_ENDS and "<" not in name
    return OwnName(name, is_written, is_written and end is not None)
