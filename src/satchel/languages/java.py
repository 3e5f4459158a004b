"""Java."""

from satchel.languages.language import GraphRules, Language

# Names of the language and of its library that most files use and no repository defines.
_LIBRARY = """
int long short byte char boolean float double void var String Object Integer Long Short Byte Character
Boolean Float Double Number Void Class Math System Thread Runnable Iterable Comparable CharSequence
StringBuilder Override Deprecated SuppressWarnings FunctionalInterface SafeVarargs Enum Record Throwable
Exception RuntimeException Error IllegalArgumentException AssertionError IllegalStateException
NullPointerException UnsupportedOperationException AutoCloseable IndexOutOfBoundsException
InterruptedException NumberFormatException ClassCastException ClassNotFoundException
CloneNotSupportedException Cloneable StackTraceElement ReflectiveOperationException ArithmeticException
"""

LANGUAGE = Language(
    name="java",
    suffixes=(".java", ".jav"),
    interpreters=("java",),
    grammar="tree_sitter_java",
    line_comment="//",
    index_stems=("package-info",),
    graph=GraphRules(
        modules="packages",
        implicit_names=True,
        packages_are_names=True,
        packages_hold_types=True,
        self_names=("this",),
        super_names=("super",),
        class_scope_is_visible=True,
        calls_name_functions=True,
        own_members=("Companion", "INSTANCE"),  # of Kotlin
        inferred_types=("var",),
        type_prefixes=("final ", "extends ", "super "),
        wrappers=("Optional", "Supplier", "Provider"),
        containers=(
            "List",
            "ArrayList",
            "LinkedList",
            "Set",
            "HashSet",
            "LinkedHashSet",
            "Collection",
            "Iterable",
            "Iterator",
            "Map",
            "HashMap",
            "LinkedHashMap",
            "TreeMap",
            "Queue",
            "Deque",
            "ArrayDeque",
            "Stream",
            "ImmutableList",
            "ImmutableSet",
            "ImmutableMap",
        ),
        ignored=frozenset(_LIBRARY.split()),
    ),
    query="""
(class_declaration name: (identifier) @name) @definition.class
(record_declaration name: (identifier) @name) @definition.struct
(enum_declaration name: (identifier) @name) @definition.enum
(interface_declaration name: (identifier) @name) @definition.interface
(annotation_type_declaration name: (identifier) @name) @definition.interface
(module_declaration name: (_) @name) @definition.module
(method_declaration name: (identifier) @name) @definition.function
(constructor_declaration name: (identifier) @name) @definition.function
(compact_constructor_declaration name: (identifier) @name) @definition.function
(annotation_type_element_declaration name: (identifier) @name) @definition.function
(field_declaration
  [(modifiers "static" "final") (modifiers "final" "static")]
  declarator: (variable_declarator name: (identifier) @name)) @definition.const
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.const
[(line_comment) (block_comment)] @comment

(package_declaration (_) @package .)
(import_declaration (scoped_identifier scope: (_) @import.module name: (identifier) @import.name) .)
(import_declaration [(scoped_identifier) (identifier)] @import.module (asterisk) @import.all)
(requires_module_directive module: (_) @import.module)
(superclass (_) @base)
(super_interfaces (type_list (_) @base))
(extends_interfaces (type_list (_) @base))
(object_creation_expression type: (_) @object.type (class_body) @object)
[(block) (constructor_body) (for_statement) (enhanced_for_statement) (try_with_resources_statement)
  (catch_clause) (lambda_expression) (switch_rule) (switch_block_statement_group)] @scope
(type_parameter . (type_identifier) @generic (type_bound . (_) @generic.bound)?)

(type_identifier) @use
(marker_annotation name: (identifier) @use)
(annotation name: (identifier) @use)
(method_invocation !object name: (identifier) @use)
[(method_invocation object: (identifier) @use) (field_access object: (identifier) @use)
  (method_reference . (identifier) @use) (record_pattern . (identifier) @use)]
((identifier) @use (#match? @use "^_*[A-Z][A-Z0-9_]+$"))
[(scoped_type_identifier) (field_access) (method_reference)] @member
(method_invocation object: (_) @member.start name: (identifier) @member.end)
(marker_annotation name: (scoped_identifier) @member)
(annotation name: (scoped_identifier) @member)

(formal_parameter type: (_) @bind.type name: (identifier) @bind)
(spread_parameter (_) (variable_declarator name: (identifier) @bind))
(lambda_expression parameters: [(identifier) @bind (inferred_parameters (identifier) @bind)])
(local_variable_declaration type: (_) @bind.type
  declarator: (variable_declarator name: (identifier) @bind value: (_)? @bind.value))
(field_declaration type: (_) @bind.type declarator: (variable_declarator name: (identifier) @bind))
(constant_declaration type: (_) @bind.type declarator: (variable_declarator name: (identifier) @bind))
(enum_constant name: (identifier) @bind @bind.self)
(enhanced_for_statement type: (_) @bind.type name: (identifier) @bind value: (_) @bind.element)
(resource type: (_) @bind.type name: (identifier) @bind value: (_) @bind.value)
(catch_formal_parameter (catch_type . (_) @bind.type .) name: (identifier) @bind)
(catch_formal_parameter (catch_type (_) (_)) name: (identifier) @bind)
(instanceof_expression right: (_) @bind.type name: (identifier) @bind)
(type_pattern (_) @bind.type . (identifier) @bind)
(record_pattern_component (_) @bind.type . (identifier) @bind)
(method_declaration type: (_) @returns)
""",
)
