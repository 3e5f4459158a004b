"""Read the imports of a file: the names that they bind, and where."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from satchel.chunking.expressions import last_part
from satchel.chunking.import_trees import read_import_tree
from satchel.chunking.rewriting import Rewriter
from satchel.chunking.scopes import Binding
from satchel.code_facts import ALL_NAMES, DEFAULT_NAME, Import
from satchel.languages.language import ImportBinds
from satchel.types import Label

if TYPE_CHECKING:
    import tree_sitter


_ANY_WORD = re.compile(rb"\w+")
# The start of a path that no import binds (`crate::x`, the name of another crate), and the name of a macro.
_KNOWN_EVERYWHERE = re.compile(rb"(?<![\w.:$])([a-z_]\w*)(?:\s*::|(!)[ ({\[])")
_LONGEST = 200  # characters of an expression


class ImportReader(Rewriter):
    """Reads the imports of a file."""

    def _read_imports(self) -> None:
        # Long, because the ways in which languages write an import are told apart side by side.
        rules = self.rules
        if self._reads_paths:
            for found in set(_KNOWN_EVERYWHERE.findall(self.data)):
                if b"".join(found).decode() not in rules.ignored:
                    self.file_names.add(found[0].decode())
        for node in self.captured.opaque:
            self._hide_names(node)
        for match in self.captured.imports:
            if "import.tree" in match:
                self._read_import_tree(match["import.tree"][0])
                continue
            module_nodes = match.get("import.file") or match.get("import.module")
            if module_nodes is None:
                self._read_child_module(match["import.name"][0])
                continue
            module = self.data[module_nodes[0].start_byte : module_nodes[-1].end_byte].decode(
                "utf-8", "replace"
            )
            module = module.strip().strip("\"'`<>").strip()
            if not module:
                continue
            if "import.relative" in match and not module.startswith("."):
                module = f"./{module}"
            line = module_nodes[0].start_point[0] + 1
            alias = self._text(match["import.alias"][0]) if "import.alias" in match else ""
            for node in match.get("import.alias", ()):
                self.bound.add(node.start_byte)
            if "import.file" in match:
                self._add_import(Import("", module, "", line), module_nodes[0])
            elif "import.default" in match:
                node = match["import.default"][0]
                bound = Import(self._text(node), module, DEFAULT_NAME, node.start_point[0] + 1)
                self._add_import(bound, node)
            elif alias == "_" and rules.import_binds is ImportBinds.PACKAGE:  # imported for its effects
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

    def _read_import_tree(self, node: tree_sitter.Node) -> None:
        """Add the imports of a statement that names several things as a tree."""
        text, separator = self._text(node), self.language.import_separator
        self._hide_names(node)
        at = self._scope_of(node.start_byte)
        own = self.rules.own_module
        for item in read_import_tree(text, separator, own):
            line = node.start_point[0] + 1 + text.count("\n", 0, item.offset)
            parts = self._from_file(item.module.split(separator), at)
            around = self._module_parts(at)[: len(parts) - 1]
            if item.name == ALL_NAMES and parts == [own, *around]:
                continue  # names of a module around the code, which it sees anyway
            module = separator.join(parts)
            if item.name:
                name = "" if item.name == ALL_NAMES or item.alias == "_" else item.alias or item.name
                self._add_import(Import(name, module, item.name, line), node)
            else:
                self._add_import(Import(item.alias or last_part(module), module, "", line), node)

    def _hide_names(self, node: tree_sitter.Node) -> None:
        """Take no name inside a node for a use."""
        words = _ANY_WORD.finditer(self.data, node.start_byte, node.end_byte)
        self.bound.update(match.start() for match in words)

    def _read_child_module(self, node: tree_sitter.Node) -> None:
        """Add the import of a module that a file declares to be below it."""
        parts = self._from_file([self.rules.own_module], self._scope_of(node.start_byte))
        name = self._text(node)
        item = Import(name, self.language.import_separator.join(parts), name, node.start_point[0] + 1)
        self._add_import(item, node)

    def _add_import(self, item: Import, node: tree_sitter.Node) -> None:
        """Add an import. One inside a function or an inner module binds its name there."""
        at = self._scope_of(node.start_byte)
        while at > 0 and self.scopes[at].is_class:
            at = self.scopes[at].parent
        if at > 0 and item.name:
            # Other files do not see the name, so it gets one that no code can write.
            module = self.scopes[at].module
            alias = f"{module}.{item.name}" if module else f"{item.name}@{item.line}"
            self._bind(item.name, at, Binding(0, alias, declared=True, is_definition=True))
            item = Import(alias, item.module, item.imported, item.line)
        elif item.name:
            self.file_names.add(item.name)
        self.bound.add(node.start_byte)
        self.imports.append(item)
        if item.name:
            self._note(item.name, Label.IMPORTS, item.line)

    def _note(self, expression: str, label: Label, line: int) -> None:
        if len(expression) <= _LONGEST:
            self.uses[expression, label].add(line)

    def _use_lines(self, expression: str, label: Label) -> set[int] | None:
        """Return where the lines of a use are noted, None for one that is too long."""
        return self.uses[expression, label] if len(expression) <= _LONGEST else None

    @cached_property
    def _imported_names(self) -> frozenset[str]:
        return frozenset(item.name for item in self.imports)

    @cached_property
    def _imports_all(self) -> bool:
        return any(item.imported == ALL_NAMES for item in self.imports)
