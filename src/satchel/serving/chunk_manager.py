"""Chunks and citations as a small object API: a thin face of the engine, with calls of an older system."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from satchel import ids, settings, storage
from satchel.engine import Engine
from satchel.errors import IndexMissing, InvalidRequest, ProjectNotFound
from satchel.rendering.agent_text import render_hits
from satchel.retrieval.filters import Filters
from satchel.serving.chunk_manifest import Manifest, read_manifest, write_manifest
from satchel.storage.records import ChunkRecord
from satchel.types import Hit
from satchel.walking.memory_tree import MemoryTree
from satchel.walking.subset_tree import SubsetTree

FILTER_NAMES = frozenset(Filters.__struct_fields__)
FILTER_LISTS = ("tags", "include_paths", "exclude_paths")


@dataclass(frozen=True, slots=True)
class ChunkMetadata:
    """What a manifest says of a chunk beside its content."""

    id: str
    source_path: str
    start_line: int
    end_line: int
    hash: str
    tags: list[str]
    created_at: str
    chunk_type: str
    name: str | None = None


class IngestResult(int):
    """How many chunks an ingest added. `chunk_ids` names all that was ingested, new or known before."""

    chunk_ids: tuple[str, ...]

    def __new__(cls, before: Iterable[str], after: Iterable[str]) -> Self:
        chunk_ids = tuple(after)
        result = super().__new__(cls, len(set(chunk_ids).difference(before)))
        result.chunk_ids = chunk_ids
        return result


class ChunkManager:
    """Ingests files, searches their chunks and fetches them by id.

    The index lives in `chunks_dir` and survives a restart. `save_manifest` writes what it holds, content
    included, as one JSON file, from which the index is made again when `chunks_dir` is lost. Where neither
    the caller nor the environment names a place, both are below `./store`.
    """

    def __init__(
        self,
        chunks_dir: str | os.PathLike[str] | None = None,
        manifest_path: str | os.PathLike[str] | None = None,
        *,
        root: str | os.PathLike[str] | None = None,
    ) -> None:
        usual = settings.chunk_search()
        self.chunks_dir = Path(chunks_dir or usual.chunks_dir)
        self.manifest_path = Path(manifest_path or usual.manifest_path)
        self._store = storage.open_store(self.chunks_dir)
        self._root = Path(root).resolve() if root else self._remembered_root()
        self._engine: Engine | None = None
        self._tree: SubsetTree | None = None
        self._restored: Engine | None = None  # of files that only the manifest has
        self._described: tuple[str, dict[str, ChunkMetadata]] = ("", {})

    @property
    def chunks(self) -> dict[str, ChunkMetadata]:
        """Return what is known of every chunk, by its id, in the order of paths and lines."""
        if not self._has_index():
            return {}
        version = self._opened().snapshot().version
        if self._described[0] != version:
            found = {chunk["chunk_id"]: _metadata(chunk) for chunk in self._all_chunks()}
            self._described = version, found
        return self._described[1]

    def ingest_file(self, file_path: str | os.PathLike[str]) -> IngestResult:
        """Index one file and return how many chunks are new: none of a file that is sensitive, binary or
        otherwise left out."""
        path = Path(file_path).resolve()
        if not path.is_file():
            raise ProjectNotFound(f"{os.fspath(file_path)!r} is not a file")
        engine, tree = self._open_to_add(path.parent)
        relative = self._relative(path)
        before = self._chunk_ids(relative)
        tree.add_file(relative)
        engine.refresh()
        return IngestResult(before, self._chunk_ids(relative))

    def ingest_directory(
        self, directory: str | os.PathLike[str] = ".", recursive: bool = True
    ) -> IngestResult:
        """Index a folder and return how many chunks are new."""
        path = Path(directory).resolve()
        if not path.is_dir():
            raise ProjectNotFound(f"{os.fspath(directory)!r} is not a folder")
        engine, tree = self._open_to_add(path)
        relative = self._relative(path)
        before = self._chunk_ids(relative)
        tree.add_folder("" if relative == "." else relative, recursive=recursive)
        engine.refresh()
        return IngestResult(before, self._chunk_ids(relative))

    def search_chunks(
        self, query: str, k: int = 10, filters: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Return the best k chunks as dictionaries with id, path, lines, kind, name, snippet and content."""
        hits, _ = self._fresh().search(query, k, to_filters(filters), whole_chunks=True)
        return [_as_dict(hit) for hit in hits]

    def get_chunk(self, chunk_id: str) -> dict[str, Any] | None:
        """Return one chunk with its content, by any spelling of its id; None if there is none. `fate` says
        whether the id is `current`, or names what the chunk has become; `detail` says what became of it."""
        found = self._fresh().find([chunk_id])[0]
        if found.chunk is None:
            return None
        return {**self._describe(found.chunk), "fate": found.fate.value, "detail": found.detail}

    def get_stats(self) -> dict[str, Any]:
        """Return counts of chunks and sources, by kind and by language, and where they are kept."""
        snapshot = self._opened().snapshot() if self._has_index() else None
        files = snapshot.files() if snapshot else []
        return {
            "total_chunks": sum(record.chunk_count for record in files),
            "chunk_types": snapshot.kind_counts() if snapshot else {},
            "total_sources": len(files),
            "files_by_language": dict(sorted(Counter(record.language for record in files).items())),
            "manifest_path": str(self.manifest_path),
            "chunks_dir": str(self.chunks_dir),
        }

    def save_manifest(self) -> bool:
        """Write the manifest: every chunk with its metadata and content. A disk that refuses is an error."""
        engine = self._opened()
        root = engine.root if engine is not self._restored else None
        write_manifest(self.manifest_path, self._all_chunks(), root)
        return True

    def search_text(self, query: str, k: int, filters: Mapping[str, Any] | None) -> str:
        """Return a search as text for an agent, with real suggestions when nothing is found."""
        hits, suggestions = self._fresh().search(query, k, to_filters(filters), whole_chunks=True)
        return render_hits(query, hits, suggestions)

    def _open_to_add(self, start: Path) -> tuple[Engine, SubsetTree]:
        self._has_index()  # what a manifest has comes first, or the next one would lack it
        self._restored = None
        return self._open(start)

    def _open(self, start: Path) -> tuple[Engine, SubsetTree]:
        if self._engine is None or self._tree is None:
            working = Path.cwd()
            self._root = self._root or (working if start.is_relative_to(working) else start)
            options = settings.load(self._root, index_dir=self.chunks_dir)
            options = settings.leave_out(options, self._root, self.chunks_dir, self.manifest_path)
            self._tree = SubsetTree(self._root, options.walk)
            self._engine = Engine(self._root, self._store, options, self._tree)
            if self._store.exists():
                for record in self._engine.snapshot().files():
                    self._tree.add_file(record.path)
        return self._engine, self._tree

    def _opened(self) -> Engine:
        if not self._has_index():
            unread = f"; {self.manifest_path.name} is no manifest that can be read"
            told = unread if self.manifest_path.exists() else ""
            raise IndexMissing(f"nothing was ingested yet{told}", hint="call ingest_directory first")
        return self._engine or self._restored or self._open(Path.cwd())[0]

    def _has_index(self) -> bool:
        """Return whether there is anything to search; an index that was lost is made again from the
        manifest."""
        if self._store.exists():
            return True
        manifest = read_manifest(self.manifest_path)
        if manifest is None:
            return False
        self._restore(manifest)
        return self._store.exists()

    def _restore(self, manifest: Manifest) -> None:
        """Index the files of a manifest again: as they are now, or if none is left, as it has them."""
        root = self._root or (self.manifest_path.parent / manifest.root).resolve()
        if any((root / path).is_file() for path in manifest.paths):
            self._root = root
            engine, tree = self._open(root)
            for path in manifest.paths:
                tree.add_file(path)
        else:
            # Its root is the manifest and no folder, so that no later look at a folder finds the files gone.
            place = self.manifest_path.resolve()
            options = settings.load(place, index_dir=self.chunks_dir)
            engine = self._restored = Engine(place, self._store, options, MemoryTree(manifest.files()))
        engine.refresh()

    def _fresh(self) -> Engine:
        """Return the engine with the picked files as they are now, so that its citations are true. An index
        whose folder is not there (it was moved, or came from elsewhere) is left as it is: it is all there is.
        """
        engine = self._opened()
        if engine.snapshot().meta().get("root_path") == str(engine.root):
            engine.ensure_fresh()
        return engine

    def _relative(self, path: Path) -> str:
        assert self._root is not None
        if not path.is_relative_to(self._root):
            raise InvalidRequest(
                f"{path.name!r} is outside of what this manager covers",
                hint="make another ChunkManager for it",
            )
        return path.relative_to(self._root).as_posix()

    def _remembered_root(self) -> Path | None:
        if not self._store.exists():
            return None
        snapshot = self._store.snapshot()
        root = snapshot.meta().get("root_path")
        snapshot.close()
        return Path(root) if root and Path(root).is_dir() else None

    def _chunk_ids(self, place: str) -> list[str]:
        """Return the ids of the chunks of a file, or of all files below a folder."""
        if not self._store.exists():
            return []
        snapshot = self._opened().snapshot()
        return [
            ids.long_id(chunk.digest)
            for record in snapshot.files()
            if place in (".", record.path) or record.path.startswith(f"{place}/")
            for chunk in snapshot.chunks(record.path)
        ]

    def _all_chunks(self) -> list[dict[str, Any]]:
        snapshot = self._opened().snapshot()
        return [
            self._describe(chunk) for record in snapshot.files() for chunk in snapshot.chunks(record.path)
        ]

    def _describe(self, chunk: ChunkRecord) -> dict[str, Any]:
        engine = self._opened()
        record = engine.snapshot().file(chunk.path)
        assert record is not None
        content = engine.text_of(chunk)
        return {
            "chunk_id": ids.long_id(chunk.digest),
            "id": ids.canonical_id(ids.doc_of(chunk.path), chunk.digest),
            "source_path": chunk.path,
            "start_line": chunk.start_line,
            "end_line": chunk.end_line,
            "chunk_type": chunk.kind.value,
            "name": ".".join(chunk.title_path) or None,
            "content_hash": ids.hash_text(content),
            "tags": [record.language, *record.tags, chunk.kind.value],
            "created_at": datetime.fromtimestamp(record.mtime_ns / 1e9, UTC).isoformat(),
            "content": content,
        }


