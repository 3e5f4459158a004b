"""TypeScript, and the query that TSX shares."""

from satchel.languages.javascript import (
    FUNCTION_VALUE,
    GRAPH_RULES,
    MEMBERS,
    SHARED_QUERY,
    callbacks_with,
    variables_of,
)
from satchel.languages.language import Language

# An overload belongs to the implementation below it; only an ambient signature defines its function.
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

(type_identifier) @use.type
(nested_type_identifier) @member.type
[(function_type) (constructor_type) (type_alias_declaration) (call_signature) (construct_signature)
 (method_signature) (function_signature) (internal_module) (module)] @scope
(type_parameter name: (type_identifier) @generic !constraint)
(type_parameter name: (type_identifier) @generic constraint: (constraint (_) @generic.bound))
[(mapped_type_clause name: (type_identifier) @generic) (infer_type (type_identifier) @generic)]
(extends_clause value: [(identifier) (member_expression)] @base)
(implements_clause [(type_identifier) @base (nested_type_identifier) @base (generic_type name: (_) @base)])
(extends_type_clause type: [(type_identifier) @base (nested_type_identifier) @base
  (generic_type name: (_) @base)])
[(required_parameter pattern: (identifier) @bind type: (_) @bind.type)
 (required_parameter pattern: (identifier) @bind !type)
 (required_parameter pattern: (rest_pattern (identifier) @bind) type: (_) @bind.type)
 (optional_parameter pattern: (identifier) @bind type: (_) @bind.type)
 (optional_parameter pattern: (identifier) @bind !type)]
(required_parameter pattern: (identifier) @bind !type value: (_) @bind.value)
(required_parameter pattern: {MEMBERS} type: (_) @bind.type)
(_ [(accessibility_modifier) (override_modifier) "readonly"] pattern: (identifier) @bind.attribute
  type: (_) @bind.type)
{callbacks_with("(required_parameter pattern: (identifier) @bind !type)")}
(variable_declarator name: (identifier) @bind type: (_) @bind.type)
(variable_declarator name: (identifier) @bind !type value: (_) @bind.value)
(variable_declarator name: (identifier) @bind !type value: (as_expression (_) . (_) @bind.type))
(public_field_definition name: (_) @bind type: (_) @bind.type)
(public_field_definition name: (_) @bind !type value: (_) @bind.value)
(interface_body (property_signature name: (property_identifier) @bind type: (_) @bind.type))
(type_alias_declaration value: (object_type
  (property_signature name: (property_identifier) @bind type: (_) @bind.type)))
(type_alias_declaration name: (_) @bind value: (_) @bind.alias)
[(function_declaration return_type: (_) @returns) (generator_function_declaration return_type: (_) @returns)
 (function_signature return_type: (_) @returns) (method_definition return_type: (_) @returns)
 (method_signature return_type: (_) @returns) (abstract_method_signature return_type: (_) @returns)
 (arrow_function return_type: (_) @returns) (function_expression return_type: (_) @returns)]
(import_statement (import_require_clause (identifier) @import.alias source: (string) @import.module))
(function_signature name: (identifier) @bind)
(export_statement declaration: (ambient_declaration [(_ name: (_) @export)
  (_ (variable_declarator name: (identifier) @export))]))
(import_alias (identifier) @bind (_) @bind.value)
(export_statement "=" @bind.whole (_) @bind.value)
"""
)

LANGUAGE = Language(
    name="typescript",
    suffixes=(".ts", ".mts", ".cts"),
    interpreters=("deno", "bun", "ts-node", "tsx"),
    grammar="tree_sitter_typescript",
    grammar_entry="language_typescript",
    line_comment="//",
    import_separator="",
    index_stems=("index",),
    graph=GRAPH_RULES,
    query=TYPESCRIPT_QUERY,
)
