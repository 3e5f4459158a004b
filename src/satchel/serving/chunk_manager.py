"""Chunks and citations as a small object API and as a tool for agents: thin faces of the engine."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from satchel import ids, settings
from satchel.engine import Engine
from satchel.errors import IndexMissing, InvalidRequest, ProjectNotFound, SatchelError
from satchel.rendering.agent_text import render_hits
from satchel.retrieval.filters import Filters
from satchel.storage.records import ChunkRecord
from satchel.storage.sqlite import SqliteStore
from satchel.types import Hit
from satchel.walking.work_tree import SubsetTree

_MANIFEST_VERSION = 1
_FILTER_NAMES = frozenset(Filters.__struct_fields__)
_LISTS = ("tags", "include_paths", "exclude_paths")


class ChunkManager:
    """Ingest files, search their chunks, fetch them by id. The index lives in `chunks_dir` and
    survives a restart; `save_manifest` writes what it holds, content included, as one JSON file."""

    def __init__(
        self,
        chunks_dir: str | os.PathLike[str] = "./store/chunks",
        manifest_path: str | os.PathLike[str] = "./store/chunks_manifest.json",
        *,
        root: str | os.PathLike[str] | None = None,
    ) -> None:
        self.chunks_dir = Path(chunks_dir)
        self.manifest_path = Path(manifest_path)
        self._store = SqliteStore(self.chunks_dir / settings.INDEX_FILE)
        self._root = Path(root).resolve() if root else self._remembered_root()
        self._engine: Engine | None = None
        self._tree: SubsetTree | None = None

    def ingest_file(self, file_path: str | os.PathLike[str]) -> list[str]:
        """Index one file; the ids of its chunks, none if it is sensitive, binary or otherwise left out."""
        path = Path(file_path).resolve()
        if not path.is_file():
            raise ProjectNotFound(f"{os.fspath(file_path)!r} is not a file")
        engine, tree = self._open(path.parent)
        relative = self._relative(path)
        tree.add_file(relative)
        engine.refresh()
        return [ids.long_id(chunk.digest) for chunk in engine.snapshot().chunks(relative)]

    def ingest_directory(self, directory: str | os.PathLike[str] = ".", recursive: bool = True) -> list[str]:
        """Index a folder; the ids of its chunks."""
        path = Path(directory).resolve()
        if not path.is_dir():
            raise ProjectNotFound(f"{os.fspath(directory)!r} is not a folder")
        engine, tree = self._open(path)
        relative = self._relative(path)
        tree.add_folder("" if relative == "." else relative, recursive=recursive)
        engine.refresh()
        return [chunk["chunk_id"] for chunk in self._all_chunks() if _below(chunk["source_path"], relative)]

    def search_chunks(
        self, query: str, k: int = 10, filters: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """The best k chunks as dictionaries with id, path, lines, kind, name, snippet and content."""
        hits, _ = self._fresh().search(query, k, to_filters(filters), whole_chunks=True)
        return [_as_dict(hit) for hit in hits]

    def get_chunk(self, chunk_id: str) -> dict[str, Any] | None:
        """One chunk with its content, by any spelling of its id; None if there is none. `fate` says whether
        the id is `current`, or names what the chunk has become; `detail` says what became of it."""
        found = self._fresh().find([chunk_id])[0]
        if found.chunk is None:
            return None
        return {**self._describe(found.chunk), "fate": found.fate.value, "detail": found.detail}

    def get_stats(self) -> dict[str, Any]:
        """Counts of chunks and files, by kind and by language."""
        if not self._store.exists():
            return {"total_chunks": 0, "total_files": 0, "chunks_by_type": {}, "files_by_language": {}}
        snapshot = self._opened().snapshot()
        files = snapshot.files()
        return {
            "total_chunks": sum(record.chunk_count for record in files),
            "total_files": len(files),
            "chunks_by_type": snapshot.kind_counts(),
            "files_by_language": dict(sorted(Counter(record.language for record in files).items())),
        }

    def save_manifest(self) -> Path:
        """Write the manifest: every chunk with its metadata and content."""
        manifest = {"version": _MANIFEST_VERSION, "chunks": self._all_chunks()}
        self.manifest_path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.manifest_path.with_name(self.manifest_path.name + ".part")
        partial.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")
        os.replace(partial, self.manifest_path)
        return self.manifest_path

    def search_text(self, query: str, k: int, filters: Mapping[str, Any] | None) -> str:
        """A search as text for an agent, with real suggestions when nothing is found."""
        hits, suggestions = self._fresh().search(query, k, to_filters(filters), whole_chunks=True)
        return render_hits(query, hits, suggestions)

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
        if not self._store.exists():
            raise IndexMissing("nothing was ingested yet", hint="call ingest_directory first")
        return self._open(Path.cwd())[0]

    def _fresh(self) -> Engine:
        """The engine with the picked files as they are now, so that its citations are true. An index whose
        folder is not there (it was moved, or came from elsewhere) is left as it is: it is all there is."""
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
            "name": ".".join(chunk.title_path),
            "content_hash": ids.hash_text(content),
            "tags": [record.language, *record.tags],
            "created_at": datetime.fromtimestamp(record.mtime_ns / 1e9, UTC).isoformat(),
            "content": content,
        }


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call gave: text for the agent, or an error that says what to do."""

    success: bool
    output: str
    error: str | None = None

    def __str__(self) -> str:
        return self.output if self.success else f"Error: {self.error}"