def to_filters(given: Mapping[str, Any] | None) -> Filters:
    """Return filters from a dictionary; an unknown name is an error that lists the known ones."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidRequest(f"filters are {given!r}, they must be names with values")
    values = dict(given or {})
    unknown = sorted(set(values) - FILTER_NAMES)
    if unknown:
        known = ", ".join(sorted(FILTER_NAMES))
        raise InvalidRequest(f"unknown filter {unknown[0]!r}", hint=f"known: {known}")
    for name, value in values.items():
        if name in FILTER_LISTS:
            value = [value] if isinstance(value, str) else value
            if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
                raise InvalidRequest(f"the filter {name} is {value!r}, it must be a list of texts")
            values[name] = tuple(value)
        elif not isinstance(value, str):
            raise InvalidRequest(f"the filter {name} is {value!r}, it must be a text")
    return Filters(**values)


def _metadata(chunk: Mapping[str, Any]) -> ChunkMetadata:
    names = ("source_path", "start_line", "end_line", "tags", "created_at", "chunk_type", "name")
    kept = {name: chunk[name] for name in names}
    return ChunkMetadata(id=chunk["chunk_id"], hash=chunk["content_hash"], **kept)


def _as_dict(hit: Hit) -> dict[str, Any]:
    return {
        "chunk_id": hit.chunk_id,
        "id": hit.id,
        "source_path": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "chunk_type": hit.kind.value,
        "name": hit.name or None,
        "score": hit.score,
        "snippet": hit.snippet,
        "content": hit.text,
    }
