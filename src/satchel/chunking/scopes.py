"""The tree of scopes of a file: which functions, classes, blocks and modules hold a position, and which names
each of them has."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from satchel.chunking.graph_captures import GraphCaptures
from satchel.code_facts import Import, TypedName
from satchel.languages.language import GraphRules, Language
from satchel.types import ChunkKind, Label

if TYPE_CHECKING:
    import tree_sitter

    from satchel.chunking.captures import CapturedDefinition
    from satchel.chunking.graph_captures import Match

TYPE_KINDS = frozenset(
    {ChunkKind.CLASS, ChunkKind.STRUCT, ChunkKind.ENUM, ChunkKind.INTERFACE, ChunkKind.TRAIT, ChunkKind.IMPL}
)
FUNCTION_KINDS = frozenset({ChunkKind.FUNCTION, ChunkKind.METHOD})
_SCOPE_KINDS = FUNCTION_KINDS | TYPE_KINDS
_Range = tuple[int, int]


class Binding(msgspec.Struct, gc=False):
    """A value of a local name from a position on: an expression, empty if nothing is known of it.

    Most local names are never asked for, so the expression of a `match` is read when it is. Making one
    takes 0.08 microseconds, of a dataclass 0.21, and the Python files of Django have 118,000."""

    start: int
    expression: str = ""
    declared: bool = False  # by a type or a definition, so that it holds at every position
    match: Match | None = None
    is_definition: bool = False  # the expression is that of a definition, so that the name is a use of it


class NameScope(msgspec.Struct, gc=False):
    """A part of a file with names of its own: a function, a class, a lambda, a comprehension, a block."""

    start: int
    end: int
    parent: int
    definition: CapturedDefinition | None = None
    is_class: bool = False
    module: str = ""  # the qualified name of a module inside the file that has names of its own
    anonymous: str = ""  # the capture of a function or class without a name
    has_value: bool = False  # the definition is a name for a function or class that is its value
    generics: dict[str, str] = {}  # type parameter → the TYPE that bounds it
    outer: set[str] = set()  # names that are declared to be the file's
    members: dict[str, str] = {}  # functions and constants of a class, as expressions
    fields: dict[str, str] = {}  # other values of a class
    types: dict[str, str] = {}  # types inside of it, as expressions
    is_object: bool = False  # the body of an object with a class of its own that has no name
    object_type: tree_sitter.Node | None = None  # what that class extends


class ScopeTree:
    """The scopes of one file, and what is found in it.

    What reads a file builds on it, one layer on the other: the look-up of names, types, expressions, imports,
    bindings, uses.
    """

    def __init__(
        self,
        captured: GraphCaptures,
        roots: Sequence[CapturedDefinition],
        names: Iterable[int],
        data: bytes,
        language: Language,
    ) -> None:
        # Long, because what the layers above fill has its type here, so that a reader is complete once made.
        assert language.graph is not None
        self.captured = captured
        self.data = data
        self.language = language
        self.rules: GraphRules = language.graph
        self.scopes: list[NameScope] = [NameScope(0, len(data) + 1, -1)]
        self.imports: list[Import] = []
        self.values: dict[TypedName, None] = {}
        self.bases: dict[tuple[str, str], None] = {}
        self.returns: dict[tuple[str, str], None] = {}
        self.uses: dict[tuple[str, Label], set[int]] = defaultdict(set)
        self.file_names: set[str] = set()
        self._defined = frozenset(names)
        self.bound = set(self._defined)  # where names stand that are bound or defined there, not used
        self._followed: dict[bytes, bool] = {}
        self._own_heads: set[bytes] = set()
        self._attributes: set[bytes] = set()
        self._owns: dict[int, str] = {}
        self._extending: set[_Range] = set()  # where bases of classes stand
        self._extending_starts: set[int] = set()
        self._own_parameters: dict[int, int] = {}  # scope of a method → where its object is named
        self._results_taken: dict[int, int] = {}  # start of a name → which result of a call it takes
        self.locals: dict[str, dict[int, list[Binding]]] = {}  # name → scope that has it → its values there
        self._starts: list[int] = []
        self._bounds: list[int] = [0]  # where scopes start and end, ascending
        self._innermost: list[int] = [0]  # the scope from each of these positions on
        self._definitions = list(_all_definitions(roots))
        self._seen_from: dict[int, str] = {}
        self._with_bases: set[str] = set()
        self._call_marks = frozenset(mark.encode() for mark in self.rules.call_marks)
        self._path_mark = b"::" if "::" in language.name_separators else b""
        self._reads_paths = bool(self.rules.own_module)
        # Names may be constants of the modules around them, or members of the object or scopes around them.
        self._implies = (
            self.rules.constants_are_lexical or self.rules.implicit_self or self.rules.names_are_scoped
        )
        self._own_words = frozenset((*self.rules.self_names, *self.rules.super_names))
        self._is_lexical = self.rules.names_start_at_declaration
        self._sees_members = self.rules.class_scope_is_visible

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
            scope = NameScope(start, end, stack[-1], made, anonymous == "scope.class", anonymous=anonymous)
            if made is not None:
                scope.is_class, scope.module = self._is_class(made), self._inner_module(made)
            elif (start, end) in objects:
                scope.is_object, scope.object_type = True, objects[start, end]
            stack.append(len(self.scopes))
            self.scopes.append(scope)
        self._starts = [scope.start for scope in self.scopes]
        self._draw_bounds()
        for definition in self._definitions:
            self._add_definition(definition)
        self.bound.update(node.start_byte for node in (*captured.keys, *captured.packages))
        if not self.rules.open_types:  # there, `describe Basket` uses the name of what it describes
            self.bound.update(node.start_byte for node in captured.namespaces)

    def _draw_bounds(self) -> None:
        """Note which scope is the innermost one from each start and end of a scope on."""
        scopes, bounds, innermost = self.scopes, self._bounds, self._innermost
        stack = [0]
        for number in range(1, len(scopes) + 1):
            parent = scopes[number].parent if number < len(scopes) else 0
            while stack[-1] != parent:
                closed = scopes[stack.pop()]
                bounds.append(closed.end)
                innermost.append(closed.parent)
            if number < len(scopes):
                bounds.append(scopes[number].start)
                innermost.append(number)
                stack.append(number)

    def _bind(self, name: str, at: int, binding: Binding) -> None:
        """Add a value that a local name has in a scope."""
        known = self.locals.get(name)
        if known is None:
            self.locals[name] = {at: [binding]}
        elif at in known:
            known[at].append(binding)
        else:
            known[at] = [binding]

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
        at = self._scope_around(definition.start - 1, definition.end)
        scope = self.scopes[at]
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
        elif not scope.is_class and not (scope.module and self.rules.names_are_scoped):
            # A function inside a function is reached by its qualified name.
            qualified = ".".join(path)
            meant = f"::{qualified}" if self.rules.names_are_scoped else qualified
            self._bind(path[-1], at, Binding(0, meant, declared=True, is_definition=True))

    def _add_inner(self, scope: NameScope, definition: CapturedDefinition) -> None:
        """Note a definition that code around it sees by its name alone."""
        name, is_type = definition.title_path[-1], definition.kind in TYPE_KINDS
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
        return definition.kind in TYPE_KINDS

    def _inner_module(self, definition: CapturedDefinition) -> str:
        is_module = self.rules.modules_are_scopes and definition.kind is ChunkKind.MODULE
        return ".".join(definition.title_path) if is_module else ""

    def _scope_of(self, position: int) -> int:
        """Return the number of the innermost scope that holds a position."""
        return self._innermost[bisect_right(self._bounds, position) - 1]

    def _scope_around(self, position: int, end: int) -> int:
        """Return the number of the innermost scope that holds a range of positions."""
        at = bisect_right(self._starts, position) - 1
        while at > 0 and self.scopes[at].end < end:
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

    def _has_own_self(self, scope: NameScope) -> bool:
        """Return whether a scope is that of a function, and no method of a class."""
        if scope.definition is None:
            return scope.anonymous == "scope.function"
        return scope.definition.kind in FUNCTION_KINDS and not self.scopes[scope.parent].is_class

    def _class_name(self, at: int) -> str:
        """Return the qualified name of the class around a scope, empty outside of classes."""
        found = self._class_of(at)
        if found is None:
            return ""
        path = found.title_path if self._is_class(found) else found.title_path[:-1]
        return ".".join(path)

    def _scope_path(self, at: int) -> str:
        """Return the qualified name of the class or namespace whose names code sees first. A method outside
        of its class sees those of the class."""
        while at > 0:
            scope = self.scopes[at]
            if scope.module:
                return scope.module
            if scope.definition is not None:
                path = scope.definition.title_path
                return ".".join(path if scope.is_class else path[:-1])
            at = scope.parent
        return ""

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

    def _function_around(self, node: tree_sitter.Node) -> tuple[str, int]:
        """Return the qualified name of the function, or of the type of functions, that a node is part of, and
        its scope; an empty name if there is none."""
        at = self._scope_of(node.start_byte)
        while at > 0 and self.scopes[at].definition is None and not self.scopes[at].anonymous:
            at = self.scopes[at].parent
        definition = self.scopes[at].definition
        if definition is None or (definition.kind not in FUNCTION_KINDS and not self.scopes[at].is_class):
            return "", at
        return ".".join(definition.title_path), at

    def _text(self, node: tree_sitter.Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _outer_first(item: tuple[_Range, object]) -> tuple[int, int]:
    (start, end), _ = item
    return start, -end


def _all_definitions(roots: Iterable[CapturedDefinition]) -> Iterable[CapturedDefinition]:
    for definition in roots:
        yield definition
        yield from _all_definitions(definition.children)
