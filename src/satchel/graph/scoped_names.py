"""Find names by the classes and namespaces around their uses, wherever these are defined, as C++ does.

A namespace is no definition: any file may open it. So the name of one means nothing yet, and the path
behind it is looked for as a whole, `a.b.name` for `b::name` inside of `a`. What a file defines counts first,
then what it includes, then what would be linked.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial

from satchel.caching import Cache
from satchel.code_facts import Rule
from satchel.graph.answers import Answer, import_key, linkage_key
from satchel.graph.class_members import ClassMembers
from satchel.graph.interfaces import Definition, Interface
from satchel.graph.modules.module_system import Module, Sighting
from satchel.graph.questions import IncludesOf
from satchel.types import ChunkKind

_MOST_NAMES = 6  # namespaces of one path
_FILES_KEPT = 20_000  # with what their includes may lead to


class ScopedNames(ClassMembers):
    """Knows the names of classes and namespaces that are defined in parts, in several files."""

    def _find_scoped(self, path: str, head: str) -> Answer | None:
        """Return what the name of `:SCOPE:NAME` means, as code in that class or namespace sees it."""
        around, _, name = head[1:].partition(":")
        scopes = list(_outwards(around))
        for scope in scopes:
            found = self._name_in(path, scope, name)
            if found is not None:
                return found
        found = self._used_namespace_member(path, scopes, name) or self._macro(path, name)
        # Else it may be the name of a namespace.
        return found or Answer(Module(f"{around}:{name}", importer=path), Rule.IMPORT)

    def _name_in(self, path: str, scope: str, name: str) -> Answer | None:
        """Return what a class or namespace itself has under a name."""
        owner = self._seen(path, scope) if scope else None
        if owner is not None and isinstance(owner.meaning, Definition):
            if scope.rpartition(".")[2] == name:
                return None  # the class itself, which the scope around it has
            found = self._type_member(owner.meaning, name, Rule.SELF)
            return found if found is not None and not _is_constructor(found) else None
        qualified = f"{scope}.{name}" if scope else name
        found = self._seen(path, qualified)
        shown = self._look(path, qualified)
        if found is not None and not (
            found.rule is Rule.SCOPE and shown is not None and _is_test(shown, qualified)
        ):
            return found
        for expression in shown.values.get((scope, name), ()) if shown is not None else ():
            held = self._guarded(path, "value", expression)
            if held is not None:
                return held
        return None

    def _used_namespace_member(self, path: str, scopes: list[str], name: str) -> Answer | None:
        """Return a name of the namespaces that a file takes all names from."""
        shown = self._look(path, "")
        for written in shown.stars if shown is not None else ():
            namespace = written.replace("::", ".").strip(".")
            for scope in scopes:
                found = self._seen(path, f"{scope}.{namespace}.{name}".lstrip("."))
                if found is not None:
                    return found
        return None

    def _module_member(self, module: Module, name: str, rule: Rule) -> Answer | None:
        if not self._modules.has_scopes or module.paths:
            return super()._module_member(module, name, rule)
        return self._namespace_member(module, name)

    def _namespace_member(self, module: Module, name: str) -> Answer | None:
        """Return what stands behind the name of a namespace, or the namespace below it."""
        around, _, inner = module.name.partition(":")
        scopes = list(_outwards(around))
        for scope in scopes:
            found = self._name_in(module.importer, f"{scope}.{inner}".lstrip("."), name)
            if found is not None:
                return found
        found = self._used_namespace_member(module.importer, scopes, f"{inner}.{name}")
        if found is not None or inner.count(".") >= _MOST_NAMES:
            return found
        return Answer(Module(f"{module.name}.{name}", importer=module.importer), Rule.IMPORT)

    def _seen(self, path: str, qualified: str) -> Answer | None:
        """Return the definition of a qualified name that a file means."""
        self._consulted.add(linkage_key(qualified.rpartition(".")[2]))
        sighting = self._modules.seen(path, qualified)
        return self._sighted(path, sighting, qualified) if sighting is not None else None

    def _macro(self, path: str, name: str) -> Answer | None:
        """Return the macro of a name: they belong to no namespace."""
        found = self._modules.seen_macro(path, name)
        return self._sighted(path, *found) if found is not None else None

    def _sighted(self, path: str, sighting: Sighting, qualified: str) -> Answer:
        if sighting.is_chosen:
            self._consulted.add(IncludesOf(path))
        self._consulted.add(sighting.path)
        found = Definition(sighting.path, qualified)
        if sighting.path == path:
            return Answer(found, Rule.SCOPE)
        return Answer(found, Rule.IMPORT if sighting.is_included else Rule.LINKAGE)

    def _keys_of_includes(self, path: str) -> Iterator[str]:
        for each in self._modules.included(path):
            yield each
            yield from self._include_keys.get_or_compute(each, partial(self._keys_of_file, each))

    def _keys_of_file(self, path: str) -> frozenset[str]:
        """Return what leads to the files that a file names in its own includes."""
        shown = self._interfaces.get(path) or self._interface_of(path)
        written = shown.unnamed if shown is not None else ()
        return frozenset(import_key(name.rpartition("/")[2].partition(".")[0]) for name in written)

    @cached_property
    def _include_keys(self) -> Cache[str, frozenset[str]]:
        return Cache(_FILES_KEPT)

    def _own_class(self, shown: Interface, name: str) -> Definition | None:
        if not self._modules.has_scopes or name in shown.kinds:
            return super()._own_class(shown, name)
        found = self._seen(shown.path, name)
        return found.meaning if found is not None and isinstance(found.meaning, Definition) else None

    def _is_member_of(self, path: str, owner: Definition) -> bool:
        if not self._modules.has_scopes:
            return super()._is_member_of(path, owner)
        shown = self._look(path, owner.name)
        return shown is not None and not shown.is_type(owner.name)


def _outwards(scope: str) -> Iterator[str]:
    """Yield a scope and those around it, from the inside, up to the one without a name."""
    while scope:
        yield scope
        scope = scope.rpartition(".")[0]
    yield ""


def _is_test(shown: Interface, qualified: str) -> bool:
    """Return whether a definition is a method although no class holds it: a test, `TEST(Basket, Total)`."""
    return shown.kinds.get(qualified) is ChunkKind.METHOD


def _is_constructor(answer: Answer) -> bool:
    parts = answer.meaning.name.split(".")[-2:] if isinstance(answer.meaning, Definition) else ()
    return len(parts) == 2 and parts[0] == parts[1]
