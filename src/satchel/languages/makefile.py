"""Makefiles. A target is what one runs, so it is a function; a variable is a constant."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="makefile",
    suffixes=(".mk", ".mak", ".make"),
    filenames=("Makefile", "makefile", "GNUmakefile", "Kbuild"),
    interpreters=("make",),
    grammar="tree_sitter_make",
    module_kind=ChunkKind.CONFIG,
    line_comment="#",
    # Two traps of the grammar: `obj-$(X) += …` of kernel makefiles reads as a rule, and a rule
    # swallows the conditional section below it; then only its head is taken.
    query="""
((rule (targets . (_) @name)) @definition.function
  (#not-match? @name "^[.]|^(obj|lib|subdir)-")
  (#not-match? @definition.function "\\nif[^\\n]*\\n+[^\\t\\n]"))
((rule (targets . (_) @name) @definition.function) @_rule
  (#not-match? @name "^[.]|^(obj|lib|subdir)-")
  (#match? @_rule "\\nif[^\\n]*\\n+[^\\t\\n]"))
(variable_assignment name: (word) @name) @definition.const
(define_directive name: (word) @name) @definition.function
(rule normal: (prerequisites (word) @reference.uses))
(include_directive filenames: (list (word) @import))
(comment) @comment
""",
)
