"""Which lines of a file are its skeleton: headings, and the heads of definitions up to their bodies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from satchel.types import ChunkKind, Symbol

_WHITE_SPACE = re.compile(r"\s+")
_COMMENT_STARTS = ("#", "//", "--")  # a signature leaves out comments that have a line of their own
_CUT_SIGNATURE = 240  # characters; a signature this long may have been cut
_LONGEST_HEAD = 200  # lines; what is longer is no head, its brackets are unbalanced


def skeleton(lines: Sequence[str], first: int, last: int, symbols: Iterable[Symbol]) -> str:
    """The heads of the definitions that start in lines first..last; without any, the first line with text."""
    shown: set[int] = set()
    for symbol in symbols:
        if first <= symbol.start_line <= last:
            shown.update(range(symbol.start_line, min(last, _head_end(lines, symbol)) + 1))
    if not shown:
        texts = (number for number in range(first, last + 1) if lines[number - 1].strip())
        shown = {next(texts, first)}
    return "".join(lines[number - 1] for number in sorted(shown))


def _head_end(lines: Sequence[str], symbol: Symbol) -> int:
    """The last line of a head: where all of the signature is read. One that was cut goes on to where its
    brackets are closed."""
    start = symbol.start_line
    if symbol.kind is ChunkKind.SECTION:
        return start
    wanted = _squeeze(symbol.signature)
    read = ""
    for number in range(start, min(symbol.end_line, start + _LONGEST_HEAD) + 1):
        line = lines[number - 1]
        if number == start or not line.lstrip().startswith(_COMMENT_STARTS):
            read += _squeeze(line)
            if wanted in read.replace(",)", ")"):
                cut = len(symbol.signature) >= _CUT_SIGNATURE
                return _closed(lines, symbol, number) if cut else number
    return _closed(lines, symbol, start)


def _closed(lines: Sequence[str], symbol: Symbol, least: int) -> int:
    """The first line from `least` on with which every round and square bracket of the head is closed."""
    depth = 0
    for number in range(symbol.start_line, min(symbol.end_line, symbol.start_line + _LONGEST_HEAD) + 1):
        line = lines[number - 1]
        depth += sum(map(line.count, "([")) - sum(map(line.count, ")]"))
        if number >= least and depth <= 0:
            return number
    return least


def _squeeze(text: str) -> str:
    return _WHITE_SPACE.sub("", text).replace(",)", ")")
