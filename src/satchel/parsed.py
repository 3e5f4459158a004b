"""What chunking finds in one source: `Parsed`, made of the nouns of `types` and `code_facts`."""

from __future__ import annotations

import msgspec

from satchel.code_facts import FileFacts
from satchel.types import ByLines, Chunk, LineRange, Reference, Symbol


class Parsed(msgspec.Struct, frozen=True):
    """What chunking finds in one source. Nothing in it depends on the path, so a renamed file is not parsed
    again. `comments` are the ranges of lines that hold nothing but comments, in order."""

    chunks: tuple[Chunk, ...]
    symbols: tuple[Symbol, ...] = ()
    references: tuple[Reference, ...] = ()
    comments: tuple[LineRange, ...] = ()
    by_lines: ByLines = ByLines.NO
    facts: FileFacts = FileFacts()
