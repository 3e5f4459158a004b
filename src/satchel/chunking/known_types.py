"""Write a type as the whole file knows it, wherever it is named, and the object that code belongs to."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from satchel.chunking.local_names import LocalNames
from satchel.chunking.scopes import FUNCTION_KINDS
from satchel.chunking.type_expressions import to_type
from satchel.code_facts import ALL_NAMES

if TYPE_CHECKING:
    pass


_SELF_TYPES = frozenset({"Self", "typing.Self", "this", "self", "static"})


class KnownTypes(LocalNames):
    """Knows what the types mean that code of a file names."""

    @cached_property
    def _sees_other_names(self) -> bool:
        """Return whether the file may use names that it neither defines nor imports by name."""
        if self.rules.implicit_names:
            return True
        return self.rules.stars_bind and any(item.imported == ALL_NAMES for item in self.imports)

    def _value_of_type(self, found: str, at: int, position: int) -> str:
        """Return the value of a declared type. `Self` is the class around it."""
        if found in _SELF_TYPES:
            name = self._class_name(at)
            return f"{{{name}}}" if name else ""
        here = self._type_here(found, at, position)
        return f"<{here}>" if here else ""

    def _local_type(self, found: str, at: int, position: int) -> str:
        """Return a type with its first name replaced by what that is where it stands: a type inside a
        function or an inner module; empty if nothing is known of it."""
        inner = found.strip("[]")
        head = inner.partition(".")[0]
        if self._reads_paths and head in (self.rules.own_module, self.rules.parent_module):
            parts = self._from_file(inner.split("."), at)
            return found.replace(inner, ".".join(parts).removeprefix(f"{self.rules.own_module}."))
        local, _ = self._lookup(head, at, position) if head else (None, 0)
        if local is None:
            return found
        known = local.declared and local.match is None and local.expression[:1] not in ("", "<", "{", "^")
        return found.replace(head, local.expression, 1) if known else ""

    def _type_here(self, found: str, at: int, position: int) -> str:
        """Return a type as the file knows it, empty if it cannot be one that this repository defines."""
        if self.rules.class_scope_is_visible:
            return self._scoped_type(found, at)
        if self.rules.names_are_scoped:
            return self._type_of_scopes(found, at, position)
        name = found.strip("[]")
        head = name.partition(".")[0]
        bound = self._generic_bound(head, at)
        if bound is not None:  # a type parameter is what bounds it
            found = found.replace(head, bound, 1) if bound else ""
            head = bound.strip("[]").partition(".")[0]
        if not head:
            return ""
        local = self._local_type(found, at, position)
        if local != found:
            return local
        if head in self.file_names or (self._sees_other_names and head not in self.rules.ignored):
            return found
        return ""

    def _type_of_scopes(self, found: str, at: int, position: int) -> str:
        """Return a type as the classes and namespaces around it know it, empty for one of the language, for
        a parameter of a template and for nothing."""
        head = found.strip("[]").partition(".")[0]
        if not head or head in self.rules.ignored or self._generic_bound(head, at) is not None:
            return ""
        local, _ = self._lookup(head, at, position)
        is_type = local is not None and local.is_definition
        meant = local.expression if local is not None and is_type else f":{self._scope_path(at)}:{head}"
        return found.replace(head, meant, 1)

    def _scoped_type(self, found: str, at: int) -> str:
        """Return a type as the whole file knows it, nothing for one that this repository cannot define."""
        brackets = len(found) - len(found.lstrip("["))
        head, dot, rest = found[brackets:].partition(".")
        head = head.rstrip("]")
        if not head or head in self.rules.ignored:
            return ""
        meant = self._inner_type(head, at) if self.rules.class_scope_is_visible else None
        if meant is None and head not in self.file_names:
            if not self._sees_other_names:
                return ""
            if owners := self._owners(at):
                meant = f"{owners}:{head}"
        if meant is None:
            return found
        tail = f".{rest}" if dot else "]" * brackets
        return f"{'[' * brackets}{meant}{tail}" if meant else ""

    def _inner_type(self, name: str, at: int) -> str | None:
        """Return the type of a name in the scopes around, that of its bound for a type parameter."""
        while at > 0:
            scope = self.scopes[at]
            if name in scope.generics:
                bound = scope.generics[name]
                return self._scoped_type(bound, scope.parent) if bound not in scope.generics else ""
            if name in scope.types:
                return scope.types[name]
            at = scope.parent
        return None

    def _owners(self, at: int) -> str:
        """Return the classes around a scope that may have names from elsewhere, innermost first: `{T}{U}`."""
        if at <= 0 or not self.rules.class_scope_is_visible:
            return ""
        known = self._seen_from.get(at)
        if known is None:
            scope = self.scopes[at]
            self._seen_from[at] = ""  # the type of an object is named outside of it
            own = ""
            if scope.object_type is not None:
                own = self._object_type(at)
            elif scope.is_class and (
                self.rules.extensions_are_members
                or self.rules.types_have_parts
                or self._class_name(at) in self._with_bases
            ):
                own = f"{{{self._class_name(at)}}}"
            elif scope.definition is not None and scope.definition.scope:
                own = self._own(at)
            known = self._seen_from[at] = own + self._owners(scope.parent)
        return known

    def _object_type(self, at: int) -> str:
        """Return the object of a scope that is the body of one, as a value of the type that it extends."""
        scope = self.scopes[at]
        if scope.object_type is None:
            return ""
        found = self._scoped_type(to_type(self._text(scope.object_type), self.rules), max(scope.parent, 0))
        return f"<{found}>" if found else ""

    def _own(self, at: int, name: str = "") -> str:
        """Return the object that code belongs to: of the innermost class, or of the one with that name."""
        while at > 0:
            scope = self.scopes[at]
            if scope.is_object and not name:
                return self._object_type(at)
            if self.rules.extensions_are_members and scope.definition is not None and scope.definition.scope:
                if not name:
                    found = self._scoped_type(scope.definition.scope, max(scope.parent, 0))
                    return f"<{found}>" if found else ""
            elif scope.is_class or (scope.definition is not None and scope.definition.scope):
                qualified = self._class_name(at)
                if not name or qualified.rpartition(".")[2] == name:
                    return f"{{{qualified}}}" if qualified else ""
            elif self.rules.functions_have_own_self and self._has_own_self(scope):
                return ""
            at = scope.parent
        return ""

    def _named_own(self, expression: str, at: int) -> str:
        """Return an expression that starts with `Outer.this` or `Base.super` with that object as its head."""
        if not any(f".{word}" in expression for word in self._own_words):
            return expression
        parts = expression.split(".")
        for place, part in enumerate(parts[1:], start=1):
            rest = "".join(f".{item}" for item in parts[place + 1 :])
            if part in self.rules.self_names:
                return f"{self._own(at, parts[place - 1]) or '?'}{rest}"
            if part in self.rules.super_names:
                if own := self._own(at, parts[place - 1]):
                    return f"^{own}{rest}"
                found = self._scoped_type(".".join(parts[:place]), at)
                return f"<{found}>{rest}" if found else f"?{rest}"
        return expression

    def _implied(self, name: str, at: int) -> str:
        """Return the expression of a name that is not local: a constant as seen from the modules around it, a
        member of the object around it, or a name of the file; empty if it is none of them."""
        if self.rules.names_are_scoped:
            return f":{self._scope_path(at)}:{name}" if name not in self.rules.ignored else ""
        class_name = self._class_name(at)
        if self.rules.constants_are_lexical and name[0].isupper():
            return f":{class_name}:{name}"
        if class_name:
            return f"{{{class_name}}}()" if name == self.rules.constructor else f"{{{class_name}}}.{name}"
        return name if name in self.file_names else ""

    def _super_method(self, at: int) -> str:
        """Return the method of a base class that has the name of the method around a scope, empty if there is
        none."""
        class_name = self._class_name(at)
        while at > 0 and self.scopes[at].definition is None:
            at = self.scopes[at].parent
        definition = self.scopes[at].definition
        if not class_name or definition is None or definition.kind not in FUNCTION_KINDS:
            return ""
        return f"^{{{class_name}}}.{definition.title_path[-1]}"
