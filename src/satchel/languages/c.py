"""C, and the parts of its query that C++ shares."""

from satchel.languages.language import GraphRules, Language

_STANDARD = (
    "NULL true false bool size_t ssize_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t"
    " uint64_t intptr_t uintptr_t va_list va_start va_end va_arg FILE defined errno stdin stdout stderr"
    " if while for switch return sizeof typeof __typeof__ __attribute__ _Static_assert offsetof"
)

# Where a type with a body may stand; inside a typedef the new name is the definition instead.
TYPE_PLACES = (
    "translation_unit",
    "preproc_ifdef",
    "preproc_if",
    "preproc_else",
    "preproc_elif",
    "declaration_list",
    "declaration",
    "field_declaration",
    "compound_statement",
)
_TYPES = """
({place} [(struct_specifier name: (type_identifier) @name body: (_))
  (union_specifier name: (type_identifier) @name body: (_))] @definition.struct)
({place} (enum_specifier name: (type_identifier) @name body: (_)) @definition.enum)
"""

# A variable counts at the top of a file only. Header guards and `#if` stand in between, and a `#if`
# inside a function looks the same from within, so the way down from the root is spelled out.
TOP_LEVELS = (
    "(translation_unit {})",
    "(translation_unit [(preproc_ifdef {}) (preproc_if {})])",
    "(translation_unit (preproc_ifdef [(preproc_ifdef {}) (preproc_if {})]))",
    "(translation_unit [(preproc_ifdef alternative: (preproc_else {})) (preproc_if alternative: (_ {}))])",
    "(translation_unit (linkage_specification body: (declaration_list {})))",
)
# Macros that decorate a declaration look like its name; the real name becomes an error beside it, or
# a statement of its own behind it.
_DECORATION = (
    '"^(_+(read_mostly|ro_after_init|ref|refdata|maybe_unused|unused|used|packed|percpu|visible|weak|section'
    '|[a-z_]*(init|exit)(data|const|call)?(_[a-z]+)?|[a-z_]*align[a-z_]*))?$"'
)
VARIABLES = (
    """(declaration declarator: (init_declarator declarator: [
         (identifier) @name
         (pointer_declarator declarator: (identifier) @name)
         (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
         (array_declarator declarator: (identifier) @name)
         (array_declarator declarator: (array_declarator declarator: (identifier) @name))
         (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
         (pointer_declarator declarator: (array_declarator
           declarator: (array_declarator declarator: (identifier) @name)))])
         (#not-match? @name {decoration})) @definition.const""",
    """(declaration declarator: [
         (identifier) @name
         (pointer_declarator declarator: (identifier) @name)
         (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
         (array_declarator declarator: (identifier) @name)
         (parenthesized_declarator (identifier) @name)]
         (#match? @name "^_?[A-Za-z]")) @definition.const
         (#not-match? @definition.const "^(extern|class )") (#match? @definition.const ";$")""",
)
_DECORATED_VARIABLES = (
    """(declaration (ERROR . (identifier) @name .)
         declarator: (init_declarator declarator: (identifier) @_decoration)
         (#match? @_decoration {decoration})) @definition.const""",
    """(declaration declarator: (init_declarator
         declarator: (identifier) @_decoration (ERROR . (identifier) @name .))
         (#match? @_decoration {decoration})) @definition.const""",
    """(declaration declarator: (identifier) @_decoration (ERROR . (identifier) @name .)
         (#match? @_decoration {decoration})) @definition.const""",
)


def types_in(places: tuple[str, ...], patterns: str) -> str:
    """Return patterns for the types that are defined right inside these nodes, `{place}` in them."""
    return "".join(patterns.replace("{place}", place) for place in places)


def variables_at(levels: tuple[str, ...], variables: tuple[str, ...] = VARIABLES) -> str:
    """Return patterns for variables; `{}` in a level is where the declaration stands."""
    patterns = [each.replace("{decoration}", _DECORATION) for each in variables]
    return "\n".join(level.replace("{}", each) for level in levels for each in patterns)


