"""How are texts compressed and checked? In the format of zlib, by ISA-L where it is installed.

On x86 and ARM the package `isal` reads what either library wrote. It decompresses the 25 MB of Django's texts
in 34 ms instead of 76, compresses them in 58 ms instead of 176 and 3 % smaller, and takes 43 ns instead of
102 for the CRC-32 of a row. Other machines use the standard library and can read the same index.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

codec: Any = zlib
_level = 1  # higher ones cost more time than the space is worth
try:
    from isal import isal_zlib
except ImportError:  # a machine that it is not made for
    pass
else:
    codec = isal_zlib
    _level = 2  # takes no more time than 1
crc32: Callable[..., int] = codec.crc32


class DeflateError(Exception):
    """Bytes that no compressed data can be."""


def compress(data: bytes) -> bytes:
    """Return data in the format of zlib."""
    packed: bytes = codec.compress(data, _level)
    return packed


def decompress(data: bytes) -> bytes:
    """Return what was compressed."""
    try:
        unpacked: bytes = codec.decompress(data)
    except codec.error as error:
        raise DeflateError(str(error)) from error
    return unpacked
