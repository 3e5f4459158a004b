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

from satchel.chunking.expressions import (
    last_part,
    likely_value,
    member_ranges,
    to_expression,
    to_type,
    unknown_member,
)
from satchel.chunking.import_trees import read_import_tree
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
_WORD = re.compile(rb"\w+")
# The start of a path that no import binds (`crate::x`, the name of another crate), and the name of a macro.
_KNOWN_EVERYWHERE = re.compile(rb"(?<![\w.:$])([a-z_]\w*)(?:\s*::|(!)[ ({\[])")
_ASSIGNMENT = re.compile(rb"\s*(?:\|\||&&|[-+*/])?=(?![=~>])")
_SAYS_NOTHING = frozenset({"None", "null", "undefined", "nil"})  # values that tell no type
_LAST_NAME = re.compile(r"\w+\s*$")
_MOST_REPLACED = 6  # local variables that one expression goes through
_LONGEST = 200  # characters of an expression


@dataclass(slots=True)
class GraphCaptures:
    """What the query captured for the graph, before scopes are known."""

    uses: list[tree_sitter.Node] = field(default_factory=list)
    members: list[tree_sitter.Node] = field(default_factory=list)
    scopes: list[tree_sitter.Node] = field(default_factory=list)
    bases: list[tree_sitter.Node] = field(default_factory=list)
    imports: list[Match] = field(default_factory=list)
    bindings: list[Match] = field(default_factory=list)
    results: list[tuple[tree_sitter.Node, bool]] = field(default_factory=list)  # (node, is a type)
    globals: list[tree_sitter.Node] = field(default_factory=list)
    tokens: list[tree_sitter.Node] = field(default_factory=list)  # code that the grammar leaves as tokens
    split_members: list[Match] = field(default_factory=list)  # receiver and name of a member access
    opaque: list[tree_sitter.Node] = field(default_factory=list)  # nodes whose names are no uses
    package: str = ""

    def add(self, match: Match) -> bool:
        """Take a match of the query if it is about the graph; return whether it is."""
        for capture, nodes in match.items():
            if capture == "use":
                self.uses += nodes
            elif capture == "member":
                self.members += nodes
            elif capture.startswith("member."):
                self.split_members.append(match)
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
            elif capture == "tokens":
                self.tokens += nodes
            elif capture == "opaque":
                self.opaque += nodes
            elif not capture.startswith("_"):  # a capture of that kind is for the conditions of its pattern
                return False
        return True


