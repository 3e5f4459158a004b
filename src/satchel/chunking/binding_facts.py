"""Read the bindings of a file: parameters, local variables, attributes of classes, names of the file."""

from __future__ import annotations

import re
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

_NAME = re.compile(r"[^\W\d]")
NOTHING = frozenset({b"None", b"null", b"undefined", b"nil"})  # values that say nothing about a type


class BindingReader(ImportReader):
    """Reads the bindings of a file."""

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
            start = match_start(match)
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
                binding = Binding(position, value, declared=True)
            else:
                value = self._value(said.get("value") or "", at, position)
                binding = Binding(node.start_byte + len(text[: match.end()].encode()), value)
            self.scopes[at].names[said["name"]].append(binding)

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
        if self._is_self(match, node, at):
            return Binding(node.start_byte, self._own(at), declared=True)
        if len(match) == 1:
            return Binding(node.start_byte)
        if "bind.type" in match:
            return Binding(node.start_byte, declared=True, match=match)
        if "bind.value" in match:
            # A name is bound when its statement is over: `x = x.next` reads the old one.
            value = match["bind.value"][0]
            if self.data[value.start_byte : value.end_byte] in NOTHING:
                return Binding(-1)
            return Binding(value.end_byte, match=match)
        if "bind.element" in match:
            return Binding(match["bind.element"][0].end_byte, match=match)
        return Binding(node.start_byte, match=match)

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
