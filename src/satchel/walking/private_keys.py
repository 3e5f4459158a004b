"""Where is the key material of PEM private keys? The BEGIN and END lines stay, every line between them too;
only what is written on them goes. Keys inside string literals, on one line or many, count as well."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BEGIN = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_NEXT_MARKER = re.compile(rb"-----(?:END|BEGIN) ")
_MAX_KEY_BYTES = 32 * 1024  # an RSA key of 16,384 bits takes 13 kB
# An escaped line end first: the `n` of `\n` is not key material. A line end before the piece is matched with
# it, and so is what quotes the line: looking back for it from each piece would take the square of the length.
_PIECE = re.compile(rb"\\[nrt]|(?:[\r\n][ \t\"'>|#*;]*+)?([A-Za-z0-9+/=]+)")
_MARGIN = rb"[ \t\"'>|#*;,+]*+"  # what quotes a line: a string, a comment, a diff, YAML
_LINE_END = rb"(?:\r\n|\n|\r|$)"
_HEADER = re.compile(rb"^" + _MARGIN + rb"[A-Z][A-Za-z-]+: [^\r\n]*", re.MULTILINE)  # Proc-Type, Version
# Of a key without its END only headers that are documented count: after it code goes on.
_HEADER_LINE = re.compile(
    _MARGIN + rb"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID): [^\r\n]*" + _LINE_END
)
# Nothing is given back once matched: 32 kB of `+`, which each part takes, would hold up a walk for minutes.
_KEY_LINE = re.compile(_MARGIN + rb"[A-Za-z0-9+/=]*+[ \t\"',;+\\nr]*+" + _LINE_END)
_ESCAPED_LINES = re.compile(rb"(?:\\[nrt])+[^\r\n\"'`]*")  # the key goes on where its string began
_LONG_PIECE = 40  # a line of a key is 64; words of code are shorter
_SHORT_PIECE = 8
_MIXED = 10  # different characters; a ruler of `=` has one
_KEY_SHARE = 0.6  # of what stands between the markers; code that mentions both markers has less


def private_key_values(raw: bytes) -> Iterator[tuple[int, int]]:
    """(start, end) of each run of key material; none of them holds a line end."""
    position = 0
    while (begin := _BEGIN.search(raw, position)) is not None:
        start = begin.end()
        position = _end_of_key(raw, start)
        yield from _material(raw, start, position)


def _material(raw: bytes, start: int, end: int) -> list[tuple[int, int]]:
    headers = [found.span() for found in _HEADER.finditer(raw, start, end)]
    pieces = list(_pieces(raw, start, end, headers))
    long = [found.span(1) for found in pieces if _is_long(found[1])]
    total = len(b"".join(raw[start:end].split())) - sum(last - first for first, last in headers)
    if sum(len(found[1]) for found in pieces) < _KEY_SHARE * total:
        return long
    return [found.span(1) for found in pieces if _counts(found)] if long else []


def _pieces(raw: bytes, start: int, end: int, headers: list[tuple[int, int]]) -> Iterator[re.Match[bytes]]:
    """The runs of base64 characters before, between and after the headers."""
    ends = [start, *(last for _, last in headers)]
    for first, last in zip(ends, [*(first for first, _ in headers), end], strict=True):
        yield from (found for found in _PIECE.finditer(raw, first, last) if found[1])


def _is_long(piece: bytes) -> bool:
    return len(piece) >= _LONG_PIECE and len(set(piece)) >= _MIXED


def _counts(found: re.Match[bytes]) -> bool:
    """A short piece is a word of the code around a key, unless its line starts with it."""
    return len(found[1]) >= _SHORT_PIECE or found.start() < found.start(1)


def _end_of_key(raw: bytes, start: int) -> int:
    """The next marker, or for a key without one the last line that looks like a part of it."""
    limit = min(len(raw), start + _MAX_KEY_BYTES)
    marker = _NEXT_MARKER.search(raw, start, limit)
    if marker is not None:
        return marker.start()
    escaped = _ESCAPED_LINES.match(raw, start, limit)
    position = escaped.end() if escaped else start
    while position < limit and (line := _line_of_key(raw, position, limit)) is not None:
        position = line.end()
    return position


def _line_of_key(raw: bytes, position: int, limit: int) -> re.Match[bytes] | None:
    return _KEY_LINE.match(raw, position, limit) or _HEADER_LINE.match(raw, position, limit)