@dataclass(slots=True)
class _Binding:
    """A value of a local name: an expression, empty if nothing is known of it, from a position on."""

    start: int
    expression: str
    declared: bool = False  # by a type, so that it holds at every position


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
        self.bound: set[int] = set(names)  # where names stand that are bound or defined there, not used
        self._starts: list[int] = []
        self._definitions = list(_all_definitions(roots))

    def extract(self) -> FileFacts:
        """Return the facts of the file."""
        self._make_scopes()
        self._read_imports()
        self._read_bindings()
        self._read_bases()
        self._read_results()
        self._read_uses()
        return FileFacts(
            package=self.captured.package,
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

    # Scopes

    def _make_scopes(self) -> None:
        """Make the tree of scopes, and give the names of definitions to the scope around each."""
        kinds = _FUNCTION_KINDS | _TYPE_KINDS
        if self.rules.modules_are_scopes or self.rules.open_types:
            kinds |= {ChunkKind.MODULE}
        ranges: dict[tuple[int, int], CapturedDefinition | None] = {
            (node.start_byte, node.end_byte): None for node in (*self.captured.scopes, *self.captured.tokens)
        }
        for definition in self._definitions:
            if definition.kind in kinds:
                ranges[definition.start, definition.end] = definition
        stack = [0]
        for (start, end), made in sorted(ranges.items(), key=lambda item: (item[0][0], -item[0][1])):
            while self.scopes[stack[-1]].end < end:
                stack.pop()
            is_class = made is not None and self._is_class(made)
            self.scopes.append(_Scope(start, end, stack[-1], made, is_class))
            stack.append(len(self.scopes) - 1)
        self._starts = [scope.start for scope in self.scopes]
        for definition in self._definitions:
            scope = self.scopes[self._scope_of(definition.start - 1, definition.end)]
            if not definition.defines:
                continue
            if len(definition.title_path) == 1 or scope.parent < 0:
                self.file_names.add(definition.title_path[0])
            elif not scope.is_class:
                # A function inside a function is reached by its qualified name.
                qualified = ".".join(definition.title_path)
                scope.names[definition.title_path[-1]].append(_Binding(0, qualified, declared=True))

    def _is_class(self, definition: CapturedDefinition) -> bool:
        if definition.kind is ChunkKind.MODULE:
            return self.rules.open_types and definition.defines
        return definition.kind in _TYPE_KINDS

    def _is_inner_module(self, definition: CapturedDefinition) -> bool:
        return self.rules.modules_are_scopes and definition.kind is ChunkKind.MODULE

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
        path = found.title_path if self._is_class(found) else found.title_path[:-1]
        return ".".join(path)

    def _module_parts(self, at: int) -> list[str]:
        """Return the names of the modules inside the file that a scope is part of."""
        while at > 0:
            definition = self.scopes[at].definition
            if definition is not None and self._is_inner_module(definition):
                return list(definition.title_path)
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

    # Imports and bindings

    def _read_import_tree(self, node: tree_sitter.Node) -> None:
        """Add the imports of a statement that names several things as a tree."""
        text, separator = self._text(node), self.language.import_separator
        self._hide_names(node)
        at = self._scope_of(node.start_byte)
        own = self.rules.own_module
        for item in read_import_tree(text, separator, own):
            line = node.start_point[0] + 1 + text.count("\n", 0, item.offset)
            parts = self._from_file(item.module.split(separator), at)
            if (
                item.name == ALL_NAMES
                and parts[0] == own
                and parts[1:] == self._module_parts(at)[: len(parts) - 1]
            ):
                continue  # names of a module around the code, which it sees anyway
            module = separator.join(parts)
            if item.name:
                name = "" if item.name == ALL_NAMES or item.alias == "_" else item.alias or item.name
                self._add_import(Import(name, module, item.name, line), node)
            else:
                self._add_import(Import(item.alias or last_part(module), module, "", line), node)

    def _hide_names(self, node: tree_sitter.Node) -> None:
        """Take no name inside a node for a use."""
        self.bound.update(
            match.start() for match in _WORD.finditer(self.data, node.start_byte, node.end_byte)
        )

    def _read_imports(self) -> None:
        rules = self.rules
        if rules.own_module:
            for found in set(_KNOWN_EVERYWHERE.findall(self.data)):
                if b"".join(found).decode() not in rules.ignored:
                    self.file_names.add(found[0].decode())
        for node in self.captured.opaque:
            self._hide_names(node)
        for match in self.captured.imports:
            if "import.tree" in match:
                self._read_import_tree(match["import.tree"][0])
                continue
            if "import.module" not in match:
                self._read_child_module(match["import.name"][0])
                continue
            module_nodes = match["import.module"]
            module = self.data[module_nodes[0].start_byte : module_nodes[-1].end_byte].decode("utf-8", "replace")
            module = module.strip().strip("\"'`<>").strip()
            if "import.relative" in match and not module.startswith("."):
                module = f"./{module}"
            if not module:
                continue
            line = module_nodes[0].start_point[0] + 1
            alias = self._text(match["import.alias"][0]) if "import.alias" in match else ""
            if "import.all" in match:
                self._add_import(Import(alias, module, ALL_NAMES if not alias else "", line), module_nodes[0])
            elif "import.name" in match:
                for node in match["import.name"]:
                    name = self._text(node).strip("\"'`")
                    self._add_import(Import(alias or name, module, name, node.end_point[0] + 1), node)
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

    def _read_child_module(self, node: tree_sitter.Node) -> None:
        """Add the import of a module that a file declares to be below it."""
        own = self.rules.own_module
        parts = self._from_file([own], self._scope_of(node.start_byte))
        name = self._text(node)
        item = Import(name, self.language.import_separator.join(parts), name, node.start_point[0] + 1)
        self._add_import(item, node)

    def _add_import(self, item: Import, node: tree_sitter.Node) -> None:
        """Add an import. One inside a function or an inner module binds its name there."""
        at = self._scope_of(node.start_byte)
        while at > 0 and self.scopes[at].is_class:
            at = self.scopes[at].parent
        if at > 0 and item.name:
            definition = self.scopes[at].definition
            if definition is not None and self._is_inner_module(definition):
                alias = ".".join([*definition.title_path, item.name])
            else:
                # Other files do not see the name, so it gets one that no code can write.
                alias = f"{item.name}@{item.line}"
            self.scopes[at].names[item.name].append(_Binding(0, alias, declared=True))
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
        # If two patterns bind one name, the one that knows what it holds comes last and counts.
        matches = sorted(self.captured.bindings, key=lambda match: (_match_start(match), len(match)))
        # Names come before values: what a value means may depend on a name that is bound below it.
        for match in matches:
            for node in match.get("bind", ()):
                self.bound.add(node.start_byte)
                at = self._local_scope(node.start_byte)
                if at == 0 or self._text(node) in self.scopes[at].outer:
                    self.file_names.add(self._text(node))
        for match in matches:
            self._read_binding(match)
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
            if said.get("type"):
                value = self._value_of_type(to_type(said["type"], self.rules), at, position)
            else:
                value = self._value(said.get("value") or "", at, position)
            self.bound.add(position)
            start = position if said.get("type") else node.start_byte + len(text[: match.end()].encode())
            self.scopes[at].names[said["name"]].append(_Binding(start, value, bool(said.get("type"))))

    def _local_scope(self, position: int) -> int:
        at = self._scope_of(position)
        # The parameters of a function belong to it, its name to the scope around it.
        return at

    def _read_binding(self, match: Match) -> None:
        names = match.get("bind", ())
        position = _match_start(match)
        at = self._local_scope(position)
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
                if expression:
                    self.values[TypedName(self._class_name(at), name, expression)] = None
            elif scope.definition is not None and self._is_inner_module(scope.definition):
                if expression:
                    self.values[TypedName(".".join(scope.definition.title_path), name, expression)] = None
            else:
                value = expression
                if self._is_self(match, node, at):
                    value = f"{{{self._class_name(at)}}}"
                if value or not self._is_literal(match):
                    # A name is bound when its statement is over: `x = x.next` reads the old one.
                    source = match.get("bind.value", match.get("bind.element", ()))
                    start = max((item.end_byte for item in source), default=node.start_byte)
                    scope.names[name].append(_Binding(start, value, declared))
                else:
                    scope.names[name]  # noqa: B018  (the name is local, and what it holds says nothing)

    def _is_literal(self, match: Match) -> bool:
        """Return whether a value says nothing about a type, as `None` does not."""
        return "bind.value" in match and self._text(match["bind.value"][0]) in _SAYS_NOTHING

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
            return self._value_of_type(to_type(self._text(match["bind.type"][0]), self.rules), at, position)
        if "bind.value" in match:
            return self._value(self._code(match["bind.value"][0]), at, position)
        if "bind.element" in match:
            written = self._expression(self._text(match["bind.element"][0]), at)
            written = f"{written}[]" if written else ""
            return self._known(written, at, position)
        return ""

    def _value(self, text: str, at: int, position: int) -> str:
        """Return what the value of a binding is, without the calls that only wrap it."""
        for _ in range(_MOST_REPLACED):
            call = next((call for call in self.rules.wrapping_calls if text.startswith(f"{call}(")), "")
            if not call or text[-1:] != ")":
                break
            text = text[len(call) + 1 : -1].strip()
        return self._known(self._expression(likely_value(text), at), at, position)

    def _known(self, written: str, at: int, position: int) -> str:
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
            name = self._text(match["bind.attribute"][0]).lstrip(self.rules.attribute_mark or None)
            self.values[TypedName(class_name, name, expression)] = None

    def _read_bases(self) -> None:
        for node in self.captured.bases:
            at = self._scope_of(node.start_byte)
            name = self._class_name(at)
            found = self._local_type(to_type(self._text(node), self.rules), at, node.start_byte)
            if found and self.rules.constants_are_lexical:
                found = _absolute(self._text(node)) or f":{self._around_base(found, at)}:{found}"
            if name and found:
                self.bases[name, found] = None

    def _around_base(self, base: str, at: int) -> str:
        """Return the class from which the base of a class is seen. A base with the name of the class itself
        is another one, outside of it."""
        name = self._class_name(at)
        return self._class_name(self.scopes[at].parent) if name.rpartition(".")[2] == base else name

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
                found_type = to_type(self._text(node), self.rules)
                if value := self._value_of_type(found_type, at, node.start_byte):
                    self.returns[name, value] = None
            elif expression := self._expression(self._code(node), at):
                found = self._rewritten(expression, self._scope_of(node.start_byte), node.start_byte)
                written[name].add("" if found.startswith("?") else found)
            elif self.rules.call_name_field and self._text(node) not in _SAYS_NOTHING:
                written[name].add("")
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
        if found in ("Self", "typing.Self", "this", "self", "static"):
            name = self._class_name(at)
            return f"{{{name}}}" if name else ""
        found = self._local_type(found, at, position)
        return f"<{found}>" if self._is_known_type(found) else ""

    def _local_type(self, found: str, at: int, position: int) -> str:
        """Return a type with its first name replaced by what that is where it stands: a type inside a
        function or an inner module, the bound of a type parameter; empty if nothing is known of it."""
        inner = found.strip("[]")
        head, dot, rest = inner.partition(".")
        if self.rules.own_module and head in (self.rules.own_module, self.rules.parent_module):
            parts = self._from_file(inner.split("."), at)
            return found.replace(inner, ".".join(parts).removeprefix(f"{self.rules.own_module}."))
        held, _ = self._lookup(head, at, position) if head else (None, 0)
        if held is None:
            return found
        if not held.declared or not held.expression or held.expression[0] in "{^?":
            return ""
        return found.replace(inner, held.expression.strip("<>") + dot + rest)

    def _is_known_type(self, found: str) -> bool:
        """Return whether a type can be one that this repository defines."""
        head = found.strip("[]").partition(".")[0]
        return bool(head) and (head in self.file_names or self._sees_other_names)

    @cached_property
    def _sees_other_names(self) -> bool:
        """Return whether the file may use names that it neither defines nor imports by name."""
        return self.rules.implicit_names or any(item.imported == ALL_NAMES for item in self.imports)

    # Uses

    def _expression(self, text: str, at: int) -> str:
        """Return the expression that a piece of code is, without the members that change nothing."""
        rules = self.rules
        if rules.own_module and text.startswith((rules.own_module, rules.parent_module)):
            separator = self.language.import_separator
            if self._is_from_module(text):
                from_file = self._from_file(text.split(separator), at)
                text = separator.join(from_file[1:] if from_file[0] == rules.own_module else from_file)
        if rules.attribute_mark and text.startswith(rules.attribute_mark):
            text = f"{rules.self_names[0]}.{text.lstrip(rules.attribute_mark)}"
        elif rules.constructor and text.startswith(f"{rules.constructor}("):
            text = f"{rules.self_names[0]}.{text}"
        absolute = rules.constants_are_lexical and text.startswith("::")
        written = to_expression(text[2:] if absolute else text, rules.name_endings)
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

    def _members(self) -> Iterable[tuple[int, int, int]]:
        """Yield start, end and line of each member access."""
        for node in self.captured.members:
            yield node.start_byte, node.end_byte, node.end_point[0] + 1
        for match in self.captured.split_members:
            name = match["member.name"][0]
            yield match["member.receiver"][0].start_byte, name.end_byte, name.start_point[0] + 1
        for node in self.captured.tokens:
            start = node.start_byte
            text = self.data[start : node.end_byte]
            for first, last in member_ranges(text):
                line = node.start_point[0] + 1 + text.count(b"\n", 0, last)
                yield start + first, start + last, line

    def _read_uses(self) -> None:
        data, rules = self.data, self.rules
        implicit = self._sees_other_names
        names = {name.encode() for name in self.file_names}
        local = {name.encode() for scope in self.scopes[1:] for name in scope.names if not scope.is_class}
        ignored = {name.encode() for name in rules.ignored}
        marked = any(name.endswith("!") for name in rules.ignored)
        bound = self.bound
        base_starts = {node.start_byte for node in self.captured.bases}
        base_ends = {node.end_byte for node in self.captured.bases}
        marks = rules.call_marks.encode()
        path_mark = self.language.import_separator.encode()
        for node in self.captured.uses:
            start = node.start_byte
            name = data[start : node.end_byte]
            if name not in names and name not in local and (not implicit or name in ignored):
                continue
            if start in bound or data[start - 1 : start] == b"." or data[start - 2 : start] == b"::":
                continue
            end = node.end_byte
            following = data[end : end + 2]
            if following[:1] == b"=" and following != b"==":
                continue  # the name of an argument
            if marked and name + following[:1] in ignored:
                continue  # a macro of the language
            expression = name.decode("utf-8", "replace")
            if rules.implicit_self and expression in rules.super_names:
                if method := self._super_method(self._scope_of(start)):
                    self._note(method, Label.CALLS, node.start_point[0] + 1)
                continue
            found = None
            if name in local:
                found, _ = self._lookup(expression, self._scope_of(start), start)
                if found is not None:
                    if not found.declared or not found.expression or found.expression[0] in "<{^":
                        continue  # a local variable, not what it holds
                    expression = found.expression
            if expression in self.rules.self_names or not _NAME.match(expression):
                continue
            label = Label.USES
            if found is None and (rules.constants_are_lexical or rules.implicit_self):
                is_constant = rules.constants_are_lexical and expression[0].isupper()
                if is_constant and start in base_starts and end in base_ends:
                    around = self._around_base(expression, self._scope_of(start))
                    expression = f":{around}:{expression}"
                else:
                    expression = self._implied(expression, self._scope_of(start))
                if not expression or expression.endswith("()"):
                    continue
                label = Label.USES if is_constant else Label.CALLS
            if start in base_starts and end in base_ends:
                label = Label.EXTENDS
            elif (following[:1] and following[0] in marks) or _has_type_arguments(data, end, path_mark):
                label = Label.CALLS
            self._note(expression, label, node.end_point[0] + 1)
        for start, end, line in self._members():
            if start in bound:
                continue  # part of an import
            text = data[start:end].decode("utf-8", "replace")
            at = self._scope_of(start)
            written = self._expression(text, at)
            called = (data[end : end + 1] and data[end] in marks) or _has_type_arguments(data, end, path_mark)
            called = called or (rules.calls_without_marks and not _ends_with_path(text, "::"))
            if rules.constructor and called and written.endswith(f".{rules.constructor}"):
                written = written.rpartition(".")[0]
                if not written[:1].isupper() and not written.startswith("::"):
                    continue  # of something else than a class that is named
            elif rules.calls_without_marks and _ASSIGNMENT.match(data, end):
                written = f"{written}=" if written else ""
            if (
                rules.fields_apart
                and not called
                and not _ends_with_path(text, self.language.import_separator)
            ):
                continue
            expression = self._rewritten(written, at, start) if written else ""
            if not expression:
                expression = unknown_member(text, rules.name_endings)
            if expression.startswith("?") and (not called or expression.count(".") != 1 or "(" in expression):
                if not called:
                    continue
                expression = "?." + expression.rpartition(".")[2]
            if "." not in expression and expression[:1] != ":" and not self._is_from_module(text):
                continue
            label = Label.CALLS if called else Label.USES
            if start in base_starts and end in base_ends:
                label = Label.EXTENDS
            self._note(expression, label, line)

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

    def _note(self, expression: str, label: Label, line: int) -> None:
        if len(expression) <= _LONGEST:
            self.uses[expression, label].add(line)

    def _rewritten(self, expression: str, at: int, position: int) -> str:
        """Return an expression with its first name replaced by what the scope there says it is: `?…` where
        that is unknown, nothing for a name that no rule can follow."""
        for _ in range(_MOST_REPLACED):
            end = next((place for place, mark in enumerate(expression) if mark in ".(["), len(expression))
            head, rest = expression[:end], expression[end:]
            if not head or head[0] in "<{^?:":
                return expression
            if self.rules.constants_are_lexical and head[0].isupper():
                return f"{self._implied(head, at)}{rest}"
            around = at
            if head in self.rules.self_names:
                name = self._class_name(at)
                return f"{{{name}}}{rest}" if name else f"?{rest}"
            if head in self.rules.super_names and self.rules.implicit_self:
                called = self._super_method(at)
                return f"{called}(){rest.removeprefix('()')}" if called else f"?{rest}"
            if head in self.rules.super_names:
                name = self._class_name(at)
                return f"^{{{name}}}{rest.removeprefix('()')}" if name else f"?{rest}"
            found, at = self._lookup(head, at, position)
            if found is None:
                if self.rules.implicit_self:
                    implied = self._implied(head, around)
                    return f"{implied}{rest}" if implied else f"?{rest}"
                break
            if not found.expression:
                return f"?{rest}"
            if (
                found.expression[0] in "<{^"
                or found.declared
                or found.expression == head
                or self.rules.rebinds
            ):
                return found.expression + rest
            expression, position = found.expression + rest, found.start
            if found.expression.startswith("?"):
                return expression
        return expression if head in self.file_names or self._sees_other_names else f"?{rest}"

    def _lookup(self, name: str, at: int, position: int) -> tuple[_Binding | None, int]:
        """Return the binding of a local name as seen from a position, and the scope that has it; None for a
        name of the file or of nowhere."""
        first = at
        while at > 0:
            scope = self.scopes[at]
            if name in scope.outer:
                return None, 0
            if name in scope.names and (not scope.is_class or at == first):
                bindings = scope.names[name]
                if self.rules.rebinds:
                    seen = [item for item in bindings if item.start <= position]
                    if seen:
                        return seen[-1], at
                    at = scope.parent
                    continue
                declared = [item for item in bindings if item.declared and item.expression]
                if declared:
                    return declared[-1], at
                before = [item for item in bindings if item.start <= position] if at == first else bindings
                chosen = before or bindings
                return (chosen[-1] if chosen else _Binding(0, "")), at
            at = scope.parent
        return None, 0


def _ends_with_path(text: str, separator: str) -> bool:
    """Return whether the last name of a member access follows the separator of paths, not a dot."""
    return _LAST_NAME.sub("", text).rstrip().endswith(separator)


def _absolute(text: str) -> str:
    """Return the expression of a path from the outermost module, `::A::B`, empty for another one."""
    return "::" + text[2:].replace("::", ".") if text.startswith("::") else ""


def _has_type_arguments(data: bytes, end: int, separator: bytes) -> bool:
    """Return whether a name is followed by the type arguments of a call: `find::<Entry>(…)`."""
    return data[end : end + len(separator) + 1] == separator + b"<"


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
