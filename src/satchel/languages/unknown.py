"""A file whose language nothing tells: indexed as text, but not taken for a document."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(name="unknown", suffixes=(), chunker="windows", module_kind=ChunkKind.TEXT)
