"""Markdown: read by its own line state machine, not by tree-sitter."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="markdown",
    suffixes=(".md", ".mdx", ".markdown", ".mdown", ".mkd"),
    chunker="markdown",
    module_kind=ChunkKind.SECTION,
    prose=True,
    index_stems=("README", "index"),
)
