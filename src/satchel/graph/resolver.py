"""Resolve expressions to definitions by the rules of their language: scope, imports, classes, types.

Nothing is guessed: an expression either follows a rule at every step, or it has no answer. What was looked at
on the way is noted, so that an edit leads to the files whose answers may change.
"""

from __future__ import annotations

from collections.abc import Iterable

from satchel.code_facts import ALL_NAMES, Import, Rule
from satchel.graph.answers import (
    Answer,
    Instance,
    Meaning,
    owner_end,
    parts_of_expression,
    rules_of,
    steps_of,
    without_last_step,
)
from satchel.graph.interfaces import Definition, Interface
from satchel.graph.modules.module_system import Module, is_named
from satchel.graph.values import ValueRules
from satchel.types import ChunkKind

_MARKED = "<{^:?"  # what begins a head that is no name


class Resolver(ValueRules):
    """Resolves the expressions of the files of one module system."""

    def resolve(self, path: str, expression: str) -> Answer | None:
        """Return what an expression of a file means, None if no rule tells."""
        is_type = expression[0] == "<" and expression[-1] == ">"
        answer = self._asked(path, expression[1:-1] if is_type else expression)
        if answer is None or not isinstance(answer.meaning, Definition):
            return answer
        target = answer.meaning
        shown = self._look(target.path, target.name)
        if shown is None or target.name in shown.containers:
            return None
        if self._has_open_types and self._is_scattered(target, shown):
            return None
        if not is_type and target.name in shown.types_and_values:
            return Answer(Definition(target.path, target.name, True), answer.rule)
        return answer

    def _asked(self, path: str, expression: str) -> Answer | None:
        """Return what an expression means. The expressions of a file begin alike, so what they begin with is
        found once for each file."""
        if not self._is_plain:
            return self._expression(path, expression)
        if path != self._asking:
            self._asking, self._begun = path, {}
        if expression in self._begun:
            return self._begun[expression]
        before, step = without_last_step(expression)
        if not step:
            answer = self._head(path, expression)
        else:
            answer = self._asked(path, before)
            answer = self._step(answer, step) if answer is not None else None
        self._begun[expression] = answer
        return answer

    def _is_scattered(self, target: Definition, shown: Interface) -> bool:
        """Return whether a module is opened by several files of which none has its name: a namespace that has
        no place of its own."""
        if shown.kinds.get(target.name) is not ChunkKind.MODULE or is_named(target.path, target.name):
            return False
        return len(self._definers(target.name)) > 1

    def module_of(self, path: str, item: Import, used: Iterable[str] = ()) -> Module | None:
        """Return the module of an import: that of the imported name if it is a module itself. Of a package
        whose files are not known, these are among the files that are used."""
        module = self._module(path, item.module)
        if self._finds_by_name and (module is None or not module.paths):
            return self._file_of(path, item, used)
        if module is None:
            found = self._by_path(path, item)
            if found is None or not isinstance(found.meaning, Definition):
                return None
            return Module("", (found.meaning.path,))
        if item.imported and not self._is_bound(module, item.imported):
            below = self._submodule(module, item.imported)
            if below is not None and below.paths:
                return below
        return module

    def _file_of(self, path: str, item: Import, used: Iterable[str]) -> Module | None:
        """Return the file that defines what an import brings from a package; for all of it, those in use."""
        takes_all = item.imported == ALL_NAMES
        answer = self._written_module(path, item.module) if takes_all else self._imported(path, item)
        found = answer.meaning if answer is not None else None
        if not isinstance(found, Definition) and item.imported and not takes_all:
            found = next(iter(self._imported_extensions(path, item)), None)
        if isinstance(found, Definition):
            return Module(found.name, (found.path,))
        if takes_all and isinstance(found, Module):
            return Module(
                found.name, tuple(each for each in sorted(used) if self._modules.holds(found, each))
            )
        return None

    def _expression(self, path: str, expression: str) -> Answer | None:
        if self._finds_by_name:
            return self._extended_expression(path, expression)
        if self._has_open_types:
            answer, steps = self._open_head(path, expression)
        else:
            head, steps = parts_of_expression(expression)
            answer = self._head(path, head)
        if self._fields_apart:
            return self._followed_by_fields(answer, steps)
        for step in steps:
            if answer is None:
                return None
            answer = self._step(answer, step)
        return answer

    def _followed_by_fields(self, answer: Answer | None, steps: tuple[str, ...]) -> Answer | None:
        """Return where steps lead if a method may have the name of a field: without a call, the way leads
        through the field."""
        for at, step in enumerate(steps):
            if answer is None:
                return None
            is_called = steps[at + 1 : at + 2] in ((), ("()",))
            field = self._field(answer, step) if not is_called else None
            answer = field or self._step(answer, step)
        return answer

    def _extended_expression(self, path: str, expression: str) -> Answer | None:
        """Return what an expression means where functions may extend types."""
        head, steps = parts_of_expression(expression)
        shown = self._look(path, expression) if steps else None
        if shown is not None and expression in shown.kinds:
            return Answer(Definition(path, expression), Rule.SCOPE)  # a function inside another
        answer = self._head(path, head)
        written = head
        for step in steps:
            before, answer = answer, self._step(answer, step) if answer is not None else None
            if answer is None and step[0] not in "([":
                answer = self._extended(path, before, written, step)
            written += step if step[0] in "([" else f".{step}"
        return answer

    def _open_head(self, path: str, expression: str) -> tuple[Answer | None, tuple[str, ...]]:
        """Return what an expression begins with, and the steps behind it, where types are open."""
        if expression[0] not in _MARKED:
            # A function inside a block with a title, which may be any text.
            ends = [at for at, mark in enumerate(expression) if mark in ".(["]
            for end in reversed([*ends, len(expression)]):
                title = expression[:end]
                shown = self._look(path, title) if not title.isidentifier() else None
                if shown is not None and title in shown.kinds:
                    return Answer(Definition(path, title), Rule.SCOPE), steps_of(expression, end)
        head, steps = parts_of_expression(expression)
        answer = self._head(path, head)
        while answer is None and head[:1] == ":" and steps and steps[0].isidentifier():
            # `class Minitest::Test` opens a class of a module that no file opens.
            head, steps = f"{head}.{steps[0]}", steps[1:]
            answer = self._head(path, head)
        return answer, steps

    def _head(self, path: str, head: str) -> Answer | None:
        if head[:1] not in _MARKED:  # most heads
            return self.name(path, head)
        if head[:1] in ("<", "{") and head[-1] not in ">}":
            return self._seen_name(path, head)
        if head.startswith("<"):
            found = self._type(path, head[1:-1])
            return Answer(found, Rule.ANNOTATION) if found is not None else None
        if head.startswith(("{", "^")):
            name = head.strip("^{}")
            shown = self._look(path, name)
            if shown is None:
                return None
            owner = self._own_class(shown, name)
            return Answer(Instance(owner, head[0] == "^"), Rule.SELF) if owner is not None else None
        if head.startswith(":"):
            return self._guarded(path, "constant", head)
        if head == "?" or not head:
            return None
        return self.name(path, head)

    def _seen_name(self, path: str, head: str) -> Answer | None:
        """Return what a name means inside of classes: a member of the innermost that has it, or a name of the
        file."""
        owners, _, name = head.rpartition(":")
        while owners:
            end = owner_end(owners, 0)
            around, owners = self._head(path, owners[:end]), owners[end:]
            if around is not None and isinstance(around.meaning, Instance):
                owner = around.meaning.type
                found = self._type_member(owner, name, Rule.SELF)
                if found is None and (shown := self._look(path, "")) is not None:
                    can_extend = rules_of(shown).extensions_are_members
                    found = self._extension(path, owner, name) if can_extend else None
                if found is not None and not isinstance(found.meaning, Definition) and name[:1].isupper():
                    # A property of C# may have the name of a type, which then has the same members.
                    found = self._type_named(path, name) or found
                if found is not None and not _is_constructor(found.meaning):
                    return found
        return self.name(path, name)

    def _find(self, path: str, kind: str, written: str) -> Answer | None:
        if kind == "name":
            return self._find_name(path, written)
        if kind == "star":
            return self._from_stars(path, written)
        if kind == "module":
            return self._written_module(path, written)
        if kind == "constant":
            find = self._find_scoped if self._modules.has_scopes else self._find_constant
            return find(path, written)
        if kind in ("member", "member above"):
            return self._find_spread_member(path, written, above=kind == "member above")
        return self._expression(path, written)


def _is_constructor(meaning: Meaning) -> bool:
    """Return whether a definition has the name of the class that it is a member of."""
    parts = meaning.name.split(".")[-2:] if isinstance(meaning, Definition) else ()
    return len(parts) == 2 and parts[0] == parts[1]
