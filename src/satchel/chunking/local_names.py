"""Look up a name as code at a position sees it: in the functions, blocks and classes around it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from satchel.chunking.scopes import Binding, ScopeTree
from satchel.chunking.type_expressions import to_type

if TYPE_CHECKING:
    from satchel.chunking.graph_captures import Match


class _Place(NamedTuple):
    """Where a binding is seen: from its start to the end of its scope."""

    start: int
    end: int
    at: int
    binding: Binding


_PLACE_START: Callable[[_Place], int] = itemgetter(0)


class LocalNames(ScopeTree):
    """Finds the bindings of names in the scopes of a file."""

    def _read_generics(self) -> None:
        """Note the type parameters of each scope with the types that bound them."""
        for match in self.captured.generics:
            written = match.get("generic.bound")
            bound = to_type(self._text(written[0]), self.rules) if written else ""
            for node in match["generic"]:
                self.bound.add(node.start_byte)
                place = match["generic.scope"][0] if "generic.scope" in match else node
                scope = self.scopes[self._scope_of(place.start_byte)]
                if bound or self._text(node) not in scope.generics:
                    scope.generics[self._text(node)] = bound

    def _generic_bound(self, name: str, at: int) -> str | None:
        """Return the bound of a type parameter as seen from a scope, None if the name is none."""
        while at >= 0:
            found = self.scopes[at].generics.get(name)
            if found is not None:
                return found
            at = self.scopes[at].parent
        return None

    def _lookup(self, name: str, at: int, position: int) -> tuple[Binding | None, int]:
        """Return the binding of a local name as seen from a position, and the scope that has it; None for a
        name of the file or of nowhere."""
        if self._is_lexical:
            return self._lookup_by_place(name, position)
        if self._sees_members:
            return self._lookup_in_classes(name, at, position)
        known = self.locals.get(name)
        if known is None:
            return None, 0
        first, scopes = at, self.scopes
        while at > 0:
            scope = scopes[at]
            if scope.outer and name in scope.outer:
                return None, 0
            if at in known and (not scope.is_class or at == first):
                return _best(known[at], position if at == first else None), at
            at = scope.parent
        return None, 0

    def _lookup_in_classes(
        self, name: str, at: int, position: int, *, called: bool = False, is_type: bool = False
    ) -> tuple[Binding | None, int]:
        """Return the same where code sees the members of the classes around it by name. With `is_type`, a
        field of a class hides no type of its name."""
        first = at
        called = called and self.rules.calls_name_functions
        known = self.locals.get(name, {})
        while at > 0:
            scope = self.scopes[at]
            if name in scope.types and (not called or name not in scope.members):
                meant = scope.types[name]
                return Binding(0, meant, declared=True, is_definition=bool(meant)), at
            if scope.is_class:
                if name in scope.members and (called or name not in scope.fields):
                    return Binding(0, scope.members[name], declared=True, is_definition=True), at
                if name in scope.fields and not called and not (is_type and name[:1].isupper()):
                    return Binding(0, scope.fields[name], declared=True), at
            if at in known and (not scope.is_class or at == first):
                bindings = known[at]
                if called:
                    bindings = [item for item in bindings if item.is_definition]
                if bindings:
                    return _best(bindings, position if at == first else None), at
            at = scope.parent
        return None, 0

    def _lookup_by_place(self, name: str, position: int) -> tuple[Binding | None, int]:
        """Return the same where names start at their declaration."""
        seen = self._seen(name, position)
        if self.rules.rebinds:
            seen = seen[:1]
        known = (item for item in seen if item.at == seen[0].at and self._held(item.binding, item.at))
        best = next(known, seen[0]) if seen else None
        return (None, 0) if best is None else (best.binding, best.at)

    @cached_property
    def _places(self) -> dict[str, list[_Place]]:
        """Return where the bindings of each local name are seen, by their start."""
        found: dict[str, list[_Place]] = {}
        for name, known in self.locals.items():
            places = []
            for at in sorted(known):
                scope = self.scopes[at]
                if not scope.is_class:
                    places += [
                        _Place(max(item.start, scope.start), scope.end, at, item) for item in known[at]
                    ]
            if places:
                # A receiver is a parameter too; what it is for the class counts.
                places.sort(key=lambda item: (item.start, item.binding.expression[:1] == "{"))
                found[name] = places
        return found

    def _seen(self, name: str, position: int) -> list[_Place]:
        """Return the bindings of a local name that are seen at a position, the innermost first."""
        places = self._places.get(name)
        if places is None:
            return []
        above = places[: bisect_right(places, position, key=_PLACE_START)]
        return [item for item in reversed(above) if item.end > position]

    def _held(self, binding: Binding, at: int) -> str:
        """Return what a local name holds, read when it is first asked for."""
        if binding.match is not None:
            match, binding.match = binding.match, None
            binding.expression = self._bound_expression(match, at, match_start(match))
        return binding.expression

    def _bound_expression(self, match: Match, at: int, position: int) -> str:
        """Return what the names of a binding hold, as the layer above reads it."""
        raise NotImplementedError

    def _outer_name(self, name: str, position: int) -> str:
        """Return a name as the file knows it, nothing if it is a local variable there."""
        found, _ = self._lookup(name, self._scope_of(position), position)
        return name if found is None else outer_expression(found)

    def _lexical_name(self, name: str, position: int) -> str:
        """Return the same as `_outer_name` where names start at their declaration."""
        places = self._places.get(name, ())
        at = bisect_right(places, position, key=_PLACE_START) - 1
        while at >= 0 and places[at].end <= position:
            at -= 1
        if at < 0:
            return name
        binding = places[at].binding
        is_variable = binding.match is not None or not binding.declared or binding.expression[:1] in "{<"
        return "" if is_variable else binding.expression


def outer_expression(binding: Binding) -> str:
    """Return what a local name is to the whole file, nothing if it is a variable."""
    is_variable = binding.match is not None or not binding.declared or binding.expression[:1] in ("", "{")
    return binding.expression if binding.is_definition or not is_variable else ""


def _best(bindings: list[Binding], position: int | None) -> Binding:
    """Return which of the bindings of a name counts: one that is declared, else the last before a position,
    of any if that is None."""
    if len(bindings) == 1:
        return bindings[0]
    declared = [item for item in bindings if item.declared]
    if declared:
        return declared[-1]
    before = [item for item in bindings if position is None or item.start <= position]
    return (before or bindings)[-1]


def match_start(match: Match) -> int:
    for capture in ("bind", "bind.attribute", "bind.whole"):
        if capture in match:
            return match[capture][0].start_byte
    return 0
