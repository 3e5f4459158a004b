"""Tell how a name is used: as a base, as what is called, or otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from satchel.chunking.binding_facts import BindingReader
from satchel.chunking.expressions import last_part, member_ranges
from satchel.chunking.graph_captures import Word
from satchel.languages.language import ImportBinds
from satchel.types import Label

if TYPE_CHECKING:
    pass


_CALLS, _USES = Label.CALLS, Label.USES  # naming a member of an Enum takes as long as the rest of `_label`
_GENERIC_CALL = re.compile(rb"<[^<>(){};]*(?:<[^<>(){};]*>[^<>(){};]*)*>\(")
LAST_NAME = re.compile(rb"[\w$#]+[?!]?$")
# A name that is called or looks like a constant, or what holds no names: comments, strings, members, the
# operators of macros. Types in the body of a macro are used where the macro is.
_WORD = re.compile(
    rb"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|(?:->|\.)\s*\w+|##?\s*\w+|\w+\s*##|\d\w*"
    rb"|([A-Za-z_]\w*(?=\s*\()|[A-Z_][A-Z0-9_]+\b)|\w+",
    re.DOTALL,
)
_WIDE_GENERIC_CALL = re.compile(rb"<[\w.,:;\s\[\]{}|&\"'<>$]{1,120}>\(")  # with types that are written out
_TYPED_CALL = re.compile(rb"\[[\w.*,\s\[\]]{1,80}\][({]")


class UseLabels(BindingReader):
    """Tells the labels of uses from what stands around them."""

    def _label(self, start: int, end: int) -> Label:
        """Return how a name is used: as a base, as what is called, or otherwise."""
        if start in self._extending_starts and (start, end) in self._extending:
            return Label.EXTENDS
        if self.data[end : end + 1] in self._call_marks:
            return _CALLS
        return self._other_label(start, end) if self._has_other_calls else _USES

    @cached_property
    def _has_other_calls(self) -> bool:
        """Return whether a name that no mark follows may be called, or be a base."""
        rules = self.rules
        if rules.space_before_call or rules.type_arguments_in_brackets or rules.block_is_argument:
            return True
        return rules.packages_are_names or rules.generic_marks == "<" or bool(self._path_mark)

    def _other_label(self, start: int, end: int) -> Label:
        """Return how a name is used whose use is told by more than a mark behind it."""
        data, rules = self.data, self.rules
        if data[start - 4 : start] == b"new ":
            return Label.CALLS
        following = data[end : end + 2]
        if following[:1] not in self._further_marks:
            return Label.USES
        if following[:1] == b"<":
            if any(first == start and end < last for first, last in self._extending):
                return Label.EXTENDS
            if rules.packages_are_names and _GENERIC_CALL.match(data, end):
                return Label.CALLS
            if rules.generic_marks == "<" and _WIDE_GENERIC_CALL.match(data, end):
                return Label.CALLS
        if rules.block_is_argument and following in (b" {", b"{ "):
            name = LAST_NAME.search(data, start, end)
            return Label.CALLS if name is not None and name[0][:1].islower() else Label.USES
        if rules.space_before_call and following == b" (":
            return Label.CALLS
        if rules.type_arguments_in_brackets and following[:1] == b"[" and _TYPED_CALL.match(data, end):
            return Label.CALLS
        if self._path_mark and following == self._path_mark and data[end + 2 : end + 3] == b"<":
            return Label.CALLS  # `find::<Entry>(…)`
        return Label.USES

    @cached_property
    def _further_marks(self) -> frozenset[bytes]:
        """Return the characters behind a name that may say that it is called, or a base, without being a
        mark of calls."""
        rules = self.rules
        marks = [b"<", self._path_mark[:1]]
        marks += [b" ", b"{"] * rules.block_is_argument
        marks += [b" "] * rules.space_before_call
        marks += [b"["] * rules.type_arguments_in_brackets
        return frozenset(mark for mark in marks if mark)

    def _package_names(self) -> set[bytes]:
        """Return the names of packages of which a use is always followed by that of a member."""
        if self.rules.import_binds is not ImportBinds.PACKAGE:
            return set()
        return {(item.name or last_part(item.module)).encode() for item in self.imports}

    def _may_extend(self, name: str) -> bool:
        """Return whether a name may be an imported function that extends the class around its use."""
        return self.rules.extensions_are_members and name[:1].islower() and name in self._imported_names

    def _words(self) -> Iterable[Word]:
        """Yield the names in text that the grammar does not read."""
        for node in self.captured.code:
            start, row = node.start_byte, node.start_point[0]
            text = self.data[start : node.end_byte]
            for word in _WORD.finditer(text):
                if word[1] and word[1].decode() not in self.rules.ignored:
                    line = row + text.count(b"\n", 0, word.start(1))
                    yield Word(start + word.start(1), start + word.end(1), (line, 0))

    def _token_members(self) -> Iterable[Word]:
        """Yield the members in code that the grammar leaves as tokens."""
        for node in self.captured.tokens:
            start, row = node.start_byte, node.start_point[0]
            text = self.data[start : node.end_byte]
            for first, last in member_ranges(text):
                yield Word(start + first, start + last, (row + text.count(b"\n", 0, last), 0))
