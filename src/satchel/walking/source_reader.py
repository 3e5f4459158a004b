"""Turn the bytes of files into sources: decode them, detect their language, and redact secrets last of all.

Encoding a decoded text again always returns the same bytes.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from satchel.ids import hash_bytes
from satchel.languages import detect
from satchel.settings import WalkOptions
from satchel.types import FileEntry, Skipped, SkipReason, Source
from satchel.walking.file_filter import skip_by_name, too_large
from satchel.walking.file_kinds import generated_reason, minified_reason, path_tags
from satchel.walking.own_output import own_output
from satchel.walking.redaction import redact
from satchel.walking.work_tree import SourceTree

_BINARY_WINDOW = 8 * 1024  # git's own window is 8,000 bytes
_GUESS_WINDOW = 64 * 1024  # more does not change the guess, only the time
_LEAST_TO_GUESS = 4  # bytes beyond ASCII; fewer tell nothing, and the detector takes 38 MB
_ENOUGH_TO_GUESS = (
    24  # bytes beyond ASCII; with fewer, accented Latin letters are mistaken for other alphabets
)
_SCRIPT_RUN = 2  # bytes beyond ASCII in a row, on average: words of another alphabet rather than accents
_COMMONEST = "cp1252"  # what a few bytes beyond ASCII most often are: an accented name, a quotation mark
_ASCII = bytes(range(0x80))
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
# The encodings of source trees. The detector also knows code pages of DOS and the Mac, which are its
# usual mistakes.
# fmt: off
_IN_USE = frozenset({
    "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874",
    "iso8859-1", "iso8859-2", "iso8859-5", "iso8859-7", "iso8859-8", "iso8859-9", "iso8859-15",
    "koi8-r", "koi8-u", "tis-620", "cp932", "shift_jis", "euc_jp", "gb18030", "gbk", "gb2312",
    "big5", "big5hkscs", "cp950", "cp949", "euc_kr",
})
# fmt: on
_ROUND_TRIP = "latin-1"  # every byte is a character, so decoding cannot fail
# (path, beginning of the text) → the name of the language.
Detect = Callable[[str, str], str]
_HEAD_CHARS = 20_000  # enough to tell C++ from C


def decode(data: bytes) -> tuple[str, str] | None:
    """Return (text, encoding), or None for binary data. A byte order mark stays part of the text."""
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        encoding = "utf-16-le" if data[:2] == codecs.BOM_UTF16_LE else "utf-16-be"
        text = _decoded(data, encoding)
        # UTF-32 starts with the same byte order mark.
        if text is not None and "\0" not in text:
            return text, encoding
    if b"\0" in data[:_BINARY_WINDOW]:
        return None
    text = _decoded(data, "utf-8")
    if text is not None:
        return text, "utf-8"
    guess = _guessed(data)
    text = _decoded(data, guess)
    return (text, guess) if text is not None else (data.decode(_ROUND_TRIP), _ROUND_TRIP)


def _decoded(data: bytes, encoding: str) -> str | None:
    """Return the text, or None if encoding it would not return exactly these bytes."""
    try:
        text = data.decode(encoding)
        # Strict UTF-8 always round-trips.
        exact = encoding == "utf-8" or text.encode(encoding) == data
    except (UnicodeError, LookupError):
        return None
    return text if exact else None


def _guessed(data: bytes) -> str:
    """Return the most likely encoding of text that is not UTF-8."""
    telling = b"\n".join(line for line in data[:_GUESS_WINDOW].split(b"\n") if not line.isascii())
    count = len(telling.translate(None, _ASCII))
    runs = len(_BEYOND_ASCII.findall(telling))
    if count < _LEAST_TO_GUESS or (count < _ENOUGH_TO_GUESS and count < _SCRIPT_RUN * runs):
        return _COMMONEST
    import chardet  # imported only for the few files that are not UTF-8

    found = chardet.detect(telling)["encoding"]
    try:
        name = codecs.lookup(found).name if found else _ROUND_TRIP
    except LookupError:
        return _COMMONEST
    return name if name in _IN_USE else _COMMONEST


def read_source(path: str, data: bytes, options: WalkOptions, detect: Detect) -> Source | Skipped:
    """Return the source, or the reason why the file is left out."""
    if (by_name := skip_by_name(path, options)) is not None:
        return by_name
    if len(data) > options.max_file_bytes:  # the file grew after it was listed
        return Skipped(path, SkipReason.TOO_LARGE, too_large(len(data), options.max_file_bytes))
    decoded = decode(data)
    if decoded is None:
        return Skipped(path, SkipReason.BINARY)
    text, encoding = decoded
    language = detect(path, text[:_HEAD_CHARS].removeprefix("\ufeff"))
    if (detail := minified_reason(path, text, language)) is not None:
        return Skipped(path, SkipReason.MINIFIED, detail)
    if not options.include_generated and (detail := generated_reason(path, text, language)) is not None:
        return Skipped(path, SkipReason.GENERATED, detail)
    if (detail := own_output(text, language)) is not None:
        return Skipped(path, SkipReason.GENERATED, detail)
    clean = redact(text)
    return Source(path, clean.text, language, encoding, hash_bytes(data), len(data), clean.lines)


@dataclass(frozen=True, slots=True)
class SourceReader:
    """Reads files of a tree as sources."""

    tree: SourceTree
    options: WalkOptions

    def __call__(self, entries: Sequence[FileEntry]) -> Iterator[tuple[FileEntry, Source | Skipped]]:
        """Yield the source of each entry in order, or the reason why the file is left out."""
        data_of = self.tree.read_many([entry.path for entry in entries])
        for entry, (path, data) in zip(entries, data_of, strict=True):
            source = data if isinstance(data, Skipped) else read_source(path, data, self.options, detect)
            if isinstance(source, Source):
                source = msgspec.structs.replace(source, tags=path_tags(path, source.language))
            yield entry, source

    def hashes(self, entries: Sequence[FileEntry]) -> Iterator[tuple[FileEntry, str]]:
        """Yield the hash of each file's bytes, empty if they cannot be read. This tells whether a file is
        already known, at a tenth of the cost of making a source of it."""
        data_of = self.tree.read_many([entry.path for entry in entries])
        for entry, (_, data) in zip(entries, data_of, strict=True):
            yield entry, "" if isinstance(data, Skipped) else hash_bytes(data)
