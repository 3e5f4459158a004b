"""Kotlin."""

from satchel.languages.language import GraphRules, ImportBinds, Language

# Names of the language and of its library that most files use and no repository defines.
_LIBRARY = """
it field null Int Long Short Byte Char Boolean Float Double String Unit Any Nothing Number CharSequence
ByteArray IntArray LongArray CharArray Throwable Exception RuntimeException Error IllegalArgumentException
AssertionError IllegalStateException NullPointerException UnsupportedOperationException Pair Triple
IndexOutOfBoundsException NoSuchElementException StringBuilder Comparable Enum lazy require check error
listOf mutableListOf mapOf mutableMapOf setOf arrayOf mutableSetOf emptyList emptyMap println print repeat
buildString byteArrayOf requireNotNull checkNotNull TODO synchronized maxOf minOf JvmStatic JvmName JvmField
JvmOverloads Suppress Deprecated Throws
"""

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
    graph=GraphRules(
        modules="packages",
        import_binds=ImportBinds.MEMBER,
        implicit_names=True,
        packages_are_names=True,
        self_names=("this",),
        super_names=("super",),
        class_scope_is_visible=True,
        calls_name_functions=True,
        has_extensions=True,
        types_have_parts=True,  # `expect` and `actual`
        extensions_are_members=True,
        call_method="invoke",
        block_is_argument=True,
        bindings_overlap=True,
        own_members=("Companion", "INSTANCE"),
        type_prefixes=("out ", "in "),
        wrappers=("Lazy", "Result"),
        containers=(
            "List",
            "MutableList",
            "ArrayList",
            "Set",
            "MutableSet",
            "HashSet",
            "LinkedHashSet",
            "Collection",
            "Iterable",
            "Iterator",
            "Map",
            "MutableMap",
            "HashMap",
            "LinkedHashMap",
            "Array",
            "Sequence",
            "Flow",
            "ArrayDeque",
        ),
        ignored=frozenset(_LIBRARY.split()),
    ),
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

(package_header (_) @package)
(import (qualified_identifier) @import.module "*"? @import.all (identifier)? @import.alias)
([(class_declaration (delegation_specifiers (delegation_specifier [(user_type) @base
    (constructor_invocation (user_type) @base) (explicit_delegation . (user_type) @base)])))
  (object_declaration (delegation_specifiers (delegation_specifier [(user_type) @base
    (constructor_invocation (user_type) @base) (explicit_delegation . (user_type) @base)])))])
(object_literal (delegation_specifiers . (delegation_specifier [(user_type) @object.type
  (constructor_invocation (user_type) @object.type)])) (class_body) @object)
[(lambda_literal) (block) (for_statement) (catch_block) (when_entry) (anonymous_function) (getter)
  (setter)] @scope
(type_parameter (identifier) @generic [(user_type) (nullable_type)]? @generic.bound)

(user_type (identifier) @use)
(call_expression . (identifier) @use)
(navigation_expression . (identifier) @use)
(callable_reference (identifier) @use)
((identifier) @use (#match? @use "^_*[A-Z]"))
[(value_argument (identifier) @use .) (binary_expression (identifier) @use) (function_body (identifier) @use)
  (return_expression (identifier) @use)]
(user_type (identifier) (identifier)) @member
(navigation_expression) @member

(class_parameter (identifier) @bind . (_) @bind.type)
(parameter (identifier) @bind . (_) @bind.type)
(variable_declaration . (identifier) @bind . (_)? @bind.type)
(property_declaration (variable_declaration . (identifier) @bind .)
  . [(call_expression) (navigation_expression) (identifier) (this_expression) (parenthesized_expression)]
  @bind.value)
(property_declaration (variable_declaration . (identifier) @bind .)
  . (object_literal (delegation_specifiers . (delegation_specifier [(user_type) @bind.type
    (constructor_invocation (user_type) @bind.type)]))))
(for_statement (variable_declaration . (identifier) @bind .) . (_) @bind.element)
(call_expression (navigation_expression (_) @bind.value . (identifier) @_with .)
  (annotated_lambda (lambda_literal (lambda_parameters . (variable_declaration . (identifier) @bind .) .)))
  (#any-of? @_with "use" "let" "also"))
(catch_block (identifier) @bind . (_) @bind.type)
(enum_entry . (identifier) @bind @bind.self)
(type_alias type: (identifier) @bind (_) @bind.type)
(function_declaration (function_value_parameters) . [(user_type) (nullable_type)] @returns)
(function_declaration (function_body . [(call_expression) (navigation_expression) (identifier)] @result .))
(return_expression [(call_expression) (navigation_expression) (identifier)] @result)
""",
)
