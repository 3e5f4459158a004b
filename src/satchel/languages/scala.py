"""Scala 2 and 3."""

from satchel.languages.language import Language

LANGUAGE = Language(
    name="scala",
    suffixes=(".scala", ".sc", ".mill"),
    interpreters=("scala", "scala-cli", "amm"),
    grammar="tree_sitter_scala",
    line_comment="//",
    name_separators=(".",),
    index_stems=("package",),
    # An import's path is a run of identifiers without a node of its own: all of them are one capture.
    query="""
(package_clause name: (_) @name body: (_)) @container.module
(package_object name: (_) @name) @definition.module
(class_definition name: (_) @name) @definition.class
(object_definition name: (_) @name) @definition.class
(trait_definition name: (_) @name) @definition.trait
(enum_definition name: (_) @name) @definition.enum
(function_definition name: (_) @name) @definition.function
(function_declaration name: (_) @name) @definition.function
(given_definition name: (_) @name) @definition.impl
(given_definition !name return_type: (_) @name) @container.impl
(extension_definition parameters: (parameters . (parameter type: (_) @name))) @container.impl
(type_definition name: (_) @name) @definition.const
(compilation_unit [
  (val_definition pattern: (identifier) @name)
  (var_definition pattern: (identifier) @name)] @definition.const)
(object_definition body: (template_body [
  (val_definition pattern: (identifier) @name)
  (var_definition pattern: (identifier) @name)] @definition.const))
(package_object body: (template_body [
  (val_definition pattern: (identifier) @name)
  (var_definition pattern: (identifier) @name)] @definition.const))
(extends_clause [
  (type_identifier) @reference.extends
  (stable_type_identifier (type_identifier) @reference.extends)
  (generic_type type: (type_identifier) @reference.extends)
  (generic_type type: (stable_type_identifier (type_identifier) @reference.extends))])
(derives_clause (type_identifier) @reference.uses)
(call_expression function: [
  (identifier) @reference.calls
  (field_expression field: (identifier) @reference.calls)
  (generic_function function: (identifier) @reference.calls)
  (generic_function function: (field_expression field: (identifier) @reference.calls))])
(infix_expression operator: (identifier) @reference.calls)
(instance_expression [
  (type_identifier) @reference.calls
  (stable_type_identifier (type_identifier) @reference.calls)
  (generic_type type: (type_identifier) @reference.calls)])
(parameter type: [(type_identifier) @reference.uses (generic_type . (type_identifier) @reference.uses)])
(class_parameter type: [(type_identifier) @reference.uses (generic_type . (type_identifier) @reference.uses)])
(function_definition
  return_type: [(type_identifier) @reference.uses (generic_type . (type_identifier) @reference.uses)])
(function_declaration
  return_type: [(type_identifier) @reference.uses (generic_type . (type_identifier) @reference.uses)])
(given_definition
  return_type: [(type_identifier) @reference.uses (generic_type . (type_identifier) @reference.uses)])
(val_definition type: [(type_identifier) @reference.uses (generic_type . (type_identifier) @reference.uses)])
(type_arguments (type_identifier) @reference.uses (#match? @reference.uses ".."))
(annotation name: (type_identifier) @reference.uses)
(import_declaration . (identifier) @import . ("." . (identifier) @import)*)
(import_declaration "," . (identifier) @import . ("." . (identifier) @import)*)
(import_declaration
  . (identifier) @import.module . ("." . (identifier) @import.module)*
  . "." . (namespace_selectors [
    (identifier) @import.name
    (arrow_renamed_identifier name: (identifier) @import.name)
    (as_renamed_identifier name: (identifier) @import.name)]))
(comment) @comment
(block_comment) @comment
""",
)
