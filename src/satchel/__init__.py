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
    from satchel.retrieval.filters import Filters
    from satchel.serving.chunk_manager import ChunkManager, ChunkSearchTool
    from satchel.serving.dispatcher import answer
    from satchel.storage.memory import MemoryStore
    from satchel.types import Chunk, ChunkKind, Hit, Reference, Symbol

_HOMES = {
    "Chunk": "satchel.types",
    "ChunkKind": "satchel.types",
    "ChunkManager": "satchel.serving.chunk_manager",
    "ChunkSearchTool": "satchel.serving.chunk_manager",
    "Engine": "satchel.engine",
    "Filters": "satchel.retrieval.filters",
    "Hit": "satchel.types",
    "MemoryStore": "satchel.storage.memory",
    "Reference": "satchel.types",
    "SatchelError": "satchel.errors",
    "Symbol": "satchel.types",
    "answer": "satchel.serving.dispatcher",
}

__all__ = [
    "Chunk",
    "ChunkKind",
    "ChunkManager",
    "ChunkSearchTool",
    "Engine",
    "Filters",
    "Hit",
    "MemoryStore",
    "Reference",
    "SatchelError",
    "Symbol",
    "__version__",
    "answer",
]


def __getattr__(name: str) -> Any:
    """Each public name is loaded when it is first asked for: importing satchel costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'satchel' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
