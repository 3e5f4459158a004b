"""C++."""

from satchel.languages.c import SHARED_QUERY, TYPE_PLACES, types_in, variables_at
from satchel.languages.language import GraphRules, Language

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
# `SHOP_API Basket* open();` looks like a product, and `Basket held_ GUARDED_BY(lock_);` like a call.
_MACRO_BEFORE_FUNCTION = (
    r"\n[ \t]*+([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:API|EXPORT|INLINE|DECL))(?=[ \t]+[A-Za-z_:])"
)
_LOCKS = "GUARDED_BY|EXCLUSIVE_LOCKS_REQUIRED|SHARED_LOCKS_REQUIRED|LOCKS_EXCLUDED"
_LOCK_ANNOTATION = rf" ((?:ABSL_|PT_)?(?:{_LOCKS})\([^()\n]*+\))"
_MACROS_BEFORE_NAME = (
    rf"\s++((?:{_MACRO}(?:\([^()\n]*+\))?\s++)++)"
    r"(?=(?!final\b)[A-Za-z_][\w:]*+(?:<[^<>;{}]*+>)?(?:\s++final\b)?\s*+(?::(?!:)|\{))"
)


_BINDINGS = """
(declaration type: (_) @bind.type declarator: (_) @bind.declarator)
(declaration type: (_) @bind.type declarator: (_) @bind.declarator value: (_) @bind.value)
(field_declaration type: (_) @bind.type declarator: (_) @bind.declarator)
(parameter_declaration type: (_) @bind.type declarator: (_) @bind.declarator @bind.parameter)
(optional_parameter_declaration type: (_) @bind.type declarator: (_) @bind.declarator @bind.parameter)
(variadic_parameter_declaration type: (_) @bind.type declarator: (_) @bind.declarator @bind.parameter)
(for_range_loop type: (_) @bind.type declarator: (_) @bind.declarator right: (_) @bind.element)
(type_definition type: (_) @bind.type declarator: (_) @bind.declarator)
(function_declarator declarator: (identifier) @bind)
(structured_binding_declarator (identifier) @bind)
(lambda_capture_initializer left: (identifier) @bind right: (_) @bind.value)
(alias_declaration name: (type_identifier) @bind type: (_) @bind.type)
(enumerator name: (identifier) @bind @bind.self)
(preproc_params (identifier) @bind)
(function_definition type: (_) @returns)
(function_definition declarator: (function_declarator (trailing_return_type (_) @returns)))
(field_declaration type: (_) @returns default_value: (number_literal))
"""

# Names of the language, of its library, and words that the grammar takes for names.
_STANDARD = """
std auto void bool char int short long float double unsigned signed wchar_t char8_t char16_t char32_t size_t
ssize_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t
nullptr_t NULL nullptr true false this sizeof alignof decltype typeid noexcept defined override final
static_cast dynamic_cast const_cast reinterpret_cast static_assert va_list va_start va_end va_arg __FILE__
__LINE__ __func__ __VA_ARGS__ FILE errno stdin stdout stderr
"""
# What holds another object and gives it by `->` or `*`.
_POINTERS = """
unique_ptr shared_ptr weak_ptr optional reference_wrapper atomic scoped_ptr intrusive_ptr not_null
observer_ptr scoped_refptr RefPtr OwnPtr QPointer QSharedPointer QScopedPointer
"""
_CONTAINERS = """
vector list forward_list deque array set unordered_set multiset map unordered_map multimap unordered_multimap
queue stack priority_queue span initializer_list small_vector SmallVector InlinedVector flat_hash_map
flat_hash_set QList QVector QMap QHash QSet
"""


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
    graph=GraphRules(
        modules="includes",
        implicit_names=True,
        names_are_scoped=True,
        names_start_at_declaration=True,
        modules_are_scopes=True,
        bindings_overlap=True,
        self_names=("this",),
        has_named_arguments=False,
        space_before_call=True,
        generic_marks="<",
        quoted_types=False,
        inferred_types=("auto", "decltype(auto)"),
        type_prefixes=("const ", "typename ", "struct ", "class ", "enum ", "volatile ", "constexpr "),
        wrappers=tuple(_POINTERS.split()),
        containers=tuple(_CONTAINERS.split()),
        wrapping_calls=("std::move", "std::ref", "std::addressof"),
        typed_calls=(
            *("static_cast", "dynamic_cast", "const_cast", "reinterpret_cast"),
            *("make_unique", "make_shared", "any_cast", "down_cast"),
        ),
        transparent_members=frozenset({"get", "lock"}),
        ignored=frozenset(_STANDARD.split()),
    ),
    blanked=(
        _MACRO_LINE,
        _MACRO_BEFORE_FUNCTION,
        _LOCK_ANNOTATION,
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
  . (ERROR . (identifier) @name) . declarator: (identifier) @base) @definition.class
((namespace_definition name: (_) @name) @container.module (#not-match? @container.module "^inline"))
(template_declaration) @wrapper
(field_declaration
  declarator: [
    (function_declarator declarator: (field_identifier) @name)
    (_ (function_declarator declarator: (field_identifier) @name))]
  default_value: (number_literal) @_pure (#eq? @_pure "0")) @definition.function
(alias_declaration name: (type_identifier) @name) @definition.const
(concept_definition name: (identifier) @name) @definition.trait
(field_declaration (storage_class_specifier) @_storage
  declarator: (field_identifier) @name default_value: (_)
  (#eq? @_storage "static")) @definition.const
(translation_unit (declaration declarator: (init_declarator
  declarator: (qualified_identifier) @name)) @definition.const)
(declaration_list (declaration declarator: (init_declarator
  declarator: (qualified_identifier) @name)) @definition.const)

(preproc_include path: (_) @import.file)
(using_declaration "namespace" (_) @import.module @import.all)
(using_declaration (qualified_identifier name: (_) @bind) @bind.value)
(namespace_alias_definition name: (_) @bind [(namespace_identifier) (nested_namespace_specifier)] @bind.value)
(base_class_clause [(type_identifier) (template_type) (qualified_identifier)] @base)
[(compound_statement) (for_statement) (for_range_loop) (if_statement) (while_statement) (switch_statement)
  (lambda_expression) (catch_clause)] @scope
(template_declaration
  parameters: (template_parameter_list [(type_parameter_declaration (type_identifier) @generic)
    (optional_type_parameter_declaration name: (type_identifier) @generic)
    (variadic_type_parameter_declaration (type_identifier) @generic)])
  [(class_specifier) (struct_specifier) (union_specifier) (function_definition) (declaration)
    (alias_declaration)] @generic.scope .)

[(identifier) (type_identifier) (namespace_identifier)] @use
(field_initializer [(field_identifier) @use (template_method name: (field_identifier) @use)])
(qualified_identifier) @member.path
(field_expression field: (field_identifier)) @member
(field_expression field: (template_method name: (field_identifier) @member.end)) @member.start
[(class_specifier name: (type_identifier) @key !body)
 (struct_specifier name: (type_identifier) @key !body)
 (union_specifier name: (type_identifier) @key !body)
 (enum_specifier name: (type_identifier) @key !body)
 (preproc_def name: (identifier) @key)
 (preproc_function_def name: (identifier) @key)]
(preproc_arg) @code
"""
    + _BINDINGS
    + types_in((*TYPE_PLACES, "template_declaration"), _TYPES)
    + variables_at(_VARIABLE_LEVELS),
)
