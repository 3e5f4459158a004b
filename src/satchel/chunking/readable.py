"""What is a parser given to read? The lines of a file, spelled as every parser knows them.

Each line keeps its number, so what is found there is cited with the file's own text.
"""

from __future__ import annotations

import re
from functools import cache

from satchel.languages.language import Language

_NOT_LINE_END = re.compile(rb"[^\n]")
_BYTE_ORDER_MARK = "\ufeff"


def readable(text: str) -> str:
    """The text with \\n for every line end (some grammars read on behind a lone \\r, some stop at \\r\\n) and
    without a byte order mark, which is no white space: what follows it would not start its line."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.removeprefix(_BYTE_ORDER_MARK)


def blanked(data: bytes, language: Language) -> bytes:
    """The same bytes with spaces for what the language's grammar trips over; every place stays."""
    if not language.blanked:
        return data
    padded = b"\n" + data  # so that a pattern for a line finds the first one too
    for pattern in language.blanked:
        padded = _compiled(pattern).sub(_with_spaces, padded)
    return padded[1:]


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


def _with_spaces(found: re.Match[bytes]) -> bytes:
    start, end = (place - found.start() for place in found.span(1))
    whole = found[0]
    return whole[:start] + _NOT_LINE_END.sub(b" ", whole[start:end]) + whole[end:]
