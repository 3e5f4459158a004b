"""Rust."""

from satchel.languages.language import Language

# Assertions hold most calls of a test, and a macro's arguments are bare tokens: a name followed by
# a group counts as a call there. `Type::function` uses the type as well. Names of one capital letter
# are type parameters.
LANGUAGE = Language(
    name="rust",
    suffixes=(".rs",),
    interpreters=("rust-script",),
    grammar="tree_sitter_rust",
    line_comment="//",
    name_separators=("::",),
    import_separator="::",
    index_stems=("mod", "lib", "main"),
    query="""
(function_item name: (identifier) @name) @definition.function
(function_signature_item name: (identifier) @name) @definition.function
(macro_definition name: (identifier) @name) @definition.function
(struct_item name: (type_identifier) @name) @definition.struct
(union_item name: (type_identifier) @name) @definition.struct
(enum_item name: (type_identifier) @name) @definition.enum
(trait_item name: (type_identifier) @name) @definition.trait
(mod_item name: (identifier) @name body: (_)) @definition.module
(impl_item type: [
  (type_identifier) @name
  (scoped_type_identifier name: (type_identifier) @name)
  (generic_type type: [(type_identifier) @name (scoped_type_identifier name: (type_identifier) @name)])
  (reference_type) @name (tuple_type) @name (array_type) @name (primitive_type) @name
  (dynamic_type) @name (pointer_type) @name (function_type) @name (unit_type) @name]) @container.impl
(source_file [(const_item name: (identifier) @name) (static_item name: (identifier) @name)
  (type_item name: (type_identifier) @name)] @definition.const)
(declaration_list [(const_item name: (identifier) @name) (static_item name: (identifier) @name)]
  @definition.const)
(mod_item body: (declaration_list (type_item name: (type_identifier) @name) @definition.const))
(attribute_item) @leading
[(line_comment) (block_comment)] @comment

(impl_item trait: [(type_identifier) @reference.extends
  (scoped_type_identifier name: (type_identifier) @reference.extends)
  (generic_type type: [(type_identifier) @reference.extends
    (scoped_type_identifier name: (type_identifier) @reference.extends)])])
(trait_item bounds: (trait_bounds [(type_identifier) @reference.extends
  (scoped_type_identifier name: (type_identifier) @reference.extends)
  (generic_type type: (type_identifier) @reference.extends)]))
(call_expression function: [
  (identifier) @reference.calls
  (field_expression field: (field_identifier) @reference.calls)
  (scoped_identifier name: (identifier) @reference.calls)
  (generic_function function: [(identifier) @reference.calls
    (scoped_identifier name: (identifier) @reference.calls)
    (field_expression field: (field_identifier) @reference.calls)])])
(scoped_identifier path: (identifier) @reference.uses (#match? @reference.uses "^[A-Z].*[a-z]"))
(macro_invocation macro: [(identifier) @reference.calls
  (scoped_identifier name: (identifier) @reference.calls)])
(macro_invocation (token_tree (identifier) @reference.calls . (token_tree)))
(struct_expression name: [(type_identifier) @reference.calls
  (scoped_type_identifier name: (type_identifier) @reference.calls)]
  (#not-eq? @reference.calls "Self"))
([(parameter type: (type_identifier) @reference.uses)
 (parameter type: (generic_type type: (type_identifier) @reference.uses))
 (field_declaration type: (type_identifier) @reference.uses)
 (field_declaration type: (generic_type type: (type_identifier) @reference.uses))
 (function_item return_type: (type_identifier) @reference.uses)
 (ordered_field_declaration_list type: (type_identifier) @reference.uses)
 (reference_type type: (type_identifier) @reference.uses)
 (reference_type type: (generic_type type: (type_identifier) @reference.uses))
 (type_arguments (type_identifier) @reference.uses)
 (abstract_type trait: (type_identifier) @reference.uses)
 (dynamic_type trait: (type_identifier) @reference.uses)]
 (#not-match? @reference.uses "^(Self|[A-Z])$"))

(use_declaration argument: [(identifier) (scoped_identifier)] @import)
(use_declaration argument: (use_as_clause path: (_) @import))
(use_declaration argument: (use_wildcard (_) @import))
(use_declaration argument: (scoped_use_list path: (_) @import.module list: (use_list [
  (identifier) @import.name
  (scoped_identifier) @import.name
  (use_as_clause path: (_) @import.name)
  (use_wildcard (_) @import.name)
  (scoped_use_list path: (_) @import.name)])))
(use_declaration argument: (scoped_use_list path: (_) @import list: (use_list (self))))
(extern_crate_declaration name: (identifier) @import)
(mod_item name: (identifier) @import !body)
""",
)
