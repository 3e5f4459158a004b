"""The seam between a source and its chunks: what every chunker promises.

Its chunks cover every non-blank line exactly once, in order; each is whole lines of the text,
nothing trimmed; and the answer depends on the text and the language alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from satchel.types import Parsed


@dataclass(frozen=True, slots=True)
class Chunker:
    """A named way to chunk: `parse(text, language name)`."""

    name: str
    parse: Callable[[str, str], Parsed]
