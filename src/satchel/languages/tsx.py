"""TSX: TypeScript with elements; a grammar of its own in the same wheel."""

from satchel.languages.javascript import GRAPH_RULES
from satchel.languages.language import Language
from satchel.languages.typescript import TYPESCRIPT_QUERY

LANGUAGE = Language(
    name="tsx",
    suffixes=(".tsx",),
    grammar="tree_sitter_typescript",
    grammar_entry="language_tsx",
    line_comment="//",
    import_separator="",
    index_stems=("index",),
    graph=GRAPH_RULES,
    query=TYPESCRIPT_QUERY,
)
