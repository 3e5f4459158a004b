"""Count the tokens of a text."""

from __future__ import annotations

import os

from satchel import plugins
from satchel.tokenizers.tokenizer import Tokenizer

huggingface = plugins.late("satchel.tokenizers.huggingface")

DEFAULT = "chars4"  # the schema of the three-layer pack requires this estimate
DEFAULT_BUDGET = "o200k"  # the unit of a pack's budget; exact, and close to what other models count


def get(name: str = DEFAULT) -> Tokenizer:
    """Return the tokenizer of that name, or the one in the `tokenizer.json` at that path."""
    tokenizer: Tokenizer = huggingface.open_file(name) if is_path(name) else plugins.load("tokenizer", name)
    return tokenizer


def is_path(name: str) -> bool:
    """Return whether this is the path of a file, not the name of a tokenizer."""
    return name.endswith(".json") or os.sep in name or "/" in name
