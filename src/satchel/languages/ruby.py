"""Ruby."""

from satchel.languages.language import Language

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
(superclass [(constant) @reference.extends (scope_resolution name: (constant) @reference.extends)])
(call
  !receiver
  method: (identifier) @_mixin
  arguments: (argument_list
    [(constant) @reference.extends (scope_resolution name: (constant) @reference.extends)])
  (#any-of? @_mixin "extend" "include" "prepend"))
(call
  method: (identifier) @_require
  arguments: (argument_list (string) @import .)
  (#any-of? @_require "autoload" "load" "require" "require_dependency" "require_relative"))
(call
  method: [(identifier) (constant)] @reference.calls
  (#not-match? @reference.calls
    "^(attr_.*|autoload|context|describe|extend|include|it|load|new|prepend|private.*|protected|raise|require.*)$"))
(call
  receiver: [(constant) @reference.calls (scope_resolution name: (constant) @reference.calls)]
  method: (identifier) @_new
  (#eq? @_new "new"))
(call
  receiver: [(constant) @reference.uses (scope_resolution name: (constant) @reference.uses)]
  method: (identifier) @_other
  (#not-eq? @_other "new"))
(exceptions [(constant) @reference.uses (scope_resolution name: (constant) @reference.uses)])
(comment) @comment
""",
)
