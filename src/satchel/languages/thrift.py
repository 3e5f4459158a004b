"""Thrift, read by the blocks chunker."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="thrift",
    suffixes=(".thrift",),
    chunker="blocks",
    line_comment="#",
    block_keywords=(
        ("struct", ChunkKind.STRUCT),
        ("union", ChunkKind.STRUCT),
        ("exception", ChunkKind.STRUCT),
        ("enum", ChunkKind.ENUM),
        ("service", ChunkKind.INTERFACE),
    ),
)
