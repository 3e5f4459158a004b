"""The description of a language. Each file of this folder holds one."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from satchel.types import ChunkKind


class ImportBinds(StrEnum):
    """Which name an import of a whole module binds if it gives no other name."""

    NOTHING = "nothing"
    FIRST_PART = "first part"  # `import os.path` binds `os`
    LAST_PART = "last part"  # `import "net/http"` binds `http`
    PACKAGE = "package"  # the name that the package gives itself, which only its own files tell
    MEMBER = "member"  # `import a.b.C` binds the name `C` of `a.b`


class OuterPackages(StrEnum):
    """Which packages a file sees without imports beside its own."""

    NONE = "none"  # Java: `a.b` does not see the names of `a`
    ALL = "all"  # C#: the code of `A.B.C` sees the names of `A.B`, `A` and of no namespace
    GLOBAL = "global"  # PHP: names of no namespace


class GraphRules(msgspec.Struct, frozen=True, cache_hash=True):
    """What resolving the uses of a language needs to know beside its query.

    `modules` is the file of `graph/modules/` that finds the files of an import. With `implicit_names`, a file
    sees names that it neither defines nor imports: those of its package, of its namespace or of the program.
    """

    modules: str
    import_binds: ImportBinds = ImportBinds.NOTHING
    implicit_names: bool = False
    self_names: tuple[str, ...] = ()  # the words for the object whose class the code is part of
    super_names: tuple[str, ...] = ()  # the words for the same object seen as its base classes
    members_tell_heads: bool = False  # the name that a member is reached by has no capture of its own
    self_is_first_parameter: bool = False  # of a function right inside a class
    class_scope_is_visible: bool = False  # whether functions see the members of the class around them by name
    calls_name_functions: bool = False  # whether a name that is called is never that of a variable
    packages_are_names: bool = False  # whether code may write out a package, and import from inside of types
    outer_packages: OuterPackages = OuterPackages.NONE
    types_have_parts: bool = False  # whether several files of a package may define one type together
    own_members: tuple[str, ...] = ()  # names of members that stand for the type itself (`Companion`)
    has_extensions: bool = False  # whether functions outside of a type may be called like members of it
    extensions_are_members: bool = False  # whether they are named `T.name`, and see the members of T by name
    packages_hold_types: bool = False  # whether all that a package defines are types, which are capitalised
    bindings_overlap: bool = False  # whether several patterns of the query may give one binding
    inferred_types: tuple[str, ...] = ()  # words in place of a type that leave it to the value (`var`)
    wrappers: tuple[str, ...] = ()  # generic types that mean their first argument (`Optional`, `Promise`)
    containers: tuple[str, ...] = ()  # generic types whose last argument is that of their elements
    type_prefixes: tuple[str, ...] = ()  # words before a type that say nothing about which it is
    block_is_argument: bool = False  # `call { … }` is a call
    call_method: str = ""  # the member that runs when an object is called
    quoted_types: bool = True  # whether a type may be written as a string
    generic_marks: str = "<["  # what the arguments of a generic type start with
    name_marks: str = ""  # characters of names beside letters, digits and `_`
    functions_have_own_self: bool = False  # whether a function inside a method is part of no class
    member_nodes: tuple[str, ...] = ()  # definitions that are only reached through an object
    lower_case_tags: bool = False  # whether a small letter behind `<` starts an element of a page
    stars_bind: bool = True  # whether an import of all names binds them in the file, or only hands them on
    # A local name is bound once in its block, from there on, with one type (as in C and Go).
    names_start_at_declaration: bool = False
    has_named_arguments: bool = True  # whether `name=` may be the name of an argument
    # A name means what the innermost class or namespace around it has, wherever that is defined (C++).
    names_are_scoped: bool = False
    # Calls whose result has the type of their first type argument (`make_unique<Basket>()`).
    typed_calls: tuple[str, ...] = ()
    has_name_spaces: bool = False  # tags, macros and other names apart, as in C; uses say `@use.t`, `@use.m`
    space_before_call: bool = False  # `call (x)` is a call
    type_arguments_in_brackets: bool = False  # `New[int](1)` is a call
    call_marks: str = "("  # what follows a name that is called
    modules_are_scopes: bool = False  # a module inside a file has names of its own (Rust `mod`)
    own_module: str = ""  # the word that begins a path from the module around the code (Rust `self::`)
    parent_module: str = ""  # the word that begins a path from the module above it (Rust `super::`)
    fields_apart: bool = False  # a member that is not called is a field, also if a method has its name
    # Where names start at their declaration: a second one in the same block makes another variable (Rust).
    rebinds: bool = False
    wrapping_calls: tuple[str, ...] = ()  # calls that wrap their only argument (`Some`, `Box::new`)
    # Patterns of bindings in code that the grammar leaves as tokens; groups `name`, and `type` or `value`.
    token_bindings: tuple[str, ...] = ()
    open_types: bool = False  # a type or module may be written in parts, in several files (Ruby)
    # Names with a capital letter are looked for in the modules around the code, from the inside outwards, and
    # all files know all of them (Ruby).
    constants_are_lexical: bool = False
    implicit_self: bool = False  # a name that is not local is a member of the object whose class is around it
    calls_without_marks: bool = False  # every member access is a call
    call_name_field: str = ""  # the field of a call node with its name, if arguments need no brackets
    attribute_mark: str = ""  # what begins the name of an attribute of that object (Ruby `@name`)
    name_endings: str = ""  # marks that a name may end with (Ruby `empty?`)
    constructor: str = ""  # the member of a class that makes an object of it (Ruby `new`)
    # Members that return the object they belong to, or what a wrapper holds (`unwrap`, `clone`).
    transparent_members: frozenset[str] = frozenset()
    ignored: frozenset[str] = (
        frozenset()
    )  # names of the language itself, which no file defines; macros with `!`


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

    Without `graph`, uses are known by name alone:

    - `@reference.LABEL`: the name node of a use (calls, extends, uses).
    - `@import`: what is imported, as written; or `@import.module` with `@import.name`.

    With `graph`, `chunking/fact_extraction` reads what names mean:

    - `@use`: a bare name that may be a use; `@use.type`: one where only types stand; `@use.t`, `@use.m`: a
      tag or a macro of C.
    - `@member`: a member access, whose text is the expression and ends with the member's name;
      `@member.type`: one where only types stand; `@tokens`: code that the grammar leaves as tokens.
    - `@base`: a base type of the class around it.
    - `@bind`: a name that is bound there (parameter, local, field), with `@bind.type`, `@bind.value`,
      `@bind.element` (what is iterated), `@bind.item` (the type of elements), `@bind.member` (a pattern takes
      the value apart), `@bind.alias` (another name of a type), `@bind.scope` (where it is seen) or
      `@bind.self` (it is the object of the method); `@bind.list` with `@bind.values`: several at once.
    - `@bind.attribute`, with `@bind.owner`: `self.x = …`; `@bind.whole`: a module that is one value.
    - `@scope`, `@scope.closure`, `@scope.function`, `@scope.class`: a node with names of its own.
    - `@returns`: the declared type of a result, `@returns.list` of several; `@result`: a returned expression.
    - `@global`: a name that is declared to be the file's. `@export`: a name that other files see.
    - `@import.module`, with `@import.name`, `@import.alias`, `@import.default` or `@import.all`;
      `@import.tree`: a nested list of imports; `@import.relative`: a path from the file's own folder.
    - `@opaque`, `@code`: text in which names are no uses, or text that is code although the grammar takes it
      for something else.
    - `@generic`, with `@generic.bound` if there is one: the name of a type parameter and the type it extends;
      with `@generic.scope` where the parameters stand in front of what they belong to.
    - `@object` with `@object.type`: the body of an object that has a class of its own without a name.
    - `@member.start` with `@member.end`: a member access in a grammar without a node that ends with the name.
    - `@extension`: the type that the function around it extends (C#).
    - `@key`: a name that is no use of what it names elsewhere (the name of an argument).
    - `@import.file`: the path of an included file, which binds no name.
    - `@package`: the name of the package that the file belongs to, if definitions do not carry it.
    """

    name: str
    suffixes: tuple[str, ...]
    claims: tuple[
        tuple[str, str], ...
    ] = ()  # (suffix of another language, pattern that makes such a file this language)
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()  # programs that a `#!` line may name
    chunker: str = "syntax"
    grammar: str = ""  # the module of its tree-sitter wheel
    grammar_entry: str = "language"  # the function of that module; a few wheels contain several grammars
    endless: bool = False  # the scanner of the grammar loops for ever on some broken files, also small ones
    query: str = ""
    blanked: tuple[
        str, ...
    ] = ()  # patterns of text that breaks the grammar; their group 1 is replaced by spaces
    name_separators: tuple[str, ...] = ()  # `::` in a C++ name, `.` and `:` in a Lua one
    import_separator: str = "."  # between @import.module and @import.name; empty where names are no modules
    module_kind: ChunkKind = ChunkKind.MODULE  # the kind of the code between definitions
    merge_clauses: bool = False  # consecutive clauses of one name are one definition (Haskell, Elixir)
    prose: bool = False  # a document: never minified, part of the default pack
    line_comment: str = ""  # the start of a line comment
    block_keywords: tuple[
        tuple[str, ChunkKind], ...
    ] = ()  # the keywords that start a definition, for the braces chunker
    graph: GraphRules | None = None  # None: uses are matched by name, and never called sure
    index_stems: tuple[str, ...] = ()  # files that stand for their folder (`__init__`, `mod`, `index`)
