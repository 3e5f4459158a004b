"""Text without known structure → windows of whole paragraphs."""

from __future__ import annotations

from satchel import languages
from satchel.chunking.chunker import Chunker
from satchel.chunking.layout import cut
from satchel.lines import split_lines
from satchel.types import Chunk, Parsed

WINDOW_CHARS = 1600  # about 400 tokens: small enough to cite, large enough to understand


def parse(text: str, name: str) -> Parsed:
    """A file as windows cut at blank lines."""
    lines = split_lines(text)
    kind = languages.get(name).module_kind
    chunks = [
        Chunk(kind, (), first, last, "".join(lines[first - 1 : last]))
        for first, last in cut(lines, 1, len(lines), WINDOW_CHARS)
    ]
    return Parsed(chunks=tuple(chunks))


CHUNKER = Chunker("windows", parse)
