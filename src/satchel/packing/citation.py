"""What is left of a pack when it is read again from any format: the lines it cites, and their hashes."""

from __future__ import annotations

import msgspec

from satchel.packing.pack import WORK_TREE, Counts
from satchel.types import Suggestion

SHORT_HASH = 12  # digits of a hash in formats for agents: 48 bits, in a handful of tokens
FULL_HASH = 64


class Citation(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of a file and (the start of) their sha256; further what the pack says of them, as far as its
    format shows it. `shown` is their text as the format writes it, one line for each line of the file."""

    path: str
    start_line: int
    end_line: int
    content_hash: str
    ref: str = WORK_TREE
    section: str = ""
    shown: str | None = None
    kind: str = ""
    symbol: str = ""
    relationship: tuple[str, ...] = ()
    distance: int = 0
    reasons: tuple[str, ...] = ()
    score: float = 0.0

    @property
    def locator(self) -> str:
        return f"{self.path}:{self.start_line}-{self.end_line}"


class CitedPack(msgspec.Struct, frozen=True, kw_only=True):
    """A pack as it was read from a file."""

    format: str
    query: str
    citations: tuple[Citation, ...]
    ref: str = WORK_TREE
    tokenizer: str = ""
    max_tokens: int = 0
    max_chars: int = 0
    headroom_tokens: int = 0
    counts: Counts | None = None
    next_queries: tuple[Suggestion, ...] = ()
    hints: tuple[str, ...] = ()


def one_line_each(content: str) -> str:
    """Cited lines with plain line ends and none at the end, whatever the file ends its lines with."""
    if "\r" in content:
        content = content.replace("\r\n", "\n").replace("\r", "\n")
    return content.removesuffix("\n")
