"""In which encoding are these bytes text? Encoding the text again always gives the bytes back."""

from __future__ import annotations

import codecs

_BINARY_WINDOW = 8 * 1024  # git's own window is 8,000 bytes
_GUESS_WINDOW = 64 * 1024  # more does not change the guess, only the time
_LEAST_TO_GUESS = 4  # bytes beyond ASCII; fewer tell nothing, and the detector takes 38 MB
_COMMONEST = "cp1252"  # what few such bytes most often are: a name with an accent, a quotation mark
_ASCII = bytes(range(0x80))
_ROUND_TRIP = "latin-1"  # every byte is a character: it cannot fail


def decode(data: bytes) -> tuple[str, str] | None:
    """(text, encoding), None for binary data. A byte order mark stays in the text."""
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        encoding = "utf-16-le" if data[:2] == codecs.BOM_UTF16_LE else "utf-16-be"
        text = _decoded(data, encoding)
        if text is not None and "\0" not in text:  # UTF-32 starts with the same mark
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
    """The text, if it can be turned back into exactly these bytes."""
    try:
        text = data.decode(encoding)
        exact = encoding == "utf-8" or text.encode(encoding) == data  # strict UTF-8 always is
    except (UnicodeError, LookupError):
        return None
    return text if exact else None


def _guessed(data: bytes) -> str:
    telling = b"\n".join(line for line in data[:_GUESS_WINDOW].split(b"\n") if not line.isascii())
    if len(telling.translate(None, _ASCII)) < _LEAST_TO_GUESS:
        return _COMMONEST
    import chardet  # only the few files that are not UTF-8 pay for it

    found = chardet.detect(telling)["encoding"]
    try:
        return codecs.lookup(found).name if found else _ROUND_TRIP
    except LookupError:
        return _ROUND_TRIP
