"""Python."""

from satchel.languages.language import Language

LANGUAGE = Language(
    name="python",
    suffixes=(".py", ".pyi", ".pyw"),
    filenames=("SConstruct", "SConscript", "wscript"),
    interpreters=("python", "pypy"),
    grammar="tree_sitter_python",
    line_comment="#",
    index_stems=("__init__",),
    query="""
(function_definition
  name: (identifier) @name
  body: (block . (expression_statement (string) @doc)?)) @definition.function
(class_definition
  name: (identifier) @name
  body: (block . (expression_statement (string) @doc)?)) @definition.class
(class_definition superclasses: (argument_list
  [(identifier) @reference.extends (attribute attribute: (identifier) @reference.extends)]))
(decorated_definition) @wrapper
(module (expression_statement (assignment left: (identifier) @name)) @definition.const)
(module . (expression_statement (string) @comment))
(comment) @comment
(call function: [(identifier) @reference.calls (attribute attribute: (identifier) @reference.calls)])
(decorator [(identifier) @reference.uses (attribute attribute: (identifier) @reference.uses)])
(import_statement name: [(dotted_name) @import (aliased_import name: (dotted_name) @import)])
(import_from_statement
  module_name: (_) @import.module
  name: [(dotted_name) @import.name (aliased_import name: (dotted_name) @import.name)])
(import_from_statement module_name: (_) @import (wildcard_import))
""",
)
