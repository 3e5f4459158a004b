"""The seam between text and budgets: what every tokenizer promises.

`count` takes any string, lone surrogates and the names of special tokens included, never fails, and gives the
same number for the same text on every machine. An estimate says that it is one, and how much room to leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec


def _nothing(texts: Iterable[str]) -> None:
    """Most tokenizers have nothing to make ready."""


class Tokenizer(msgspec.Struct, frozen=True):
    """A named way to count tokens."""

    name: str
    count: Callable[[str], int]
    exact: bool
    headroom: float = 0.0  # the share of a budget that an estimate leaves free; answers state it
    prepare: Callable[[Iterable[str]], None] = _nothing

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """The count of each text. Many texts at once are cheaper than one by one in a short process."""
        self.prepare(texts)
        return [self.count(text) for text in texts]


def characters_of(text: str) -> str:
    """The text with U+FFFD for what is no character, and pairs of surrogates as the character they mean.

    Undecodable bytes of a file stand in its text as lone surrogates, which no tokenizer takes.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
