"""C++."""

from satchel.languages.c import SHARED_QUERY, TYPE_PLACES, types_in, variables_at
from satchel.languages.language import Language

_TYPES = """
({place} (class_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name)
  (qualified_identifier) @name] body: (_)) @definition.class)
({place} [
  (struct_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name)
    (qualified_identifier) @name] body: (_))
  (union_specifier name: (type_identifier) @name body: (_))] @definition.struct)
({place} (enum_specifier name: (type_identifier) @name body: (_)) @definition.enum)
"""
_VARIABLE_LEVELS = (
    "(translation_unit {})",
    "(translation_unit [(preproc_ifdef {}) (preproc_if {})])",
    "(declaration_list {})",
)

# The declarators a function may have. A qualifier is its scope, without template arguments.
_FUNCTION = """(function_declarator declarator: [
  (identifier) @name
  (field_identifier) @name
  (operator_name) @name
  (destructor_name) @name
  (template_function name: (identifier) @name)
  (qualified_identifier
    scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)]
    name: (_) @name)])"""

# Macros that the grammar takes for types, so that the class behind them is lost: one with a line for itself
# (NAMESPACE_BEGIN) unless the line above runs on into it, as a list of arguments does, and those between
# `class` and a name that is followed by what only a definition has. Every pattern starts with a fixed text,
# which is found ten times as fast as a choice of two.
_MACRO = r"[A-Z][A-Z0-9_]{3,}+"
_MACRO_LINE = rf"\n(?<![,(=|&+*/?<\\-]\n)[ \t]*+({_MACRO})(?=[ \t]*+\n)"
_MACROS_BEFORE_NAME = (
    rf"\s++((?:{_MACRO}(?:\([^()\n]*+\))?\s++)++)"
    r"(?=(?!final\b)[A-Za-z_][\w:]*+(?:<[^<>;{}]*+>)?(?:\s++final\b)?\s*+(?::(?!:)|\{))"
)

# A macro before a class name makes the grammar see a function; a declared function without a body,
# deleted or defaulted ones included, is no definition. A macro test is named after its arguments.
LANGUAGE = Language(
    name="cpp",
    claims=(
        (
            ".h",
            r"^\s*(?:namespace\s+[\w:]+\s*\{|template\s*<|class\s+\w[^;]*$|(?:public|private|protected)\s*:|using\s+namespace\s)",
        ),
    ),
    suffixes=(
        ".cpp",
        ".cc",
        ".cxx",
        ".c++",
        ".hpp",
        ".hh",
        ".hxx",
        ".h++",
        ".ipp",
        ".tpp",
        ".inl",
        ".cppm",
        ".ixx",
        ".cu",
        ".cuh",
        ".ino",
    ),
    grammar="tree_sitter_cpp",
    line_comment="//",
    name_separators=("::",),
    blanked=(
        _MACRO_LINE,
        rf"class(?<!\wclass){_MACROS_BEFORE_NAME}",
        rf"struct(?<!\wstruct){_MACROS_BEFORE_NAME}",
    ),
    query=SHARED_QUERY
    + f"""
(function_definition declarator: [
  {_FUNCTION}
  (pointer_declarator declarator: {_FUNCTION})
  (pointer_declarator declarator: (pointer_declarator declarator: {_FUNCTION}))
  (reference_declarator {_FUNCTION})]
  body: (_)
  (#not-match? @name "^(TEST(_[FP])?|TYPED_TEST(_P)?|if|for|while|switch|else)$")) @definition.function
"""
    + """
(function_definition
  declarator: (function_declarator declarator: (identifier) @_macro parameters: (parameter_list
    . (parameter_declaration type: (type_identifier) @scope)
    . (parameter_declaration type: (type_identifier) @name) .))
  (#match? @_macro "^(TEST(_[FP])?|TYPED_TEST(_P)?)$")) @definition.function
(translation_unit
  (expression_statement (call_expression
    function: (identifier) @_macro
    arguments: (argument_list . (string_literal (string_content) @name)))) @leading
  . (compound_statement) @container.function
  (#any-of? @_macro "TEST_CASE" "TEST_CASE_METHOD" "SCENARIO"))
(function_definition type: (class_specifier) . declarator: (identifier) @name) @definition.class
(function_definition type: (struct_specifier) . declarator: (identifier) @name) @definition.struct
(function_definition type: [(class_specifier) (struct_specifier)]
  . (ERROR . (identifier) @name) . declarator: (identifier) @reference.extends) @definition.class
(namespace_definition name: (_) @name) @container.module
(template_declaration) @wrapper
(alias_declaration name: (type_identifier) @name) @definition.const
(concept_definition name: (identifier) @name) @definition.trait
(field_declaration (storage_class_specifier) @_storage
  declarator: (field_identifier) @name default_value: (_)
  (#eq? @_storage "static")) @definition.const
(translation_unit (declaration declarator: (init_declarator
  declarator: (qualified_identifier) @name)) @definition.const)
(declaration_list (declaration declarator: (init_declarator
  declarator: (qualified_identifier) @name)) @definition.const)

(base_class_clause [(type_identifier) @reference.extends
  (template_type name: (type_identifier) @reference.extends)
  (qualified_identifier name: [(type_identifier) @reference.extends
    (template_type name: (type_identifier) @reference.extends)])])
(call_expression function: [
  (identifier) @reference.calls
  (template_function name: (identifier) @reference.calls)
  (field_expression field: [(field_identifier) @reference.calls
    (template_method name: (field_identifier) @reference.calls)])
  (qualified_identifier name: [
    (identifier) @reference.calls
    (template_function name: (identifier) @reference.calls)
    (qualified_identifier name: [
      (identifier) @reference.calls
      (template_function name: (identifier) @reference.calls)
      (qualified_identifier name: (identifier) @reference.calls)])])]
 (#not-match? @reference.calls "^(static|dynamic|const|reinterpret)_cast$"))
(new_expression type: [(type_identifier) @reference.calls
  (template_type name: (type_identifier) @reference.calls)
  (qualified_identifier name: (type_identifier) @reference.calls)])
(initializer_pair value: (identifier) @reference.uses)
(preproc_include path: (_) @import)
(compound_literal_expression type: (type_identifier) @reference.calls)
(qualified_identifier scope: (namespace_identifier) @reference.uses (#match? @reference.uses "^[A-Z].*[a-z]"))
([(parameter_declaration type: (type_identifier) @reference.uses)
  (parameter_declaration type: (template_type name: (type_identifier) @reference.uses))
  (parameter_declaration type: (qualified_identifier name: (type_identifier) @reference.uses))
  (field_declaration type: (type_identifier) @reference.uses)
  (field_declaration type: (template_type name: (type_identifier) @reference.uses))
  (declaration type: (type_identifier) @reference.uses)
  (type_descriptor type: (type_identifier) @reference.uses)]
 (#not-match? @reference.uses "^([A-Z]|s?size_t|u?int(8|16|32|64|ptr)_t|string|string_view)$"))
"""
    + types_in((*TYPE_PLACES, "template_declaration"), _TYPES)
    + variables_at(_VARIABLE_LEVELS),
)
