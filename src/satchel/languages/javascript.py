"""JavaScript, and the parts of its query that TypeScript shares."""

from satchel.languages.language import GraphRules, Language

# A value that is a function; `@body` ends the signature.
FUNCTION_VALUE = """[(arrow_function body: (_) @body) (function_expression body: (_) @body)
  (generator_function body: (_) @body)]"""
_WRAPPERS = '"(memo|forwardRef|observer|debounce|throttle)$"'  # calls that make a function of a function
# No two of these match one variable: only functions and classes have a body, only calls a function.
_VARIABLES = (
    f"(_ (variable_declarator name: (identifier) @name value: {FUNCTION_VALUE}) @definition.function)",
    "(_ (variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class)",
    "(_ (variable_declarator name: (identifier) @name value: (_ !body !function)) @definition.const)",
    "(_ (variable_declarator name: (identifier) @name !value) @definition.const)",
    f"""(_ (variable_declarator name: (identifier) @name value: (call_expression function: (_) @_called))
         @definition.function (#match? @_called {_WRAPPERS}))""",
    f"""(_ (variable_declarator name: (identifier) @name value: (call_expression function: (_) @_called))
         @definition.const (#not-match? @_called {_WRAPPERS}))""",
    f"""(_ (variable_declarator value: (object (pair key: (property_identifier) @name value: {FUNCTION_VALUE})
         @definition.function)))""",
)


def variables_of(scope: str) -> str:
    """Return patterns for the variables of a scope; `{}` in `scope` is where its statements stand."""
    return "\n".join(scope.replace("{}", f"[{each} (export_statement {each})]") for each in _VARIABLES)


# Object patterns: each member with the name that it is bound to.
MEMBERS = """(object_pattern [(shorthand_property_identifier_pattern) @bind @bind.member
  (object_assignment_pattern left: (shorthand_property_identifier_pattern) @bind @bind.member)
  (pair_pattern key: (property_identifier) @bind.member value: (identifier) @bind)])"""
_REQUIRE = """(call_expression function: (identifier) @_require
  arguments: (arguments . (string) @import.module .))"""
_AWAITED = """(await_expression (call_expression function: (import)
  arguments: (arguments . (string) @import.module)))"""
_NAMES = """(object_pattern [(shorthand_property_identifier_pattern) @import.name
  (pair_pattern key: (property_identifier) @import.name value: (identifier) @import.alias)])"""
_CALLBACKS = '"forEach" "map" "filter" "find" "findIndex" "some" "every" "flatMap" "findLast"'


def callbacks_with(parameter: str) -> str:
    """Return a pattern for functions that are called with each element of a container, by their first
    parameter."""
    return f"""
(call_expression
  function: (member_expression object: (_) @bind.element property: (property_identifier) @_each)
  arguments: (arguments . (arrow_function [parameter: (identifier) @bind
    parameters: (formal_parameters . {parameter})]))
  (#any-of? @_each {_CALLBACKS}))"""


# Uses, bindings and imports: what the code graph is made of.
_GRAPH_QUERY = f"""
[(identifier) (shorthand_property_identifier)] @use
(member_expression) @member
(arrow_function) @scope.closure
[(function_expression) (generator_function)] @scope.function
(class) @scope.class
[(shorthand_property_identifier_pattern) @bind (pair_pattern value: (identifier) @bind)
 (array_pattern (identifier) @bind) (rest_pattern (identifier) @bind)
 (assignment_pattern left: (identifier) @bind) (arrow_function parameter: (identifier) @bind)
 (catch_clause parameter: (identifier) @bind) (function_expression name: (identifier) @bind)
 (class name: (_) @bind) (variable_declarator name: (identifier) @bind !value)]
(variable_declarator name: {MEMBERS} value: (_) @bind.value)
(for_in_statement left: (identifier) @bind operator: "of" right: (_) @bind.element)
(for_in_statement left: (identifier) @bind operator: "in")
(return_statement [(call_expression) (new_expression) (identifier) (member_expression) (this)
  (await_expression)] @result)
(arrow_function body: [(call_expression) (new_expression) (identifier) (member_expression)
  (await_expression)] @result)

(import_statement "import" . (string) @import.module)
(import_statement (import_clause (identifier) @import.default) source: (string) @import.module)
(import_statement (import_clause (namespace_import (identifier) @import.alias))
  source: (string) @import.module)
(import_statement (import_clause (named_imports (import_specifier name: (_) @import.name !alias)))
  source: (string) @import.module)
(import_statement (import_clause (named_imports
  (import_specifier name: (_) @import.name alias: (_) @import.alias))) source: (string) @import.module)
(export_statement "*" @import.all source: (string) @import.module)
(export_statement (namespace_export (_) @import.alias) source: (string) @import.module)
(export_statement (export_clause (export_specifier name: (_) @import.name !alias))
  source: (string) @import.module)
(export_statement (export_clause (export_specifier name: (_) @import.name alias: (_) @import.alias))
  source: (string) @import.module)
(export_statement (export_clause (export_specifier name: (_) @bind.value alias: (_) @bind)) !source)
(export_statement "default" @bind value: (_) @bind.value)
(export_statement "default" @bind declaration: (_ name: (_) @bind.value))
[(export_statement "default" @export) (namespace_export (_) @export) (export_specifier alias: (_) @export)
 (export_specifier name: (_) @export !alias)
 (export_statement declaration: (_ name: (_) @export))
 (export_statement declaration: (_ (variable_declarator name: [(identifier) @export
   (object_pattern [(shorthand_property_identifier_pattern) @export
     (pair_pattern value: (identifier) @export)])])))]
(call_expression function: (import) arguments: (arguments . (string) @import.module))
(variable_declarator name: (identifier) @import.alias value: {_AWAITED})
(variable_declarator name: {_NAMES} value: {_AWAITED})
({_REQUIRE} (#eq? @_require "require"))
((variable_declarator name: (identifier) @import.alias value: {_REQUIRE}) (#eq? @_require "require"))
((variable_declarator name: {_NAMES} value: {_REQUIRE}) (#eq? @_require "require"))
((variable_declarator name: (identifier) @import.alias
  value: (member_expression object: {_REQUIRE} property: (_) @import.name)) (#eq? @_require "require"))
((assignment_expression
  left: (member_expression
    object: (identifier) @_module property: (property_identifier) @_exports) @bind.whole
  right: (_) @bind.value) (#eq? @_module "module") (#eq? @_exports "exports"))
((assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: (object (pair key: (property_identifier) @bind value: (identifier) @bind.value)))
  (#eq? @_module "module") (#eq? @_exports "exports"))
((assignment_expression
  left: (member_expression object: (identifier) @_exports property: (property_identifier) @bind)
  right: [(identifier) (member_expression) (new_expression) (call_expression)] @bind.value)
  (#eq? @_exports "exports"))
(assignment_expression
  left: (member_expression object: (this) @bind.owner property: (_) @bind.attribute) right: (_) @bind.value)
"""

