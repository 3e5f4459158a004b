"""Cut text without known structure into windows of whole paragraphs."""

from __future__ import annotations

from satchel import languages
from satchel.chunking.chunk_layout import cut_at_blank_lines
from satchel.chunking.chunker import Chunker
from satchel.lines import split_lines
from satchel.parsed import Parsed
from satchel.types import ByLines, Chunk

WINDOW_CHARS = 1600  # about 400 tokens: small enough to cite, large enough to understand


def parse(text: str, name: str, by_lines: ByLines = ByLines.NO) -> Parsed:
    """Return a file as windows cut at blank lines. If its language has a structure, `by_lines` says why it
    was not used."""
    lines = split_lines(text)
    kind = languages.get(name).module_kind
    chunks = [
        Chunk(kind, (), first, last, "".join(lines[first - 1 : last]))
        for first, last in cut_at_blank_lines(lines, 1, len(lines), WINDOW_CHARS)
    ]
    return Parsed(chunks=tuple(chunks), by_lines=by_lines)


CHUNKER = Chunker("windows", parse)
