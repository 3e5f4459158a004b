"""Bash and the other shells of its family."""

from satchel.languages.language import Language

_BUILTINS = (
    "[.:@{}]|@test|break|builtin|cd|command|continue|declare|echo|eval|exec|exit|export|false|getopts|let|"
    "load|local|popd|printf|pushd|pwd|read|readonly|return|run|set|shift|shopt|source|test|trap|true|type|"
    "ulimit|umask|unset|wait"
)

LANGUAGE = Language(
    name="bash",
    suffixes=(".sh", ".bash", ".zsh", ".bats", ".ksh"),
    filenames=(
        "APKBUILD",
        "PKGBUILD",
        ".bash_aliases",
        ".bash_profile",
        ".bashrc",
        ".profile",
        ".zprofile",
        ".zshenv",
        ".zshrc",
    ),
    interpreters=("sh", "bash", "zsh", "dash", "ksh", "shell-script"),
    grammar="tree_sitter_bash",
    line_comment="#",
    query=f"""
(function_definition name: (word) @name) @definition.function
(program (variable_assignment name: (variable_name) @name) @definition.const)
(program
  (declaration_command (variable_assignment name: (variable_name) @name)) @definition.const
  (#not-match? @definition.const "^local"))
(command
  name: (command_name (word) @reference.calls)
  (#not-match? @reference.calls "^({_BUILTINS})$"))
(command
  name: (command_name (word) @_runner)
  . argument: (word) @reference.calls
  (#any-of? @_runner "run" "trap"))
(command
  name: (command_name (word) @_source)
  . argument: [(word) (string) (raw_string) (concatenation)] @import
  (#any-of? @_source "." "load" "source"))
(comment) @comment
""",
)
