"""Chunk a Dockerfile by build stages: a stage runs from its FROM to the line before the next one.

The syntax tree of a Dockerfile is flat, and FROM is a node of one line. So the syntax chunker finds the
beginning of each stage, and this chunker extends it to the next one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from satchel import languages
from satchel.chunking import syntax
from satchel.chunking.chunk_layout import DefinitionLines, lay_out_chunks
from satchel.chunking.chunker import Chunker
from satchel.lines import split_lines
from satchel.parsed import Parsed
from satchel.types import Label, Reference

_FROM_OPTION = re.compile(r"^(?:--)?from=")


def parse(text: str, name: str) -> Parsed:
    """Return the stages of one file. The lines before the first stage are code of the file itself."""
    parsed = syntax.parse(text, name)
    if parsed.by_lines:
        return parsed
    lines = split_lines(text)
    comment_starts = {last: first for first, last in parsed.comments}
    borders = [_first_line(symbol.start_line, comment_starts) for symbol in parsed.symbols] + [len(lines) + 1]
    symbols = []
    definitions = []
    for symbol, (first, after) in zip(parsed.symbols, pairwise(borders), strict=True):
        symbols.append(
            msgspec.structs.replace(symbol, end_line=_last_text(lines, symbol.start_line, after - 1))
        )
        definitions.append(DefinitionLines(symbol.kind, (symbol.name,), first, after - 1))
    chunks = lay_out_chunks(lines, definitions, languages.get(name).module_kind)
    lines_of = {symbol.name: symbol.start_line for symbol in reversed(symbols)}
    references = tuple(_reference(item, lines_of) for item in parsed.references)
    return msgspec.structs.replace(
        parsed, chunks=tuple(chunks), symbols=tuple(symbols), references=references
    )


def _reference(reference: Reference, stage_lines: dict[str, int]) -> Reference:
    """Return a reference with its real meaning: `--from=builder` uses a stage, `FROM builder` extends an
    earlier one, and any other name is an image."""
    if reference.label is Label.IMPORTS and stage_lines.get(reference.name, reference.line) < reference.line:
        return Reference(reference.name, Label.EXTENDS, reference.line)
    return Reference(_FROM_OPTION.sub("", reference.name), reference.label, reference.line)


def _first_line(line: int, comment_starts: dict[int, int]) -> int:
    """Return the first line of a stage with the comments right above it."""
    while line - 1 in comment_starts:
        line = comment_starts[line - 1]
    return line


def _last_text(lines: Sequence[str], first: int, last: int) -> int:
    """Return the last line of a range that is not blank."""
    while last > first and not lines[last - 1].strip():
        last -= 1
    return last


CHUNKER = Chunker("dockerfile", parse)
