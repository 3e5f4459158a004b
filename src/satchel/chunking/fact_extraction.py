"""Extract the facts of a file: its imports, the types of its names, and its uses of names as expressions.

The query of a language captures names and bindings; this module finds the scope of each name. A local
variable is replaced by the expression that it holds, so that no expression depends on where it stands; names
that are local and hold nothing known are no uses of anything outside of their function.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from satchel.chunking.expressions import last_part, likely_value, to_expression, to_type, unknown_member
from satchel.code_facts import ALL_NAMES, FileFacts, Import, TypedName, Use, used_name
from satchel.languages.language import GraphRules, ImportBinds, Language
from satchel.types import ChunkKind, Label, Reference

if TYPE_CHECKING:
    import tree_sitter

    from satchel.chunking.captures import CapturedDefinition

    Match = dict[str, list[tree_sitter.Node]]

_TYPE_KINDS = frozenset(
    {ChunkKind.CLASS, ChunkKind.STRUCT, ChunkKind.ENUM, ChunkKind.INTERFACE, ChunkKind.TRAIT, ChunkKind.IMPL}
)
_FUNCTION_KINDS = frozenset({ChunkKind.FUNCTION, ChunkKind.METHOD})
_NAME = re.compile(r"[^\W\d]")
_MOST_REPLACED = 6  # local variables that one expression goes through
_LONGEST = 200  # characters of an expression


@dataclass(slots=True)
class GraphCaptures:
    """What the query captured for the graph, before scopes are known."""

    uses: list[tree_sitter.Node] = field(default_factory=list)
    members: list[tuple[int, int, int]] = field(default_factory=list)  # (start, end, last line)
    scopes: list[tree_sitter.Node] = field(default_factory=list)
    objects: list[tuple[tree_sitter.Node, tree_sitter.Node | None]] = field(default_factory=list)  # (body, type)
    bases: list[tree_sitter.Node] = field(default_factory=list)
    imports: list[Match] = field(default_factory=list)
    bindings: list[Match] = field(default_factory=list)
    results: list[tuple[tree_sitter.Node, bool]] = field(default_factory=list)  # (node, is a type)
    globals: list[tree_sitter.Node] = field(default_factory=list)
    packages: list[tree_sitter.Node] = field(default_factory=list)
    generics: list[tree_sitter.Node] = field(default_factory=list)
    keys: list[tree_sitter.Node] = field(default_factory=list)
    extensions: list[tree_sitter.Node] = field(default_factory=list)

    def add(self, match: Match) -> bool:
        """Take a match of the query if it is about the graph; return whether it is."""
        for capture, nodes in match.items():
            if capture == "use":
                self.uses += nodes
            elif capture == "member":
                self.members += [(node.start_byte, node.end_byte, node.end_point[0] + 1) for node in nodes]
            elif capture.startswith("member."):
                # The grammar has no node that ends with the name: `receiver.name(…)` is one node.
                start, end = match["member.start"][0], match["member.end"][0]
                self.members.append((start.start_byte, end.end_byte, end.end_point[0] + 1))
                return True
            elif capture == "scope":
                self.scopes += nodes
            elif capture.startswith("bind"):
                self.bindings.append(match)
                return True
            elif capture.startswith("import."):
                self.imports.append(match)
                return True
            elif capture == "base":
                self.bases += nodes
            elif capture == "returns":
                self.results += [(node, True) for node in nodes]
            elif capture == "result":
                self.results += [(node, False) for node in nodes]
            elif capture == "global":
                self.globals += nodes
            elif capture.startswith("object"):
                of_type = match.get("object.type")
                self.objects.append((match["object"][0], of_type[0] if of_type else None))
                return True
            elif capture == "package":
                self.packages += nodes
            elif capture == "generic":
                self.generics += nodes
            elif capture == "extension":
                self.extensions += nodes
            elif capture == "key":
                self.keys += nodes
            elif capture == "namespace":
                self.packages.append(match["name"][0])
                return False
            elif not capture.startswith("_"):  # a capture of that kind is for the conditions of its pattern
                return False
        return True


@dataclass(slots=True)
class _Binding:
    """A value of a local name: an expression, empty if nothing is known of it, from a position on."""

    start: int
    expression: str
    declared: bool = False  # by a type, so that it holds at every position
    is_definition: bool = False  # the expression is that of a definition, so that the name is a use of it


@dataclass(slots=True)
class _Scope:
    """A part of a file with names of its own: a function, a class, a lambda, a comprehension, a block."""

    start: int
    end: int
    parent: int
    definition: CapturedDefinition | None = None
    is_class: bool = False
    names: dict[str, list[_Binding]] = field(default_factory=lambda: defaultdict(list))
    outer: set[str] = field(default_factory=set)  # names that are declared to be the file's
    members: dict[str, str] = field(
        default_factory=dict
    )  # functions and constants of a class, as expressions
    fields: dict[str, str] = field(default_factory=dict)  # other values of a class
    types: dict[str, str] = field(default_factory=dict)  # types inside of it; empty for type parameters
    is_object: bool = False  # the body of an object with a class of its own that has no name
    object_type: tree_sitter.Node | None = None  # what that class extends


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
        self._defined: frozenset[int] = frozenset(names)
        self.bound: set[int] = set(names)  # where names stand that are bound or defined there, not used
        self._starts: list[int] = []
        self._definitions = list(_all_definitions(roots))
        self._seen_from: dict[int, str] = {}
        self._with_bases: set[str] = set()

    def extract(self) -> FileFacts:
        """Return the facts of the file."""
        self._make_scopes()
        self._read_imports()
        self._read_bases()
        self._read_bindings()
        self._read_extensions()
        self._read_results()
        self._read_uses()
        return FileFacts(
            package=self._package(),
            imports=tuple(self.imports),
            values=tuple(self.values),
            bases=tuple(self.bases),
            returns=tuple(self.returns),
            uses=tuple(
                Use(expression, label, tuple(sorted(lines)))
                for (expression, label), lines in sorted(self.uses.items())
            ),
        )

    def _text(self, node: tree_sitter.Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _package(self) -> str:
        """Return the packages that the file declares, with spaces between several."""
        found = {self._text(node): None for node in self.captured.packages}
        for definition in self._definitions:
            if definition.kind is ChunkKind.MODULE and not definition.defines:
                found[".".join(definition.title_path)] = None
        return " ".join(found)

    # Scopes

    def _make_scopes(self) -> None:
        """Make the tree of scopes, and give the names of definitions to the scope around each."""
        ranges: dict[tuple[int, int], CapturedDefinition | None] = {
            (node.start_byte, node.end_byte): None for node in self.captured.scopes
        }
        objects = {(node.start_byte, node.end_byte): of_type for node, of_type in self.captured.objects}
        ranges.update(dict.fromkeys(objects))
        for definition in self._definitions:
            if definition.kind in _FUNCTION_KINDS or definition.kind in _TYPE_KINDS:
                ranges[definition.start, definition.end] = definition
        stack = [0]
        for (start, end), made in sorted(ranges.items(), key=lambda item: (item[0][0], -item[0][1])):
            while self.scopes[stack[-1]].end < end:
                stack.pop()
            is_class = made is not None and made.kind in _TYPE_KINDS
            self.scopes.append(
                _Scope(
                    start,
                    end,
                    stack[-1],
                    made,
                    is_class,
                    is_object=(start, end) in objects,
                    object_type=objects.get((start, end)),
                )
            )
            stack.append(len(self.scopes) - 1)
        self._starts = [scope.start for scope in self.scopes]
        for definition in self._definitions:
            scope = self.scopes[self._scope_of(definition.start - 1, definition.end)]
            if not definition.defines:
                continue
            if scope.parent >= 0 and self.rules.class_scope_is_visible:
                self._add_inner(scope, definition)
            if len(definition.title_path) == 1 or scope.parent < 0:
                self.file_names.add(definition.title_path[0])
            elif not scope.is_class:
                # A function inside a function is reached by its qualified name.
                qualified = ".".join(definition.title_path)
                scope.names[definition.title_path[-1]].append(
                    _Binding(0, qualified, declared=True, is_definition=True)
                )
        for node in self.captured.generics:
            self.scopes[self._scope_of(node.start_byte)].types[self._text(node)] = ""
            self.bound.add(node.start_byte)
        self.bound.update(node.start_byte for node in (*self.captured.keys, *self.captured.packages))

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

    def _scope_of(self, position: int, end: int | None = None) -> int:
        """Return the number of the innermost scope that holds a position, or a range of positions."""
        last = position + 1 if end is None else end
        low, high = 0, len(self._starts)
        while low < high:
            middle = (low + high) // 2
            if self._starts[middle] <= position:
                low = middle + 1
            else:
                high = middle
        at = low - 1
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
            at = scope.parent
        return None

    def _class_name(self, at: int) -> str:
        """Return the qualified name of the class around a scope, empty outside of classes."""
        found = self._class_of(at)
        if found is None:
            return ""
        path = found.title_path if found.kind in _TYPE_KINDS else found.title_path[:-1]
        return ".".join(path)

    # Imports and bindings

    def _read_imports(self) -> None:
        rules = self.rules
        for match in self.captured.imports:
            module_nodes = match["import.file"] if "import.file" in match else match["import.module"]
            module = self.data[module_nodes[0].start_byte : module_nodes[-1].end_byte].decode(
                "utf-8", "replace"
            )
            module = module.strip().strip("\"'`<>").strip()
            if not module:
                continue
            line = module_nodes[0].start_point[0] + 1
            alias = self._text(match["import.alias"][0]) if "import.alias" in match else ""
            self.bound.update(node.start_byte for node in match.get("import.alias", ()))
            if "import.file" in match:
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

    def _add_import(self, item: Import, node: tree_sitter.Node) -> None:
        """Add an import. One inside a function binds its name there."""
        at = self._scope_of(node.start_byte)
        while at > 0 and self.scopes[at].is_class:
            at = self.scopes[at].parent
        if at > 0 and item.name:
            # Other files do not see the name, so it gets one that no code can write.
            alias = f"{item.name}@{item.line}"
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
        matches = self._distinct_bindings()
        # Names come before values: what a value means may depend on a name that is bound below it.
        for match in matches:
            for node in match.get("bind", ()):
                self.bound.add(node.start_byte)
                at = self._local_scope(node.start_byte)
                if at == 0 or self._text(node) in self.scopes[at].outer:
                    self.file_names.add(self._text(node))
                elif self._is_field(node, at):
                    says = "bind.type" in match or "bind.value" in match or "bind.self" in match
                    name = self._text(node)
                    self.scopes[at].fields[name] = f"{{{self._class_name(at)}}}.{name}" if says else ""
        for match in matches:
            self._read_binding(match)

    def _distinct_bindings(self) -> list[Match]:
        """Return the bindings by position, each name once: a pattern that says what it holds goes first."""
        found: dict[tuple[int, int], Match] = {}
        for match in sorted(self.captured.bindings, key=_match_start):
            # Several names of one match, or one name that several classes get, are not told apart.
            key = _match_start(match), len(match.get("bind", ()))
            known = found.get(key)
            if known is None or len(known) < len(match):
                found[key] = match
        return list(found.values())

    def _is_field(self, node: tree_sitter.Node, at: int) -> bool:
        """Return whether a bound name is a value of a class that is no definition of its own."""
        visible = self.rules.class_scope_is_visible
        return visible and self.scopes[at].is_class and node.start_byte not in self._defined

    def _local_scope(self, position: int) -> int:
        at = self._scope_of(position)
        # The parameters of a function belong to it, its name to the scope around it.
        return at

    def _read_binding(self, match: Match) -> None:
        names = match.get("bind", ())
        position = _match_start(match)
        at = self._local_scope(position)
        if "bind.type" in match and self._text(match["bind.type"][0]) in self.rules.inferred_types:
            match = {capture: nodes for capture, nodes in match.items() if capture != "bind.type"}
        declared = "bind.type" in match
        expression = self._bound_expression(match, at, position)
        if "bind.attribute" in match:
            self._read_attribute(match, at, expression)
            return
        for node in names:
            name = self._text(node)
            scope = self.scopes[at]
            if at == 0 or name in scope.outer:
                if expression:
                    self.values[TypedName("", name, expression)] = None
            elif scope.is_class:
                if "bind.self" in match:
                    expression = f"{{{self._class_name(at)}}}"
                if expression:
                    self.values[TypedName(self._class_name(at), name, expression)] = None
            else:
                value = expression
                if self._is_self(match, node, at):
                    value = self._own(at)
                if value or not self._is_literal(match):
                    # A name is bound when its statement is over: `x = x.next` reads the old one.
                    start = max(
                        (item.end_byte for item in match.get("bind.value", ())), default=node.start_byte
                    )
                    scope.names[name].append(_Binding(start, value, declared))
                else:
                    scope.names[name]  # noqa: B018  (the name is local, and what it holds says nothing)

    def _is_literal(self, match: Match) -> bool:
        """Return whether a value says nothing about a type, as `None` does not."""
        return "bind.value" in match and self._text(match["bind.value"][0]) in (
            "None",
            "null",
            "undefined",
            "nil",
        )

    def _is_self(self, match: Match, node: tree_sitter.Node, at: int) -> bool:
        """Return whether a parameter is the object that a method belongs to."""
        scope = self.scopes[at]
        if "bind.self" in match:
            return True
        if not self.rules.self_is_first_parameter or scope.parent < 0:
            return False
        if not self.scopes[scope.parent].is_class or scope.definition is None:
            return False
        before = self.data[scope.definition.name_start : node.start_byte].partition(b"(")
        return bool(before[1]) and not before[2].strip()

    def _bound_expression(self, match: Match, at: int, position: int) -> str:
        """Return what the names of a binding hold."""
        if "bind.type" in match:
            found = self._scoped_type(to_type(self._text(match["bind.type"][0]), self.rules), at)
            return f"<{found}>" if found else ""
        if "bind.value" in match:
            written = to_expression(likely_value(self._text(match["bind.value"][0])))
        elif "bind.element" in match:
            written = to_expression(self._text(match["bind.element"][0]))
            written = f"{written}[]" if written else ""
        else:
            return ""
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
            self.values[TypedName(class_name, name, expression)] = None

    def _read_bases(self) -> None:
        for node in self.captured.bases:
            at = self._scope_of(node.start_byte)
            name = self._class_name(at)
            while at > 0 and not self.scopes[at].is_class:
                at = self.scopes[at].parent
            # The names of a class do not hold where its bases are named.
            found = self._scoped_type(to_type(self._text(node), self.rules), max(self.scopes[at].parent, 0))
            if name and found:
                self.bases[name, found] = None
        self._with_bases = {name for name, _ in self.bases}
        self._seen_from.clear()

    def _read_extensions(self) -> None:
        """Note the functions that extend types, by the last name of the type."""
        for node in self.captured.extensions:
            scope = self.scopes[self._scope_of(node.start_byte)]
            if scope.definition is None:
                continue
            found = to_type(self._text(node), self.rules).rpartition(".")[2]
            if scope.types.get(found) == "":
                # A type parameter means what it is bound by.
                head = self.data[node.end_byte : scope.end].partition(b"{")[0].decode("utf-8", "replace")
                bound = re.search(rf"\bwhere\s+{found}\s*:\s*([\w.]+)", head)
                found = bound[1].rpartition(".")[2] if bound else ""
            if found and found[0] != "[":
                path = scope.definition.title_path
                self.values[TypedName(f"+{found}", path[-1], ".".join(path))] = None

    def _read_results(self) -> None:
        """Note what functions return: as they declare it, else as all their return statements agree."""
        declared: set[str] = set()
        written: dict[str, set[str]] = defaultdict(set)
        for node, is_type in self.captured.results:
            at = self._scope_of(node.start_byte)
            while at > 0 and self.scopes[at].definition is None:
                at = self.scopes[at].parent
            definition = self.scopes[at].definition
            if definition is None or definition.kind not in _FUNCTION_KINDS:
                continue
            name = ".".join(definition.title_path)
            if is_type:
                declared.add(name)
                if value := self._self_type(to_type(self._text(node), self.rules), at):
                    self.returns[name, value] = None
            elif expression := to_expression(self._text(node)):
                found = self._rewritten(expression, self._scope_of(node.start_byte), node.start_byte)
                written[name].add("" if found.startswith("?") else found)
        for name, found_in in written.items():
            if name not in declared and len(found_in) == 1 and (only := next(iter(found_in))):
                self.returns[name, only] = None

    def _self_type(self, found: str, at: int) -> str:
        """Return the value of a declared type. `Self` is the class around it."""
        if found in ("Self", "typing.Self", "this", "self", "static"):
            return f"{{{self._class_name(at)}}}"
        found = self._scoped_type(found, at)
        return f"<{found}>" if found else ""

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
        """Return the type of a name in the scopes around, empty for a type parameter."""
        while at > 0:
            if name in self.scopes[at].types:
                return self.scopes[at].types[name]
            at = self.scopes[at].parent
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
                self.rules.extensions_are_members or self._class_name(at) in self._with_bases
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
                    return f"{{{qualified}}}"
            at = scope.parent
        return ""

    @cached_property
    def _sees_other_names(self) -> bool:
        """Return whether the file may use names that it neither defines nor imports by name."""
        return self.rules.implicit_names or any(item.imported == ALL_NAMES for item in self.imports)

    # Uses

    def _read_uses(self) -> None:
        data, rules = self.data, self.rules
        implicit = self._sees_other_names
        names = {name.encode() for name in self.file_names}
        local = {name.encode() for scope in self.scopes[1:] for name in scope.names if not scope.is_class}
        if rules.class_scope_is_visible:
            for scope in self.scopes[1:]:
                local |= {
                    name.encode() for held in (scope.members, scope.fields, scope.types) for name in held
                }
        open_names = any(item.imported == ALL_NAMES for item in self.imports)
        ignored = {name.encode() for name in rules.ignored}
        bound = self.bound
        base_starts = {node.start_byte for node in self.captured.bases}
        base_ends = {node.end_byte for node in self.captured.bases}
        marks = rules.call_marks.encode()
        for node in self.captured.uses:
            start = node.start_byte
            name = data[start : node.end_byte]
            if name not in names and name not in local and (not implicit or name in ignored):
                continue
            if start in bound or data[start - 1 : start] == b".":
                continue
            if data[start - 2 : start] in (b"::", b"->") and data[start - 3 : start - 2].strip(b" \t\n(,=:"):
                continue  # a member, which has a capture of its own
            end = node.end_byte
            following = data[end : end + 2]
            if following[:1] == b"=" and following != b"==":
                continue  # the name of an argument
            expression = name.decode("utf-8", "replace")
            if name in local:
                at = self._scope_of(start)
                called = following[:1] == b"("
                found, _ = self._lookup(expression, at, start, called=called, is_use=True)
                if found is not None:
                    if not found.is_definition:
                        continue  # a local variable, not what it holds
                    expression = found.expression
                elif name in names and not (called and self._is_extension(expression)):
                    pass
                elif owners := self._owners(at):
                    expression = f"{owners}:{expression}"
            elif rules.class_scope_is_visible and (
                name not in names or (following[:1] == b"(" and self._is_extension(name.decode()))
            ):
                owners = self._owners(self._scope_of(start))
                is_lower = not name.lstrip(b"_")[:1].isupper()
                if rules.packages_hold_types and is_lower:
                    # Fields of bases are no definitions.
                    if following[:1] != b"(" or not (owners or open_names):
                        continue
                if owners:
                    expression = f"{owners}:{expression}"
            if expression in self.rules.self_names or not (expression[:1] in ("{", "<") or _NAME.match(expression)):
                continue
            label = Label.USES
            if start in base_starts and (end in base_ends or following[:1] in (b"<", b"(")):
                label = Label.EXTENDS
            elif (following[:1] and following[0] in marks) or data[start - 4 : start] == b"new ":
                label = Label.CALLS
            self._note(expression, label, node.end_point[0] + 1)
        for start, end, line in self.captured.members:
            if start in bound:
                continue  # a package clause or an import
            text = data[start:end].decode("utf-8", "replace")
            written = to_expression(text)
            called = data[end : end + 1] != b"" and data[end] in marks
            expression = self._rewritten(written, self._scope_of(start), start) if written else ""
            if not expression:
                expression = unknown_member(text)
            if expression.startswith("?") and (not called or expression.count(".") != 1 or "(" in expression):
                if not called:
                    continue
                expression = "?." + expression.rpartition(".")[2]
            if "." not in expression and expression[0] != "\\":
                continue
            label = Label.CALLS if called else Label.USES
            if start in base_starts and (end in base_ends or data[end : end + 1] in (b"<", b"(")):
                label = Label.EXTENDS
            self._note(expression, label, line)

    def _is_extension(self, name: str) -> bool:
        """Return whether a name may be an imported function that extends the class around its use."""
        return self.rules.extensions_are_members and name[:1].islower() and name in self._imported_names

    @cached_property
    def _imported_names(self) -> frozenset[str]:
        return frozenset(item.name for item in self.imports)

    def _note(self, expression: str, label: Label, line: int) -> None:
        if len(expression) <= _LONGEST:
            self.uses[expression, label].add(line)

    def _rewritten(self, expression: str, at: int, position: int) -> str:
        """Return an expression with its first name replaced by what the scope there says it is: `?…` where
        that is unknown, nothing for a name that no rule can follow."""
        for word in (*self.rules.self_names, *self.rules.super_names):
            if f".{word}" in expression:
                expression = self._named_own(expression, at)
        inner = at
        for _ in range(_MOST_REPLACED):
            end = next((place for place, mark in enumerate(expression) if mark in ".(["), len(expression))
            head, rest = expression[:end], expression[end:]
            if not head or head[0] in "<{^?":
                return expression
            if head in self.rules.self_names:
                return f"{self._own(at) or '?'}{rest}"
            if head in self.rules.super_names:
                own = self._own(at)
                return f"{'^' if own[:1] == '{' else ''}{own or '?'}{rest.removeprefix('()')}"
            inner = at
            found, at = self._lookup(head, at, position, called=rest.startswith("()"))
            if found is None:
                break
            if not found.expression:
                return f"?{rest}"
            if found.expression[0] in "<{^" or found.declared or found.expression == head:
                return found.expression + rest
            expression, position = found.expression + rest, found.start
            if found.expression.startswith("?"):
                return expression
        if head in self.file_names:
            return expression
        if head in self.rules.ignored or head[0] == "$" or not self._sees_other_names:
            return f"?{rest}"
        return f"{owners}:{expression}" if (owners := self._owners(inner)) else expression

    def _named_own(self, expression: str, at: int) -> str:
        """Return an expression that starts with `Outer.this` or `Base.super` with that object as its head."""
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

    def _lookup(
        self, name: str, at: int, position: int, *, called: bool = False, is_use: bool = False
    ) -> tuple[_Binding | None, int]:
        """Return the binding of a local name as seen from a position, and the scope that has it; None for a
        name of the file or of nowhere. With `is_use`, a field of a class hides no type of its name."""
        first = at
        called = called and self.rules.calls_name_functions
        while at > 0:
            scope = self.scopes[at]
            if name in scope.outer:
                return None, 0
            if name in scope.types and (not called or name not in scope.members):
                return _Binding(
                    0, scope.types[name], declared=True, is_definition=bool(scope.types[name])
                ), at
            if scope.is_class and self.rules.class_scope_is_visible:
                if name in scope.members and (called or name not in scope.fields):
                    return _Binding(0, scope.members[name], declared=True, is_definition=True), at
                if name in scope.fields and not called and not (is_use and name[:1].isupper()):
                    return _Binding(0, scope.fields[name], declared=True), at
            bindings = scope.names.get(name, ())
            if called:
                bindings = [item for item in bindings if item.is_definition]
            if (bindings or (name in scope.names and not called)) and (not scope.is_class or at == first):
                declared = [item for item in bindings if item.declared and item.expression]
                if declared:
                    return declared[-1], at
                before = [item for item in bindings if item.start <= position] if at == first else bindings
                chosen = before or bindings
                return (chosen[-1] if chosen else _Binding(0, "")), at
            at = scope.parent
        return None, 0


def _match_start(match: Match) -> int:
    for capture in ("bind", "bind.attribute"):
        if capture in match:
            return match[capture][0].start_byte
    return 0


def _all_definitions(roots: Iterable[CapturedDefinition]) -> Iterable[CapturedDefinition]:
    for definition in roots:
        yield definition
        yield from _all_definitions(definition.children)


def as_references(facts: FileFacts, separator: str) -> list[Reference]:
    """Return the uses and imports of a file one by one, by line: each name without what stands before it."""
    found = set()
    for expression, label, lines in ((use.expression, use.label, use.lines) for use in facts.uses):
        if label is not Label.IMPORTS:
            name = used_name(expression)
            found.update((line, label, name) for line in lines)
    for item in facts.imports:
        if item.imported and item.imported != ALL_NAMES:
            joint = "" if item.module.endswith(separator) else separator
            found.add((item.line, Label.IMPORTS, f"{item.module}{joint}{item.imported}"))
        else:
            found.add((item.line, Label.IMPORTS, item.module))
    return [Reference(name, label, line) for line, label, name in sorted(found)]
