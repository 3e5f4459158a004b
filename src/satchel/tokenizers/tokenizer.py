"""The seam between text and budgets: what every tokenizer promises.

`count` is the same for the same text on every machine. An estimate says that it is one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A named way to count tokens."""

    name: str
    count: Callable[[str], int]
    exact: bool
