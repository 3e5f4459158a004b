"""GraphQL schemas and operations, read by the braces chunker."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="graphql",
    suffixes=(".graphql", ".gql", ".graphqls"),
    chunker="braces",
    line_comment="#",
    block_keywords=(
        ("type", ChunkKind.STRUCT),
        ("input", ChunkKind.STRUCT),
        ("union", ChunkKind.STRUCT),
        ("interface", ChunkKind.INTERFACE),
        ("enum", ChunkKind.ENUM),
        ("scalar", ChunkKind.CONST),
        ("query", ChunkKind.FUNCTION),
        ("mutation", ChunkKind.FUNCTION),
        ("subscription", ChunkKind.FUNCTION),
        ("fragment", ChunkKind.FUNCTION),
        ("extend type", ChunkKind.IMPL),
        ("extend interface", ChunkKind.IMPL),
        ("extend input", ChunkKind.IMPL),
        ("extend enum", ChunkKind.IMPL),
    ),
)
