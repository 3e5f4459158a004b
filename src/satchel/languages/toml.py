"""TOML."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="toml",
    suffixes=(".toml",),
    filenames=("Pipfile",),
    grammar="tree_sitter_toml",
    module_kind=ChunkKind.CONFIG,
    name_separators=(".",),
    line_comment="#",
    query="""
(document (pair . (_) @name) @definition.config)
(table . [(bare_key) (quoted_key) (dotted_key)] @name) @definition.config
(table_array_element . [(bare_key) (quoted_key) (dotted_key)] @name) @definition.config
(comment) @comment
""",
)
