"""Text → how many tokens it is."""

from __future__ import annotations

from satchel import plugins
from satchel.tokenizers.tokenizer import Tokenizer

DEFAULT = "chars4"


def get(name: str = DEFAULT) -> Tokenizer:
    """The tokenizer of that name."""
    tokenizer: Tokenizer = plugins.load("tokenizer", name)
    return tokenizer
