"""Plain text: documents without markup that Satchel knows."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="text",
    suffixes=(".txt", ".text", ".log", ".adoc", ".asciidoc", ".org", ".pod", ".textile"),
    filenames=("README", "LICENSE", "COPYING", "NOTICE", "AUTHORS", "CHANGES", "CHANGELOG", "NEWS", "TODO"),
    chunker="windows",
    module_kind=ChunkKind.TEXT,
    prose=True,
)
