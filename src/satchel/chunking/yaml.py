"""YAML → chunks through the syntax tree, except where its parser would end the process.

The grammar keeps its open blocks in a buffer of fixed size and does not check it: about 250 blocks
inside one another are a crash that nothing in Python can catch. Such a file becomes windows.
"""

from __future__ import annotations

import re

from satchel.chunking import syntax, windows
from satchel.chunking.chunker import Chunker
from satchel.types import Parsed

_MOST_COLUMNS = 100  # each may hold a mapping and a sequence at once, and the buffer holds about 250
_LINE_HEAD = re.compile(r"^[ \t]*(?:[-?:][ \t]+)*", re.MULTILINE)
_MARKER = re.compile(r"[-?:]")


def parse(text: str, name: str) -> Parsed:
    """The settings of one file."""
    return windows.parse(text, name) if is_too_deep(text) else syntax.parse(text, name)


def is_too_deep(text: str) -> bool:
    """Whether more blocks may be open at once than the parser can hold; text in a block counts as well."""
    open_columns: list[int] = []
    for match in _LINE_HEAD.finditer(text):
        head = match[0]
        columns = [marker.start() for marker in _MARKER.finditer(head)] + [len(head)]
        while open_columns and open_columns[-1] >= columns[0]:
            open_columns.pop()
        open_columns += columns
        if len(open_columns) > _MOST_COLUMNS:
            return True
    return False


CHUNKER = Chunker("yaml", parse)
