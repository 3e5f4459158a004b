"""tiktoken as it is published, fed with the data of this package: what exact counts are compared with."""

from __future__ import annotations

import base64
import hashlib
from functools import cache

import tiktoken
import tiktoken_ext.openai_public

from satchel.tokenizers import vocabulary

EXACT = ("o200k", "cl100k")


@cache
def original(name: str) -> tiktoken.Encoding:
    """tiktoken's own encoding. It fails if our data is not, byte for byte, what tiktoken would download."""

    def read(url: str, expected_hash: str) -> dict[bytes, int]:
        ranks = vocabulary.load(name).all_ranks()
        lines = (b"%s %d\n" % (base64.b64encode(entry), rank) for entry, rank in ranks.items())
        assert hashlib.sha256(b"".join(lines)).hexdigest() == expected_hash
        return ranks

    tiktoken_ext.openai_public.load_tiktoken_bpe = read
    return tiktoken.Encoding(**tiktoken_ext.openai_public.ENCODING_CONSTRUCTORS[f"{name}_base"]())


def original_count(name: str, text: str) -> int:
    """How many tokens tiktoken makes of a text."""
    return len(original(name).encode_ordinary(text))
