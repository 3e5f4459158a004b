"""TypeScript, and the query that TSX shares."""

from satchel.languages.javascript import FUNCTION_VALUE, SHARED_QUERY, variables_of
from satchel.languages.language import Language

# An overload belongs to the implementation below it; only an ambient signature defines its function.
# Names of one capital letter are type parameters, not uses.
TYPESCRIPT_QUERY = (
    SHARED_QUERY
    + variables_of("(internal_module body: (statement_block {}))")
    + variables_of("(module body: (statement_block {}))")
    + variables_of("(ambient_declaration {})")
    + f"""
(ambient_declaration) @wrapper
(expression_statement (internal_module)) @wrapper
(internal_module name: (_) @name) @container.module
(module name: [(string (string_fragment) @name) (identifier) @name]) @container.module
(abstract_class_declaration name: (_) @name) @definition.class
(interface_declaration name: (_) @name) @definition.interface
(enum_declaration name: (_) @name) @definition.enum
(type_alias_declaration name: (_) @name value: (object_type) @body) @definition.struct
(type_alias_declaration name: (_) @name value: (_)) @definition.const
(abstract_method_signature name: (_) @name) @definition.function
(interface_body (method_signature name: (_) @name) @definition.function)
(public_field_definition name: (_) @name value: {FUNCTION_VALUE}) @definition.function
(ambient_declaration (function_signature name: (_) @name) @definition.function)
(module body: (statement_block [(function_signature name: (_) @name) @definition.function
  (export_statement (function_signature name: (_) @name) @definition.function)]))
(program (function_signature) @leading)
(program (export_statement declaration: (function_signature)) @leading)
(class_body [(method_signature) (decorator)] @leading)

(extends_clause value: [(identifier) @reference.extends
  (member_expression property: (property_identifier) @reference.extends)])
(implements_clause [(type_identifier) @reference.extends
  (nested_type_identifier name: (type_identifier) @reference.extends)
  (generic_type name: [(type_identifier) @reference.extends
    (nested_type_identifier name: (type_identifier) @reference.extends)])])
(extends_type_clause type: [(type_identifier) @reference.extends
  (nested_type_identifier name: (type_identifier) @reference.extends)
  (generic_type name: [(type_identifier) @reference.extends
    (nested_type_identifier name: (type_identifier) @reference.extends)])])
([(type_annotation (type_identifier) @reference.uses)
 (type_annotation (generic_type name: (type_identifier) @reference.uses))
 (type_arguments (type_identifier) @reference.uses)
 (type_arguments (generic_type name: (type_identifier) @reference.uses))
 (array_type (type_identifier) @reference.uses)
 (union_type (type_identifier) @reference.uses)
 (intersection_type (type_identifier) @reference.uses)
 (as_expression (type_identifier) @reference.uses)]
 (#not-match? @reference.uses "^[A-Z]$"))
(import_require_clause source: (string) @import)
"""
)

LANGUAGE = Language(
    name="typescript",
    suffixes=(".ts", ".mts", ".cts"),
    interpreters=("deno", "bun", "ts-node", "tsx"),
    grammar="tree_sitter_typescript",
    grammar_entry="language_typescript",
    line_comment="//",
    index_stems=("index",),
    query=TYPESCRIPT_QUERY,
)
