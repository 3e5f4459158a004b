"""Find what a name of a file means: its definitions, its imports, its package, the program."""

from __future__ import annotations

from collections.abc import Sequence

from satchel.code_facts import Import, Rule
from satchel.graph.answers import Answer, all_names_key, folder_key, linkage_key, weaker
from satchel.graph.interfaces import ORDINARY, Definition, Interface
from satchel.graph.module_names import ModuleNames
from satchel.graph.modules.module_system import Module, most_likely
from satchel.types import ChunkKind


def _may_mean_more(shown: Interface, name: str) -> bool:
    return ("", name) in shown.values or name in shown.containers or name[:1] == "\\"


class FileNames(ModuleNames):
    """Knows the names of files."""

    def name(self, path: str, name: str) -> Answer | None:
        """Return what a name of a file means."""
        if self._modules.has_linkage:  # names mean no other names: no answer is asked for twice
            return self._find_name(path, name)
        shown = self._look(path, name)
        if shown is not None and self._is_plain and "@" not in name and name not in shown.imports:
            # Most names are those of definitions, or of nothing that the repository knows.
            if name in shown.kinds:
                return Answer(Definition(path, name), Rule.SCOPE)
            if self._sees_only_imports and not shown.stars and not _may_mean_more(shown, name):
                return None
        return self._guarded(path, "name", name)

    def _find_name(self, path: str, name: str) -> Answer | None:
        shown = self._look(path, name)
        if shown is None:
            return None
        if name.startswith("\\"):
            return self._outermost(path, name[1:])
        plain, _, space = name.partition("@")
        # A variable may be how the file names what it imports: `const Basket = require("./basket")`.
        # An import inside a function has a name of its own: `basket@12`.
        is_variable = name != plain or shown.kinds.get(plain) is ChunkKind.CONST
        for item in shown.imports.get(name, ()) if is_variable or not shown.defines(plain, space) else ():
            found = self._imported(path, item)
            if found is not None:
                return found
        if shown.defines(plain, space):
            return Answer(Definition(path, plain), Rule.SCOPE)
        if self._finds_by_name and name in shown.imports:
            return None  # it is from another repository
        for expression in shown.values.get(("", name), ()):
            answer = self._expression(path, expression) if expression != name else None
            if answer is not None:
                return answer
        found = self._from_elsewhere(shown, name)
        if found is None and plain in shown.containers and not self._finds_by_name:
            return Answer(Definition(path, plain), Rule.SCOPE)
        return found

    def _from_elsewhere(self, shown: Interface, name: str) -> Answer | None:
        """Return what a name means that a file neither defines nor imports by name."""
        path, plain = shown.path, name.partition("@")[0]
        if self._finds_by_name and not self._modules.is_defined(plain):
            self._consulted.add(linkage_key(plain.rpartition(".")[2]))
            return self._outermost(path, name)
        found = self._from_homes(shown, name) or self._from_stars(path, name)
        if found is not None:
            return found
        if self._finds_by_name:
            return self._outermost(path, name)
        if self._modules.modules_name_themselves:
            found = self._named_by_itself(shown, name)
        if found is None and self._modules.has_linkage:
            found = self._linked(path, name)
        return found

    def _from_homes(self, shown: Interface, name: str) -> Answer | None:
        """Return a name of the packages that a file sees without importing them."""
        for home in self._homes(shown):
            if home.paths or home.rests_on:
                self._consulted.add(folder_key(shown.path))
                self._consulted.update(map(all_names_key, home.rests_on))
            found = self._package_member(home, name)
            if found is None and self._modules.homes_hold_modules:
                found = self._module_below(home, name)
            if found is not None:
                # A module that every file knows by its name is as good as imported.
                rule = Rule.IMPORT if isinstance(found.meaning, Module) else Rule.PACKAGE
                return Answer(found.meaning, weaker(found.rule, rule))
        return None

    def _from_stars(self, path: str, name: str) -> Answer | None:
        """Return a name of the modules that a file imports all names of."""
        shown = self._look(path, "")
        if shown is None:
            return None
        by_name = self._finds_by_name
        for written in (*shown.stars, *self._modules.shared_imports(path)):
            around = self._guarded(path, "module", written)
            if around is not None:
                answer = self._member(around, name)
            else:
                answer = self._by_path(path, Import("", written, name, 0))
            if answer is not None and not (by_name and isinstance(answer.meaning, Module)):
                return Answer(answer.meaning, weaker(answer.rule, Rule.IMPORT))
        return None

    def _linked(self, path: str, name: str) -> Answer | None:
        """Return the definition that a linker would find for a name of a file."""
        plain, _, space = name.partition("@")
        found = self._modules.linked(path, plain, space or ORDINARY)
        self._consulted.add(linkage_key(plain))
        if not found:
            return None
        self._consulted.add(found)
        return Answer(Definition(found, plain), Rule.LINKAGE)

    def _named_by_itself(self, shown: Interface, name: str) -> Answer | None:
        """Return the imported module that gives itself a name. Most bear that of their folder."""
        for written in sorted(shown.unnamed, key=lambda written: name not in written):
            find = self._module if name in written else self._modules.module
            module = find(shown.path, written)
            if module is not None and self._modules.own_name(module) == name:
                return Answer(module, Rule.IMPORT)
        return None

    def _find_constant(self, path: str, head: str) -> Answer | None:
        """Return the constant of `:MODULE:NAME`: in that module, in those around it, in the bases of it."""
        around, _, name = head[1:].partition(":")
        modules = around.split(".") if around else []
        for count in range(len(modules), -1, -1):
            found = self._part(path, ".".join([*modules[:count], name]))
            if found is not None:
                return Answer(found, Rule.SCOPE if found.path == path else Rule.PACKAGE)
        owner = self._part(path, around) if around else None
        return self._type_member(owner, name, Rule.PACKAGE) if owner is not None else None

    def _part(self, path: str, name: str) -> Definition | None:
        """Return the definition of a qualified name that all files know, as seen from a file."""
        found = most_likely(self._definers(name), path, name)
        if found is None:
            return None
        self._consulted.add(found)
        return Definition(found, name)

    def _definers(self, name: str) -> Sequence[str]:
        """Return the files that define a qualified name, and note that it was looked for."""
        self._consulted.add(linkage_key(name.rpartition(".")[2]))
        return self._modules.definers(name)
