"""Count tokens exactly as OpenAI's GPT-4o and later models do. The vocabulary is part of the package."""

from __future__ import annotations

from satchel.tokenizers import Tokenizer
from satchel.tokenizers.byte_pairs import BytePairs

_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_BEFORE = r"[^\r\n\p{L}\p{N}]?"
_ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
PATTERN = "|".join(
    (
        f"{_BEFORE}{_UPPER}*{_LOWER}+{_ENDING}",
        f"{_BEFORE}{_UPPER}+{_LOWER}*{_ENDING}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s++$",  # the next pattern matches the same, but overflows its stack on a million blanks
        r"\s+(?!\S)",
        r"\s+",
    )
)

BYTE_PAIRS = BytePairs("o200k", PATTERN)
TOKENIZER = Tokenizer("o200k", BYTE_PAIRS.count, exact=True, prepare=BYTE_PAIRS.prepare)