# What C and C++ spell alike: macros, typedefs, includes.
SHARED_QUERY = """
(preproc_def name: (identifier) @name value: (_)) @definition.const
(preproc_def name: (identifier) @name !value (#not-match? @name "(_H_*|_INCLUDED_*)$")) @definition.const
(preproc_function_def name: (identifier) @name) @definition.function
(type_definition type: [(struct_specifier body: (_)) (union_specifier body: (_))]
  declarator: (type_identifier) @name) @definition.struct
(type_definition type: (enum_specifier body: (_)) declarator: (type_identifier) @name) @definition.enum
(type_definition
  type: [(struct_specifier name: (_) @name body: (_)) (union_specifier name: (_) @name body: (_))]
    @definition.struct
  declarator: (type_identifier) @_alias (#not-eq? @name @_alias))
(type_definition
  type: [(primitive_type) (sized_type_specifier) (type_identifier)
    (struct_specifier !body) (union_specifier !body) (enum_specifier !body)]
  declarator: [
    (type_identifier) @name
    (pointer_declarator declarator: (type_identifier) @name)
    (array_declarator declarator: (type_identifier) @name)
    (function_declarator declarator: [(type_identifier) @name
      (parenthesized_declarator [(type_identifier) @name
        (pointer_declarator declarator: (type_identifier) @name)])])
  ]) @definition.const
(comment) @comment
"""

# Prototypes define nothing. Macros hide functions: `DEFINE3(read, …) { }` is a call beside a block,
# `DEFINE0(sync) { }` a type with a declarator in brackets, and so is `void __entry run(void) { }`;
# `for_each(x) { }` inside a body looks like a function and is none.
LANGUAGE = Language(
    name="c",
    suffixes=(".c", ".h"),
    grammar="tree_sitter_c",
    line_comment="//",
    graph=GraphRules(
        modules="includes",
        implicit_names=True,
        names_start_at_declaration=True,
        has_named_arguments=False,
        has_name_spaces=True,
        space_before_call=True,
        ignored=frozenset(_STANDARD.split()),
    ),
    query=SHARED_QUERY
    + """
(function_definition declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (pointer_declarator
    declarator: (function_declarator declarator: (identifier) @name)))
  (function_declarator declarator: (parenthesized_declarator [
    (identifier) @name
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))]))]
  (#not-match? @name "^(if|for|while|switch|else|[a-z_]*for_each[a-z_]*)$")) @definition.function
(translation_unit
  (expression_statement (call_expression
    function: (identifier) @_macro arguments: (argument_list . (identifier) @name))) @leading
  . (compound_statement) @definition.function
  (#match? @_macro "^[A-Z0-9_]+$"))
(translation_unit (function_definition
  type: (type_identifier) @_macro declarator: (parenthesized_declarator (identifier) @name))
  @definition.function (#match? @_macro "^[A-Z0-9_]+$"))
(translation_unit (function_definition
  type: (type_identifier) @name declarator: (parenthesized_declarator (identifier)))
  @definition.function (#not-match? @name "^[A-Z0-9_]+$"))
(translation_unit (expression_statement [
  (assignment_expression left: (identifier) @name) (identifier) @name]
  (#match? @name "[a-z]")) @definition.const)

(preproc_include path: (_) @import.module)
[(identifier) (type_identifier)] @use
[(compound_statement) (for_statement)] @scope
[(declaration declarator: (identifier) @bind)
 (init_declarator declarator: (identifier) @bind)
 (parameter_declaration declarator: (identifier) @bind)
 (pointer_declarator declarator: (identifier) @bind)
 (array_declarator declarator: (identifier) @bind)
 (function_declarator declarator: (identifier) @bind)
 (parenthesized_declarator (identifier) @bind)
 (preproc_params (identifier) @bind)]
[(enumerator name: (identifier) @key) (preproc_def name: (identifier) @key)]
(struct_specifier name: (type_identifier) @use.t !body)
(union_specifier name: (type_identifier) @use.t !body)
(enum_specifier name: (type_identifier) @use.t !body)
[(struct_specifier name: (type_identifier) @key body: (_))
 (union_specifier name: (type_identifier) @key body: (_))
 (enum_specifier name: (type_identifier) @key body: (_))]
(preproc_ifdef name: (identifier) @use.m)
(preproc_defined (identifier) @use.m)
(preproc_arg) @code
"""
    + types_in(TYPE_PLACES, _TYPES)
    + variables_at(TOP_LEVELS, VARIABLES + _DECORATED_VARIABLES),
)
