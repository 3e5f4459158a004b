"""Extract the facts of a file: its imports, the types of its names, and its uses of names as expressions.

The query of a language captures names and bindings; this module finds the scope of each name. A local
variable is replaced by the expression that it holds, so that no expression depends on where it stands; names
that are local and hold nothing known are no uses of anything outside of their function.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, NamedTuple

from satchel.chunking.expressions import (
    STRING_TYPE,
    last_part,
    likely_value,
    member_ranges,
    to_expression,
    to_type,
)
from satchel.chunking.import_trees import read_import_tree
from satchel.code_facts import (
    ALL_NAMES,
    DEFAULT_NAME,
    ELEMENTS,
    WHOLE_MODULE,
    FileFacts,
    Import,
    TypedName,
    UseColumns,
)
from satchel.languages.language import GraphRules, ImportBinds, Language
from satchel.types import ChunkKind, Label

if TYPE_CHECKING:
    import tree_sitter

    from satchel.chunking.captures import CapturedDefinition

    Match = dict[str, list[tree_sitter.Node]]

_TYPE_KINDS = frozenset(
    {ChunkKind.CLASS, ChunkKind.STRUCT, ChunkKind.ENUM, ChunkKind.INTERFACE, ChunkKind.TRAIT, ChunkKind.IMPL}
)
_FUNCTION_KINDS = frozenset({ChunkKind.FUNCTION, ChunkKind.METHOD})
_SCOPE_KINDS = _FUNCTION_KINDS | _TYPE_KINDS
_Range = tuple[int, int]
_NAME = re.compile(r"[^\W\d]")
_NOTHING = frozenset({b"None", b"null", b"undefined", b"nil"})  # values that say nothing about a type
_HEAD = re.compile(r"[^.(\[]*")
_GENERIC_CALL = re.compile(rb"<[^<>(){};]*(?:<[^<>(){};]*>[^<>(){};]*)*>\(")
_TYPE_FOLLOWED = re.compile(rb"<|\??(?:\[\])?\s+(?!(?:is|as|in|and|or|when|switch|with)\b)[A-Za-z_@]")
_TYPE_PRECEDED = re.compile(rb"(?:\b(?:new|is|as|typeof\()|<)\s*$")
_FIRST_NAME = re.compile(rb"\w+(?=[.(\[:?!-])")
_NOT_A_NAME = re.compile(r"[\d<{^?]")
_TAG_START = re.compile(rb".<|</", re.DOTALL)
_LAST_NAME = re.compile(rb"[\w$#]+[?!]?$")
_LAST_PART = re.compile(r"\w+\s*$")
_ANY_WORD = re.compile(rb"\w+")
# The start of a path that no import binds (`crate::x`, the name of another crate), and the name of a macro.
_KNOWN_EVERYWHERE = re.compile(rb"(?<![\w.:$])([a-z_]\w*)(?:\s*::|(!)[ ({\[])")
_ASSIGNMENT = re.compile(rb"\s*(?:\|\||&&|[-+*/])?=(?![=~>])")
_SELF_TYPES = frozenset({"Self", "typing.Self", "this", "self", "static"})
# Captures of functions and classes without a name. A closure sees the self around it, a function does not.
_ANONYMOUS = frozenset({"scope.closure", "scope.function", "scope.class"})
_MOST_REPLACED = 6  # local variables that one expression goes through
# A name that is called or looks like a constant, or what holds no names: comments, strings, members, the
# operators of macros. Types in the body of a macro are used where the macro is.
_WORD = re.compile(
    rb"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|(?:->|\.)\s*\w+|##?\s*\w+|\w+\s*##|\d\w*"
    rb"|([A-Za-z_]\w*(?=\s*\()|[A-Z_][A-Z0-9_]+\b)|\w+",
    re.DOTALL,
)
_WIDE_GENERIC_CALL = re.compile(rb"<[\w.,:;\s\[\]{}|&\"'<>$]{1,120}>\(")  # with types that are written out
_TYPED_CALL = re.compile(rb"\[[\w.*,\s\[\]]{1,80}\][({]")
_LONGEST = 200  # characters of an expression


@dataclass(slots=True)
class GraphCaptures:
    """What the query captured for the graph, before scopes are known."""

    uses: list[tree_sitter.Node] = field(default_factory=list)
    members: list[tree_sitter.Node] = field(default_factory=list)
    scopes: list[tree_sitter.Node] = field(default_factory=list)
    objects: list[tuple[tree_sitter.Node, tree_sitter.Node | None]] = field(
        default_factory=list
    )  # body, type
    type_uses: list[tree_sitter.Node] = field(default_factory=list)  # where a name can only mean a type
    type_members: list[tree_sitter.Node] = field(default_factory=list)
    anonymous: dict[tuple[int, int], str] = field(default_factory=dict)  # range of a scope → its capture
    generics: list[Match] = field(default_factory=list)
    bases: list[tree_sitter.Node] = field(default_factory=list)
    imports: list[Match] = field(default_factory=list)
    bindings: list[Match] = field(default_factory=list)
    exports: list[tree_sitter.Node] = field(default_factory=list)
    results: list[tuple[tree_sitter.Node, bool]] = field(default_factory=list)  # (node, is a type)
    result_lists: list[tree_sitter.Node] = field(default_factory=list)
    containers: list[tree_sitter.Node] = field(default_factory=list)
    keys: list[tree_sitter.Node] = field(default_factory=list)
    globals: list[tree_sitter.Node] = field(default_factory=list)
    namespaces: list[tree_sitter.Node] = field(default_factory=list)
    packages: list[tree_sitter.Node] = field(default_factory=list)
    extensions: list[tree_sitter.Node] = field(default_factory=list)
    code: list[tree_sitter.Node] = field(default_factory=list)
    tokens: list[tree_sitter.Node] = field(default_factory=list)  # code that the grammar leaves as tokens
    opaque: list[tree_sitter.Node] = field(default_factory=list)  # nodes whose names are no uses
    spans: list[_Word] = field(default_factory=list)  # members for which the grammar has no node
    spaces: dict[int, str] = field(default_factory=dict)  # start of a name → which names it can mean

    def add(self, match: Match) -> bool:
        """Take a match of the query if it is about the graph; return whether it is."""
        if "name" in match:  # a definition, whose `@scope` is another thing
            if "namespace" in match:
                self.packages.append(match["name"][0])
            elif "container.module" in match:
                self.namespaces += match["name"]
            return False
        if "import.module" in match:
            self.imports.append(match)
            return True
        taken = False
        for capture, nodes in match.items():
            if capture in _LISTS:
                _LISTS[capture](self).extend(nodes)
            elif capture in ("member.start", "member.end"):
                # The grammar has no node that ends with the name: `receiver.name(…)` is one node.
                start, end = match["member.start"][0], match["member.end"][0]
                self.spans.append(_Word(start.start_byte, end.end_byte, end.end_point))
                return True
            elif capture.startswith("import."):
                self.imports.append(match)
                return True
            elif capture.startswith("bind"):
                self.bindings.append(match)
                return True
            elif capture.startswith("generic"):
                self.generics.append(match)
                return True
            elif capture in _ANONYMOUS:
                self.anonymous.update(((node.start_byte, node.end_byte), capture) for node in nodes)
            elif capture in ("returns", "result"):
                self.results += [(node, capture == "returns") for node in nodes]
            elif capture.startswith("use."):
                self.spaces.update((node.start_byte, capture[4:]) for node in nodes)
            elif capture.startswith("object"):
                of_type = match.get("object.type")
                self.objects.append((match["object"][0], of_type[0] if of_type else None))
                return True
            elif capture.startswith("_"):
                continue  # a capture for the conditions of its pattern
            else:
                return False
            taken = True
        return taken

    def name_lists(self) -> dict[str, list[tree_sitter.Node]]:
        """Return the lists of names that are used, by their capture."""
        return {capture: _LISTS[capture](self) for capture in ("use", "member", "use.type", "member.type")}


_LISTS: dict[str, Callable[[GraphCaptures], list[tree_sitter.Node]]] = {
    "use": attrgetter("uses"),
    "member": attrgetter("members"),
    "use.type": attrgetter("type_uses"),
    "member.type": attrgetter("type_members"),
    "scope": attrgetter("scopes"),
    "base": attrgetter("bases"),
    "global": attrgetter("globals"),
    "extension": attrgetter("extensions"),
    "export": attrgetter("exports"),
    "key": attrgetter("keys"),
    "code": attrgetter("code"),
    "tokens": attrgetter("tokens"),
    "opaque": attrgetter("opaque"),
    "package": attrgetter("packages"),
    "container": attrgetter("containers"),
    "returns.list": attrgetter("result_lists"),
}


class _Word(NamedTuple):
    """A name in text that the grammar does not read, such as the body of a macro. Looks like a node."""

    start_byte: int
    end_byte: int
    end_point: tuple[int, int]


@dataclass(slots=True)
class _Binding:
    """A value of a local name from a position on: an expression, empty if nothing is known of it.

    Most local names are never asked for, so the expression of a `match` is read when it is."""

    start: int
    expression: str = ""
    declared: bool = False  # by a type or a definition, so that it holds at every position
    match: Match | None = None
    is_definition: bool = False  # the expression is that of a definition, so that the name is a use of it


@dataclass(slots=True)
class _Scope:
    """A part of a file with names of its own: a function, a class, a lambda, a comprehension, a block."""

    start: int
    end: int
    parent: int
    definition: CapturedDefinition | None = None
    is_class: bool = False
    module: str = ""  # the qualified name of a module inside the file that has names of its own
    anonymous: str = ""  # the capture of a function or class without a name
    has_value: bool = False  # the definition is a name for a function or class that is its value
    generics: dict[str, str] = field(default_factory=dict)  # type parameter → the TYPE that bounds it
    names: dict[str, list[_Binding]] = field(default_factory=lambda: defaultdict(list))
    outer: set[str] = field(default_factory=set)  # names that are declared to be the file's
    members: dict[str, str] = field(
        default_factory=dict
    )  # functions and constants of a class, as expressions
    fields: dict[str, str] = field(default_factory=dict)  # other values of a class
    types: dict[str, str] = field(default_factory=dict)  # types inside of it, as expressions
    is_object: bool = False  # the body of an object with a class of its own that has no name
    object_type: tree_sitter.Node | None = None  # what that class extends


class _Place(NamedTuple):
    """Where a binding is seen: from its start to the end of its scope."""

    start: int
    end: int
    at: int
    binding: _Binding


_PLACE_START: Callable[[_Place], int] = itemgetter(0)


class FactExtractor:
    """Extracts the facts of one file."""

    def __init__(
        self,
        captured: GraphCaptures,
        roots: Sequence[CapturedDefinition],
        names: Iterable[int],
        data: bytes,
        language: Language,
    ) -> None:
        assert language.graph is not None
        self.captured = captured
        self.data = data
        self.language = language
        self.rules: GraphRules = language.graph
        self.scopes: list[_Scope] = [_Scope(0, len(data) + 1, -1)]
        self.imports: list[Import] = []
        self.values: dict[TypedName, None] = {}
        self.bases: dict[tuple[str, str], None] = {}
        self.returns: dict[tuple[str, str], None] = {}
        self.uses: dict[tuple[str, Label], set[int]] = defaultdict(set)
        self.file_names: set[str] = set()
        self._defined = frozenset(names)
        self.bound = set(self._defined)  # where names stand that are bound or defined there, not used
        self._unknown_members: list[tuple[bytes, Label, int]] = []
        self._results_taken: dict[int, int] = {}  # start of a name → which result of a call it takes
        self._starts: list[int] = []
        self._definitions = list(_all_definitions(roots))
        self._seen_from: dict[int, str] = {}
        self._with_bases: set[str] = set()
        self._call_marks = frozenset(mark.encode() for mark in self.rules.call_marks)
        self._path_mark = b"::" if "::" in language.name_separators else b""
        self._reads_paths = bool(self.rules.own_module)
        # Names may be constants of the modules around them, or members of the object around them.
        self._implies = self.rules.constants_are_lexical or self.rules.implicit_self
        self._own_words = frozenset((*self.rules.self_names, *self.rules.super_names))
        self._is_lexical = self.rules.names_start_at_declaration
        self._sees_members = self.rules.class_scope_is_visible

    def extract(self) -> FileFacts:
        """Return the facts of the file."""
        self._make_scopes()
        self._read_generics()
        self._read_imports()
        if self.rules.packages_are_names:  # what a name holds may come from a base of the class around it
            self._read_bases()
        self._read_bindings()
        if not self.rules.packages_are_names:  # a base may be a type inside a function
            self._read_bases()
        self._read_containers()
        self._read_extensions()
        self._read_results()
        self._read_uses()
        return FileFacts(
            separator=self.language.import_separator,
            package=self._package(),
            imports=tuple(self.imports),
            values=tuple(self.values),
            bases=tuple(self.bases),
            returns=tuple(self.returns),
            exports=tuple(sorted({self._text(node) for node in self.captured.exports})),
            uses=UseColumns.of(
                (expression, label, sorted(lines)) for (expression, label), lines in sorted(self.uses.items())
            ),
        )

    def _text(self, node: tree_sitter.Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _package(self) -> str:
        """Return the packages that the file declares, with spaces between several."""
        found = {self._text(node): None for node in self.captured.packages}
        for definition in self._definitions if self.rules.packages_are_names else ():
            if definition.kind is ChunkKind.MODULE and not definition.defines:
                found[".".join(definition.title_path)] = None
        return " ".join(found)

    # Scopes

    def _make_scopes(self) -> None:
        """Make the tree of scopes, and give the names of definitions to the scope around each."""
        captured = self.captured
        objects = {(node.start_byte, node.end_byte): of_type for node, of_type in captured.objects}
        stack = [0]
        for (start, end), made in sorted(self._ranges(objects), key=_outer_first):
            while self.scopes[stack[-1]].end < end:
                stack.pop()
            anonymous = captured.anonymous.get((start, end), "") if made is None else ""
            around = self.scopes[stack[-1]]
            if anonymous and around.definition is not None and around.end == end and not around.has_value:
                around.has_value = True
                continue
            scope = _Scope(start, end, stack[-1], made, anonymous == "scope.class", anonymous=anonymous)
            if made is not None:
                scope.is_class, scope.module = self._is_class(made), self._inner_module(made)
            elif (start, end) in objects:
                scope.is_object, scope.object_type = True, objects[start, end]
            stack.append(len(self.scopes))
            self.scopes.append(scope)
        self._starts = [scope.start for scope in self.scopes]
        for definition in self._definitions:
            self._add_definition(definition)
        self.bound.update(node.start_byte for node in (*captured.keys, *captured.packages))
        if not self.rules.open_types:  # there, `describe Basket` uses the name of what it describes
            self.bound.update(node.start_byte for node in captured.namespaces)

    def _ranges(self, objects: Iterable[_Range]) -> Iterable[tuple[_Range, CapturedDefinition | None]]:
        """Return the parts of the file with names of their own, each with its definition if it is one."""
        captured = self.captured
        found: dict[_Range, CapturedDefinition | None] = {
            (node.start_byte, node.end_byte): None for node in (*captured.scopes, *captured.tokens)
        }
        found.update(dict.fromkeys(objects))
        found.update(dict.fromkeys(captured.anonymous))
        kinds = _SCOPE_KINDS
        if self.rules.modules_are_scopes or self.rules.open_types:
            kinds = kinds | {ChunkKind.MODULE}
        for definition in self._definitions:
            if definition.kind in kinds:
                found[definition.start, definition.end] = definition
        return found.items()

    def _add_definition(self, definition: CapturedDefinition) -> None:
        """Give the name of a definition to the scope around it."""
        scope = self.scopes[self._scope_of(definition.start - 1, definition.end)]
        path = definition.title_path
        if not definition.defines:
            if definition.kind is ChunkKind.MODULE and scope.parent < 0:
                self.file_names.add(definition.name.partition(".")[0])  # a namespace
            return
        if definition.node.type in self.rules.member_nodes:
            return
        if scope.parent >= 0 and self.rules.class_scope_is_visible:
            self._add_inner(scope, definition)
        if len(path) == 1 or scope.parent < 0:
            self.file_names.add(path[0])
        elif not scope.is_class:
            # A function inside a function is reached by its qualified name.
            scope.names[path[-1]].append(_Binding(0, ".".join(path), declared=True, is_definition=True))

    def _add_inner(self, scope: _Scope, definition: CapturedDefinition) -> None:
        """Note a definition that code around it sees by its name alone."""
        name, is_type = definition.title_path[-1], definition.kind in _TYPE_KINDS
        if scope.is_class and scope.definition is not None:
            held = scope.types if is_type else scope.members
            # A constructor has the name of its class, which is not what the name means.
            if name != scope.definition.title_path[-1]:
                held[name] = f"{{{'.'.join(scope.definition.title_path)}}}.{name}"
        elif is_type:
            scope.types[name] = ".".join(definition.title_path)

    def _is_class(self, definition: CapturedDefinition) -> bool:
        if definition.kind is ChunkKind.MODULE:
            return self.rules.open_types and definition.defines
        return definition.kind in _TYPE_KINDS

    def _inner_module(self, definition: CapturedDefinition) -> str:
        is_module = self.rules.modules_are_scopes and definition.kind is ChunkKind.MODULE
        return ".".join(definition.title_path) if is_module else ""

    def _scope_of(self, position: int, end: int | None = None) -> int:
        """Return the number of the innermost scope that holds a position, or a range of positions."""
        last = position + 1 if end is None else end
        at = bisect_right(self._starts, position) - 1
        while at > 0 and self.scopes[at].end < last:
            at = self.scopes[at].parent
        return max(at, 0)

    def _class_of(self, at: int) -> CapturedDefinition | None:
        """Return the definition of the class around a scope."""
        while at >= 0:
            scope = self.scopes[at]
            if scope.is_class:
                return scope.definition
            definition = scope.definition
            if definition is not None and definition.scope:
                # A method outside of its class, as in Go, names it.
                return definition
            if self.rules.functions_have_own_self and self._has_own_self(scope):
                return None
            at = scope.parent
        return None

    def _has_own_self(self, scope: _Scope) -> bool:
        """Return whether a scope is that of a function, and no method of a class."""
        if scope.definition is None:
            return scope.anonymous == "scope.function"
        return scope.definition.kind in _FUNCTION_KINDS and not self.scopes[scope.parent].is_class

    def _class_name(self, at: int) -> str:
        """Return the qualified name of the class around a scope, empty outside of classes."""
        found = self._class_of(at)
        if found is None:
            return ""
        path = found.title_path if self._is_class(found) else found.title_path[:-1]
        return ".".join(path)

    def _module_parts(self, at: int) -> list[str]:
        """Return the names of the modules inside the file that a scope is part of."""
        while at > 0:
            if self.scopes[at].module:
                return self.scopes[at].module.split(".")
            at = self.scopes[at].parent
        return []

    def _from_file(self, path: list[str], at: int) -> list[str]:
        """Return a path that begins with the words for the own or the parent module as seen from the module
        of the file: first `own_module` or, above it, `parent_module`."""
        own, parent = self.rules.own_module, self.rules.parent_module
        if not own or path[0] not in (own, parent):
            return path
        inside, first = self._module_parts(at), 0
        while first < len(path) and (path[first] == own or (path[first] == parent and inside)):
            if path[first] == parent:
                inside.pop()
            first += 1
        if path[first : first + 1] == [parent]:
            return path[first:]
        return [own, *inside, *path[first:]]

    def _read_generics(self) -> None:
        """Note the type parameters of each scope with the types that bound them."""
        for match in self.captured.generics:
            written = match.get("generic.bound")
            bound = to_type(self._text(written[0]), self.rules) if written else ""
            for node in match["generic"]:
                self.bound.add(node.start_byte)
                scope = self.scopes[self._scope_of(node.start_byte)]
                if bound or self._text(node) not in scope.generics:
                    scope.generics[self._text(node)] = bound

    def _generic_bound(self, name: str, at: int) -> str | None:
        """Return the bound of a type parameter as seen from a scope, None if the name is none."""
        while at >= 0:
            found = self.scopes[at].generics.get(name)
            if found is not None:
                return found
            at = self.scopes[at].parent
        return None

    # Imports and bindings

    def _read_imports(self) -> None:
        rules = self.rules
        if self._reads_paths:
            for found in set(_KNOWN_EVERYWHERE.findall(self.data)):
                if b"".join(found).decode() not in rules.ignored:
                    self.file_names.add(found[0].decode())
        for node in self.captured.opaque:
            self._hide_names(node)
        for match in self.captured.imports:
            if "import.tree" in match:
                self._read_import_tree(match["import.tree"][0])
                continue
            module_nodes = match.get("import.file") or match.get("import.module")
            if module_nodes is None:
                self._read_child_module(match["import.name"][0])
                continue
            module = self.data[module_nodes[0].start_byte : module_nodes[-1].end_byte].decode(
                "utf-8", "replace"
            )
            module = module.strip().strip("\"'`<>").strip()
            if not module:
                continue
            if "import.relative" in match and not module.startswith("."):
                module = f"./{module}"
            line = module_nodes[0].start_point[0] + 1
            alias = self._text(match["import.alias"][0]) if "import.alias" in match else ""
            for node in match.get("import.alias", ()):
                self.bound.add(node.start_byte)
            if "import.file" in match:
                self._add_import(Import("", module, "", line), module_nodes[0])
            elif "import.default" in match:
                node = match["import.default"][0]
                bound = Import(self._text(node), module, DEFAULT_NAME, node.start_point[0] + 1)
                self._add_import(bound, node)
            elif alias == "_" and rules.import_binds is ImportBinds.PACKAGE:  # imported for its effects
                self._add_import(Import("", module, "", line), module_nodes[0])
            elif "import.all" in match:
                self._add_import(Import(alias, module, ALL_NAMES if not alias else "", line), module_nodes[0])
            elif "import.name" in match:
                for node in match["import.name"]:
                    name = self._text(node).strip("\"'`")
                    self._add_import(Import(alias or name, module, name, node.end_point[0] + 1), node)
            elif rules.import_binds is ImportBinds.MEMBER:
                package, _, name = module.rpartition(self.language.import_separator)
                self._add_import(
                    Import(alias or name, package or name, name if package else "", line), module_nodes[0]
                )
            elif alias:
                self._add_import(Import(alias, module, "", line), module_nodes[0])
            else:
                self._add_import(Import("", module, "", line), module_nodes[0])
                if rules.import_binds is ImportBinds.FIRST_PART:
                    first = module.partition(".")[0]
                    self._add_import(Import(first, first, "", line), module_nodes[0])
                elif rules.import_binds is ImportBinds.LAST_PART:
                    last = last_part(module)
                    self._add_import(Import(last, module, "", line), module_nodes[0])

    def _read_import_tree(self, node: tree_sitter.Node) -> None:
        """Add the imports of a statement that names several things as a tree."""
        text, separator = self._text(node), self.language.import_separator
        self._hide_names(node)
        at = self._scope_of(node.start_byte)
        own = self.rules.own_module
        for item in read_import_tree(text, separator, own):
            line = node.start_point[0] + 1 + text.count("\n", 0, item.offset)
            parts = self._from_file(item.module.split(separator), at)
            around = self._module_parts(at)[: len(parts) - 1]
            if item.name == ALL_NAMES and parts == [own, *around]:
                continue  # names of a module around the code, which it sees anyway
            module = separator.join(parts)
            if item.name:
                name = "" if item.name == ALL_NAMES or item.alias == "_" else item.alias or item.name
                self._add_import(Import(name, module, item.name, line), node)
            else:
                self._add_import(Import(item.alias or last_part(module), module, "", line), node)

    def _hide_names(self, node: tree_sitter.Node) -> None:
        """Take no name inside a node for a use."""
        words = _ANY_WORD.finditer(self.data, node.start_byte, node.end_byte)
        self.bound.update(match.start() for match in words)

    def _read_child_module(self, node: tree_sitter.Node) -> None:
        """Add the import of a module that a file declares to be below it."""
        parts = self._from_file([self.rules.own_module], self._scope_of(node.start_byte))
        name = self._text(node)
        item = Import(name, self.language.import_separator.join(parts), name, node.start_point[0] + 1)
        self._add_import(item, node)

    def _add_import(self, item: Import, node: tree_sitter.Node) -> None:
        """Add an import. One inside a function or an inner module binds its name there."""
        at = self._scope_of(node.start_byte)
        while at > 0 and self.scopes[at].is_class:
            at = self.scopes[at].parent
        if at > 0 and item.name:
            # Other files do not see the name, so it gets one that no code can write.
            module = self.scopes[at].module
            alias = f"{module}.{item.name}" if module else f"{item.name}@{item.line}"
            self.scopes[at].names[item.name].append(_Binding(0, alias, declared=True, is_definition=True))
            item = Import(alias, item.module, item.imported, item.line)
        elif item.name:
            self.file_names.add(item.name)
        self.bound.add(node.start_byte)
        self.imports.append(item)
        if item.name:
            self._note(item.name, Label.IMPORTS, item.line)

    def _read_bindings(self) -> None:
        for node in self.captured.globals:
            self.scopes[self._scope_of(node.start_byte)].outer.add(self._text(node))
        lasting: list[tuple[Match, int, int]] = []
        data, scopes, bound = self.data, self.scopes, self.bound
        bound.update(node.start_byte for node in self.captured.keys)
        # Of two patterns that match one name, the one counts that knows what it holds.
        telling = [match for match in self.captured.bindings if len(match) > 1]
        known = {match["bind"][0].start_byte for match in telling if "bind" in match}
        for match in self._distinct_bindings():
            names = match.get("bind")
            start = _match_start(match)
            if len(match) == 1 and start in known:
                continue
            at = self._scope_of(match["bind.scope"][0].start_byte if "bind.scope" in match else start)
            if "bind.alias" in match:
                # An alias of a type is a scope because of its parameters; its name belongs to the one around.
                at = max(scopes[at].parent, 0)
            scope = scopes[at]
            if at == 0 or scope.is_class or scope.module or scope.outer or names is None:
                lasting.append((match, at, start))
            for node in names or ():
                place = node.start_byte
                bound.add(place)
                name = data[place : node.end_byte].decode("utf-8", "replace")
                if at == 0 or name in scope.outer:
                    self.file_names.add(name)
                elif not scope.is_class and not scope.module and place not in self._defined:
                    scope.names[name].append(self._local_binding(match, node, at))
                elif self.rules.class_scope_is_visible and place not in self._defined:
                    scope.fields[name] = f"{{{self._class_name(at)}}}.{name}" if len(match) > 1 else ""
        # Only now are all names known that the values may use.
        for match, at, start in sorted(lasting, key=itemgetter(2)):
            self._read_lasting_value(match, at, start)
        for node in self.captured.tokens if self.rules.token_bindings else ():
            self._read_token_bindings(node)

    def _read_token_bindings(self, node: tree_sitter.Node) -> None:
        """Read the bindings in code that the grammar leaves as tokens."""
        text = self._text(node)
        found = [match for pattern in self.rules.token_bindings for match in re.finditer(pattern, text)]
        for match in sorted(found, key=lambda item: item.start("name")):
            said = match.groupdict()
            position = node.start_byte + len(text[: match.start("name")].encode())
            at = self._scope_of(position)
            self.bound.add(position)
            if declared := said.get("type"):
                value = self._value_of_type(to_type(declared, self.rules), at, position)
                binding = _Binding(position, value, declared=True)
            else:
                value = self._value(said.get("value") or "", at, position)
                binding = _Binding(node.start_byte + len(text[: match.end()].encode()), value)
            self.scopes[at].names[said["name"]].append(binding)

    def _distinct_bindings(self) -> Iterable[Match]:
        """Return the bindings, each once where several patterns give one: the pattern that says most."""
        if not self.rules.bindings_overlap:
            paired = self._paired_bindings()
            return map(self._without_inferred, paired) if self.rules.inferred_types else paired
        found: dict[int, Match] = {}
        for match in map(self._without_inferred, self._paired_bindings()):
            known = found.get(start := _match_start(match))
            if known is None or len(known) < len(match):
                found[start] = match
        return found.values()

    def _without_inferred(self, match: Match) -> Match:
        """Return a binding without a word like `var` in place of its type."""
        words = self.rules.inferred_types
        if not words or "bind.type" not in match or self._text(match["bind.type"][0]) not in words:
            return match
        return {capture: nodes for capture, nodes in match.items() if capture != "bind.type"}

    def _paired_bindings(self) -> Iterable[Match]:
        """Yield the bindings; those of a list of names one by one, each with its own value or with its result
        of one call."""
        for match in self.captured.bindings:
            if "bind.list" not in match:
                yield match
                continue
            names = match["bind.list"][0].named_children
            values = match["bind.values"][0].named_children
            for number, node in enumerate(names):
                if node.named_child_count or not _NAME.match(self._text(node)):
                    continue
                if len(values) == len(names):
                    yield {"bind": [node], "bind.value": [values[number]]}
                elif len(values) == 1:
                    self._results_taken[node.start_byte] = number
                    yield {"bind": [node], "bind.value": values}
                else:
                    yield {"bind": [node]}

    def _local_binding(self, match: Match, node: tree_sitter.Node, at: int) -> _Binding:
        """Return the binding of a local name."""
        if self._is_self(match, node, at):
            return _Binding(node.start_byte, self._own(at), declared=True)
        if len(match) == 1:
            return _Binding(node.start_byte)
        if "bind.type" in match:
            return _Binding(node.start_byte, declared=True, match=match)
        if "bind.value" in match:
            # A name is bound when its statement is over: `x = x.next` reads the old one.
            value = match["bind.value"][0]
            if self.data[value.start_byte : value.end_byte] in _NOTHING:
                return _Binding(-1)
            return _Binding(value.end_byte, match=match)
        if "bind.element" in match:
            return _Binding(match["bind.element"][0].end_byte, match=match)
        return _Binding(node.start_byte, match=match)

    def _read_lasting_value(self, match: Match, at: int, start: int) -> None:
        """Note what a name of the file or an attribute of a class holds."""
        scope = self.scopes[at]
        is_own = "bind.self" in match and scope.is_class
        expression = f"{{{self._class_name(at)}}}" if is_own else self._bound_expression(match, at, start)
        if not expression:
            return
        if "bind.attribute" in match:
            self._read_attribute(match, at, expression)
            return
        if "bind.whole" in match and at == 0:
            self.values[TypedName("", WHOLE_MODULE, expression)] = None
            return
        for node in match.get("bind", ()):
            name = self._text(node)
            if at == 0 or name in scope.outer:
                self.values[TypedName("", name, expression)] = None
            elif scope.is_class or scope.module:
                owner = scope.module or self._class_name(at)
                self.values[TypedName(owner, name, expression)] = None

    def _is_self(self, match: Match, node: tree_sitter.Node, at: int) -> bool:
        """Return whether a parameter is the object that a method belongs to."""
        if "bind.self" in match:
            return True
        scope = self.scopes[at]
        if (
            not self.rules.self_is_first_parameter
            or scope.parent <= 0
            or not self.scopes[scope.parent].is_class
        ):
            return False
        if scope.definition is None or "bind.value" in match:
            return False
        before = self.data[scope.definition.name_start : node.start_byte].partition(b"(")
        return bool(before[1]) and not before[2].strip()

    def _bound_expression(self, match: Match, at: int, position: int) -> str:
        """Return what the names of a binding hold."""
        expression = self._held_as_a_whole(match, at, position)
        if expression and "bind.member" in match:
            return f"{expression}.{self._text(match['bind.member'][0])}"
        return expression

    def _held_as_a_whole(self, match: Match, at: int, position: int) -> str:
        """Return what a binding holds, before a pattern takes it apart."""
        declared = match.get("bind.type") or match.get("bind.alias")
        if declared:
            return self._value_of_type(to_type(self._text(declared[0]), self.rules), at, position)
        if "bind.item" in match:
            found = self._type_here(to_type(self._text(match["bind.item"][0]), self.rules), at, position)
            return f"<[{found}]>" if found else ""
        if "bind.value" in match:
            return self._value(self._code(match["bind.value"][0]), at, position)
        if "bind.element" in match:
            written = self._expression(self._text(match["bind.element"][0]), at)
            return self._known(f"{written}[]" if written else "", at, position)
        return ""

    def _value(self, text: str, at: int, position: int) -> str:
        """Return what the value of a binding is, without the calls that only wrap it."""
        for _ in range(_MOST_REPLACED) if self.rules.wrapping_calls else ():
            call = next((call for call in self.rules.wrapping_calls if text.startswith(f"{call}(")), "")
            if not call or text[-1:] != ")":
                break
            text = text[len(call) + 1 : -1].strip()
        written = self._expression(likely_value(text), at)
        if number := self._results_taken.get(position):
            written = f"{written[:-2]}({number})" if written.endswith("()") else ""
        return self._known(written, at, position)

    def _known(self, written: str, at: int, position: int) -> str:
        """Return an expression as the file knows it, empty if it is unknown."""
        found = self._rewritten(written, at, position) if written else ""
        return "" if found.startswith("?") else found

    def _read_attribute(self, match: Match, at: int, expression: str) -> None:
        """Note what an attribute holds: `self.pool = Pool()`."""
        owner = self._text(match["bind.owner"][0]) if "bind.owner" in match else ""
        class_name = self._class_name(at)
        if owner:
            held = self._rewritten(owner, at, match["bind.owner"][0].start_byte)
            if not held.startswith("{") or not held.endswith("}"):
                return
            class_name = held[1:-1]
        if class_name and expression:
            name = self._text(match["bind.attribute"][0])
            if self.rules.attribute_mark:
                name = name.lstrip(self.rules.attribute_mark)
            self.values[TypedName(class_name, name, expression)] = None

    def _read_bases(self) -> None:
        for node in self.captured.bases:
            at = self._scope_of(node.start_byte)
            name = self._class_name(at)
            found = self._base_type(to_type(self._text(node), self.rules), at, node)
            if name and found:
                self.bases[name, found] = None
        self._with_bases = {name for name, _ in self.bases}
        self._seen_from.clear()

    def _read_containers(self) -> None:
        """Note what the elements of types are that are other names of containers."""
        for node in self.captured.containers:
            at = self._scope_of(node.start_byte)
            found = self._type_here(to_type(self._text(node), self.rules), at, node.start_byte)
            if found and (name := self._class_name(at)):
                self.values[TypedName(name, ELEMENTS, f"<{found}>")] = None

    def _base_type(self, found: str, at: int, node: tree_sitter.Node) -> str:
        """Return the base of the class around a scope as the file knows it."""
        if self.rules.packages_are_names:
            while at > 0 and not self.scopes[at].is_class:
                at = self.scopes[at].parent
            # The names of a class do not hold where its bases are named.
            return self._scoped_type(found, max(self.scopes[at].parent, 0))
        found = self._local_type(found, at, node.start_byte)
        if found and self.rules.constants_are_lexical:
            return _absolute(self._text(node)) or f":{self._around_base(found, at)}:{found}"
        return found

    def _around_base(self, base: str, at: int) -> str:
        """Return the class from which the base of a class is seen. A base with the name of the class itself
        is another one, outside of it."""
        name = self._class_name(at)
        return self._class_name(self.scopes[at].parent) if name.rpartition(".")[2] == base else name

    def _read_extensions(self) -> None:
        """Note the functions that extend types, by the last name of the type."""
        for node in self.captured.extensions:
            scope = self.scopes[self._scope_of(node.start_byte)]
            if scope.definition is None:
                continue
            found = to_type(self._text(node), self.rules).rpartition(".")[2]
            # A type parameter means what it is bound by.
            found = scope.generics.get(found, found).rpartition(".")[2]
            if found and found[0] != "[":
                path = scope.definition.title_path
                self.values[TypedName(f"+{found}", path[-1], ".".join(path))] = None

    def _read_results(self) -> None:
        """Note what functions return: as they declare it, else as all their return statements agree."""
        declared: dict[str, set[str]] = defaultdict(set)
        written: dict[str, set[str]] = defaultdict(set)
        for node in self.captured.result_lists:
            self._read_result_list(node)
        for node, is_type in self.captured.results:
            name, at = self._function_around(node)
            if not name:
                continue
            if is_type:
                found = to_type(self._text(node), self.rules)
                declared[name].add(self._value_of_type(found, at, self.scopes[at].end))
            elif expression := self._expression(self._code(node), at):
                written[name].add(self._known(expression, self._scope_of(node.start_byte), node.start_byte))
            elif self.rules.call_name_field and self.data[node.start_byte : node.end_byte] not in _NOTHING:
                written[name].add("")
        for name, values in declared.items():
            self.returns.update(dict.fromkeys((name, value) for value in sorted(values) if value))
        for name, found_in in written.items():
            if name not in declared and len(found_in) == 1 and (only := next(iter(found_in))):
                self.returns[name, only] = None

    def _code(self, node: tree_sitter.Node) -> str:
        """Return the text of a value. Of a call whose arguments need no brackets, what counts ends with the
        name that is called."""
        if self.rules.call_name_field and node.type == "call":
            name = node.child_by_field_name(self.rules.call_name_field)
            if name is not None:
                return self.data[node.start_byte : name.end_byte].decode("utf-8", "replace") + "()"
        return self._text(node)

    def _value_of_type(self, found: str, at: int, position: int) -> str:
        """Return the value of a declared type. `Self` is the class around it."""
        if found in _SELF_TYPES:
            name = self._class_name(at)
            return f"{{{name}}}" if name else ""
        here = self._type_here(found, at, position)
        return f"<{here}>" if here else ""

    def _local_type(self, found: str, at: int, position: int) -> str:
        """Return a type with its first name replaced by what that is where it stands: a type inside a
        function or an inner module; empty if nothing is known of it."""
        inner = found.strip("[]")
        head = inner.partition(".")[0]
        if self._reads_paths and head in (self.rules.own_module, self.rules.parent_module):
            parts = self._from_file(inner.split("."), at)
            return found.replace(inner, ".".join(parts).removeprefix(f"{self.rules.own_module}."))
        local, _ = self._lookup(head, at, position) if head else (None, 0)
        if local is None:
            return found
        known = local.declared and local.match is None and local.expression[:1] not in ("", "<", "{", "^")
        return found.replace(head, local.expression, 1) if known else ""

    def _type_here(self, found: str, at: int, position: int) -> str:
        """Return a type as the file knows it, empty if it cannot be one that this repository defines."""
        if self.rules.class_scope_is_visible:
            return self._scoped_type(found, at)
        name = found.strip("[]")
        head = name.partition(".")[0]
        bound = self._generic_bound(head, at)
        if bound is not None:  # a type parameter is what bounds it
            found = found.replace(head, bound, 1) if bound else ""
            head = bound.strip("[]").partition(".")[0]
        if not head:
            return ""
        local = self._local_type(found, at, position)
        if local != found:
            return local
        if head in self.file_names or (self._sees_other_names and head not in self.rules.ignored):
            return found
        return ""

    def _scoped_type(self, found: str, at: int) -> str:
        """Return a type as the whole file knows it, nothing for one that this repository cannot define."""
        brackets = len(found) - len(found.lstrip("["))
        head, dot, rest = found[brackets:].partition(".")
        head = head.rstrip("]")
        if not head or head in self.rules.ignored:
            return ""
        meant = self._inner_type(head, at) if self.rules.class_scope_is_visible else None
        if meant is None and head not in self.file_names:
            if not self._sees_other_names:
                return ""
            if owners := self._owners(at):
                meant = f"{owners}:{head}"
        if meant is None:
            return found
        tail = f".{rest}" if dot else "]" * brackets
        return f"{'[' * brackets}{meant}{tail}" if meant else ""

    def _inner_type(self, name: str, at: int) -> str | None:
        """Return the type of a name in the scopes around, that of its bound for a type parameter."""
        while at > 0:
            scope = self.scopes[at]
            if name in scope.generics:
                bound = scope.generics[name]
                return self._scoped_type(bound, scope.parent) if bound not in scope.generics else ""
            if name in scope.types:
                return scope.types[name]
            at = scope.parent
        return None

    def _owners(self, at: int) -> str:
        """Return the classes around a scope that may have names from elsewhere, innermost first: `{T}{U}`."""
        if at <= 0 or not self.rules.class_scope_is_visible:
            return ""
        known = self._seen_from.get(at)
        if known is None:
            scope = self.scopes[at]
            self._seen_from[at] = ""  # the type of an object is named outside of it
            own = ""
            if scope.object_type is not None:
                own = self._object_type(at)
            elif scope.is_class and (
                self.rules.extensions_are_members
                or self.rules.types_have_parts
                or self._class_name(at) in self._with_bases
            ):
                own = f"{{{self._class_name(at)}}}"
            elif scope.definition is not None and scope.definition.scope:
                own = self._own(at)
            known = self._seen_from[at] = own + self._owners(scope.parent)
        return known

    def _object_type(self, at: int) -> str:
        """Return the object of a scope that is the body of one, as a value of the type that it extends."""
        scope = self.scopes[at]
        if scope.object_type is None:
            return ""
        found = self._scoped_type(to_type(self._text(scope.object_type), self.rules), max(scope.parent, 0))
        return f"<{found}>" if found else ""

    def _own(self, at: int, name: str = "") -> str:
        """Return the object that code belongs to: of the innermost class, or of the one with that name."""
        while at > 0:
            scope = self.scopes[at]
            if scope.is_object and not name:
                return self._object_type(at)
            if self.rules.extensions_are_members and scope.definition is not None and scope.definition.scope:
                if not name:
                    found = self._scoped_type(scope.definition.scope, max(scope.parent, 0))
                    return f"<{found}>" if found else ""
            elif scope.is_class or (scope.definition is not None and scope.definition.scope):
                qualified = self._class_name(at)
                if not name or qualified.rpartition(".")[2] == name:
                    return f"{{{qualified}}}" if qualified else ""
            elif self.rules.functions_have_own_self and self._has_own_self(scope):
                return ""
            at = scope.parent
        return ""

    def _function_around(self, node: tree_sitter.Node) -> tuple[str, int]:
        """Return the qualified name of the function, or of the type of functions, that a node is part of, and
        its scope; an empty name if there is none."""
        at = self._scope_of(node.start_byte)
        while at > 0 and self.scopes[at].definition is None and not self.scopes[at].anonymous:
            at = self.scopes[at].parent
        definition = self.scopes[at].definition
        if definition is None or (definition.kind not in _FUNCTION_KINDS and not self.scopes[at].is_class):
            return "", at
        return ".".join(definition.title_path), at

    def _read_result_list(self, node: tree_sitter.Node) -> None:
        """Note the types of several results: the first as that of the function, `name#1` for the next."""
        name, at = self._function_around(node)
        number = 0
        for child in node.named_children if name else ():
            declared = child.child_by_field_name("type")
            found = to_type(self._text(declared), self.rules) if declared is not None else ""
            for _ in range(len(child.children_by_field_name("name")) or 1):
                if value := self._value_of_type(found, at, self.scopes[at].end):
                    self.returns[f"{name}#{number}" if number else name, value] = None
                number += 1

    @cached_property
    def _sees_other_names(self) -> bool:
        """Return whether the file may use names that it neither defines nor imports by name."""
        if self.rules.implicit_names:
            return True
        return self.rules.stars_bind and any(item.imported == ALL_NAMES for item in self.imports)

    # Uses

    def _expression(self, text: str, at: int) -> str:
        """Return the expression that a piece of code is, without the members that change nothing."""
        rules = self.rules
        if not (self._reads_paths or self._implies):
            return to_expression(text, rules.name_marks)
        if self._reads_paths and self._is_from_module(text):
            separator = self.language.import_separator
            parts = self._from_file(text.split(separator), at)
            text = separator.join(parts[1:] if parts[0] == rules.own_module else parts)
        if rules.attribute_mark and text.startswith(rules.attribute_mark):
            text = f"{rules.self_names[0]}.{text.lstrip(rules.attribute_mark)}"
        elif rules.constructor and text.startswith(f"{rules.constructor}("):
            text = f"{rules.self_names[0]}.{text}"
        absolute = rules.constants_are_lexical and text.startswith("::")
        written = to_expression(text[2:] if absolute else text, rules.name_marks, rules.name_endings)
        if written and self._transparent is not None:
            written = self._transparent.sub("", written)
        if written and self._constructor is not None:
            written = self._constructor.sub("()", written).replace("()()", "()")
        return f"::{written}" if absolute and written else written

    def _is_from_module(self, text: str) -> bool:
        """Return whether a path begins with the word for the own or the parent module."""
        first, separator, _ = text.partition(self.language.import_separator)
        return bool(separator and first) and first in (self.rules.own_module, self.rules.parent_module)

    @cached_property
    def _transparent(self) -> re.Pattern[str] | None:
        members = self.rules.transparent_members
        brackets = r"(?:\(\))?(?=[.(\[])" if self.rules.calls_without_marks else r"\(\)"
        return re.compile(rf"\.(?:{'|'.join(sorted(members))}){brackets}") if members else None

    @cached_property
    def _constructor(self) -> re.Pattern[str] | None:
        name = self.rules.constructor
        return re.compile(rf"\.{name}(?:\(\)|(?=\.))") if name else None

    def _read_uses(self) -> None:
        extending = {(node.start_byte, node.end_byte) for node in self.captured.bases}
        for _, node in self.captured.objects:
            # `new Base() { … }` makes an object; without that word, it only extends.
            if node is not None and self.data[node.start_byte - 4 : node.start_byte] != b"new ":
                extending.add((node.start_byte, node.end_byte))
        # Names that are only local are no uses; a function or an import inside a function is one.
        inner = {
            name
            for scope in self.scopes[1:]
            for name, bindings in scope.names.items()
            if any(item.declared and item.expression and item.match is None for item in bindings)
        }
        for scope in self.scopes[1:]:
            inner.update(scope.members, scope.types)
        local = {name for scope in self.scopes[1:] for name in scope.names}
        wanted = {name.encode() for name in self.file_names | inner}
        self._read_names(chain(self.captured.uses, self._words()), wanted, local, extending)
        if self.captured.type_uses:
            self._read_names(self.captured.type_uses, wanted, local, extending, is_type=True)
        telling = {
            name
            for scope in self.scopes[1:]
            for name, bindings in scope.names.items()
            if any(item.match is not None or item.expression for item in bindings)
        }
        self._read_members(local, telling, extending)
        self._read_type_members(extending)
        for match in self.captured.bindings:
            if "bind.member" in match:
                self._read_bound_member(match)

    def _read_names(
        self,
        nodes: Iterable[tree_sitter.Node | _Word],
        wanted: set[bytes],
        local: set[str],
        extending: set[tuple[int, int]],
        *,
        is_type: bool = False,
    ) -> None:
        """Note the uses of bare names. With `is_type`, they stand where only types do."""
        data, bound = self.data, self.bound
        generics = {name.encode() for scope in self.scopes for name in scope.generics}
        tags = self.rules.lower_case_tags and not is_type
        every = self._sees_other_names
        sees_members = self.rules.class_scope_is_visible
        ignored = {name.encode() for name in self.rules.ignored}
        arguments = self.rules.has_named_arguments
        packages, spaces = self._package_names(), self.captured.spaces
        lexical, own_words = self.rules.names_start_at_declaration, self.rules.self_names
        implies = self._implies
        joint = (
            (b"::", b"->") if self.rules.packages_are_names else (self._path_mark,) * bool(self._path_mark)
        )
        marked = any(name.endswith("!") for name in self.rules.ignored)
        outer_name = self._lexical_name if lexical else self._outer_name
        for node in nodes:
            start, end = node.start_byte, node.end_byte
            written = data[start:end]
            if written not in wanted and (not every or written in ignored):
                # A name of the language, or one that the file gets in a way that no rule knows.
                label = self._label(start, end, extending)
                name = written.decode("utf-8", "replace")
                is_name = start not in bound and name not in local and name not in own_words
                if label is not Label.USES and is_name:
                    self.uses[f"?.{name}", label].add(node.end_point[0] + 1)
                continue
            if start in bound or (data[start - 1 : start] == b"." and data[start - 2 : start] != b".."):
                continue
            if joint and data[start - 2 : start] in joint:
                continue  # a member, which has a capture of its own
            expression = written.decode("utf-8", "replace")
            if expression in local and not sees_members and start not in spaces:
                expression = outer_name(expression, start)
                if not expression:
                    continue
            following = data[end : end + 2]
            if marked and written + following[:1] in ignored:
                continue  # a macro of the language
            if tags and written[:1].islower() and following[:1] != b"." and _TAG_START.match(data, start - 2):
                continue  # `<form>` is an element of the page
            if following[:1] == b"." and written in packages:
                continue  # the use is that of the name behind it
            if arguments and following[:1] == b"=" and following != b"==":
                continue  # the name of an argument
            if sees_members:
                expression = self._seen_name(expression, start, end)
            if not expression:
                continue
            if (
                written in generics
                and self._generic_bound(written.decode(), self._scope_of(start)) is not None
            ):
                continue
            if (_NOT_A_NAME.match(expression) and not sees_members) or expression in own_words:
                continue
            if implies and expression == written.decode("utf-8", "replace"):
                self._read_implied(expression, node, extending)
                continue
            if is_type:
                expression = f"<{expression}>"
            if start in spaces:
                expression = f"{expression}@{spaces[start]}"
            self._note(expression, self._label(start, end, extending), node.end_point[0] + 1)

    def _read_implied(
        self, name: str, node: tree_sitter.Node | _Word, extending: set[tuple[int, int]]
    ) -> None:
        """Note the use of a name that is no local one, as the modules and the object around it know it."""
        start, end, line = node.start_byte, node.end_byte, node.end_point[0] + 1
        at = self._scope_of(start)
        if name in self.rules.super_names:
            if method := self._super_method(at):
                self._note(method, Label.CALLS, line)
            return
        label = self._label(start, end, extending)
        is_constant = self.rules.constants_are_lexical and name[0].isupper()
        if is_constant and label is Label.EXTENDS:
            self._note(f":{self._around_base(name, at)}:{name}", label, line)
            return
        expression = self._implied(name, at)
        if expression and not expression.endswith("()"):
            self._note(expression, Label.CALLS if label is Label.USES and not is_constant else label, line)

    def _implied(self, name: str, at: int) -> str:
        """Return the expression of a name that is not local: a constant as seen from the modules around it, a
        member of the object around it, or a name of the file; empty if it is none of them."""
        class_name = self._class_name(at)
        if self.rules.constants_are_lexical and name[0].isupper():
            return f":{class_name}:{name}"
        if class_name:
            return f"{{{class_name}}}()" if name == self.rules.constructor else f"{{{class_name}}}.{name}"
        return name if name in self.file_names else ""

    def _super_method(self, at: int) -> str:
        """Return the method of a base class that has the name of the method around a scope, empty if there is
        none."""
        class_name = self._class_name(at)
        while at > 0 and self.scopes[at].definition is None:
            at = self.scopes[at].parent
        definition = self.scopes[at].definition
        if not class_name or definition is None or definition.kind not in _FUNCTION_KINDS:
            return ""
        return f"^{{{class_name}}}.{definition.title_path[-1]}"

    def _read_type_members(self, extending: set[tuple[int, int]]) -> None:
        """Note the uses of types that stand behind the name of what holds them: `orders.Basket`."""
        for node in self.captured.type_members:
            start, end = node.start_byte, node.end_byte
            at = self._scope_of(start)
            expression = self._expression(self._text(node), at)
            expression = self._rewritten(expression, at, start) if expression else "?"
            if expression[0] != "?":
                label = Label.EXTENDS if (start, end) in extending else Label.USES
                self._note(f"<{expression}>", label, node.end_point[0] + 1)

    def _read_bound_member(self, match: Match) -> None:
        """Note the use of a member in a pattern that takes an object apart: `const { total } = basket`."""
        start = _match_start(match)
        if expression := self._bound_expression(match, self._scope_of(start), start):
            self._note(expression, Label.USES, match["bind.member"][0].end_point[0] + 1)

    def _label(self, start: int, end: int, extending: set[tuple[int, int]]) -> Label:
        """Return how a name is used: as a base, as what is called, or otherwise."""
        if (start, end) in extending:
            return Label.EXTENDS
        if self.data[end : end + 1] in self._call_marks:
            return Label.CALLS
        if self._has_other_calls and (label := self._other_label(start, end, extending)) is not None:
            return label
        return Label.USES

    @cached_property
    def _has_other_calls(self) -> bool:
        """Return whether a name that no mark follows may be called, or be a base."""
        rules = self.rules
        if rules.space_before_call or rules.type_arguments_in_brackets or rules.block_is_argument:
            return True
        return rules.packages_are_names or rules.generic_marks == "<" or bool(self._path_mark)

    def _other_label(self, start: int, end: int, extending: set[tuple[int, int]]) -> Label | None:
        """Return how a name is used whose use is told by more than a mark behind it."""
        data, rules = self.data, self.rules
        following = data[end : end + 2]
        if data[start - 4 : start] == b"new ":
            return Label.CALLS
        if following[:1] == b"<":
            if any(first == start and end < last for first, last in extending):
                return Label.EXTENDS
            if rules.packages_are_names and _GENERIC_CALL.match(data, end):
                return Label.CALLS
            if rules.generic_marks == "<" and _WIDE_GENERIC_CALL.match(data, end):
                return Label.CALLS
        if rules.block_is_argument and following in (b" {", b"{ "):
            name = _LAST_NAME.search(data, start, end)
            return Label.CALLS if name is not None and name[0][:1].islower() else None
        if rules.space_before_call and following == b" (":
            return Label.CALLS
        if rules.type_arguments_in_brackets and following[:1] == b"[" and _TYPED_CALL.match(data, end):
            return Label.CALLS
        if self._path_mark and following == self._path_mark and data[end + 2 : end + 3] == b"<":
            return Label.CALLS  # `find::<Entry>(…)`
        return None

    def _words(self) -> Iterable[_Word]:
        """Yield the names in text that the grammar does not read."""
        for node in self.captured.code:
            start, row = node.start_byte, node.start_point[0]
            text = self.data[start : node.end_byte]
            for word in _WORD.finditer(text):
                if word[1] and word[1].decode() not in self.rules.ignored:
                    line = row + text.count(b"\n", 0, word.start(1))
                    yield _Word(start + word.start(1), start + word.end(1), (line, 0))

    def _package_names(self) -> set[bytes]:
        """Return the names of packages of which a use is always followed by that of a member."""
        if self.rules.import_binds is not ImportBinds.PACKAGE:
            return set()
        return {(item.name or last_part(item.module)).encode() for item in self.imports}

    def _outer_name(self, name: str, position: int) -> str:
        """Return a name as the file knows it, nothing if it is a local variable there."""
        found, _ = self._lookup(name, self._scope_of(position), position)
        if found is None:
            return name
        is_variable = found.match is not None or not found.declared or found.expression[:1] in ("", "{")
        return found.expression if found.is_definition or not is_variable else ""

    def _seen_name(self, name: str, start: int, end: int) -> str:
        """Return a name as code inside of classes sees it, nothing if it is a variable or no use of anything
        that a file defines."""
        at = self._scope_of(start)
        called = self.data[end : end + 1] == b"("
        # A property of C# may have the name of a type.
        is_type = _TYPE_FOLLOWED.match(self.data, end) or _TYPE_PRECEDED.search(self.data, start - 9, start)
        found, _ = self._lookup_in_classes(name, at, start, called=called, is_type=is_type is not None)
        if called and name in self.rules.ignored:
            return ""  # a member, or the function of the library, as its arguments say
        if found is not None:
            return found.expression if found.is_definition else ""
        if name in self.file_names and not (called and self._may_extend(name)):
            return name
        owners = self._owners(at)
        # What a package defines are types, and the fields of bases are no definitions.
        may_be_type = not self.rules.packages_hold_types or name.lstrip("_")[:1].isupper()
        if not may_be_type and not (called and (owners or self._imports_all)):
            return ""
        return f"{owners}:{name}" if owners else name

    def _may_extend(self, name: str) -> bool:
        """Return whether a name may be an imported function that extends the class around its use."""
        return self.rules.extensions_are_members and name[:1].islower() and name in self._imported_names

    @cached_property
    def _imported_names(self) -> frozenset[str]:
        return frozenset(item.name for item in self.imports)

    @cached_property
    def _imports_all(self) -> bool:
        return any(item.imported == ALL_NAMES for item in self.imports)

    def _read_members(self, local: set[str], telling: set[str], extending: set[tuple[int, int]]) -> None:
        """Note the uses of members. `telling` are the local names of which something is known."""
        data, bound = self.data, self.bound
        # By the first name: is it the file's alone, so that an expression means the same everywhere?
        followed = {name.encode(): False for name in (*telling, *self._own_words)}
        followed.update((name.encode(), True) for name in self.file_names if name not in local)
        if self._reads_paths:
            followed.update({self.rules.own_module.encode(): False, self.rules.parent_module.encode(): False})
        special = self._reads_paths or self._implies
        every = self._sees_other_names
        by_place = self.rules.class_scope_is_visible
        kept: dict[bytes, str] = {}
        unknown = self._unknown_members
        nodes: Iterable[tree_sitter.Node | _Word] = self.captured.members
        for node in chain(nodes, self.captured.spans, self._token_members()):
            start, end = node.start_byte, node.end_byte
            if every and start in bound:
                continue  # a package clause or an import
            written = data[start:end]
            label = self._label(start, end, extending)
            if special:
                if start not in bound:  # it is not part of an import
                    self._read_special_member(written, label, node)
                continue
            head = _FIRST_NAME.match(written)
            lasting = followed.get(head[0]) if head and not by_place else False
            if lasting is None:
                first = head[0].decode("utf-8", "replace")  # type: ignore[index]
                if not every and first not in self.file_names:
                    if label is not Label.USES:
                        unknown.append((written, label, node.end_point[0] + 1))
                    continue
                lasting = first not in local
            expression = kept.get(written)
            if expression is None or not lasting:
                expression = to_expression(written.decode("utf-8", "replace"), self.rules.name_marks)
                expression = self._rewritten(expression, self._scope_of(start), start) if expression else "?"
                if lasting:
                    kept[written] = expression
            if expression[0] != "?":
                if "." in expression or expression[0] == "\\":
                    self._note(expression, label, node.end_point[0] + 1)
            elif label is not Label.USES:
                unknown.append((written, label, node.end_point[0] + 1))
        for written, label, line in unknown:
            if found := _LAST_NAME.search(written):
                name = found[0].decode("utf-8", "replace")
                # An import may tell which function extends a value that nothing is known of.
                self.uses[f"<?>.{name}" if self._may_extend(name) else f"?.{name}", label].add(line)

    def _token_members(self) -> Iterable[_Word]:
        """Yield the members in code that the grammar leaves as tokens."""
        for node in self.captured.tokens:
            start, row = node.start_byte, node.start_point[0]
            text = self.data[start : node.end_byte]
            for first, last in member_ranges(text):
                yield _Word(start + first, start + last, (row + text.count(b"\n", 0, last), 0))

    def _read_special_member(self, code: bytes, label: Label, node: tree_sitter.Node | _Word) -> None:
        """Note the use of a member in a language with paths, or with calls that do not look like calls."""
        rules, text = self.rules, code.decode("utf-8", "replace")
        start, end, line = node.start_byte, node.end_byte, node.end_point[0] + 1
        at = self._scope_of(start)
        written = self._expression(text, at)
        if label is Label.USES and rules.calls_without_marks and not _ends_with_path(text, "::"):
            label = Label.CALLS
        if rules.constructor and label is Label.CALLS and written.endswith(f".{rules.constructor}"):
            written = written.rpartition(".")[0]
            if not written[:1].isupper() and not written.startswith("::"):
                return  # of something else than a class that is named
        elif rules.calls_without_marks and _ASSIGNMENT.match(self.data, end):
            written = f"{written}=" if written else ""
        is_path = _ends_with_path(text, self.language.import_separator)
        if rules.fields_apart and label is Label.USES and not is_path:
            return
        expression = self._rewritten(written, at, start) if written else "?"
        if expression[0] == "?":
            if label is not Label.USES:
                self._unknown_members.append((code, label, line))
        elif "." in expression or expression[0] == ":" or self._is_from_module(text):
            self._note(expression, label, line)

    def _note(self, expression: str, label: Label, line: int) -> None:
        if len(expression) <= _LONGEST:
            self.uses[expression, label].add(line)

    def _rewritten(self, expression: str, at: int, position: int) -> str:
        """Return an expression with its first name replaced by what the scope there says it is: `?…` where
        that is unknown, nothing for a name that no rule can follow."""
        inner = at
        if self.rules.packages_are_names:
            expression = self._named_own(expression, at)
        for _ in range(_MOST_REPLACED):
            end = _HEAD.match(expression).end()  # type: ignore[union-attr]
            head, rest = expression[:end], expression[end:]
            if not head or head[0] in "<{^?:":
                if head == STRING_TYPE and not self.rules.extensions_are_members:
                    return f"?{rest}"  # only functions from outside make a string tell anything
                return expression
            if self._implies and head[0].isupper() and self.rules.constants_are_lexical:
                return f"{self._implied(head, at)}{rest}"
            if head in self._own_words:
                return self._own_object(head, rest, at)
            inner = at
            if self._sees_members:
                found, at = self._lookup_in_classes(head, at, position, called=rest.startswith("()"))
            else:
                found, at = self._lookup(head, at, position)
            if found is None:
                break
            held = found.expression if found.match is None else self._held(found, at)
            if not held:
                return f"?{rest}"
            if held[0] in "<{^?:" or found.declared or held == head or self._is_lexical:
                return held + rest
            expression, position = held + rest, found.start
        return self._of_the_file(expression, head, rest, inner)

    def _of_the_file(self, expression: str, head: str, rest: str, at: int) -> str:
        """Return an expression that starts with no local name as the file knows it."""
        if self._implies:
            implied = self._implied(head, at)
            return f"{implied}{rest}" if implied else f"?{rest}"
        if head in self.file_names:
            return expression
        if head in self.rules.ignored or head[0] == "$" or not self._sees_other_names:
            return f"?{rest}"
        return f"{owners}:{expression}" if (owners := self._owners(at)) else expression

    def _own_object(self, head: str, rest: str, at: int) -> str:
        """Return an expression that starts with a word for the object around it, or for its bases."""
        if head in self.rules.self_names:
            return f"{self._own(at) or '?'}{rest}"
        rest = rest.removeprefix("()")
        if self.rules.implicit_self:
            called = self._super_method(at)
            return f"{called}(){rest}" if called else f"?{rest}"
        own = self._own(at)
        return f"{'^' if own[:1] == '{' else ''}{own or '?'}{rest}"

    def _named_own(self, expression: str, at: int) -> str:
        """Return an expression that starts with `Outer.this` or `Base.super` with that object as its head."""
        if not any(f".{word}" in expression for word in self._own_words):
            return expression
        parts = expression.split(".")
        for place, part in enumerate(parts[1:], start=1):
            rest = "".join(f".{item}" for item in parts[place + 1 :])
            if part in self.rules.self_names:
                return f"{self._own(at, parts[place - 1]) or '?'}{rest}"
            if part in self.rules.super_names:
                if own := self._own(at, parts[place - 1]):
                    return f"^{own}{rest}"
                found = self._scoped_type(".".join(parts[:place]), at)
                return f"<{found}>{rest}" if found else f"?{rest}"
        return expression

    def _held(self, binding: _Binding, at: int) -> str:
        """Return what a local name holds, read when it is first asked for."""
        if binding.match is not None:
            match, binding.match = binding.match, None
            binding.expression = self._bound_expression(match, at, _match_start(match))
        return binding.expression

    def _lookup(self, name: str, at: int, position: int) -> tuple[_Binding | None, int]:
        """Return the binding of a local name as seen from a position, and the scope that has it; None for a
        name of the file or of nowhere."""
        if self._is_lexical:
            return self._lookup_by_place(name, position)
        if self._sees_members:
            return self._lookup_in_classes(name, at, position)
        first = at
        while at > 0:
            scope = self.scopes[at]
            if name in scope.outer:
                return None, 0
            if name in scope.names and (not scope.is_class or at == first):
                return _best(scope.names[name], position if at == first else None), at
            at = scope.parent
        return None, 0

    def _lookup_in_classes(
        self, name: str, at: int, position: int, *, called: bool = False, is_type: bool = False
    ) -> tuple[_Binding | None, int]:
        """Return the same where code sees the members of the classes around it by name. With `is_type`, a
        field of a class hides no type of its name."""
        first = at
        called = called and self.rules.calls_name_functions
        while at > 0:
            scope = self.scopes[at]
            if name in scope.types and (not called or name not in scope.members):
                meant = scope.types[name]
                return _Binding(0, meant, declared=True, is_definition=bool(meant)), at
            if scope.is_class:
                if name in scope.members and (called or name not in scope.fields):
                    return _Binding(0, scope.members[name], declared=True, is_definition=True), at
                if name in scope.fields and not called and not (is_type and name[:1].isupper()):
                    return _Binding(0, scope.fields[name], declared=True), at
            if name in scope.names and (not scope.is_class or at == first):
                bindings = scope.names[name]
                if called:
                    bindings = [item for item in bindings if item.is_definition]
                if bindings:
                    return _best(bindings, position if at == first else None), at
            at = scope.parent
        return None, 0

    def _lookup_by_place(self, name: str, position: int) -> tuple[_Binding | None, int]:
        """Return the same where names start at their declaration."""
        seen = self._seen(name, position)
        if self.rules.rebinds:
            seen = seen[:1]
        known = (item for item in seen if item.at == seen[0].at and self._held(item.binding, item.at))
        best = next(known, seen[0]) if seen else None
        return (None, 0) if best is None else (best.binding, best.at)

    @cached_property
    def _places(self) -> dict[str, list[_Place]]:
        """Return where the bindings of each local name are seen, by their start."""
        found: defaultdict[str, list[_Place]] = defaultdict(list)
        for at, scope in enumerate(self.scopes):
            for name, bindings in scope.names.items() if at and not scope.is_class else ():
                found[name] += [
                    _Place(max(item.start, scope.start), scope.end, at, item) for item in bindings
                ]
        for places in found.values():
            # A receiver is a parameter too; what it is for the class counts.
            places.sort(key=lambda item: (item.start, item.binding.expression[:1] == "{"))
        return found

    def _seen(self, name: str, position: int) -> list[_Place]:
        """Return the bindings of a local name that are seen at a position, the innermost first."""
        places = self._places.get(name)
        if places is None:
            return []
        above = places[: bisect_right(places, position, key=_PLACE_START)]
        return [item for item in reversed(above) if item.end > position]

    def _lexical_name(self, name: str, position: int) -> str:
        """Return the same as `_outer_name` where names start at their declaration."""
        places = self._places.get(name, ())
        at = bisect_right(places, position, key=_PLACE_START) - 1
        while at >= 0 and places[at].end <= position:
            at -= 1
        if at < 0:
            return name
        binding = places[at].binding
        is_variable = binding.match is not None or not binding.declared or binding.expression[:1] in "{<"
        return "" if is_variable else binding.expression


def _best(bindings: list[_Binding], position: int | None) -> _Binding:
    """Return which of the bindings of a name counts: one that is declared, else the last before a position,
    of any if that is None."""
    if len(bindings) == 1:
        return bindings[0]
    declared = [item for item in bindings if item.declared]
    if declared:
        return declared[-1]
    before = [item for item in bindings if position is None or item.start <= position]
    return (before or bindings)[-1]


def _ends_with_path(text: str, separator: str) -> bool:
    """Return whether the last name of a member access follows the separator of paths, not a dot."""
    return _LAST_PART.sub("", text).rstrip().endswith(separator)


def _absolute(text: str) -> str:
    """Return the expression of a path from the outermost module, `::A::B`, empty for another one."""
    return "::" + text[2:].replace("::", ".") if text.startswith("::") else ""


def _match_start(match: Match) -> int:
    for capture in ("bind", "bind.attribute", "bind.whole"):
        if capture in match:
            return match[capture][0].start_byte
    return 0


def _outer_first(item: tuple[_Range, object]) -> tuple[int, int]:
    (start, end), _ = item
    return start, -end


def _all_definitions(roots: Iterable[CapturedDefinition]) -> Iterable[CapturedDefinition]:
    for definition in roots:
        yield definition
        yield from _all_definitions(definition.children)
