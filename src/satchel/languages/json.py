"""JSON, with or without comments and trailing commas."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="json",
    suffixes=(".json", ".jsonc", ".json5", ".webmanifest", ".geojson", ".code-workspace"),
    filenames=(".babelrc", ".eslintrc", ".jshintrc", ".swcrc", ".prettierrc"),
    grammar="tree_sitter_json",
    module_kind=ChunkKind.CONFIG,
    line_comment="//",
    query="""
(document (object "{" @leading))
(document (object (pair key: (string (string_content) @name)) @definition.config))
(document (object (pair value: (object
  (pair key: (string (string_content) @name) value: [(object) (array)]) @definition.config))))
(comment) @comment
""",
)
