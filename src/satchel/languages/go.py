"""Go."""

from satchel.languages.language import GraphRules, ImportBinds, Language

_PREDECLARED = (
    "append bool byte cap close complex complex64 complex128 copy delete error false float32 float64 imag"
    " int int8 int16 int32 int64 iota len make new nil panic print println real recover rune string true"
    " uint uint8 uint16 uint32 uint64 uintptr _"
)

# The opening line of a parenthesised group belongs to its first member.
LANGUAGE = Language(
    name="go",
    suffixes=(".go",),
    grammar="tree_sitter_go",
    line_comment="//",
    import_separator="/",
    index_stems=("main", "doc"),
    graph=GraphRules(
        modules="go",
        import_binds=ImportBinds.PACKAGE,
        implicit_names=True,
        names_start_at_declaration=True,
        has_named_arguments=False,
        type_arguments_in_brackets=True,
        call_marks="({",
        ignored=frozenset(_PREDECLARED.split()),
    ),
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

(package_clause (package_identifier) @package)
(import_spec !name path: (_) @import.module)
(import_spec name: [(package_identifier) (blank_identifier)] @import.alias path: (_) @import.module)
(import_spec name: (dot) @import.all path: (_) @import.module)

[(identifier) (type_identifier)] @use
[(selector_expression) (qualified_type)] @member
(composite_literal type: [(type_identifier) (qualified_type) (generic_type)]
  body: (literal_value (keyed_element key: (literal_element (identifier) @key))))
(literal_element (literal_value (keyed_element key: (literal_element (identifier) @key))))
[(block) (func_literal) (function_type) (if_statement) (for_statement) (expression_switch_statement)
 (type_switch_statement) (expression_case) (type_case) (default_case) (communication_case)] @scope

(method_declaration receiver: (parameter_list (parameter_declaration name: (identifier) @bind @bind.self)))
(method_declaration receiver: (_ (parameter_declaration type: [
  (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @bind)))
  (pointer_type (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @bind))))])))
(parameter_list (parameter_declaration name: (identifier) @bind type: (_) @bind.type))
(variadic_parameter_declaration name: (identifier) @bind type: (_) @bind.item)
(type_parameter_declaration name: (identifier) @bind)
(short_var_declaration left: (_) @bind.list right: (_) @bind.values)
(receive_statement left: (expression_list . (identifier) @bind) right: (_) @bind.value)
(receive_statement left: (expression_list (_) (identifier) @bind))
(range_clause left: (expression_list . (identifier) @bind))
(range_clause left: (expression_list (_) (identifier) @bind) right: (_) @bind.element)
(var_spec name: (identifier) @bind type: (_) @bind.type)
(var_spec !type . name: (identifier) @bind value: (expression_list . (_) @bind.value .))
(var_spec name: (identifier) @bind)
(const_spec name: (identifier) @bind type: (_) @bind.type)
(const_spec name: (identifier) @bind)
(type_switch_statement alias: (expression_list (identifier) @bind)
  (type_case . "case" . type: (_) @bind.type . ":") @bind.scope)
(type_switch_statement alias: (expression_list (identifier) @bind))

(type_spec type: (struct_type (field_declaration_list
  (field_declaration name: (field_identifier) @bind.attribute type: (_) @bind.type))))
(type_spec type: (struct_type (field_declaration_list (field_declaration !name type: (_) @base))))
(type_spec type: (struct_type (field_declaration_list (field_declaration !name type: [
  (type_identifier) @bind.attribute
  (qualified_type name: (type_identifier) @bind.attribute)
  (generic_type type: (type_identifier) @bind.attribute)] @bind.type))))
(type_spec type: (interface_type (type_elem . [(type_identifier) (qualified_type) (generic_type)] @base .)))
(type_spec type: [(slice_type) (map_type) (array_type) (channel_type)] @container)
(type_alias name: (type_identifier) @bind type: (_) @bind.type)
([(function_declaration result: [(parameter_list) @returns.list (_) @returns])
  (method_declaration result: [(parameter_list) @returns.list (_) @returns])
  (method_elem result: [(parameter_list) @returns.list (_) @returns])
  (type_spec type: (function_type result: [(parameter_list) @returns.list (_) @returns]))])
""",
)
