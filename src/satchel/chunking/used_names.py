"""Read the uses of bare names: those of the file, of its imports, and of the classes around them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from satchel.chunking.graph_captures import Word
from satchel.chunking.use_labels import UseLabels
from satchel.types import Label

if TYPE_CHECKING:
    import tree_sitter


_CALLS, _USES = Label.CALLS, Label.USES  # naming a member of an Enum takes 80 ns, a constant 6
_TYPE_FOLLOWED = re.compile(rb"<|\??(?:\[\])?\s+(?!(?:is|as|in|and|or|when|switch|with)\b)[A-Za-z_@]")
_TYPE_PRECEDED = re.compile(rb"(?:\b(?:new|is|as|typeof\()|<)\s*$")
_NOT_A_NAME = re.compile(r"[\d<{^?]")
_TAG_START = re.compile(rb".<|</", re.DOTALL)


class NameReader(UseLabels):
    """Reads the uses of bare names."""

    def _read_names(
        self,
        nodes: Iterable[tree_sitter.Node | Word],
        wanted: set[bytes],
        *,
        is_type: bool = False,
    ) -> None:
        """Note the uses of bare names, most of all those that are `wanted`: names of the file, and what is
        defined or imported inside of its functions. With `is_type`, they stand where only types do."""
        # Long, because a name has to pass one list of tests in this order, and their values stand before it.
        data, bound, local = self.data, self.bound, self.locals
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
        # Most names are no names of the file and not called, so that is told here.
        extending, call_marks, has_other_calls = (
            self._extending_starts,
            self._call_marks,
            self._has_other_calls,
        )
        marked = any(name.endswith("!") for name in self.rules.ignored)
        outer_name = self._lexical_name if lexical else self._outer_name
        for node in nodes:
            start, end = node.start_byte, node.end_byte
            written = data[start:end]
            if written not in wanted and (not every or written in ignored):
                # A name of the language, or one that the file gets in a way that no rule knows.
                if has_other_calls or start in extending:
                    label = self._label(start, end)
                    if label is _USES:
                        continue
                elif data[end : end + 1] in call_marks:
                    label = _CALLS
                else:
                    continue
                name = written.decode("utf-8", "replace")
                if start not in bound and name not in local and name not in own_words:
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
                self._read_implied(expression, node)
                continue
            if is_type:
                expression = f"<{expression}>"
            if start in spaces:
                expression = f"{expression}@{spaces[start]}"
            self._note(expression, self._label(start, end), node.end_point[0] + 1)

    def _read_implied(self, name: str, node: tree_sitter.Node | Word) -> None:
        """Note the use of a name that is no local one, as the modules and the object around it know it."""
        start, end, line = node.start_byte, node.end_byte, node.end_point[0] + 1
        at = self._scope_of(start)
        if name in self.rules.super_names:
            if method := self._super_method(at):
                self._note(method, Label.CALLS, line)
            return
        label = self._label(start, end)
        if self.rules.names_are_scoped:
            self._note(f":{self._scope_path(at)}:{name}", label, line)
            return
        is_constant = self.rules.constants_are_lexical and name[0].isupper()
        if is_constant and label is Label.EXTENDS:
            self._note(f":{self._around_base(name, at)}:{name}", label, line)
            return
        expression = self._implied(name, at)
        if expression and not expression.endswith("()"):
            self._note(expression, Label.CALLS if label is Label.USES and not is_constant else label, line)

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

    def _around_base(self, base: str, at: int) -> str:
        """Return the class from which the base of a class is seen. A base with the name of the class itself
        is another one, outside of it."""
        name = self._class_name(at)
        return self._class_name(self.scopes[at].parent) if name.rpartition(".")[2] == base else name
