"""Haskell."""

from satchel.languages.language import Language

LANGUAGE = Language(
    name="haskell",
    suffixes=(".hs", ".hs-boot", ".hsc"),
    interpreters=("runghc", "runhaskell"),
    grammar="tree_sitter_haskell",
    line_comment="--",
    merge_clauses=True,
    # A value whose type is one plain name or a list is a constant; every other type may well be a function's.
    query="""
(data_type name: (_) @name) @definition.struct
(newtype name: (_) @name) @definition.struct
(data_family name: (_) @name) @definition.struct
(type_synonym name: (_) @name) @definition.const
(type_family name: (_) @name) @definition.const
(class name: (_) @name declarations: (_)? @body) @definition.trait
(instance name: (_) @scope patterns: (type_patterns . [
  (parens type: (_) @name)
  (name) @name
  (qualified) @name
  (list) @name
  (prefix_list) @name
  (tuple) @name
  (prefix_tuple) @name
  (unit) @name
  (variable) @name])) @container.impl
(declarations
  (signature
    name: [(variable) @name (prefix_id (operator) @name)]
    type: [(name) (qualified) (list) (tuple)]) @definition.const @signature)
(declarations
  (signature
    name: [(variable) @name (prefix_id (operator) @name)]
    type: [(function) (linear_function) (apply) (forall) (context) (variable) (infix) (unit)])
  @definition.function @signature)
(class_declarations
  (signature name: [(variable) @name (prefix_id (operator) @name)]) @definition.function @signature)
(local_binds (signature name: (variable) @name type: (function)) @definition.function @signature)
(function
  name: [(variable) @name (prefix_id (operator) @name)]
  patterns: (_) . match: (_) @body) @definition.function
(function
  (infix operator: [(operator) @name (infix_id (variable) @name)]) . match: (_) @body) @definition.function
(declarations (bind name: [(variable) @name (prefix_id (operator) @name)] . match: (_) @body)
  @definition.function)
(class_declarations (bind name: [(variable) @name (prefix_id (operator) @name)] . match: (_) @body)
  @definition.function)
(instance_declarations (bind name: [(variable) @name (prefix_id (operator) @name)] . match: (_) @body)
  @definition.function)
(foreign_import signature: (signature name: (variable) @name)) @definition.function @signature
(pattern_synonym (_ synonym: (_) @name)) @definition.const
(class context: (context [
  (apply constructor: (name) @reference.extends)
  (_ (apply constructor: (name) @reference.extends))]))
(instance name: [(name) @reference.extends (qualified id: (name) @reference.extends)])
(deriving_instance name: (name) @reference.extends)
(deriving classes: [(name) @reference.extends (_ (name) @reference.extends)])
(apply function: [
  (variable) @reference.calls
  (constructor) @reference.calls
  (qualified id: (_) @reference.calls)])
(infix operator: (infix_id [(variable) @reference.calls (qualified id: (_) @reference.calls)]))
(infix
  left_operand: [(variable) @reference.calls (qualified id: (variable) @reference.calls)]
  operator: (operator) @_application
  (#eq? @_application "$"))
(signature type: (name) @reference.uses)
(field type: (name) @reference.uses)
(function parameter: [(name) @reference.uses (qualified id: (name) @reference.uses)])
(function result: [(name) @reference.uses (qualified id: (name) @reference.uses)])
(apply constructor: [(name) @reference.uses (qualified id: (name) @reference.uses)])
(apply argument: (name) @reference.uses)
(import module: (module) @import)
(pragma) @leading
(haddock) @comment
(comment) @comment
""",
)
