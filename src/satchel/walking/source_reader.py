"""The files of a tree as sources: bytes read, decoded, recognised and redacted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from satchel.ids import hash_bytes
from satchel.languages import detect
from satchel.settings import WalkOptions
from satchel.types import FileEntry, Skipped, Source
from satchel.walking.path_kind import path_tags
from satchel.walking.reader import read_source
from satchel.walking.walker import Tree


@dataclass(frozen=True, slots=True)
class SourceReader:
    """Reads entries in the order given; a file that cannot be used is answered with the reason."""

    tree: Tree
    options: WalkOptions

    def __call__(self, entries: Sequence[FileEntry]) -> Iterator[tuple[FileEntry, Source | Skipped]]:
        data_of = self.tree.read_many([entry.path for entry in entries])
        for entry, (path, data) in zip(entries, data_of, strict=True):
            source = data if isinstance(data, Skipped) else read_source(path, data, self.options, detect)
            if isinstance(source, Source):
                source = msgspec.structs.replace(source, tags=path_tags(path, source.language))
            yield entry, source

    def hashes(self, entries: Sequence[FileEntry]) -> Iterator[tuple[FileEntry, str]]:
        """The hash of each file's bytes, empty where they cannot be read. It tells whether a file is the one
        that is known, at a tenth of what making a source of it takes."""
        data_of = self.tree.read_many([entry.path for entry in entries])
        for entry, (_, data) in zip(entries, data_of, strict=True):
            yield entry, "" if isinstance(data, Skipped) else hash_bytes(data)
