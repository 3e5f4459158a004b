"""TSX: TypeScript with elements; a grammar of its own in the same wheel."""

from satchel.languages.javascript import JSX_QUERY
from satchel.languages.language import Language
from satchel.languages.typescript import TYPESCRIPT_QUERY

LANGUAGE = Language(
    name="tsx",
    suffixes=(".tsx",),
    grammar="tree_sitter_typescript",
    grammar_entry="language_tsx",
    line_comment="//",
    index_stems=("index",),
    query=TYPESCRIPT_QUERY + JSX_QUERY,
)
