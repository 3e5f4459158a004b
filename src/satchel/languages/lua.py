"""Lua."""

from satchel.languages.language import Language

_VALUES = (
    "[(number) (string) (true) (false) (nil) (table_constructor) (unary_expression) (binary_expression) "
    "(function_call)] @_value"
)

LANGUAGE = Language(
    name="lua",
    suffixes=(".lua", ".rockspec", ".wlua"),
    interpreters=("lua", "luajit", "texlua"),
    grammar="tree_sitter_lua",
    line_comment="--",
    name_separators=(".", ":"),
    index_stems=("init",),
    # `local json = require "json"` is an import and `local insert = table.insert` a nickname: no constants.
    query=f"""
(function_declaration name: [(identifier) (dot_index_expression)] @name) @definition.function
(function_declaration
  name: (method_index_expression table: (_) @scope method: (identifier) @name)) @definition.function
(chunk (variable_declaration (assignment_statement
  (variable_list . (identifier) @name)
  (expression_list . (function_definition body: (_)? @body)))) @definition.function)
(chunk (assignment_statement
  (variable_list . [(identifier) (dot_index_expression)] @name)
  (expression_list . (function_definition body: (_)? @body))) @definition.function)
(chunk (variable_declaration (assignment_statement
  (variable_list . (identifier) @name)
  (expression_list . {_VALUES}))) @definition.const
  (#not-match? @_value "^(pcall|require)"))
(chunk (assignment_statement
  (variable_list . [(identifier) (dot_index_expression)] @name)
  (expression_list . {_VALUES})) @definition.const
  (#not-match? @_value "^(pcall|require)"))
(chunk (variable_declaration (assignment_statement (expression_list (table_constructor
  (field name: (identifier) @name value: (function_definition body: (_)? @body)) @definition.function)))))
(chunk (assignment_statement (expression_list (table_constructor
  (field name: (identifier) @name value: (function_definition body: (_)? @body)) @definition.function))))
(chunk (return_statement (expression_list (table_constructor
  (field name: (identifier) @name value: (function_definition body: (_)? @body)) @definition.function))))
(function_call
  name: (identifier) @_group
  arguments: (arguments . (string content: (_) @name) (function_definition))
  (#any-of? @_group "context" "describe")) @container.module
(function_call
  name: (identifier) @_example
  arguments: (arguments . (string content: (_) @name) (function_definition))
  (#any-of? @_example "it" "test")) @container.function
(function_call
  name: (identifier) @_setmetatable
  arguments: (arguments (table_constructor
    (field name: (identifier) @_index value: (identifier) @reference.extends)))
  (#eq? @_setmetatable "setmetatable")
  (#eq? @_index "__index"))
(function_call
  name: (identifier) @_require
  arguments: (arguments . (string) @import)
  (#any-of? @_require "dofile" "loadfile" "require"))
(function_call
  name: (identifier) @reference.calls
  (#not-match? @reference.calls "^(context|describe|dofile|it|loadfile|require)$"))
(function_call name: (dot_index_expression field: (identifier) @reference.calls))
(function_call name: (method_index_expression method: (identifier) @reference.calls))
(comment) @comment
""",
)
