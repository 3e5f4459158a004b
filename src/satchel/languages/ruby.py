"""Ruby."""

from satchel.languages.language import GraphRules, Language

LANGUAGE = Language(
    name="ruby",
    suffixes=(".rb", ".rake", ".gemspec", ".ru", ".rbi", ".rbw", ".podspec", ".jbuilder", ".thor"),
    filenames=(
        "Appraisals",
        "Berksfile",
        "Brewfile",
        "Capfile",
        "Dangerfile",
        "Fastfile",
        "Gemfile",
        "Guardfile",
        "Podfile",
        "Puppetfile",
        "Rakefile",
        "Vagrantfile",
    ),
    interpreters=("ruby", "jruby", "truffleruby", "rake"),
    grammar="tree_sitter_ruby",
    line_comment="#",
    name_separators=("::",),
    import_separator="/",
    graph=GraphRules(
        modules="ruby",
        implicit_names=True,
        self_names=("self",),
        super_names=("super",),
        open_types=True,
        constants_are_lexical=True,
        implicit_self=True,
        calls_without_marks=True,
        call_name_field="method",
        attribute_mark="@",
        name_endings="?!",
        constructor="new",
        transparent_members=frozenset({"class", "dup", "clone", "freeze", "tap"}),
        ignored=frozenset(
            {
                "require",
                "require_relative",
                "include",
                "extend",
                "prepend",
                "attr_reader",
                "attr_writer",
                "attr_accessor",
                "private",
                "public",
                "protected",
                "module_function",
                "raise",
                "puts",
                "lambda",
                "proc",
                "loop",
                "block_given?",
                "describe",
                "context",
                "it",
                "before",
                "after",
                "let",
                "subject",
                "expect",
                "p",
                "String",
                "Integer",
                "Array",
                "Hash",
                "Symbol",
                "Float",
                "Object",
                "Class",
                "Module",
                "Proc",
                "Kernel",
                "StandardError",
                "ArgumentError",
                "RuntimeError",
                "TypeError",
                "NameError",
                "NotImplementedError",
                "alias_method",
                "autoload",
                "private_constant",
                "catch",
                "throw",
                "format",
                "sprintf",
                "binding",
            }
        ),
    ),
    # `def Shop.open` inside Shop is Shop.open, not Shop.Shop.open: the constant counts at the top level only.
    query="""
(module name: (_) @name) @definition.module
(class name: (_) @name) @definition.class
(method name: (_) @name) @definition.function
(singleton_method object: (self) name: (_) @name) @definition.function
(singleton_method object: (identifier) @scope name: (_) @name) @definition.function
(program (singleton_method object: (constant) @scope name: (_) @name) @definition.function)
(body_statement (singleton_method object: (constant) name: (_) @name) @definition.function)
(assignment
  left: [(constant) (scope_resolution)] @name
  right: (call) @_maker
  (#match? @_maker "^(Class|Data|Module|Struct)[.](define|new)")) @definition.class
(assignment
  left: [(constant) (scope_resolution)] @name
  right: (_) @_value
  (#not-match? @_value "^(Class|Data|Module|Struct)[.](define|new)")) @definition.const
(call
  method: (identifier) @_group
  arguments: (argument_list . [(string (string_content) @name) (constant) @name (scope_resolution) @name])
  block: (_)
  (#any-of? @_group "context" "describe" "feature" "namespace")) @container.module
(call
  method: (identifier) @_example
  arguments: (argument_list . (string (string_content) @name))
  block: (_)
  (#any-of? @_example "it" "scenario" "should" "specify" "test")) @container.function
(superclass [(constant) (scope_resolution)] @base)
(call
  !receiver
  method: (identifier) @_mixin
  arguments: (argument_list [(constant) (scope_resolution)] @base)
  (#any-of? @_mixin "extend" "include" "prepend"))
(call
  method: (identifier) @_require
  arguments: (argument_list (string (string_content) @import.module) .)
  (#any-of? @_require "autoload" "load" "require" "require_dependency"))
(call
  method: (identifier) @import.relative
  arguments: (argument_list . (string (string_content) @import.module))
  (#eq? @import.relative "require_relative"))
[(identifier) (constant) (super)] @use
(scope_resolution) @member
(call receiver: (_) @member.start method: [(identifier) (constant)] @member.end)
[(block) (do_block) (lambda)] @scope
[(method_parameters (identifier) @bind) (block_parameters (identifier) @bind)
 (lambda_parameters (identifier) @bind) (optional_parameter name: (identifier) @bind)
 (keyword_parameter name: (identifier) @bind) (splat_parameter name: (identifier) @bind)
 (hash_splat_parameter name: (identifier) @bind) (block_parameter name: (identifier) @bind)
 (destructured_parameter (identifier) @bind) (left_assignment_list (identifier) @bind)
 (destructured_left_assignment (identifier) @bind) (rest_assignment (identifier) @bind)
 (for pattern: (identifier) @bind)]
(exception_variable (identifier) @bind)
(assignment left: [(identifier) @bind (constant) @bind (instance_variable) @bind.attribute]
  right: (_) @bind.value)
(operator_assignment left: [(identifier) @bind (instance_variable) @bind.attribute] right: (_) @bind.value)
(method body: (body_statement
  [(call) (identifier) (instance_variable) (constant) (self) (array) (hash) (string) (integer) (binary) (if)
   (unless) (case) (conditional) (assignment) (operator_assignment) (element_reference) (begin)] @result .))
(method body: (body_statement
  [(call) (identifier) (instance_variable) (constant) (self) (array) (hash) (string) (integer) (binary) (if)
   (unless) (case) (conditional) (assignment) (operator_assignment) (element_reference) (begin)] @result
  . [(rescue) (ensure)]))
(singleton_method body: (body_statement
  [(call) (identifier) (instance_variable) (constant) (self) (array) (hash) (string) (integer) (binary) (if)
   (unless) (case) (conditional) (assignment) (operator_assignment) (element_reference) (begin)] @result .))
(return (argument_list (_) @result .))
(comment) @comment
""",
)
