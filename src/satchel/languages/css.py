"""CSS. Rules are settings of a page, so that short neighbours share a chunk."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="css",
    suffixes=(".css", ".pcss", ".postcss"),
    grammar="tree_sitter_css",
    module_kind=ChunkKind.CONFIG,
    query="""
(stylesheet (rule_set (selectors . (_) @name)) @definition.config)
(media_statement (block (rule_set (selectors . (_) @name)) @definition.config))
(supports_statement (block (rule_set (selectors . (_) @name)) @definition.config))
(at_rule (block (rule_set (selectors . (_) @name)) @definition.config))
(keyframes_statement (keyframes_name) @name) @definition.config
(media_statement (_) @name . (block)) @definition.config
(supports_statement (_) @name . (block)) @definition.config
(at_rule (at_keyword) @name (block)) @definition.config
(import_statement [(string_value) @import (call_expression (arguments (_) @import))])
[(comment) (js_comment)] @comment
""",
)