GRAPH_RULES = GraphRules(
    modules="javascript",
    self_names=("this",),
    super_names=("super",),
    class_scope_is_visible=False,
    functions_have_own_self=True,
    member_nodes=(
        "method_definition", "pair", "assignment_expression", "public_field_definition", "field_definition",
    ),
    lower_case_tags=True,
    stars_bind=False,
    quoted_types=False,
    generic_marks="<",
    name_marks="$#",
    type_prefixes=("readonly ",),
    wrappers=(
        "Promise", "PromiseLike", "Awaited", "Readonly", "Partial", "Required", "NonNullable", "Omit", "Pick",
    ),
    containers=(
        "Array", "ReadonlyArray", "Set", "ReadonlySet", "Map", "ReadonlyMap", "Iterable", "AsyncIterable",
        "IterableIterator", "Record",
    ),
)  # fmt: skip

# What JavaScript and TypeScript spell alike. Test blocks are containers: they title what they hold. A named
# function behind a condition (`isSupported && function adapter() {…}`) counts wherever it stands: to spell
# out the statements around it would take four times as long to compile.
SHARED_QUERY = (
    variables_of("(program {})")
    + f"""
(export_statement) @wrapper
[(function_declaration name: (_) @name) (generator_function_declaration name: (_) @name)] @definition.function
(class_declaration name: (_) @name) @definition.class
(assignment_expression right: (class name: (_) @name) @definition.class)
(export_statement value: (class name: (_) @name) @definition.class)
(binary_expression right: (function_expression name: (_) @name) @definition.function)
(binary_expression right: (class name: (_) @name) @definition.class)
(ternary_expression (function_expression name: (_) @name) @definition.function)
(export_statement "default" @name value: (class !name) @definition.class)
(export_statement "default" @name value: [(arrow_function) (function_expression !name)] @definition.function)
(method_definition name: (_) @name) @definition.function

(program (expression_statement (assignment_expression
  left: (member_expression object: (identifier) @scope property: (property_identifier) @name)
  right: {FUNCTION_VALUE}) @definition.function)
  (#not-eq? @scope "exports"))
(assignment_expression
  left: (member_expression object: (identifier) @_exports property: (property_identifier) @name)
  right: {FUNCTION_VALUE}
  (#eq? @_exports "exports")) @definition.function
(assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    property: (property_identifier) @name)
  right: {FUNCTION_VALUE}
  (#eq? @_module "module") (#eq? @_exports "exports")) @definition.function
(assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @scope property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: {FUNCTION_VALUE}
  (#eq? @_prototype "prototype")) @definition.function
(assignment_expression
  left: (member_expression object: (this) property: (property_identifier) @name)
  right: {FUNCTION_VALUE}) @definition.function
(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: (class !name body: (_) @body)) @definition.class
(program (expression_statement (assignment_expression right: (object (pair
  key: (property_identifier) @name value: {FUNCTION_VALUE}) @definition.function))))

(expression_statement (call_expression
  function: [(identifier) @_block (member_expression object: (identifier) @_block)]
  arguments: (arguments . (string (string_fragment) @name) [(arrow_function) (function_expression)]))
  (#any-of? @_block "describe" "context" "suite")) @container.module
(expression_statement (call_expression
  function: [(identifier) @_block (member_expression object: (identifier) @_block)]
  arguments: (arguments . (string (string_fragment) @name) [(arrow_function) (function_expression)]))
  (#any-of? @_block "it" "test" "specify")) @container.function

(comment) @comment
"""
    + _GRAPH_QUERY
)

LANGUAGE = Language(
    name="javascript",
    suffixes=(".js", ".mjs", ".cjs", ".jsx"),
    filenames=("Jakefile",),
    interpreters=("node", "nodejs"),
    grammar="tree_sitter_javascript",
    line_comment="//",
    import_separator="",
    index_stems=("index",),
    graph=GRAPH_RULES,
    query=SHARED_QUERY
    + f"""
(field_definition property: (_) @name value: {FUNCTION_VALUE}) @definition.function
(class_heritage [(identifier) (member_expression)] @base)
(field_definition property: (_) @bind value: (_) @bind.value)
(formal_parameters (identifier) @bind)
{callbacks_with("(identifier) @bind")}
(variable_declarator name: (identifier) @bind value: (_) @bind.value)
""",
)
