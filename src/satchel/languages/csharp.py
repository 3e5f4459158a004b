"""C#."""

from satchel.languages.language import Language

# A property counts when it has code of its own; plain ones are as many as fields. `T` and `TItem` are
# type parameters, not uses.
LANGUAGE = Language(
    name="csharp",
    suffixes=(".cs", ".csx"),
    interpreters=("dotnet-script",),
    grammar="tree_sitter_c_sharp",
    line_comment="//",
    name_separators=(".",),
    query="""
(class_declaration name: (identifier) @name) @definition.class
(struct_declaration name: (identifier) @name) @definition.struct
(record_declaration name: (identifier) @name) @definition.struct
(enum_declaration name: (identifier) @name) @definition.enum
(interface_declaration name: (identifier) @name) @definition.interface
(delegate_declaration name: (identifier) @name) @definition.interface
(namespace_declaration name: (_) @name) @container.module
(file_scoped_namespace_declaration name: (_) @name) @namespace
(method_declaration name: (identifier) @name) @definition.function
(constructor_declaration name: (identifier) @name) @definition.function
(local_function_statement name: (identifier) @name) @definition.function
(property_declaration name: (identifier) @name
  accessors: (accessor_list (accessor_declaration body: (_)))) @definition.function
(property_declaration name: (identifier) @name value: (arrow_expression_clause)) @definition.function
(field_declaration (modifier) @_modifier
  (variable_declaration (variable_declarator name: (identifier) @name))
  (#any-of? @_modifier "const" "static")) @definition.const
(comment) @comment

(base_list [(identifier) @reference.extends
  (generic_name . (identifier) @reference.extends)
  (qualified_name name: [(identifier) @reference.extends (generic_name . (identifier) @reference.extends)])
  (primary_constructor_base_type type: [(identifier) @reference.extends
    (generic_name . (identifier) @reference.extends)])])
(invocation_expression function: [
  (identifier) @reference.calls
  (generic_name . (identifier) @reference.calls)
  (member_access_expression name: [(identifier) @reference.calls
    (generic_name . (identifier) @reference.calls)])
  (conditional_access_expression (member_binding_expression name: [(identifier) @reference.calls
    (generic_name . (identifier) @reference.calls)]))]
  (#not-eq? @reference.calls "nameof"))
(object_creation_expression type: [(identifier) @reference.calls
  (generic_name . (identifier) @reference.calls)
  (qualified_name name: (identifier) @reference.calls)])
(invocation_expression function: (member_access_expression
  expression: (identifier) @reference.uses (#match? @reference.uses "^[A-Z].*[a-z]")))
(attribute name: [(identifier) @reference.uses (qualified_name name: (identifier) @reference.uses)])
([(parameter type: [(identifier) @reference.uses (nullable_type type: (identifier) @reference.uses)])
  (parameter type: (generic_name . (identifier) @reference.uses))
  (variable_declaration type: (identifier) @reference.uses)
  (variable_declaration type: (generic_name . (identifier) @reference.uses))
  (property_declaration type: (identifier) @reference.uses)
  (property_declaration type: (generic_name . (identifier) @reference.uses))
  (method_declaration returns: (identifier) @reference.uses)
  (method_declaration returns: (generic_name . (identifier) @reference.uses))
  (array_type type: (identifier) @reference.uses)
  (type_argument_list (identifier) @reference.uses)
  (typeof_expression type: (identifier) @reference.uses)
  (cast_expression type: (identifier) @reference.uses)
  (as_expression right: (identifier) @reference.uses)]
 (#not-match? @reference.uses "^([A-Z]|T[A-Z][a-z][A-Za-z0-9]*)$"))
(using_directive !name [(identifier) (qualified_name)] @import)
(using_directive name: (_) (qualified_name) @import)
""",
)
