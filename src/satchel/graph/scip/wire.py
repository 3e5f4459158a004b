"""Read the wire format of protocol buffers, as far as a SCIP index needs it.

The `protobuf` package is no dependency of the core: it comes with the extra `[grpc]` alone, and would need
generated code for `scip.proto` besides. Of that file a dozen fields are read here, and nothing is written.
This reader is to be dropped when the core depends on `protobuf` for another reason. Together with `documents`
it takes 0.13 CPU seconds for httpx (2.9 MB, 26,173 occurrences) and 0.88 for zod (16.6 MB, 202,255).

Everything read is untrusted. A field is only skipped or cut out, never interpreted, so that no depth of
nesting is followed; every length is compared with what is left; a number ends after ten bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

VARINT, FIXED_64, LENGTH, FIXED_32 = 0, 1, 2, 5
_FIXED_BYTES = {FIXED_64: 8, FIXED_32: 4}
_MOST_SHIFT = 63  # ten groups of seven bits make up a number of 64 bits
_MOST_NUMBER = (1 << 64) - 1


class Malformed(Exception):
    """The bytes are no message. The text says what is wrong and where."""


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and where it ends."""
    value = shift = 0
    while True:
        if at >= len(data):
            raise Malformed(f"a number is cut off at byte {len(data)}")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if value > _MOST_NUMBER:
                raise Malformed(f"the number before byte {at} has more than 64 bits")
            return value, at
        shift += 7
        if shift > _MOST_SHIFT:
            raise Malformed(f"the number before byte {at} takes more than 10 bytes")


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the fields of a message: the number of each with its value, bytes for all but plain numbers."""
    at, end = 0, len(data)
    while at < end:
        key, at = read_varint(data, at)
        number, kind = _field(key, at)
        if kind == VARINT:
            value, at = read_varint(data, at)
            yield number, value
            continue
        if kind == LENGTH:
            size, at = read_varint(data, at)
        else:
            size = _FIXED_BYTES[kind]
        if size > end - at:
            raise Malformed(f"field {number} takes {size} bytes, and {end - at} are left")
        yield number, data[at : at + size]
        at += size


def numbers(value: int | bytes) -> list[int]:
    """Return the numbers of a field that repeats, written together or one by one."""
    if isinstance(value, int):
        return [value]
    at, found = 0, []
    while at < len(value):
        number, at = read_varint(value, at)
        found.append(number)
    return found


def stream_fields(stream: BinaryIO, size: int, wanted: dict[int, int]) -> Iterator[tuple[int, bytes]]:
    """Yield the fields of a message in a file of some size that are among the wanted ones, which have a limit
    of bytes each. The rest is skipped without being read."""
    at = 0
    while at < size:
        key, at = _stream_varint(stream, at)
        number, kind = _field(key, at)
        if kind == VARINT:
            _, at = _stream_varint(stream, at)
            continue
        length = _FIXED_BYTES.get(kind, 0)
        if kind == LENGTH:
            length, at = _stream_varint(stream, at)
        if length > size - at:
            raise Malformed(f"field {number} at byte {at} takes {length} bytes, and {size - at} are left")
        if kind == LENGTH and number in wanted:
            if length > wanted[number]:
                raise Malformed(
                    f"field {number} at byte {at} takes {length} bytes, more than {wanted[number]}"
                )
            yield number, stream.read(length)
        else:
            stream.seek(length, 1)
        at += length


def _field(key: int, at: int) -> tuple[int, int]:
    number, kind = key >> 3, key & 7
    if not number or kind not in (VARINT, FIXED_64, LENGTH, FIXED_32):
        raise Malformed(f"before byte {at} is no field: number {number}, kind {kind}")
    return number, kind


def _stream_varint(stream: BinaryIO, at: int) -> tuple[int, int]:
    data = b""
    while not data or data[-1] >= 128:
        byte = stream.read(1)
        data += byte
        if not byte or len(data) > 10:
            break
    value, length = read_varint(data, 0)
    return value, at + length
