"""Count tokens exactly as OpenAI's GPT-4 and GPT-3.5 models do. The vocabulary is part of the package."""

from __future__ import annotations

from satchel.tokenizers import Tokenizer
from satchel.tokenizers.byte_pairs import BytePairs

PATTERN = "|".join(
    (
        r"'(?i:[sdmt]|ll|ve|re)",
        r"[^\r\n\p{L}\p{N}]?+\p{L}++",
        r"\p{N}{1,3}+",
        r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
        r"\s++$",
        r"\s*[\r\n]",
        r"\s+(?!\S)",
        r"\s",
    )
)

BYTE_PAIRS = BytePairs("cl100k", PATTERN)
TOKENIZER = Tokenizer("cl100k", BYTE_PAIRS.count, exact=True, prepare=BYTE_PAIRS.prepare)
