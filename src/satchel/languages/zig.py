"""Zig."""

from satchel.languages.language import Language

# What makes a `const` a type or an import rather than a constant.
_NO_CONSTANT = "^((packed|extern) )?(struct|union|enum|opaque)[ ({]|^error *{[^}]*}$|^@(import|This)"

LANGUAGE = Language(
    name="zig",
    suffixes=(".zig",),
    grammar="tree_sitter_zig",
    line_comment="//",
    index_stems=("root",),
    # A function that returns `type` is Zig's generic type: what it holds are methods.
    query="""
(variable_declaration . (identifier) @name (struct_declaration) .) @definition.struct
(variable_declaration . (identifier) @name (union_declaration) .) @definition.struct
(variable_declaration . (identifier) @name (opaque_declaration) .) @definition.struct
(variable_declaration . (identifier) @name (enum_declaration) .) @definition.enum
(variable_declaration . (identifier) @name (error_set_declaration) .) @definition.enum
(function_declaration
  name: (identifier) @name
  type: (_) @_returned
  (#not-eq? @_returned "type")) @definition.function
(function_declaration
  name: (identifier) @name
  type: (builtin_type) @_returned
  (#eq? @_returned "type")) @definition.struct
(source_file
  (variable_declaration . (identifier) @name (_) @_value .) @definition.const
  (#not-match? @_value "NO_CONSTANT"))
(struct_declaration
  (variable_declaration . (identifier) @name (_) @_value .) @definition.const
  (#not-match? @_value "NO_CONSTANT"))
(test_declaration [(string (string_content) @name) (identifier) @name]) @container.function
(call_expression function: [
  (identifier) @reference.calls
  (field_expression member: (identifier) @reference.calls)])
(struct_initializer . [
  (identifier) @reference.calls
  (field_expression member: (identifier) @reference.calls)])
(parameter type: [(identifier) @reference.uses (field_expression member: (identifier) @reference.uses)])
(container_field type: [(identifier) @reference.uses (field_expression member: (identifier) @reference.uses)])
(function_declaration
  type: [(identifier) @reference.uses (field_expression member: (identifier) @reference.uses)])
(pointer_type [(identifier) @reference.uses (field_expression member: (identifier) @reference.uses)])
(slice_type [(identifier) @reference.uses (field_expression member: (identifier) @reference.uses)])
(nullable_type [(identifier) @reference.uses (field_expression member: (identifier) @reference.uses)])
(error_union_type [(identifier) @reference.uses (field_expression member: (identifier) @reference.uses)])
(builtin_function
  (builtin_identifier) @_import
  (arguments (string) @import)
  (#any-of? @_import "@cInclude" "@embedFile" "@import"))
(comment) @comment
""".replace("NO_CONSTANT", _NO_CONSTANT),
)