class ChunkSearchTool:
    """`search_chunks` as agents call it."""

    name = "search_chunks"
    description = (
        "Find code and documents before reading whole files. Returns chunk ids with exact paths and lines to"
        " cite; if nothing is found it proposes searches that will find something."
    )

    def __init__(self, chunk_manager: ChunkManager | None = None) -> None:
        self.chunk_manager = chunk_manager or ChunkManager()

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        texts: dict[str, Any] = {name: {"type": "string"} for name in sorted(_FILTER_NAMES)}
        for name in _LISTS:
            texts[name] = {"type": "array", "items": {"type": "string"}}
        return {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "words, an identifier or a path"},
                "k": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10},
                "filters": {"type": "object", "properties": texts, "additionalProperties": False},
            },
            "required": ["query"],
        }

    async def execute(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Run a search; a bad argument is an answer, not an exception."""
        query = arguments.get("query")
        k = arguments.get("k", 10)
        if not isinstance(query, str) or not isinstance(k, int):
            return ToolResult(False, "", "query must be a text and k a number")
        try:
            if not self.chunk_manager.get_stats()["total_chunks"]:
                self.rebuild_index()
            return ToolResult(True, self.chunk_manager.search_text(query, k, arguments.get("filters")))
        except SatchelError as error:
            return ToolResult(False, "", f"{error.message}. {error.hint}".rstrip())

    def rebuild_index(self, directory: str | os.PathLike[str] = ".") -> int:
        """Ingest a folder and write the manifest; the number of chunks."""
        self.chunk_manager.ingest_directory(directory)
        self.chunk_manager.save_manifest()
        return int(self.chunk_manager.get_stats()["total_chunks"])


def to_filters(given: Mapping[str, Any] | None) -> Filters:
    """Filters from a dictionary; an unknown name is an error that lists the known ones."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidRequest(f"filters are {given!r}, they must be names with values")
    values = dict(given or {})
    unknown = sorted(set(values) - _FILTER_NAMES)
    if unknown:
        known = ", ".join(sorted(_FILTER_NAMES))
        raise InvalidRequest(f"unknown filter {unknown[0]!r}", hint=f"known: {known}")
    for name, value in values.items():
        if name in _LISTS:
            value = [value] if isinstance(value, str) else value
            if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
                raise InvalidRequest(f"the filter {name} is {value!r}, it must be a list of texts")
            values[name] = tuple(value)
        elif not isinstance(value, str):
            raise InvalidRequest(f"the filter {name} is {value!r}, it must be a text")
    return Filters(**values)


def _below(path: str, folder: str) -> bool:
    return folder == "." or path.startswith(f"{folder}/")


def _as_dict(hit: Hit) -> dict[str, Any]:
    return {
        "chunk_id": hit.chunk_id,
        "id": hit.id,
        "source_path": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "chunk_type": hit.kind.value,
        "name": hit.name,
        "score": hit.score,
        "snippet": hit.snippet,
        "content": hit.text,
    }
