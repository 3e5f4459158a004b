"""C#."""

from satchel.languages.language import GraphRules, Language, OuterPackages

# Names of the language and of its library that most files use and no repository defines.
_LIBRARY = """
var nameof int long bool string object double float decimal byte char void dynamic _ value String Object
Task ValueTask Func Action Exception TimeSpan DateTime DateTimeOffset CancellationToken
CancellationTokenSource Type IEnumerable List Dictionary IDictionary IList ArgumentNullException Guid Math
ArgumentException ArgumentOutOfRangeException InvalidOperationException IDisposable NotImplementedException
NotSupportedException Enumerable Array StringBuilder Console Interlocked Thread Convert Encoding EventArgs
Attribute Obsolete Nullable
"""

# A property counts when it has code of its own; plain ones are as many as fields.
LANGUAGE = Language(
    name="csharp",
    suffixes=(".cs", ".csx"),
    interpreters=("dotnet-script",),
    grammar="tree_sitter_c_sharp",
    line_comment="//",
    name_separators=(".",),
    graph=GraphRules(
        modules="packages",
        implicit_names=True,
        packages_are_names=True,
        packages_hold_types=True,
        outer_packages=OuterPackages.ALL,
        types_have_parts=True,
        has_extensions=True,
        self_names=("this",),
        super_names=("base",),
        class_scope_is_visible=True,
        calls_name_functions=True,
        inferred_types=("var",),
        type_prefixes=("ref ", "out ", "in ", "readonly ", "params ", "scoped "),
        wrappers=("Task", "ValueTask", "Lazy", "Nullable"),
        containers=(
            "List",
            "IList",
            "IReadOnlyList",
            "IEnumerable",
            "IAsyncEnumerable",
            "ICollection",
            "IReadOnlyCollection",
            "HashSet",
            "ISet",
            "Dictionary",
            "IDictionary",
            "IReadOnlyDictionary",
            "ConcurrentDictionary",
            "Queue",
            "Stack",
            "Collection",
        ),
        ignored=frozenset(_LIBRARY.split()),
    ),
    query="""
(class_declaration name: (identifier) @name) @definition.class
(struct_declaration name: (identifier) @name) @definition.struct
(record_declaration name: (identifier) @name) @definition.struct
(enum_declaration name: (identifier) @name) @definition.enum
(interface_declaration name: (identifier) @name) @definition.interface
(delegate_declaration name: (identifier) @name) @definition.interface
(namespace_declaration name: (_) @name) @container.module
(file_scoped_namespace_declaration name: (_) @name) @namespace
(method_declaration name: (identifier) @name) @definition.function
(constructor_declaration name: (identifier) @name) @definition.function
(local_function_statement name: (identifier) @name) @definition.function
(property_declaration name: (identifier) @name
  accessors: (accessor_list (accessor_declaration body: (_)))) @definition.function
(property_declaration name: (identifier) @name value: (arrow_expression_clause)) @definition.function
(field_declaration (modifier) @_modifier
  (variable_declaration (variable_declarator name: (identifier) @name))
  (#any-of? @_modifier "const" "static")) @definition.const
(comment) @comment

(using_directive !name [(identifier) (qualified_name)] @import.module @import.all)
(using_directive name: (_) @import.alias [(qualified_name) (generic_name)] @import.module)
(initializer_expression (assignment_expression left: (identifier) @key))
(argument name: (identifier) @key)
(base_list [(identifier) (generic_name) (qualified_name) (alias_qualified_name)] @base)
(base_list (primary_constructor_base_type type: (_) @base))
[(block) (for_statement) (foreach_statement) (using_statement) (catch_clause) (lambda_expression)
  (operator_declaration) (conversion_operator_declaration) (indexer_declaration)
  (anonymous_method_expression) (switch_section) (switch_expression_arm) (accessor_declaration)] @scope
(type_parameter name: (identifier) @generic)
(type_parameter_constraints_clause . (identifier) @generic
  . (type_parameter_constraint type: (_) @generic.bound))

(identifier) @use
[(member_access_expression) (qualified_name)] @member
(conditional_access_expression condition: (_) @member.start (member_binding_expression name: (_) @member.end))

(parameter type: (_) @bind.type name: (identifier) @bind)
(parameter_list type: (_) @bind.type name: (identifier) @bind)
(implicit_parameter) @bind
(parameter !type name: (identifier) @bind)
(variable_declaration type: (_) @bind.type (variable_declarator name: (identifier) @bind (_)? @bind.value .))
(property_declaration type: (_) @bind.type name: (identifier) @bind)
(foreach_statement type: (_) @bind.type left: (identifier) @bind right: (_) @bind.element)
(declaration_pattern type: (_) @bind.type name: (identifier) @bind)
(declaration_expression type: (_) @bind.type name: (identifier) @bind)
(catch_declaration type: (_) @bind.type name: (identifier) @bind)
(enum_member_declaration name: (identifier) @bind @bind.self)
(method_declaration returns: (_) @returns)
(method_declaration parameters: (parameter_list . (parameter (modifier) @_this type: (_) @extension)
  (#eq? @_this "this")))
(local_function_statement type: (_) @returns)
""",
)
