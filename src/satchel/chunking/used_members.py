"""Read the uses of members: names behind the expression of what they belong to.

A file writes the same member access again and again: of the 223,900 in the Python files of Django, 67,000
differ from all others of their files. So what a text means is found out once for each file. Where that
depends on the place, it depends on the value that its first name has there, or on the class around it, and is
found out once for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from satchel.chunking.expressions import to_expression
from satchel.chunking.graph_captures import Word
from satchel.chunking.local_names import match_start, outer_expression
from satchel.chunking.rewriting import HEAD
from satchel.chunking.use_labels import LAST_NAME
from satchel.chunking.used_names import NameReader
from satchel.types import Label

if TYPE_CHECKING:
    import tree_sitter

    from satchel.chunking.graph_captures import Match
    from satchel.chunking.scopes import Binding

_FIRST_NAME = re.compile(rb"\w+(?=[.(\[:?!-])")
_WORD = re.compile(rb"\w+")
_LAST_PART = re.compile(r"\w+\s*$")
_PATH_BEFORE = re.compile(rb"[\w>]::$")
_PATH_MARK = re.compile(rb"\w+|[<>]")
_ASSIGNMENT = re.compile(rb"\s*(?:\|\||&&|[-+*/])?=(?![=~>])")


# With what the meaning of a member access varies between two places of a file: the value that its first name
# has there, the class around it, or anything. No Enum: naming its members takes longer than comparing them.
_WITH_VALUE, _WITH_CLASS, _WITH_PLACE = 1, 2, 3
_CALLS, _USES = Label.CALLS, Label.USES
_Lines = tuple[set[int] | None, set[int] | None]  # of the uses of a member, and of the name before it


class _Member(msgspec.Struct, gc=False):
    """A member access as a file writes it, and where its uses are noted."""

    written: bytes
    label: Label
    expression: str = ""  # only the step for a member of the object around it: `.total`
    head: str = ""  # the name that it begins with
    tells_head: bool = False  # it is also a use of that name
    varies: int = 0
    lines: _Lines | None = None  # if nothing varies
    of_nothing: _Lines | None = None  # if what it belongs to is unknown, once that was met
    known: dict[object, _Lines] = {}  # by what it varies with


class MemberReader(NameReader):
    """Reads the uses of members."""

    def _read_members(self, telling: set[str]) -> None:
        """Note the uses of members. `telling` are the local names of which something is known."""
        nodes: Iterable[tree_sitter.Node | Word]
        nodes = chain(self.captured.members, self.captured.spans, self._token_members())
        if self._reads_paths or self._implies:
            for node in nodes:
                if node.start_byte not in self.bound:  # it is not part of an import
                    self._read_special_member(node)
            return
        # By the first name: is it the file's alone, so that an expression means the same everywhere?
        self._followed = {name.encode(): False for name in (*telling, *self._own_words)}
        self._followed.update((name.encode(), True) for name in self.file_names if name not in self.locals)
        self._own_heads, self._attributes = self._find_own_heads(), self._assigned_attributes()
        self._read_plain_members(nodes)

    def _read_plain_members(self, nodes: Iterable[tree_sitter.Node | Word]) -> None:
        """Note the uses of members in a language with dots and calls that look like calls."""
        data, bound, every = self.data, self.bound, self._sees_other_names
        extending, call_marks, has_other_calls = (
            self._extending_starts,
            self._call_marks,
            self._has_other_calls,
        )
        members: dict[Label, dict[bytes, _Member]] = {label: {} for label in Label}
        # The Python files of Django come here 223,900 times, so the label of most is told here.
        for node in nodes:
            start, end = node.start_byte, node.end_byte
            if every and start in bound:
                continue  # a package clause or an import
            if has_other_calls or start in extending:
                label = self._label(start, end)
            else:
                label = _CALLS if data[end : end + 1] in call_marks else _USES
            written = data[start:end]
            same = members[label]
            member = same.get(written)
            if member is None:
                member = same[written] = self._member(written, label, start)
            lines, head_lines = member.lines or self._lines_here(member, start)
            if lines is not None:
                lines.add(node.end_point[0] + 1)
            if head_lines is not None and start not in bound:
                head_lines.add(node.end_point[0] + 1 - written.count(b"\n"))

    def _member(self, written: bytes, label: Label, start: int) -> _Member:
        """Return a member access that is first met at a position."""
        first, _, rest = written.partition(b".")
        if first in self._own_heads and _WORD.fullmatch(rest):
            if rest in self._attributes and label is not _CALLS:
                return _Member(written, label, lines=(None, None))  # what the file assigns is no definition
            return _Member(written, label, f".{rest.decode()}", varies=_WITH_CLASS)
        head = _FIRST_NAME.match(written)
        name = head[0].decode("utf-8", "replace") if head else ""
        lasting = self._followed.get(head[0]) if head and not self._sees_members else False
        tells_head = self.rules.members_tell_heads and head is not None and written.count(b".") == 1
        member = _Member(written, label, head=name, tells_head=tells_head and lasting is not None)
        if lasting is None:
            if not self._sees_other_names and name not in self.file_names:
                member.lines = self._unknown_lines(member), None
                return member
            lasting = name not in self.locals
        member.expression = to_expression(written.decode("utf-8", "replace"), self.rules.name_marks)
        if lasting:
            member.lines = self._find_lines(member, self._scope_of(start), start)
        else:
            member.varies = self._variation(member)
        return member

    def _variation(self, member: _Member) -> int:
        """Return with what a member access varies that does not mean the same everywhere."""
        if self._sees_members or self.rules.packages_are_names:
            return _WITH_PLACE
        head = HEAD.match(member.expression)[0]  # type: ignore[index]
        if head in self._own_words:
            may_be_other = member.tells_head and (head in self.file_names or head in self.locals)
            return _WITH_PLACE if may_be_other else _WITH_CLASS
        return _WITH_VALUE if head == member.head else _WITH_PLACE

    def _lines_here(self, member: _Member, start: int) -> _Lines:
        """Return where the uses of a member access are noted that stands at a position."""
        at = self._scope_of(start)
        if member.varies == _WITH_VALUE:
            value, place = self._lookup(member.head, at, start)
            found = member.known.get(id(value))
            if found is None:
                found = (
                    self._value_lines(member, value, place) if value else self._find_lines(member, at, start)
                )
                member.known[id(value)] = found
            return found
        if member.varies != _WITH_CLASS:
            return self._find_lines(member, at, start)
        own = self._own_here(at)
        found = member.known.get(own)
        if found is None:
            found = member.known[own] = self._find_lines(member, at, start)
        return found

    def _find_lines(self, member: _Member, at: int, start: int) -> _Lines:
        """Return the same by the rules of the language."""
        expression = member.expression
        if expression[:1] == ".":
            return self._use_lines(self._own_here(at) + expression, member.label), None
        expression = self._rewritten(expression, at, start) if expression else "?"
        lines = self._member_lines(member, expression)
        if not member.tells_head:
            return lines, None
        name = member.head
        outer = name if self._followed[name.encode()] else self._outer_name(name, start)
        return lines, self._head_lines(name, outer)

    def _value_lines(self, member: _Member, value: Binding, at: int) -> _Lines:
        """Return the same for a member of a local name with a value that a scope gives it."""
        head = member.head
        if not (value.expression if value.match is None else self._held(value, at)):
            if member.of_nothing is None:
                member.of_nothing = self._unknown_lines(member), None
            return member.of_nothing
        expression = self._replaced(value, at, head, member.expression[len(head) :])
        lines = self._member_lines(member, expression)
        return lines, self._head_lines(head, outer_expression(value)) if member.tells_head else None

    def _member_lines(self, member: _Member, expression: str) -> set[int] | None:
        """Return where the uses of a member are noted that is this expression."""
        if expression[0] == "?":
            return self._unknown_lines(member)
        is_use = "." in expression or expression[0] == "\\"
        return self._use_lines(expression, member.label) if is_use else None

    def _own_here(self, at: int) -> str:
        """Return the object that the code of a scope belongs to."""
        found = self._owns.get(at)
        if found is None:
            found = self._owns[at] = self._own(at)
        return found

    def _unknown_lines(self, member: _Member) -> set[int] | None:
        """Return where the uses of a member are noted if nothing is known of what it belongs to."""
        found = LAST_NAME.search(member.written) if member.label is not _USES else None
        if found is None:
            return None
        name = found[0].decode("utf-8", "replace")
        # An import may tell which function extends a value that nothing is known of.
        return self.uses[f"<?>.{name}" if self._may_extend(name) else f"?.{name}", member.label]

    def _head_lines(self, name: str, expression: str) -> set[int] | None:
        """Return where the uses of the name that a member is reached by are noted, if it is the file's."""
        is_value = expression[:1] in ("", "<", "{", "^")
        if is_value or (expression == name and name not in self.file_names):
            return None
        return self._use_lines(expression, _USES)

    def _find_own_heads(self) -> set[bytes]:
        """Return the names that mean the object around them wherever they are bound."""
        if not self.rules.self_is_first_parameter:
            return set()
        return {
            name.encode()
            for name, known in self.locals.items()
            if name not in self.file_names
            and all(
                item.match is None and item.expression[:1] == "{"
                for found in known.values()
                for item in found
            )
        }

    def _assigned_attributes(self) -> set[bytes]:
        """Return the names of attributes that the file assigns and no class of it defines."""
        assigned = {
            self.data[node.start_byte : node.end_byte]
            for match in self.captured.bindings
            for node in match.get("bind.attribute", ())
        }
        return assigned.difference(item.name.encode() for item in self._definitions)

    def _read_special_member(self, node: tree_sitter.Node | Word) -> None:
        """Note the use of a member in a language with paths, or with calls that do not look like calls."""
        start, end, line = node.start_byte, node.end_byte, node.end_point[0] + 1
        code, label = self.data[start:end], self._label(start, end)
        rules, text = self.rules, code.decode("utf-8", "replace")
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
            unknown = self._unknown_lines(_Member(code, label))
            if unknown is not None:
                unknown.add(line)
        elif "." in expression or expression[0] == ":" or self._is_from_module(text):
            self._note(expression, label, line)

    def _read_paths(self) -> None:
        """Note the uses of what stands behind the names of namespaces and types: all of `a::b<T>::c`."""
        data = self.data
        for node in self.captured.paths:
            start, end = node.start_byte, node.end_byte
            is_part = _PATH_BEFORE.search(data, max(start - 3, 0), start)
            if is_part or start in self._defined:
                continue
            at, first = self._scope_of(start), node.start_point[0] + 1
            for stop in _path_stops(data, start, end):
                name = LAST_NAME.search(data, start, stop)
                if name is None or name.start() in self._defined:
                    continue
                written = self._expression(data[start:stop].decode("utf-8", "replace"), at)
                expression = self._rewritten(written, at, start) if written else "?"
                if expression[0] != "?":
                    line = first + data.count(b"\n", start, stop)
                    self._note(expression, self._label(start, stop), line)

    def _read_type_members(self) -> None:
        """Note the uses of types that stand behind the name of what holds them: `orders.Basket`."""
        for node in self.captured.type_members:
            start, end = node.start_byte, node.end_byte
            at = self._scope_of(start)
            expression = self._expression(self._text(node), at)
            expression = self._rewritten(expression, at, start) if expression else "?"
            if expression[0] != "?":
                label = Label.EXTENDS if (start, end) in self._extending else Label.USES
                self._note(f"<{expression}>", label, node.end_point[0] + 1)

    def _read_bound_member(self, match: Match) -> None:
        """Note the use of a member in a pattern that takes an object apart: `const { total } = basket`."""
        start = match_start(match)
        if expression := self._bound_expression(match, self._scope_of(start), start):
            self._note(expression, Label.USES, match["bind.member"][0].end_point[0] + 1)


def _ends_with_path(text: str, separator: str) -> bool:
    """Return whether the last name of a member access follows the separator of paths, not a dot."""
    return _LAST_PART.sub("", text).rstrip().endswith(separator)


def _path_stops(data: bytes, start: int, end: int) -> list[int]:
    """Return where the names of a path end: all but the first of `a::b<T>::c`, without their arguments."""
    stops, depth = [], 0
    for match in _PATH_MARK.finditer(data, start, end):
        if match[0] in b"<>":
            depth += 1 if match[0] == b"<" else -1
        elif not depth:
            stops.append(match.end())
    return stops if data[start : start + 2] == b"::" else stops[1:]
