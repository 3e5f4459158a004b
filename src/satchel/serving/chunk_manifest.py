"""The manifest of a `ChunkManager`: every chunk with its content in one JSON file, and back again.

Chunks cover every line of a file that is not blank, so the files can be made from them when the index and
even the files themselves are gone.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from satchel.file_writing import cannot_write, replace_file
from satchel.lines import split_lines
from satchel.walking.memory_tree import MemoryFile

_VERSION = 1
_NANOSECONDS = 1_000_000_000


class Manifest(msgspec.Struct, frozen=True):
    """What a manifest holds. `root` is where the paths start, relative to the folder of the manifest."""

    chunks: list[dict[str, Any]]
    root: str = ""

    @property
    def paths(self) -> list[str]:
        """Return the files that the chunks are of."""
        return list(dict.fromkeys(chunk["source_path"] for chunk in self.chunks))

    def files(self) -> list[MemoryFile]:
        """Return the files, put together from their chunks; lines that no chunk has are blank."""
        of_file: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for chunk in self.chunks:
            of_file[chunk["source_path"]].append(chunk)
        return [MemoryFile(path, _text(chunks), _time_ns(chunks[0])) for path, chunks in of_file.items()]


def write_manifest(path: Path, chunks: Sequence[dict[str, Any]], root: Path | None) -> None:
    """Replace the manifest in one step."""
    by_source: defaultdict[str, list[str]] = defaultdict(list)
    for chunk in chunks:
        by_source[chunk["source_path"]].append(chunk["chunk_id"])
    written = {
        "version": _VERSION,
        "chunks": chunks,
        "chunk_count": len(chunks),
        "source_to_chunks": by_source,
        "root": _relative(root, path.parent),
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(f"the folder {str(path.parent)!r}", error) from error
    replace_file(path, msgspec.json.format(msgspec.json.encode(written), indent=1) + b"\n")


def read_manifest(path: Path) -> Manifest | None:
    """Return what a manifest holds; None if there is none, or none with the content of its chunks."""
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
        manifest.files()
    except (OSError, msgspec.DecodeError, KeyError, TypeError, ValueError):
        return None
    return manifest


def _relative(root: Path | None, folder: Path) -> str:
    """Return the root as seen from a folder; empty where there is no way from one to the other."""
    try:
        return Path(os.path.relpath(root, folder.resolve())).as_posix() if root else ""
    except ValueError:  # on another drive
        return ""


def _text(chunks: Sequence[dict[str, Any]]) -> str:
    lines: dict[int, str] = {}
    for chunk in chunks:
        for number, line in enumerate(split_lines(chunk["content"]), chunk["start_line"]):
            lines[number] = line
    return "".join(lines.get(number, "\n") for number in range(1, max(lines, default=0) + 1))


def _time_ns(chunk: dict[str, Any]) -> int:
    written = datetime.fromisoformat(chunk["created_at"]).astimezone(UTC)
    return int(written.timestamp() * _NANOSECONDS)
