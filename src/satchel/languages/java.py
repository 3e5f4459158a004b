"""Java."""

from satchel.languages.language import Language

# Type parameters and the types every file uses (`String`, `Override`) say nothing about a project.
LANGUAGE = Language(
    name="java",
    suffixes=(".java", ".jav"),
    interpreters=("java",),
    grammar="tree_sitter_java",
    line_comment="//",
    index_stems=("package-info",),
    query="""
(class_declaration name: (identifier) @name) @definition.class
(record_declaration name: (identifier) @name) @definition.struct
(enum_declaration name: (identifier) @name) @definition.enum
(interface_declaration name: (identifier) @name) @definition.interface
(annotation_type_declaration name: (identifier) @name) @definition.interface
(module_declaration name: (_) @name) @definition.module
(method_declaration name: (identifier) @name) @definition.function
(constructor_declaration name: (identifier) @name) @definition.function
(compact_constructor_declaration name: (identifier) @name) @definition.function
(annotation_type_element_declaration name: (identifier) @name) @definition.function
(field_declaration
  [(modifiers "static" "final") (modifiers "final" "static")]
  declarator: (variable_declarator name: (identifier) @name)) @definition.const
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.const
[(line_comment) (block_comment)] @comment

(superclass [(type_identifier) @reference.extends
  (generic_type . (type_identifier) @reference.extends)
  (scoped_type_identifier (type_identifier) @reference.extends .)
  (generic_type . (scoped_type_identifier (type_identifier) @reference.extends .))])
([(super_interfaces (type_list [(type_identifier) @reference.extends
   (generic_type . (type_identifier) @reference.extends)
   (scoped_type_identifier (type_identifier) @reference.extends .)]))
  (extends_interfaces (type_list [(type_identifier) @reference.extends
   (generic_type . (type_identifier) @reference.extends)
   (scoped_type_identifier (type_identifier) @reference.extends .)]))])
(method_invocation name: (identifier) @reference.calls)
(method_reference (identifier) @reference.calls .)
(object_creation_expression type: [(type_identifier) @reference.calls
  (generic_type . (type_identifier) @reference.calls)
  (scoped_type_identifier (type_identifier) @reference.calls .)])
(method_invocation object: (identifier) @reference.uses (#match? @reference.uses "^[A-Z].*[a-z]"))
([(marker_annotation name: (identifier) @reference.uses)
  (annotation name: (identifier) @reference.uses)
  (formal_parameter type: (type_identifier) @reference.uses)
  (formal_parameter type: (generic_type . (type_identifier) @reference.uses))
  (field_declaration type: (type_identifier) @reference.uses)
  (field_declaration type: (generic_type . (type_identifier) @reference.uses))
  (local_variable_declaration type: (type_identifier) @reference.uses)
  (method_declaration type: (type_identifier) @reference.uses)
  (method_declaration type: (generic_type . (type_identifier) @reference.uses))
  (array_type element: (type_identifier) @reference.uses)
  (type_arguments (type_identifier) @reference.uses)
  (type_bound (type_identifier) @reference.uses)
  (cast_expression type: (type_identifier) @reference.uses)
  (class_literal (type_identifier) @reference.uses)
  (instanceof_expression right: (type_identifier) @reference.uses)]
 (#not-match? @reference.uses "^([A-Z]|String|Object|Integer|Long|Boolean|Double|Class|Void|Override)$"))
(import_declaration [(scoped_identifier) (identifier)] @import)
(requires_module_directive module: (_) @import)
""",
)
