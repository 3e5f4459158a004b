"""JavaScript, and the parts of its query that TypeScript shares."""

from satchel.languages.language import Language

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
    """Patterns for the variables of a scope; `{}` in it is where its statements stand."""
    return "\n".join(scope.replace("{}", f"[{each} (export_statement {each})]") for each in _VARIABLES)


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
(call_expression function: [(identifier) @reference.calls
  (member_expression property: (property_identifier) @reference.calls)])
(new_expression constructor: [(identifier) @reference.calls
  (member_expression property: (property_identifier) @reference.calls)])
(decorator [(identifier) @reference.uses (member_expression property: (property_identifier) @reference.uses)])
(import_statement source: (string) @import)
(export_statement source: (string) @import)
(call_expression function: (import) arguments: (arguments . (string) @import))
(call_expression function: (identifier) @_require arguments: (arguments . (string) @import .)
  (#eq? @_require "require"))
"""
)

# Lower-case elements are HTML, not code of the project.
JSX_QUERY = """
(jsx_opening_element name: (identifier) @reference.uses (#match? @reference.uses "^[A-Z]"))
(jsx_self_closing_element name: (identifier) @reference.uses (#match? @reference.uses "^[A-Z]"))
(jsx_opening_element name: (member_expression property: (property_identifier) @reference.uses))
(jsx_self_closing_element name: (member_expression property: (property_identifier) @reference.uses))
"""

LANGUAGE = Language(
    name="javascript",
    suffixes=(".js", ".mjs", ".cjs", ".jsx"),
    filenames=("Jakefile",),
    interpreters=("node", "nodejs"),
    grammar="tree_sitter_javascript",
    line_comment="//",
    index_stems=("index",),
    query=SHARED_QUERY
    + JSX_QUERY
    + f"""
(field_definition property: (_) @name value: {FUNCTION_VALUE}) @definition.function
(class_heritage [(identifier) @reference.extends
  (member_expression property: (property_identifier) @reference.extends)])
""",
)
