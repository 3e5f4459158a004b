"""How are the terms of a run laid out in a store, so that each look-up is checked?

The rows of a run never change. They are kept in blocks of consecutive terms, a page of the database each,
and a directory of the blocks' first terms. A term belongs to exactly one block: one that is not in it is
proved to be missing, where the row of its own that SQLite does not find may as well be lost.
A block is its count of terms, the length of their names, the names between line ends, where the data of each
ends, and the data.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

_BLOCK_BYTES = 4_000  # with its check just what SQLite keeps on one page of 4,096 bytes
_HEAD = struct.Struct("<II")
_END = struct.Struct("<I")
_PER_TERM = 5  # bytes beside the name and the data: a line end, and where the data ends


def blocks(rows: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Pack rows, which come by term, into blocks, each with its first term."""
    names: list[str] = []
    parts: list[bytes] = []
    size = 0
    before = ""
    for term, data in rows:
        if names and term <= before:
            raise ValueError(f"the terms of a run come in order, and {term!r} is after {before!r}")
        before = term
        own = len(term.encode()) + len(data) + _PER_TERM
        if names and size + own > _BLOCK_BYTES:
            yield names[0], _block(names, parts)
            names, parts, size = [], [], 0
        names.append(term)
        parts.append(data)
        size += own
    if names:
        yield names[0], _block(names, parts)


def _block(names: list[str], parts: list[bytes]) -> bytes:
    written = "\n".join(("", *names, "")).encode()
    ends = []
    end = 0
    for part in parts:
        end += len(part)
        ends.append(end)
    return b"".join(
        (_HEAD.pack(len(names), len(written)), written, struct.pack(f"<{len(ends)}I", *ends), *parts)
    )


def find(block: bytes, term: str) -> bytes:
    """Return the data of a term in the block it belongs to; nothing if it is not there."""
    count, length = _HEAD.unpack_from(block)
    ends = _HEAD.size + length
    at = block.find(b"\n%b\n" % term.encode(), _HEAD.size, ends)
    if at < 0:
        return b""
    place = block.count(b"\n", _HEAD.size, at)
    first = ends + _END.size * count
    start = _END.unpack_from(block, ends + _END.size * (place - 1))[0] if place else 0
    return block[first + start : first + _END.unpack_from(block, ends + _END.size * place)[0]]


def items(block: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield each term of a block with its data, in order."""
    count, length = _HEAD.unpack_from(block)
    at = _HEAD.size + length
    names = block[_HEAD.size + 1 : at - 1].decode().split("\n")
    ends = struct.unpack_from(f"<{count}I", block, at)
    first = at + _END.size * count
    start = 0
    for name, end in zip(names, ends, strict=True):
        yield name, block[first + start : first + end]
        start = end
