"""Read the uses of members: names behind the expression of what they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING

from satchel.chunking.expressions import to_expression
from satchel.chunking.graph_captures import Word
from satchel.chunking.local_names import match_start
from satchel.chunking.use_labels import LAST_NAME
from satchel.chunking.used_names import NameReader
from satchel.types import Label

if TYPE_CHECKING:
    import tree_sitter

    from satchel.chunking.graph_captures import Match

_FIRST_NAME = re.compile(rb"\w+(?=[.(\[:?!-])")
_OWN_MEMBER = re.compile(rb"(\w+)\.(\w+)$")
_LAST_PART = re.compile(r"\w+\s*$")
_ASSIGNMENT = re.compile(rb"\s*(?:\|\||&&|[-+*/])?=(?![=~>])")


class MemberReader(NameReader):
    """Reads the uses of members."""

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
        own_heads, attributes = self._own_heads(), self._assigned_attributes()
        tells_heads = self.rules.members_tell_heads
        kept: dict[bytes, str] = {}
        unknown = self._unknown_members
        nodes: Iterable[tree_sitter.Node | Word] = self.captured.members
        for node in chain(nodes, self.captured.spans, self._token_members()):
            start, end = node.start_byte, node.end_byte
            if every and start in bound:
                continue  # a package clause or an import
            written = data[start:end]
            if own_heads and (head := _OWN_MEMBER.match(written)) and head[1] in own_heads:
                if head[2] in attributes and data[end : end + 1] not in self._call_marks:
                    continue  # what the file itself assigns is no definition
                self._note(
                    self._own(self._scope_of(start)) + written[head.end(1) :].decode("utf-8", "replace"),
                    self._label(start, end, extending),
                    node.end_point[0] + 1,
                )
                continue
            label = self._label(start, end, extending)
            if special:
                if start not in bound:  # it is not part of an import
                    self._read_special_member(written, label, node)
                continue
            head = _FIRST_NAME.match(written)
            lasting = followed.get(head[0]) if head and not by_place else False
            if tells_heads and head and written.count(b".") == 1:
                self._read_head(head[0], lasting, node)
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
            if found := LAST_NAME.search(written):
                name = found[0].decode("utf-8", "replace")
                # An import may tell which function extends a value that nothing is known of.
                self.uses[f"<?>.{name}" if self._may_extend(name) else f"?.{name}", label].add(line)

    def _own_heads(self) -> set[bytes]:
        """Return the names that mean the object around them wherever they are bound."""
        if not self.rules.self_is_first_parameter:
            return set()
        found: dict[str, bool] = {}
        for scope in self.scopes[1:]:
            for name, bindings in scope.names.items():
                own = all(item.expression[:1] == "{" and item.match is None for item in bindings)
                found[name] = own and found.get(name, True)
        return {name.encode() for name, own in found.items() if own and name not in self.file_names}

    def _assigned_attributes(self) -> set[bytes]:
        """Return the names of attributes that the file assigns and no class of it defines."""
        assigned = {
            self.data[node.start_byte : node.end_byte]
            for match in self.captured.bindings
            for node in match.get("bind.attribute", ())
        }
        return assigned.difference(item.name.encode() for item in self._definitions)

    def _read_head(self, head: bytes, lasting: bool | None, node: tree_sitter.Node | Word) -> None:
        """Note the use of the name that a member is reached by, if it is one of the file."""
        if lasting is None or node.start_byte in self.bound:
            return
        name = head.decode("utf-8", "replace")
        expression = name if lasting else self._outer_name(name, node.start_byte)
        is_value = expression[:1] in ("", "<", "{", "^")
        if not is_value and (expression != name or name in self.file_names):
            line = node.end_point[0] + 1 - self.data.count(b"\n", node.start_byte, node.end_byte)
            self._note(expression, Label.USES, line)

    def _read_special_member(self, code: bytes, label: Label, node: tree_sitter.Node | Word) -> None:
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
        start = match_start(match)
        if expression := self._bound_expression(match, self._scope_of(start), start):
            self._note(expression, Label.USES, match["bind.member"][0].end_point[0] + 1)


def _ends_with_path(text: str, separator: str) -> bool:
    """Return whether the last name of a member access follows the separator of paths, not a dot."""
    return _LAST_PART.sub("", text).rstrip().endswith(separator)
