"""`search_chunks` as an agent calls it: a search in, text with citations out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from satchel import settings
from satchel.errors import SatchelError
from satchel.serving.chunk_manager import FILTER_LISTS, FILTER_NAMES, ChunkManager


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call gave: text for the agent, or an error that says what to do."""

    tool_call_id: str
    output: str
    error: str | None = None
    success: bool = True

    def __str__(self) -> str:
        return self.output if self.success else f"Error: {self.error}"


class ChunkSearchTool:
    """`search_chunks` as agents call it; `AGENT_ENABLE_CHUNK_SEARCH=false` switches it off."""

    name = "search_chunks"
    description = (
        "Find code and documents before reading whole files. Returns chunk ids with exact paths and lines to"
        " cite; if nothing is found it proposes searches that will find something."
    )

    def __init__(
        self,
        chunk_manager: ChunkManager | None = None,
        workspace_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        if chunk_manager is None and workspace_dir is not None:
            workspace = Path(workspace_dir)
            chunk_manager = ChunkManager(workspace / "chunks", workspace / "chunks_manifest.json")
        self.chunk_manager = chunk_manager or ChunkManager()
        self.enabled = settings.chunk_search().enabled

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments."""
        texts: dict[str, Any] = {name: {"type": "string"} for name in sorted(FILTER_NAMES)}
        for name in FILTER_LISTS:
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
        query, k = arguments.get("query"), arguments.get("k", 10)
        if not self.enabled:
            return _failed("chunk search is switched off by AGENT_ENABLE_CHUNK_SEARCH")
        if not query:
            return _failed("Missing required parameter: 'query'")
        if not isinstance(query, str) or not isinstance(k, int):
            return _failed("query must be a text and k a number")
        try:
            if not self.chunk_manager.get_stats()["total_chunks"]:
                self.rebuild_index()
            return ToolResult("", self.chunk_manager.search_text(query, k, arguments.get("filters")))
        except SatchelError as error:
            return _failed(f"{error.message}. {error.hint}".rstrip())

    def rebuild_index(self, directory: str | os.PathLike[str] = ".") -> str:
        """Ingest a folder, write the manifest, and return what came of it."""
        added = self.chunk_manager.ingest_directory(directory)
        self.chunk_manager.save_manifest()
        stats = self.chunk_manager.get_stats()
        kinds = ", ".join(f"{kind} {count}" for kind, count in stats["chunk_types"].items())
        return (
            "The chunk index was rebuilt:\n"
            f"- Total chunks: {stats['total_chunks']}\n"
            f"- Chunk types: {kinds}\n"
            f"- New chunks: {int(added)}\n"
            f"- Manifest: {stats['manifest_path']}"
        )


def _failed(error: str) -> ToolResult:
    return ToolResult("", "", error, success=False)
