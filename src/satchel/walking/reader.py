"""What is in a file? Bytes become a `Source`: decoded exactly, recognised, and last of all redacted."""

from __future__ import annotations

from collections.abc import Callable

from satchel.ids import hash_bytes
from satchel.settings import WalkOptions
from satchel.types import Skipped, SkipReason, Source
from satchel.walking.encodings import decode
from satchel.walking.generated import generated
from satchel.walking.machine_made import left_out_by_name, minified
from satchel.walking.own_output import own_output
from satchel.walking.redaction import redact
from satchel.walking.selection import too_large

Detect = Callable[[str, str], str]
"""(path, beginning of the text) → the name of the language."""

_HEAD_CHARS = 20_000  # enough to tell C++ from C


def read_source(path: str, data: bytes, options: WalkOptions, detect: Detect) -> Source | Skipped:
    """The source, or why it is none."""
    if (by_name := left_out_by_name(path, options)) is not None:
        return by_name
    if len(data) > options.max_file_bytes:  # it grew since it was listed
        return Skipped(path, SkipReason.TOO_LARGE, too_large(len(data), options.max_file_bytes))
    decoded = decode(data)
    if decoded is None:
        return Skipped(path, SkipReason.BINARY)
    text, encoding = decoded
    language = detect(path, text[:_HEAD_CHARS].removeprefix("\ufeff"))
    if (detail := minified(path, text, language)) is not None:
        return Skipped(path, SkipReason.MINIFIED, detail)
    if not options.include_generated and (detail := generated(path, text, language)) is not None:
        return Skipped(path, SkipReason.GENERATED, detail)
    if (detail := own_output(text, language)) is not None:
        return Skipped(path, SkipReason.GENERATED, detail)
    clean = redact(text)
    return Source(path, clean.text, language, encoding, hash_bytes(data), len(data), clean.lines)
