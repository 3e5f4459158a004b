"""The description of a language. Each file of this folder holds one."""

from __future__ import annotations

import msgspec

from satchel.types import ChunkKind


class Language(msgspec.Struct, frozen=True):
    """A language: how its files are recognised, and how its syntax tree is read.

    `query` is a tree-sitter query. Its captures:

    - `@definition.KIND` with `@name` (and `@scope` for a qualifier written elsewhere, such as the
      receiver of a Go method, and `@doc` for a docstring node): a symbol. KIND is a ChunkKind;
      a function inside a type becomes a method by itself.
    - `@body`: where the signature ends, for grammars without a `body` field; `@signature`: a node that
      is the whole signature.
    - `@container.KIND` with `@name`: lends its name to what it holds but defines nothing
      (`impl`, `extension`, `instance`, `namespace`).
    - `@namespace` with `@name`: a statement that lends its name to all below it, up to the next one.
    - `@wrapper`: a node around a definition that belongs to it (decorators, export, template).
    - `@leading`: a node of its own that belongs to the definition right below it (attributes); with
      `@doc` inside, it documents that definition.
    - `@comment`: a comment; full-line comments right above a definition belong to it.
    - `@reference.LABEL`: the name node of a use (calls, extends, uses).
    - `@import`: what is imported, as written; or `@import.module` with `@import.name`.
    """

    name: str
    suffixes: tuple[str, ...]
    claims: tuple[tuple[str, str], ...] = ()  # (a suffix of another language, what in a file makes it ours)
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()  # programs a `#!` line may name
    chunker: str = "syntax"
    grammar: str = ""  # the module of the tree-sitter wheel
    grammar_entry: str = "language"  # its function; a few wheels carry several grammars
    endless: bool = False  # the grammar's own scanner never ends on some broken files, of whatever size
    query: str = ""
    blanked: tuple[str, ...] = ()  # what the grammar trips over: group 1 of these patterns is spaces to it
    name_separators: tuple[str, ...] = ()  # `::` in a C++ name, `.` and `:` in a Lua one
    import_separator: str = "."  # between @import.module and @import.name
    module_kind: ChunkKind = ChunkKind.MODULE  # what the code between definitions is
    merge_clauses: bool = False  # neighbours of one name are one definition (Haskell, Elixir)
    prose: bool = False  # documents: no minified rule, part of the default pack
    line_comment: str = ""  # how a comment starts, for docstrings and the braces chunker
    block_keywords: tuple[tuple[str, ChunkKind], ...] = ()  # what opens a definition, for the braces chunker
    index_stems: tuple[str, ...] = ()  # files that stand for their folder (`__init__`, `mod`, `index`)
