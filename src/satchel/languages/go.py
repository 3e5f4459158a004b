"""Go."""

from satchel.languages.language import Language

# The opening line of a parenthesised group belongs to its first member. Type parameters and the types
# of the language itself would be most of all uses, so they are left out.
LANGUAGE = Language(
    name="go",
    suffixes=(".go",),
    grammar="tree_sitter_go",
    line_comment="//",
    import_separator="/",
    index_stems=("main", "doc"),
    query="""
(function_declaration name: (identifier) @name) @definition.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @scope
    (pointer_type (type_identifier) @scope)
    (generic_type type: (type_identifier) @scope)
    (pointer_type (generic_type type: (type_identifier) @scope))]))
  name: (field_identifier) @name) @definition.function
(method_elem name: (field_identifier) @name) @definition.function
(type_spec name: (type_identifier) @name type: (interface_type)) @definition.interface
(type_spec name: (type_identifier) @name type: [
  (struct_type) (function_type) (map_type) (slice_type) (array_type) (pointer_type) (channel_type)
  (type_identifier) (qualified_type) (generic_type) (parenthesized_type)]) @definition.struct
(type_alias name: (type_identifier) @name) @definition.const
(source_file (const_declaration (const_spec name: (identifier) @name) @definition.const)
  (#not-eq? @name "_"))
(source_file (var_declaration [
  (var_spec name: (identifier) @name) @definition.const
  (var_spec_list (var_spec name: (identifier) @name) @definition.const)])
  (#not-eq? @name "_"))
(const_declaration "const" @leading "(")
(var_declaration "var" @leading (var_spec_list))
(type_declaration "type" @leading "(")
((comment) @comment (#not-match? @comment "^//go:"))
((comment) @leading (#match? @leading "^//go:"))

(field_declaration !name type: [(type_identifier) @reference.extends
  (qualified_type name: (type_identifier) @reference.extends)
  (generic_type type: (type_identifier) @reference.extends)])
(interface_type (type_elem . [(type_identifier) @reference.extends
  (qualified_type name: (type_identifier) @reference.extends)] .))
(call_expression function: [(identifier) @reference.calls
  (selector_expression field: (field_identifier) @reference.calls)])
(type_conversion_expression type: (generic_type type: (type_identifier) @reference.calls))
(composite_literal type: [(type_identifier) @reference.calls
  (qualified_type name: (type_identifier) @reference.calls)
  (generic_type type: (type_identifier) @reference.calls)])
([(parameter_declaration type: (type_identifier) @reference.uses)
  (parameter_declaration type: (qualified_type name: (type_identifier) @reference.uses))
  (variadic_parameter_declaration type: (type_identifier) @reference.uses)
  (field_declaration name: (_) type: (type_identifier) @reference.uses)
  (field_declaration name: (_) type: (qualified_type name: (type_identifier) @reference.uses))
  (function_declaration result: (type_identifier) @reference.uses)
  (method_declaration result: (type_identifier) @reference.uses)
  (var_spec type: (type_identifier) @reference.uses)
  (pointer_type [(type_identifier) @reference.uses (qualified_type name: (type_identifier) @reference.uses)])
  (slice_type element: (type_identifier) @reference.uses)
  (map_type value: (type_identifier) @reference.uses)]
 (#not-match? @reference.uses
  "^([A-Z]|any|bool|byte|error|float(32|64)|rune|string|u?int(8|16|32|64|ptr)?)$"))
(import_spec path: (_) @import)
""",
)
