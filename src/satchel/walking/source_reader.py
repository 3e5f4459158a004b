"""Turn the bytes of files into sources: decode them, detect their language, and redact secrets last of
all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from satchel.ids import hash_bytes
from satchel.languages import detect
from satchel.settings import WalkOptions
from satchel.types import FileEntry, Skipped, SkipReason, Source
from satchel.walking.encodings import decode
from satchel.walking.file_filter import skip_by_name, too_large
from satchel.walking.generated import generated_reason, minified_reason
from satchel.walking.own_output import own_output
from satchel.walking.path_tags import path_tags
from satchel.walking.redaction import redact
from satchel.walking.work_tree import SourceTree

Detect = Callable[[str, str], str]
"""(path, beginning of the text) → the name of the language."""

_HEAD_CHARS = 20_000  # enough to tell C++ from C


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
