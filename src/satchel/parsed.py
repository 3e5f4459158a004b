"""What chunking finds in one source: `Parsed`, made of the nouns of `types` and `code_facts`."""

from __future__ import annotations

import msgspec

from satchel.code_facts import FileFacts, references_of
from satchel.types import ByLines, Chunk, LineRange, Reference, Symbol


class Parsed(msgspec.Struct, frozen=True):
    """What chunking finds in one source. Nothing in it depends on the path, so a renamed file is not parsed
    again. `comments` are the ranges of lines that hold nothing but comments, in order. A language with rules
    for the code graph has `facts`, any other one `references`."""

    chunks: tuple[Chunk, ...]
    symbols: tuple[Symbol, ...] = ()
    references: tuple[Reference, ...] = ()
    comments: tuple[LineRange, ...] = ()
    by_lines: ByLines = ByLines.NO
    facts: FileFacts = FileFacts()

    def all_references(self) -> tuple[Reference, ...]:
        """Return the references of the file, also where they are part of its facts."""
        return self.references or references_of(self.facts)
