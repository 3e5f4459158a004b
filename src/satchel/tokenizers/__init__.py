"""Count the tokens of a text: what every tokenizer guarantees, and how one is found by its name.

`count` takes any string, lone surrogates and the names of special tokens included. It never fails and returns
the same number for the same text on every machine. An estimate says that it is one, and how much room to
leave.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

import msgspec

from satchel import plugins


class CharsPerToken:
    """About how many characters a token has, by kind of text, where an estimate is enough."""

    USUAL = 4
    CITED_CODE = 3.3  # code with its citations
    CODE = 3  # rather too few: a budget that is proposed for some code must hold it
    DENSE = 2.5  # the fewest in text that packs hold, for a proposal that must hold any of it
    MOST = 8  # no readable text has more, so a longer one is known not to fit without counting


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
