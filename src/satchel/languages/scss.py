"""SCSS and Less. The grammar of CSS does not cope with their variables, so the braces chunker reads them."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="scss",
    suffixes=(".scss", ".less"),
    chunker="braces",
    module_kind=ChunkKind.CONFIG,
    line_comment="//",
    block_keywords=(("@mixin", ChunkKind.FUNCTION), ("@function", ChunkKind.FUNCTION)),
    index_stems=("_index", "index"),
)
