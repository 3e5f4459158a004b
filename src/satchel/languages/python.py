"""Python."""

from satchel.languages.language import GraphRules, ImportBinds, Language

LANGUAGE = Language(
    name="python",
    suffixes=(".py", ".pyi", ".pyw"),
    filenames=("SConstruct", "SConscript", "wscript"),
    interpreters=("python", "pypy"),
    grammar="tree_sitter_python",
    line_comment="#",
    index_stems=("__init__",),
    graph=GraphRules(
        modules="python",
        import_binds=ImportBinds.FIRST_PART,
        self_is_first_parameter=True,
        members_tell_heads=True,
        super_names=("super",),
        class_scope_is_visible=False,
        wrappers=("Optional", "Annotated", "Final", "ClassVar", "Awaitable", "Type", "type"),
        containers=(
            "list",
            "List",
            "tuple",
            "Tuple",
            "set",
            "Set",
            "frozenset",
            "FrozenSet",
            "dict",
            "Dict",
            "Sequence",
            "Iterable",
            "Iterator",
            "Generator",
            "AsyncIterator",
            "AsyncIterable",
            "Mapping",
            "MutableMapping",
            "Collection",
            "deque",
            "Deque",
            "defaultdict",
            "DefaultDict",
            "OrderedDict",
        ),
    ),
    query="""
(function_definition
  name: (identifier) @name
  body: (block . (expression_statement (string) @doc)?)) @definition.function
(class_definition
  name: (identifier) @name
  body: (block . (expression_statement (string) @doc)?)) @definition.class
(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript)] @base))
(decorated_definition) @wrapper
(module (expression_statement (assignment left: (identifier) @name)) @definition.const)
(module . (expression_statement (string) @comment))
(comment) @comment

(attribute) @member
(call function: (identifier) @use)
(argument_list (identifier) @use)
(assignment right: (identifier) @use)
(keyword_argument value: (identifier) @use)
(type (identifier) @use)
(generic_type (identifier) @use)
(default_parameter value: (identifier) @use)
(typed_default_parameter value: (identifier) @use)
[(subscript (identifier) @use) (slice (identifier) @use) (tuple (identifier) @use) (list (identifier) @use)
  (set (identifier) @use) (pair (identifier) @use) (expression_list (identifier) @use)
  (comparison_operator (identifier) @use) (binary_operator (identifier) @use)
  (boolean_operator (identifier) @use) (not_operator (identifier) @use) (unary_operator (identifier) @use)
  (conditional_expression (identifier) @use) (parenthesized_expression (identifier) @use)
  (interpolation (identifier) @use) (list_splat (identifier) @use) (dictionary_splat (identifier) @use)
  (for_statement right: (identifier) @use) (for_in_clause right: (identifier) @use)
  (if_clause (identifier) @use) (if_statement condition: (identifier) @use)
  (elif_clause condition: (identifier) @use) (while_statement condition: (identifier) @use)
  (with_item (identifier) @use) (as_pattern (identifier) @use) (except_clause (identifier) @use)
  (raise_statement (identifier) @use) (return_statement (identifier) @use) (yield (identifier) @use)
  (await (identifier) @use) (assert_statement (identifier) @use) (decorator (identifier) @use)
  (list_comprehension (identifier) @use) (generator_expression (identifier) @use)
  (set_comprehension (identifier) @use) (lambda body: (identifier) @use)
  (named_expression value: (identifier) @use) (augmented_assignment right: (identifier) @use)
  (augmented_assignment left: (identifier) @use) (delete_statement (identifier) @use)
  (expression_statement (identifier) @use) (class_pattern (dotted_name (identifier) @use))]
(assignment left: (identifier) @_all right: [(list (string (string_content) @use))
  (tuple (string (string_content) @use))] (#eq? @_all "__all__"))
(type (string (string_content) @use))
[(lambda) (list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @scope
(parameters [(identifier) @bind (default_parameter name: (identifier) @bind)
  (list_splat_pattern (identifier) @bind) (dictionary_splat_pattern (identifier) @bind)
  (typed_parameter [(list_splat_pattern (identifier) @bind) (dictionary_splat_pattern (identifier) @bind)])])
(lambda_parameters (identifier) @bind)
(typed_parameter . (identifier) @bind type: (_) @bind.type)
(typed_default_parameter name: (identifier) @bind type: (_) @bind.type)
(assignment left: (identifier) @bind type: (type) @bind.type)
(assignment left: (identifier) @bind !type right: (_) @bind.value)
(assignment left: [(pattern_list (identifier) @bind) (tuple_pattern (identifier) @bind)])
(assignment left: (attribute object: (identifier) @bind.owner attribute: (identifier) @bind.attribute)
  type: (type) @bind.type)
(assignment left: (attribute object: (identifier) @bind.owner attribute: (identifier) @bind.attribute)
  !type right: (_) @bind.value)
(named_expression name: (identifier) @bind value: (_) @bind.value)
(for_statement left: (identifier) @bind right: (_) @bind.element)
(for_statement left: [(pattern_list (identifier) @bind) (tuple_pattern (identifier) @bind)])
(for_in_clause left: (identifier) @bind right: (_) @bind.element)
(for_in_clause left: [(pattern_list (identifier) @bind) (tuple_pattern (identifier) @bind)])
(with_item (as_pattern (_) @bind.value alias: (as_pattern_target (identifier) @bind)))
(except_clause (as_pattern (_) @bind.type alias: (as_pattern_target (identifier) @bind)))
(global_statement (identifier) @global)
(function_definition return_type: (_) @returns)
(return_statement [(call) (identifier) (attribute)] @result)
(import_statement name: (dotted_name) @import.module)
(import_statement
  name: (aliased_import name: (dotted_name) @import.module alias: (identifier) @import.alias))
(import_from_statement module_name: (_) @import.module name: (dotted_name) @import.name)
(import_from_statement module_name: (_) @import.module
  name: (aliased_import name: (dotted_name) @import.name alias: (identifier) @import.alias))
(import_from_statement module_name: (_) @import.module (wildcard_import) @import.all)
""",
)
