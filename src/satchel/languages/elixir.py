"""Elixir."""

from satchel.languages.language import Language

# Module attributes that say something about a definition, or to the compiler: no constants of the module.
_ATTRIBUTES = (
    "after_.*|before_.*|behaviour|.*callbacks?|compile|deprecated|derive|dialyzer|.*doc|enforce_keys|"
    "external_resource|impl|on_.*|opaque|since|spec|.*tag|typep?"
)
_SPECIAL_FORMS = (
    "alias|case|cond|def.*|describe|for|if|import|quote|raise|receive|require|test|try|unless|unquote.*|"
    "use|with"
)

LANGUAGE = Language(
    name="elixir",
    suffixes=(".ex", ".exs"),
    interpreters=("elixir",),
    grammar="tree_sitter_elixir",
    line_comment="#",
    name_separators=(".",),
    merge_clauses=True,
    # Everything is a call in this grammar: the keyword tells a definition from a use.
    query=f"""
(call
  target: (identifier) @_keyword
  (arguments . (alias) @name)
  (do_block) @body
  (#eq? @_keyword "defmodule")) @definition.module
(call
  target: (identifier) @_keyword
  (arguments . (alias) @name)
  (do_block . (unary_operator operand: (call
    target: (identifier) @_attribute
    (arguments . (string (quoted_content) @doc)))))
  (#any-of? @_keyword "defmodule" "defprotocol")
  (#eq? @_attribute "moduledoc")) @definition.module
(call
  target: (identifier) @_keyword
  (arguments . (alias) @name)
  (do_block) @body
  (#eq? @_keyword "defprotocol")) @definition.interface
(call
  target: (identifier) @_keyword
  (arguments . (alias) @name .)
  (#eq? @_keyword "defimpl")) @container.impl
(call
  target: (identifier) @_keyword
  (arguments . (alias) @scope . (keywords . (pair value: (_) @name)))
  (#eq? @_keyword "defimpl")) @container.impl
(call
  target: (identifier) @_keyword
  (arguments . (alias) @reference.extends)
  (#eq? @_keyword "defimpl"))
(call
  target: (identifier) @_keyword
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: (identifier) @name operator: "when")
    (binary_operator left: (call target: (identifier) @name) operator: "when")])
  (do_block)? @body
  (#match? @_keyword "^def(p|macrop?|guardp?|delegate|np?)?$")
  (#not-eq? @name "unquote")) @definition.function
(call
  target: (identifier) @_keyword
  (arguments . (binary_operator operator: _ @name))
  (do_block)? @body
  (#match? @_keyword "^def(p|macrop?)?$")
  (#not-eq? @name "when")) @definition.function
(call
  target: (identifier) @name
  (#any-of? @name "defexception" "defstruct")) @definition.struct
(unary_operator operator: "@" operand: (call
  target: (identifier) @_attribute
  (arguments . (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")))
  (#any-of? @_attribute "opaque" "type" "typep")) @definition.const
(unary_operator operator: "@" operand: (call
  target: (identifier) @_attribute
  (arguments . (binary_operator left: (call target: (identifier) @name) operator: "::")))
  (#any-of? @_attribute "callback" "macrocallback")) @definition.function
(do_block (unary_operator operator: "@" operand: (call target: (identifier) @name (arguments)))
  @definition.const
  (#not-match? @name "^({_ATTRIBUTES})$"))
(unary_operator operator: "@" operand: (call
  target: (identifier) @_attribute
  (arguments . (string (quoted_content) @doc)))
  (#any-of? @_attribute "doc" "typedoc")) @leading
(unary_operator operator: "@" operand: (call target: (identifier) @_attribute)
  (#match? @_attribute "^(deprecated|derive|dialyzer|doc|enforce_keys|impl|since|spec|tag|typedoc)$")
) @leading
(call
  target: (identifier) @_keyword
  (arguments . (string (quoted_content) @name))
  (do_block) @body
  (#eq? @_keyword "describe")) @container.module
(call
  target: (identifier) @_keyword
  (arguments . (string (quoted_content) @name))
  (do_block) @body
  (#any-of? @_keyword "property" "test")) @container.function
(unary_operator operator: "@" operand: (call
  target: (identifier) @_attribute
  (arguments . (alias) @reference.extends))
  (#eq? @_attribute "behaviour"))
(call
  target: (identifier) @_keyword
  (arguments . [
    (alias) @import
    (dot left: (alias) @import.module right: (tuple (alias) @import.name))])
  (#any-of? @_keyword "alias" "import" "require" "use"))
(call
  target: (identifier) @reference.calls
  (#not-match? @reference.calls "^({_ATTRIBUTES}|{_SPECIAL_FORMS})$"))
(call target: (dot right: (identifier) @reference.calls) (arguments) (#not-eq? @reference.calls "t"))
(call target: (dot left: (alias) @reference.uses))
(unary_operator operator: "&" operand: (binary_operator left: (identifier) @reference.calls operator: "/"))
(struct (alias) @reference.uses)
(comment) @comment
""",
)
