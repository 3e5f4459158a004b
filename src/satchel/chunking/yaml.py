"""Chunk YAML through its syntax tree, unless that would end the process.

The grammar keeps its open blocks in a buffer of fixed size and does not check the size: about 250 nested
blocks are a crash that Python cannot catch. A file that could reach that depth is cut into windows.
"""

from __future__ import annotations

import re

from satchel.chunking import syntax, windows
from satchel.chunking.chunker import Chunker
from satchel.lines import split_lines
from satchel.parsed import Parsed
from satchel.types import ByLines

_MOST_COLUMNS = 100  # each column may open a mapping and a sequence, and the buffer holds about 250 blocks
_LINE_HEAD = re.compile(r"[ \t]*(?:[-?:][ \t]+)*")
_MARKER = re.compile(r"[-?:]")


def parse(text: str, name: str) -> Parsed:
    """Return the settings of one file as chunks."""
    if is_too_deep(text):
        return windows.parse(text, name, ByLines.NESTING)
    return syntax.parse(text, name)


def is_too_deep(text: str) -> bool:
    """Return whether more blocks might be open at once than the parser can hold.

    Open blocks start at different columns, so the number of columns at which anything starts bounds their
    number, whatever blank lines, comments or broken quotes stand between.
    """
    heads = {match[0] for line in split_lines(text) if (match := _LINE_HEAD.match(line))}
    columns = {len(head) for head in heads}
    for head in heads:
        columns.update(marker.start() for marker in _MARKER.finditer(head))
    return len(columns) > _MOST_COLUMNS


CHUNKER = Chunker("yaml", parse)
