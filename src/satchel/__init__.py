"""Satchel turns a repository into cited context for coding agents: offline, deterministic, fast.

>>> from satchel import Engine
>>> engine = Engine.open("path/to/repository")
>>> engine.refresh()
>>> hits, suggestions = engine.search("where are sessions stored", k=5)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from satchel._version import __version__

if TYPE_CHECKING:
    from satchel.engine import Engine
    from satchel.errors import SatchelError
    from satchel.indexing.plan import Refresh
    from satchel.packing.pack import Item, Pack
    from satchel.rendering.packs import pack_format
    from satchel.retrieval.filters import Filters
    from satchel.serving.chunk_manager import ChunkManager
    from satchel.serving.chunk_search_tool import ChunkSearchTool
    from satchel.serving.dispatcher import answer
    from satchel.storage.memory import MemoryStore
    from satchel.storage.records import SymbolRecord
    from satchel.types import Chunk, ChunkKind, Hit, Label, ResolvedReference, Suggestion, Symbol

_HOMES = {
    "Chunk": "satchel.types",
    "ChunkKind": "satchel.types",
    "ChunkManager": "satchel.serving.chunk_manager",
    "ChunkSearchTool": "satchel.serving.chunk_search_tool",
    "Engine": "satchel.engine",
    "Filters": "satchel.retrieval.filters",
    "Hit": "satchel.types",
    "Item": "satchel.packing.pack",
    "Label": "satchel.types",
    "MemoryStore": "satchel.storage.memory",
    "Pack": "satchel.packing.pack",
    "Refresh": "satchel.indexing.plan",
    "ResolvedReference": "satchel.types",
    "SatchelError": "satchel.errors",
    "Suggestion": "satchel.types",
    "Symbol": "satchel.types",
    "SymbolRecord": "satchel.storage.records",
    "answer": "satchel.serving.dispatcher",
    "pack_format": "satchel.rendering.packs",
}

__all__ = [
    "Chunk",
    "ChunkKind",
    "ChunkManager",
    "ChunkSearchTool",
    "Engine",
    "Filters",
    "Hit",
    "Item",
    "Label",
    "MemoryStore",
    "Pack",
    "Refresh",
    "ResolvedReference",
    "SatchelError",
    "Suggestion",
    "Symbol",
    "SymbolRecord",
    "__version__",
    "answer",
    "pack_format",
]


def __getattr__(name: str) -> Any:
    """Return a public name, which is loaded when it is first asked for: importing satchel costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'satchel' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
