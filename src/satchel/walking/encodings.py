"""Find the encoding of a file. Encoding the decoded text again always returns the same bytes."""

from __future__ import annotations

import codecs
import re

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
