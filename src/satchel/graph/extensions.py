"""Find functions that extend types from outside, as those of Kotlin and C# do."""

from __future__ import annotations

import re
from collections import defaultdict

from satchel.code_facts import Import, Rule
from satchel.graph.answers import Answer, Instance, linkage_key, rules_of, weaker
from satchel.graph.interfaces import Definition, Interface
from satchel.graph.modules.module_system import Module
from satchel.graph.scoped_names import ScopedNames

_NAMED_RECEIVER = re.compile(r"^<(?:.*:)?(\w+)>$|^(?:.*:)?(\w+)\(\)$")


class Extensions(ScopedNames):
    """Knows the functions that extend types."""

    def _extended(self, path: str, before: Answer | None, receiver: str, name: str) -> Answer | None:
        """Return a function that extends a value by a name."""
        if before is not None and isinstance(before.meaning, Instance):
            return self._extension(path, before.meaning.type, name)
        shown = self._look(path, name)
        if before is not None or shown is None or not rules_of(shown).extensions_are_members:
            return None
        return self._extension_of_unknown(shown, receiver, name)

    def _extension_of_unknown(self, shown: Interface, receiver: str, name: str) -> Answer | None:
        """Return the function that extends a type of another repository, if the type is known by name, or if
        an import brings a single function of that name."""
        if match := _NAMED_RECEIVER.search(receiver):
            extended = f"{match[1] or match[2]}.{name}"
            answer = self._visible_extension(shown.path, extended)
            if answer is not None:
                return answer
        found = [
            each
            for item in shown.imports.get(name, ())
            for each in self._imported_extensions(shown.path, item)
        ]
        if match:
            found = [each for each in found if f".{each.name}".endswith(f".{extended}")]
        return Answer(found[0], Rule.IMPORT) if len({each.name for each in found}) == 1 else None

    def _imported_extensions(self, path: str, item: Import) -> list[Definition]:
        """Return the functions that an import brings and that extend types."""
        around = self._written_module(path, item.module)
        if around is not None and isinstance(around.meaning, Module):
            self._consulted.add(linkage_key(item.imported))
            module = around.meaning
            rows = [Definition(*each) for each in self._modules.namesakes(module, item.imported)]
            return [each for each in rows if self._is_extension(each)]
        if around is None or not isinstance(around.meaning, Definition):
            return []
        # The companion of a class may hold functions that extend other types.
        prefix, tail = f"{around.meaning.name}.", f".{item.imported}"
        own = self._look(around.meaning.path, around.meaning.name)
        parts = self._parts_of(around.meaning, own) if own is not None else []
        files = [own, *(self._look(part.path, part.name) for part in parts)]
        return [
            Definition(shown.path, name)
            for shown in files
            if shown is not None
            for name in shown.kinds
            if name.startswith(prefix) and name.endswith(tail) and len(name) > len(prefix) + len(tail)
        ]

    def _is_extension(self, found: Definition) -> bool:
        """Return whether a definition `T.name` stands outside of T."""
        shown = self._look(found.path, found.name)
        return (
            found.name.count(".") == 1
            and shown is not None
            and not shown.is_type(found.name.partition(".")[0])
        )

    def _visible_extension(self, path: str, extended: str) -> Answer | None:
        """Return the function of a qualified name that a file sees, if it is no member of a class."""
        answer = self.name(path, extended)
        if answer is None or not isinstance(answer.meaning, Definition):
            return None
        shown = self._look(answer.meaning.path, extended)
        if shown is None or shown.is_type(extended.rpartition(".")[0]):
            return None
        return Answer(answer.meaning, weaker(answer.rule, Rule.ANNOTATION))

    def _extension(self, path: str, owner: Definition, name: str) -> Answer | None:
        """Return the function that extends a type, or a base of it, by a name that a file sees."""
        shown = self._look(path, name)
        if shown is None or not rules_of(shown).has_extensions:
            return None
        if not rules_of(shown).extensions_are_members:
            return self._extending_function(shown, owner, name)
        for found in self._with_bases(owner):
            extended = f"{found.name.rpartition('.')[2]}.{name}"
            answer = self._visible_extension(path, extended)
            for item in shown.imports.get(name, ()) if answer is None else ():
                imported = self._imported_extensions(path, item)
                tail = f"{found.name.rpartition('.')[2]}.{item.imported}"
                fitting = [each for each in imported if f".{each.name}".endswith(f".{tail}")]
                answer = Answer(fitting[0], Rule.IMPORT) if fitting else None
            if answer is not None:
                return Answer(answer.meaning, weaker(answer.rule, Rule.ANNOTATION))
        return None

    def _extending_function(self, shown: Interface, owner: Definition, name: str) -> Answer | None:
        """Return the function that a visible package declares to extend a type, or the nearest base of it."""
        written = (*shown.stars, *self._modules.shared_imports(shown.path))
        imported = (self._modules.module(shown.path, each) for each in written)
        visible = [
            *self._homes(shown),
            *(each for each in imported if each is not None),
        ]
        extending: dict[str, set[Definition]] = defaultdict(set)
        self._consulted.add(linkage_key(name))
        for module in visible:
            for path, qualified in self._modules.namesakes(module, name):
                other = self._look(path, "")
                for (extended, called), held in other.values.items() if other is not None else ():
                    if called == name and extended[:1] == "+" and qualified in held:
                        extending[extended[1:]].add(Definition(path, qualified))
        for found in self._with_bases(owner) if extending else ():
            if fitting := extending.get(found.name.rpartition(".")[2]):
                # Which of several classes holds the fitting function depends on the arguments.
                is_one = len({each.name for each in fitting}) == 1
                return Answer(min(fitting), Rule.ANNOTATION) if is_one else None
        return None
