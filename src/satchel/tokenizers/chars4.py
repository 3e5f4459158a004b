"""Estimate four characters as one token, as the three-layer pack requires.

On real text the estimate is between 59 % too low (Chinese) and 17 % too high (Python). It leaves no headroom:
it is a rule that anyone can recompute, and no single share would fit (none for Java, 30 % for JSON, half for
minified code). An exact count is `o200k`.
"""

from __future__ import annotations

from satchel.tokenizers import Tokenizer

CHARS_PER_TOKEN = 4


def count(text: str) -> int:
    """Return the number of characters divided by four, rounded down."""
    return len(text) // CHARS_PER_TOKEN


TOKENIZER = Tokenizer("chars4", count, exact=False)
