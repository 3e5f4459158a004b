"""A pack that was saved to a file: its text, and what every format lets us read back from that text."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO

import msgspec

from satchel import file_writing
from satchel.errors import FileNotFound, InvalidRequest
from satchel.packing.pack import WORK_TREE, Counts
from satchel.types import LineRange, Suggestion

# Digits of a hash in formats for agents. One in 2^32 changes of cited lines keeps these digits; besides, such
# a format shows the lines, and they are compared as well: the hash alone tells how lines end, and characters
# that are shown as escapes. With their mark 8 digits take 5.9 tokens (o200k) and 12 take 8.1.
SHORT_HASH = 8
FULL_HASH = 64
MAX_PACK_BYTES = 128 * 1024 * 1024  # the three-layer pack of a large repository with all its code fits
# A Windows shell writes UTF-16 with one of these marks when output is sent to a file.
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class Citation(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of a file with their sha256, or its first digits, as a saved pack cites them.

    The further fields are empty where the format of the pack does not write them. `shown` is the text of the
    lines as the format writes it, one line for each line of the file.
    """

    path: str
    start_line: int
    end_line: int
    content_hash: str
    ref: str = WORK_TREE
    section: str = ""
    shown: str | None = None
    kind: str = ""
    symbol: str = ""
    relationship: tuple[str, ...] = ()
    distance: int = 0
    reasons: tuple[str, ...] = ()
    score: float = 0.0
    changed: tuple[LineRange, ...] = ()

    @property
    def locator(self) -> str:
        """Return the citation in short: `path:first-last`."""
        return f"{self.path}:{self.start_line}-{self.end_line}"


class CitedPack(msgspec.Struct, frozen=True, kw_only=True):
    """A saved pack as its format lets us read it back: the citations, the budget and the guidance."""

    format: str
    query: str
    citations: tuple[Citation, ...]
    ref: str = WORK_TREE
    tokenizer: str = ""
    max_tokens: int = 0
    max_chars: int = 0
    headroom_tokens: int = 0
    counts: Counts | None = None
    next_queries: tuple[Suggestion, ...] = ()
    hints: tuple[str, ...] = ()


def one_line_each(content: str) -> str:
    """Return cited lines with `\\n` between them and none at the end, whatever the file ends lines with."""
    if "\r" in content:
        content = content.replace("\r\n", "\n").replace("\r", "\n")
    return content.removesuffix("\n")


def read_file(path: Path) -> str:
    """Return the text of a pack file; raise FileNotFound if it cannot be read."""
    try:
        with open(path, "rb") as stream:
            status = os.fstat(stream.fileno())
            if stat.S_ISREG(status.st_mode):  # a pipe has no size
                _check_size(status.st_size)
            return read_stream(stream)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise FileNotFound(
            f"{str(path)!r} cannot be read: {reason}", hint="name a pack file, or -"
        ) from error


def read_stream(stream: IO[bytes]) -> str:
    """Return the text of a pack that is read from a stream of bytes."""
    data = stream.read(MAX_PACK_BYTES + 1)
    _check_size(len(data))
    return decode(data)


def decode(data: bytes) -> str:
    """Decode the bytes of a pack, UTF-8 or UTF-16; raise InvalidRequest if they are no text."""
    if not data.strip():
        raise InvalidRequest(
            "the pack is empty", hint="write one: satchel pack QUERY --format context > FILE"
        )
    try:
        text = data.decode("utf-16" if data.startswith(_UTF16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise _no_text(f"byte {error.start} is not UTF-8") from error
    if "\0" in text:
        raise _no_text("it holds a NUL")
    return text


def replace_file(path: Path, text: str) -> None:
    """Write a file in one step: a crash leaves the old file, and a link still leads to it."""
    file_writing.replace_file(path.resolve(), text.encode("utf-8", "backslashreplace"))


def _check_size(size: int) -> None:
    if size > MAX_PACK_BYTES:
        raise InvalidRequest(
            f"the file has more than {MAX_PACK_BYTES} bytes",
            hint="no pack is that large: name another file",
            details={"max_bytes": MAX_PACK_BYTES},
        )


def _no_text(reason: str) -> InvalidRequest:
    return InvalidRequest(f"the file is no text: {reason}", hint="name a file that a pack was written to")
