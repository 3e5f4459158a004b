"""PHP."""

from satchel.languages.language import Language

LANGUAGE = Language(
    name="php",
    suffixes=(".php", ".phtml", ".php5", ".php7", ".php8", ".phps", ".phpt"),
    interpreters=("php",),
    grammar="tree_sitter_php",
    grammar_entry="language_php",
    line_comment="//",
    name_separators=("\\",),
    import_separator="\\",
    query="""
(namespace_definition name: (_) @name body: (_)) @container.module
(namespace_definition name: (_) @name !body) @namespace
(class_declaration name: (_) @name) @definition.class
(interface_declaration name: (_) @name) @definition.interface
(trait_declaration name: (_) @name) @definition.trait
(enum_declaration name: (_) @name) @definition.enum
(function_definition name: (_) @name) @definition.function
(method_declaration name: (_) @name) @definition.function
(const_declaration) @wrapper
(const_element . (name) @name) @definition.const
(expression_statement
  (function_call_expression
    function: (name) @_define
    arguments: (arguments . (argument (string (string_content) @name))))
  (#eq? @_define "define")) @definition.const
(base_clause [(name) @reference.extends (qualified_name (name) @reference.extends)])
(class_interface_clause [(name) @reference.extends (qualified_name (name) @reference.extends)])
(use_declaration [(name) @reference.extends (qualified_name (name) @reference.extends)])
(function_call_expression function: [(name) @reference.calls (qualified_name (name) @reference.calls)])
(member_call_expression name: (name) @reference.calls)
(nullsafe_member_call_expression name: (name) @reference.calls)
(scoped_call_expression name: (name) @reference.calls)
(scoped_call_expression scope: [(name) @reference.uses (qualified_name (name) @reference.uses)])
(class_constant_access_expression . [(name) @reference.uses (qualified_name (name) @reference.uses)])
(object_creation_expression
  [(name) @reference.calls (qualified_name (name) @reference.calls)]
  (#not-match? @reference.calls "^(parent|self|static)$"))
(named_type
  [(name) @reference.uses (qualified_name (name) @reference.uses)]
  (#not-match? @reference.uses "^(parent|self|static)$"))
(attribute [(name) @reference.uses (qualified_name (name) @reference.uses)])
(namespace_use_declaration (namespace_use_clause . [(name) (qualified_name)] @import))
(namespace_use_declaration
  (namespace_name) @import.module
  body: (namespace_use_group (namespace_use_clause . [(name) (qualified_name)] @import.name)))
(include_expression [(string) @import (binary_expression right: (string) @import)
  (parenthesized_expression [(string) @import (binary_expression right: (string) @import)])])
(include_once_expression [(string) @import (binary_expression right: (string) @import)
  (parenthesized_expression [(string) @import (binary_expression right: (string) @import)])])
(require_expression [(string) @import (binary_expression right: (string) @import)
  (parenthesized_expression [(string) @import (binary_expression right: (string) @import)])])
(require_once_expression [(string) @import (binary_expression right: (string) @import)
  (parenthesized_expression [(string) @import (binary_expression right: (string) @import)])])
(comment) @comment
""",
)
