"""Extract the facts of a file: its imports, the types of its names, and its uses of names as expressions.

The query of a language captures names and bindings; this module finds the scope of each name. A local
variable is replaced by the expression that it holds, so that no expression depends on where it stands; names
that are local and hold nothing known are no uses of anything outside of their function.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING

from satchel.chunking.binding_facts import NOTHING
from satchel.chunking.type_expressions import to_type
from satchel.chunking.used_members import MemberReader
from satchel.code_facts import ELEMENTS, FileFacts, TypedName, UseColumns
from satchel.types import ChunkKind

if TYPE_CHECKING:
    import tree_sitter

_by_use = itemgetter(0)


class FactExtractor(MemberReader):
    """Extracts the facts of one file."""

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
                [
                    (expression, label, lines if len(lines) == 1 else sorted(lines))
                    for (expression, label), lines in sorted(self.uses.items(), key=_by_use)
                    if lines
                ]
            ),
        )

    def _package(self) -> str:
        """Return the packages that the file declares, with spaces between several."""
        found = {self._text(node): None for node in self.captured.packages}
        for definition in self._definitions if self.rules.packages_are_names else ():
            if definition.kind is ChunkKind.MODULE and not definition.defines:
                found[".".join(definition.title_path)] = None
        return " ".join(found)

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
        if self.rules.names_are_scoped:
            return self._type_of_scopes(found, max(self.scopes[at].parent, 0), node.start_byte)
        found = self._local_type(found, at, node.start_byte)
        if found and self.rules.constants_are_lexical:
            return _absolute(self._text(node)) or f":{self._around_base(found, at)}:{found}"
        return found

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
            elif self.rules.call_name_field and self.data[node.start_byte : node.end_byte] not in NOTHING:
                written[name].add("")
        for name, values in declared.items():
            self.returns.update(dict.fromkeys((name, value) for value in sorted(values) if value))
        for name, found_in in written.items():
            if name not in declared and len(found_in) == 1 and (only := next(iter(found_in))):
                self.returns[name, only] = None

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

    def _read_uses(self) -> None:
        self._extending = {(node.start_byte, node.end_byte) for node in self.captured.bases}
        for _, node in self.captured.objects:
            # `new Base() { … }` makes an object; without that word, it only extends.
            if node is not None and self.data[node.start_byte - 4 : node.start_byte] != b"new ":
                self._extending.add((node.start_byte, node.end_byte))
        self._extending_starts = {start for start, _ in self._extending}
        # Names that are only local are no uses; a function or an import inside a function is one.
        wanted = self.file_names.copy()
        telling = set()
        for name, known in self.locals.items():
            for bindings in known.values():
                for item in bindings:
                    if item.match is not None:
                        telling.add(name)
                    elif item.expression:
                        telling.add(name)
                        if item.declared:
                            wanted.add(name)
        for scope in self.scopes[1:] if self._sees_members else ():
            wanted.update(scope.members, scope.types)
        names = {name.encode() for name in wanted}
        self._read_names(chain(self.captured.uses, self._words()), names)
        if self.captured.type_uses:
            self._read_names(self.captured.type_uses, names, is_type=True)
        self._read_members(telling)
        self._read_type_members()
        self._read_paths()
        for match in self.captured.bindings:
            if "bind.member" in match:
                self._read_bound_member(match)


def _absolute(text: str) -> str:
    """Return the expression of a path from the outermost module, `::A::B`, empty for another one."""
    return "::" + text[2:].replace("::", ".") if text.startswith("::") else ""
