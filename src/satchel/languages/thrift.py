"""Thrift, read by the braces chunker."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="thrift",
    suffixes=(".thrift",),
    chunker="braces",
    line_comment="#",
    block_keywords=(
        ("struct", ChunkKind.STRUCT),
        ("union", ChunkKind.STRUCT),
        ("exception", ChunkKind.STRUCT),
        ("enum", ChunkKind.ENUM),
        ("service", ChunkKind.INTERFACE),
    ),
)
