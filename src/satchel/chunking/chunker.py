"""The interface of a chunker, and what every chunker guarantees.

Its chunks cover every non-blank line exactly once, in order. Each chunk is whole lines of the text, nothing
trimmed. The result depends on the text and the language alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from satchel.parsed import Parsed


@dataclass(frozen=True, slots=True)
class Chunker:
    """A named way to divide a file into chunks: `parse(text, language name)`."""

    name: str
    parse: Callable[[str, str], Parsed]
