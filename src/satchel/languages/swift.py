"""Swift."""

from satchel.languages.language import Language

LANGUAGE = Language(
    name="swift",
    suffixes=(".swift", ".swiftinterface"),
    interpreters=("swift",),
    grammar="tree_sitter_swift",
    line_comment="//",
    name_separators=(".",),
    # The grammar gives classes, structs, enums, actors and extensions one node, told apart by their keyword,
    # and puts a function's return type into the field `name` as well. A pattern that names this field, or the
    # nodes in it, takes 130 ms to compile; one with the token before it 15.
    query="""
(class_declaration declaration_kind: ["class" "actor"] name: (type_identifier) @name) @definition.class
(class_declaration declaration_kind: "struct" name: (type_identifier) @name) @definition.struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name) @definition.enum
(class_declaration declaration_kind: "extension" name: (_) @name) @container.impl
(protocol_declaration name: (type_identifier) @name) @definition.interface
(function_declaration "func" . _ @name) @definition.function
(protocol_function_declaration name: (simple_identifier) @name) @definition.function
(init_declaration "init" @name) @definition.function
(deinit_declaration "deinit" @name) @definition.function
(subscript_declaration "subscript" @name) @definition.function
(macro_declaration . (modifiers)? . (simple_identifier) @name) @definition.function
(typealias_declaration name: (type_identifier) @name) @definition.const
(source_file (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)) @definition.const)
(property_declaration
  (modifiers (property_modifier) @_modifier)
  name: (pattern bound_identifier: (simple_identifier) @name)
  !computed_value
  (#eq? @_modifier "static")) @definition.const
(class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (_)) @definition.function)
(enum_class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (_)) @definition.function)
(inheritance_specifier inherits_from: (user_type (type_identifier) @reference.extends))
(call_expression . (simple_identifier) @reference.calls)
(call_expression . (navigation_expression
  suffix: (navigation_suffix suffix: (simple_identifier) @reference.calls)))
(call_expression . (prefix_expression (simple_identifier) @reference.calls))
(constructor_expression constructed_type: (user_type (type_identifier) @reference.calls))
(macro_invocation (simple_identifier) @reference.calls)
(parameter [
  (user_type (type_identifier) @reference.uses)
  (_ (user_type (type_identifier) @reference.uses))])
(type_annotation [
  (user_type (type_identifier) @reference.uses)
  (_ (user_type (type_identifier) @reference.uses))])
(function_declaration "->" . [
  (_ (type_identifier) @reference.uses)
  (_ (user_type (type_identifier) @reference.uses))])
(type_arguments (user_type (type_identifier) @reference.uses))
(as_expression (user_type (type_identifier) @reference.uses))
(import_declaration (identifier) @import)
(comment) @comment
(multiline_comment) @comment
""",
)
