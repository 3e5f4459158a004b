"""The interface of a tokenizer, and what every tokenizer guarantees.

`count` takes any string, lone surrogates and the names of special tokens included. It never fails and returns
the same number for the same text on every machine. An estimate says that it is one, and how much room to
leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec


def _prepare_nothing(texts: Iterable[str]) -> None:
    """Do nothing: most tokenizers need no preparation."""


class Tokenizer(msgspec.Struct, frozen=True):
    """A named way to count tokens."""

    name: str
    count: Callable[[str], int]
    exact: bool
    headroom: float = 0.0  # the share of a budget that an estimate leaves free; answers state it
    prepare: Callable[[Iterable[str]], None] = _prepare_nothing

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """Return the count of each text. In a short process this is cheaper than counting them one by one."""
        self.prepare(texts)
        return [self.count(text) for text in texts]


def characters_of(text: str) -> str:
    """Return the text with pairs of surrogates joined and U+FFFD in place of lone surrogates.

    Undecodable bytes of a file are lone surrogates in its text, which no tokenizer accepts.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
