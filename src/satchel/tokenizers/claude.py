"""Estimate the tokens of Claude, whose current models have no published vocabulary.

By the vocabulary that was published in 2023, 500 packs of real files take 1.10 times the tokens of o200k in
the median; 13 of them take more than 1.25 times, and 2 more than that with the headroom.
"""

from __future__ import annotations

from satchel.tokenizers import Tokenizer, o200k

MORE_PERCENT = 25  # nearly the most that was seen
HEADROOM = 0.05  # the factor already covers most text; this is for unusually dense text


def count(text: str) -> int:
    """Return a quarter more than the count of o200k, rounded up."""
    return -(-o200k.BYTE_PAIRS.count(text) * (100 + MORE_PERCENT) // 100)


TOKENIZER = Tokenizer("claude", count, exact=False, headroom=HEADROOM, prepare=o200k.BYTE_PAIRS.prepare)
