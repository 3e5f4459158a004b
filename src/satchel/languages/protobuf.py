"""Protocol Buffers. No grammar wheel exists, so the braces chunker reads it."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="protobuf",
    suffixes=(".proto",),
    chunker="braces",
    line_comment="//",
    block_keywords=(
        ("message", ChunkKind.STRUCT),
        ("enum", ChunkKind.ENUM),
        ("service", ChunkKind.INTERFACE),
        ("rpc", ChunkKind.METHOD),
        ("extend", ChunkKind.IMPL),
    ),
)
