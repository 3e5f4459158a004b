"""Kotlin."""

from satchel.languages.language import Language

# The grammar has one node for classes, interfaces and enums, and names none of their bodies: the
# patterns for classes spell out how a class may end. It takes any body on one line for that of an enum:
# only the word makes one, and its pattern stands first, for the first that names a node counts.
LANGUAGE = Language(
    name="kotlin",
    suffixes=(".kt", ".kts"),
    interpreters=("kotlin", "kotlinc"),
    grammar="tree_sitter_kotlin",
    endless=True,  # `]`, `#` and others at the start of a line, inside a broken statement
    line_comment="//",
    query="""
(class_declaration (modifiers (class_modifier "enum")) name: (identifier) @name (enum_class_body) @body)
  @definition.enum
(class_declaration "class" name: (identifier) @name [(class_body) (enum_class_body)] @body .)
  @definition.class
(class_declaration "class" name: (identifier) @name .) @definition.class
(class_declaration "class" name: (identifier) @name
  [(primary_constructor) (delegation_specifiers) (type_parameters) (type_constraints)] @signature .)
  @definition.class
(class_declaration "interface" name: (identifier) @name [(class_body) (enum_class_body)]? @body)
  @definition.interface
(object_declaration name: (identifier) @name (class_body)? @body) @definition.class
(type_alias type: (identifier) @name) @definition.const
(function_declaration
  [(user_type . (identifier) @scope) (nullable_type (user_type . (identifier) @scope))]
  . name: (identifier) @name (function_body)? @body) @definition.function
(function_declaration name: (identifier) @name (function_body)? @body) @definition.function
(secondary_constructor "constructor" @name (block)? @body) @definition.function
(class_body (property_declaration
  (variable_declaration . (identifier) @name) (getter (function_body) @body)) @definition.function)
(source_file (property_declaration (variable_declaration . (identifier) @name)) @definition.const)
(companion_object (class_body
  (property_declaration (variable_declaration . (identifier) @name)) @definition.const))
(object_declaration (class_body
  (property_declaration (variable_declaration . (identifier) @name)) @definition.const))
[(line_comment) (block_comment)] @comment

(delegation_specifier [
  (user_type (identifier) @reference.extends .)
  (user_type (identifier) @reference.extends . (type_arguments) .)
  (constructor_invocation (user_type (identifier) @reference.extends .))
  (constructor_invocation (user_type (identifier) @reference.extends . (type_arguments) .))
  (explicit_delegation (user_type (identifier) @reference.extends .))
  (explicit_delegation (user_type (identifier) @reference.extends . (type_arguments) .))])
(call_expression . [(identifier) @reference.calls
  (navigation_expression (identifier) @reference.calls .)])
(call_expression . (navigation_expression
  . (identifier) @reference.uses (#match? @reference.uses "^[A-Z].*[a-z]")))
([(annotation (user_type (identifier) @reference.uses .))
  (annotation (constructor_invocation (user_type (identifier) @reference.uses .)))
  (parameter (user_type . (identifier) @reference.uses))
  (class_parameter (user_type . (identifier) @reference.uses))
  (variable_declaration (user_type . (identifier) @reference.uses))
  (function_declaration name: (_) (user_type . (identifier) @reference.uses))
  (nullable_type (user_type . (identifier) @reference.uses))
  (type_projection (user_type . (identifier) @reference.uses))
  (type_parameter (user_type . (identifier) @reference.uses))
  (as_expression right: (user_type . (identifier) @reference.uses))]
 (#not-match? @reference.uses "^([A-Z]|String|Int|Long|Boolean|Double|Any|Unit|Override)$"))
(import (qualified_identifier) @import)
""",
)
