"""PHP."""

from satchel.languages.language import GraphRules, ImportBinds, Language, OuterPackages

# Names of the language and of its library that most files use and no repository defines.
_LIBRARY = """
array bool callable false float int iterable mixed never null object string true void self static parent
count is_array is_string is_int is_null in_array sprintf implode explode strlen substr strpos str_replace
trim strtolower strtoupper array_map array_filter array_keys array_values array_merge array_key_exists
array_shift array_pop array_push is_callable is_object preg_match get_class func_get_args define defined
isset empty TRUE FALSE NULL PHP_EOL PHP_VERSION PHP_VERSION_ID DIRECTORY_SEPARATOR E_USER_DEPRECATED
"""

LANGUAGE = Language(
    name="php",
    suffixes=(".php", ".phtml", ".php5", ".php7", ".php8", ".phps", ".phpt"),
    interpreters=("php",),
    grammar="tree_sitter_php",
    grammar_entry="language_php",
    line_comment="//",
    name_separators=("\\",),
    import_separator="\\",
    graph=GraphRules(
        modules="packages",
        import_binds=ImportBinds.MEMBER,
        implicit_names=True,
        packages_are_names=True,
        outer_packages=OuterPackages.GLOBAL,
        self_names=("$this", "self", "static"),
        super_names=("parent",),
        name_marks="$",
        call_method="__invoke",
        containers=("array", "iterable", "list"),
        ignored=frozenset(_LIBRARY.split()),
    ),
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
(namespace_use_declaration (namespace_use_clause . [(name) (qualified_name)] @import.module
  alias: (name)? @import.alias))
(namespace_use_declaration
  (namespace_name) @import.module
  body: (namespace_use_group (namespace_use_clause . [(name) (qualified_name)] @import.name
    alias: (name)? @import.alias)))
([(include_expression [(string) @import.file (binary_expression right: (string) @import.file)
    (parenthesized_expression [(string) @import.file (binary_expression right: (string) @import.file)])])
  (include_once_expression [(string) @import.file (binary_expression right: (string) @import.file)
    (parenthesized_expression [(string) @import.file (binary_expression right: (string) @import.file)])])
  (require_expression [(string) @import.file (binary_expression right: (string) @import.file)
    (parenthesized_expression [(string) @import.file (binary_expression right: (string) @import.file)])])
  (require_once_expression [(string) @import.file (binary_expression right: (string) @import.file)
    (parenthesized_expression [(string) @import.file (binary_expression right: (string) @import.file)])])])
([(class_declaration (base_clause (_) @base)) (interface_declaration (base_clause (_) @base))
  (class_declaration (class_interface_clause (_) @base)) (enum_declaration (class_interface_clause (_) @base))
  (class_declaration body: (_ (use_declaration [(name) (qualified_name)] @base)))
  (trait_declaration body: (_ (use_declaration [(name) (qualified_name)] @base)))
  (enum_declaration body: (_ (use_declaration [(name) (qualified_name)] @base)))])
(anonymous_class (base_clause . (_) @object.type)? body: (_) @object)
[(anonymous_function) (arrow_function)] @scope

([(base_clause (name) @use) (class_interface_clause (name) @use) (use_declaration (name) @use)
  (function_call_expression function: (name) @use) (object_creation_expression (name) @use)
  (named_type (name) @use) (attribute (name) @use) (binary_expression right: (name) @use)
  (scoped_call_expression scope: (name) @use) (scoped_property_access_expression scope: (name) @use)
  (class_constant_access_expression . (name) @use)])
((name) @use (#match? @use "^_*[A-Z][A-Z0-9_]+$"))
(qualified_name) @member
(class_constant_access_expression) @member
([(member_call_expression object: (_) @member.start name: (name) @member.end)
  (nullsafe_member_call_expression object: (_) @member.start name: (name) @member.end)
  (scoped_call_expression scope: (_) @member.start name: (name) @member.end)])

(simple_parameter type: (_)? @bind.type name: (variable_name) @bind)
(variadic_parameter name: (variable_name) @bind)
(property_promotion_parameter type: (_)? @bind.type name: (variable_name) @bind)
(property_promotion_parameter type: (_) @bind.type name: (variable_name (name) @bind.attribute))
(property_declaration type: (_) @bind.type (property_element name: (variable_name (name) @bind.attribute)))
(assignment_expression left: (variable_name) @bind right: (_) @bind.value)
(assignment_expression left: (member_access_expression object: (variable_name) @bind.owner
  name: (name) @bind.attribute) right: (_) @bind.value)
(foreach_statement . (_) @bind.element . (variable_name) @bind)
(foreach_statement . (_) @bind.element (pair (_) (variable_name) @bind))
(catch_clause type: (type_list . (_) @bind.type .) name: (variable_name) @bind)
(catch_clause type: (type_list (_) (_)) name: (variable_name) @bind)
(enum_case name: (name) @bind @bind.self)
(function_definition return_type: (_) @returns)
(method_declaration return_type: (_) @returns)
(comment) @comment
""",
)
