"""What is a parser given to read? The lines of a file, spelled as every parser knows them.

Each line keeps its number, so what is found there is cited with the file's own text.
"""

from __future__ import annotations

_BYTE_ORDER_MARK = "\ufeff"


def readable(text: str) -> str:
    """The text with \\n for every line end (some grammars read on behind a lone \\r, some stop at \\r\\n) and
    without a byte order mark, which is no white space: what follows it would not start its line."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.removeprefix(_BYTE_ORDER_MARK)
