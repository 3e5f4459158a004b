"""Read the bindings of a file: parameters, local variables, attributes of classes, names of the file."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from operator import itemgetter
from typing import TYPE_CHECKING

from satchel.chunking.import_facts import ImportReader
from satchel.chunking.local_names import match_start
from satchel.chunking.scopes import Binding
from satchel.chunking.type_expressions import to_type
from satchel.code_facts import WHOLE_MODULE, TypedName

if TYPE_CHECKING:
    import tree_sitter

    from satchel.chunking.graph_captures import Match

_OPENING = re.compile(rb"\(\s*")
# Nodes of a declarator: what has elements, several names at once, a name, a name declared elsewhere.
_ARRAY, _PATTERN = "array_declarator", "structured_binding_declarator"
_PLAIN_NAME, _PATH = "identifier", "qualified_identifier"
_NAME = re.compile(r"[^\W\d]")
NOTHING = frozenset({b"None", b"null", b"undefined", b"nil"})  # values that say nothing about a type


class BindingReader(ImportReader):
    """Reads the bindings of a file."""

    def _read_bindings(self) -> None:
        # Long, because the loop is hot (below), and what stands before it is what its names mean.
        for node in self.captured.globals:
            self.scopes[self._scope_of(node.start_byte)].outer.add(self._text(node))
        lasting: list[tuple[Match, int, int]] = []
        data, scopes, bound = self.data, self.scopes, self.bound
        bound.update(node.start_byte for node in self.captured.keys)
        if "@bind.declarator" in self.language.query:
            self.captured.bindings = list(self._declared_bindings())
        # Of two patterns that match one name, the one counts that knows what it holds.
        telling = [match for match in self.captured.bindings if len(match) > 1]
        known = {match["bind"][0].start_byte for match in telling if "bind" in match}
        # The Python files of Django have 124,600 bindings, so what most of them need stands here.
        innermost, bounds, defined = self._innermost, self._bounds, self._defined
        self._own_parameters = self._first_parameters()
        for match in self._distinct_bindings():
            names = match.get("bind")
            start = names[0].start_byte if names is not None else match_start(match)
            if len(match) == 1:
                if start in known:
                    continue
                at = innermost[bisect_right(bounds, start) - 1]
                scope = scopes[at]
                is_inner = not (at == 0 or scope.is_class or scope.module or scope.outer)
                if is_inner and names is not None and len(names) == 1:
                    # A parameter or variable of which nothing is known, as are 60,500 of them.
                    bound.add(start)
                    if start not in defined:
                        name = data[start : names[0].end_byte].decode("utf-8", "replace")
                        self._bind(name, at, self._bare_binding(start, at))
                    continue
            seen_from = match["bind.scope"][0].start_byte if "bind.scope" in match else start
            at = innermost[bisect_right(bounds, seen_from) - 1]
            if "bind.alias" in match:
                # An alias of a type is a scope because of its parameters; its name belongs to the one around.
                at = max(scopes[at].parent, 0)
            scope = scopes[at]
            if "bind.parameter" in match and (at == 0 or scope.is_class or scope.module):
                bound.update(node.start_byte for node in names or ())
                continue  # of a function that is only declared
            is_lasting = at == 0 or scope.is_class or scope.module or scope.outer
            if is_lasting or names is None:
                lasting.append((match, at, start))
            for node in names or ():
                place = node.start_byte
                bound.add(place)
                name = data[place : node.end_byte].decode("utf-8", "replace")
                if is_lasting:
                    self._read_lasting_name(name, node, match, at)
                elif place not in defined:
                    self._bind(name, at, self._local_binding(match, node, at))
        # Only now are all names known that the values may use.
        for match, at, start in sorted(lasting, key=itemgetter(2)):
            self._read_lasting_value(match, at, start)
        for node in self.captured.tokens if self.rules.token_bindings else ():
            self._read_token_bindings(node)

    def _declared_bindings(self) -> Iterable[Match]:
        """Yield the bindings; of a declarator (`*x`, `&x`, `x[8]`, `x = y`), that of the name in it."""
        for match in self.captured.bindings:
            declarator = match.pop("bind.declarator", None)
            node = declarator[0] if declarator is not None else None
            while node is not None and node.type.endswith("_declarator"):
                if value := node.child_by_field_name("value"):
                    match["bind.value"] = [value]
                if node.type == _ARRAY and "bind.type" in match:
                    match["bind.item"] = match.pop("bind.type")
                if node.type == _PATTERN:
                    break
                node = node.child_by_field_name("declarator") or next(iter(node.named_children), None)
            if node is not None and node.type.endswith(_PLAIN_NAME) and node.type != _PATH:
                match["bind"] = [node]
            if declarator is None or "bind" in match:
                yield match

    def _read_lasting_name(self, name: str, node: tree_sitter.Node, match: Match, at: int) -> None:
        """Note a name that is bound outside of functions, or in one that may mean a name of the file."""
        scope = self.scopes[at]
        if at == 0 or name in scope.outer:
            self.file_names.add(name)
        elif node.start_byte in self._defined:
            return
        elif not scope.is_class and not scope.module:
            self._bind(name, at, self._local_binding(match, node, at))
        elif self.rules.class_scope_is_visible:
            scope.fields[name] = f"{{{self._class_name(at)}}}.{name}" if len(match) > 1 else ""

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
                binding = Binding(position, value, declared=True)
            else:
                value = self._value(said.get("value") or "", at, position)
                binding = Binding(node.start_byte + len(text[: match.end()].encode()), value)
            self._bind(said["name"], at, binding)

    def _distinct_bindings(self) -> Iterable[Match]:
        """Return the bindings, each once where several patterns give one: the pattern that says most."""
        if not self.rules.bindings_overlap:
            paired = self._paired_bindings()
            return map(self._without_inferred, paired) if self.rules.inferred_types else paired
        found: dict[int, Match] = {}
        for match in map(self._without_inferred, self._paired_bindings()):
            known = found.get(start := match_start(match))
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
        if "@bind.list" not in self.language.query:
            yield from self.captured.bindings
            return
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

    def _local_binding(self, match: Match, node: tree_sitter.Node, at: int) -> Binding:
        """Return the binding of a local name."""
        start = node.start_byte
        if len(match) == 1:
            return self._bare_binding(start, at)
        if "bind.self" in match or (self._own_parameters.get(at) == start and "bind.value" not in match):
            return Binding(start, self._own(at), declared=True)
        if "bind.type" in match:
            return Binding(start, declared=True, match=match)
        if "bind.value" in match:
            # A name is bound when its statement is over: `x = x.next` reads the old one.
            value = match["bind.value"][0]
            end = value.end_byte
            if self.data[value.start_byte : end] in NOTHING:
                return Binding(-1)
            return Binding(end, match=match)
        if "bind.element" in match:
            return Binding(match["bind.element"][0].end_byte, match=match)
        return Binding(start, match=match)

    def _bare_binding(self, start: int, at: int) -> Binding:
        """Return the binding of a local name of which nothing but its place is known."""
        if self._own_parameters.get(at) == start:
            return Binding(start, self._own(at), declared=True)
        return Binding(start)

    def _first_parameters(self) -> dict[int, int]:
        """Return where the first parameter of each method starts, by the scope of the method, if that is the
        object that the method belongs to."""
        if not self.rules.self_is_first_parameter:
            return {}
        found = {}
        for at, scope in enumerate(self.scopes):
            if scope.definition is not None and scope.parent > 0 and self.scopes[scope.parent].is_class:
                opening = _OPENING.search(self.data, scope.definition.name_start)
                if opening is not None:
                    found[at] = opening.end()
        return found

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
