"""Resolve expressions to definitions by the rules of their language: scope, imports, classes, types.

Nothing is guessed: an expression either follows a rule at every step, or it has no answer. What was looked at
on the way is noted, so that an edit leads to the files whose answers may change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from satchel.code_facts import Import, Rule
from satchel.graph.interfaces import Interface
from satchel.graph.modules.module_system import Module, ModuleSystem, is_named, most_likely
from satchel.types import ChunkKind

_STEP = re.compile(r"\.(\w+[?!=]?)|(\(\))|(\[\])")
_RULE_ORDER = {rule: place for place, rule in enumerate(Rule)}
_MARKED = "<{^:?"  # what begins a head that is no name
_DEEPEST = 40  # look-ups inside each other; longer chains of imports and bases are cycles
_MOST_BASES = 60  # classes that a member is looked for in


class Definition(NamedTuple):
    """A definition by its file and qualified name."""

    path: str
    name: str


class Instance(NamedTuple):
    """A value of a type; `is_own` if its class is the one around the use."""

    type: Definition
    above: bool = False  # seen as its base classes


class Elements(NamedTuple):
    """A container, by what its elements are."""

    element: Meaning


Meaning = Definition | Instance | Elements | Module


class Answer(NamedTuple):
    """What an expression means, and the least certain rule that it took."""

    meaning: Meaning
    rule: Rule


def weaker(first: Rule, second: Rule) -> Rule:
    """Return the less certain of two rules."""
    return first if _RULE_ORDER[first] >= _RULE_ORDER[second] else second


@dataclass(slots=True)
class _Kept:
    """An answer with the files that it rests on."""

    answer: Answer | None
    consulted: frozenset[str]


class Resolver:
    """Resolves the expressions of the files of one module system.

    `interface_of` returns what a file shows, `definers_of` the files that define a qualified name: members
    may be defined in another file than their type (Rust `impl`), and with `open_types` a type itself is in
    parts (Ruby). Answers about names of a file are kept: most
    files ask for the same. An answer that a cycle cut short is not kept, because it depends on where the
    question began.
    """

    def __init__(
        self,
        modules: ModuleSystem,
        interface_of: Callable[[str], Interface | None],
        definers_of: Callable[[str], Iterable[str]] = lambda name: (),
        *,
        open_types: bool = False,
    ) -> None:
        self._modules = modules
        self._interface_of = interface_of
        self._definers_of = definers_of
        self._open_types = open_types
        self._kept: dict[tuple[str, str, str], _Kept] = {}
        self._open: set[tuple[str, str, str]] = set()
        self._cut = 0
        self._consulted: set[str] = set()

    def resolve(self, path: str, expression: str) -> Answer | None:
        """Return what an expression of a file means, None if no rule tells."""
        answer = self._expression(path, expression)
        return None if answer is not None and self._is_scattered(answer.meaning) else answer

    def _is_scattered(self, meaning: Meaning) -> bool:
        """Return whether a module is opened by several files of which none has its name: a namespace that has
        no place of its own."""
        if not self._open_types or not isinstance(meaning, Definition):
            return False
        if is_named(meaning.path, meaning.name):
            return False
        shown = self._look(meaning.path)
        if shown is None or shown.kinds.get(meaning.name) is not ChunkKind.MODULE:
            return False
        return sum(1 for _ in self._definers_of(meaning.name)) > 1

    def consulted(self) -> set[str]:
        """Return the files that the answers since the last call rest on."""
        found, self._consulted = self._consulted, set()
        return found

    def module_of(self, path: str, item: Import) -> Module | None:
        """Return the module of an import: that of the imported name if it is a module itself."""
        module = self._modules.module(path, item.module)
        if module is None:
            found = self._by_path(path, item)
            if found is None or not isinstance(found.meaning, Definition):
                return None
            return Module("", (found.meaning.path,))
        self._consulted.update(module.paths)
        if item.imported and not self._is_bound(module, item.imported):
            below = self._modules.submodule(module, item.imported)
            if below is not None and below.paths:
                return below
        return module

    def _is_bound(self, module: Module, name: str) -> bool:
        """Return whether a file of a module binds a name."""
        for path in module.paths:
            shown = self._look(path)
            if shown is None:
                continue
            if name in shown.kinds or ("", name) in shown.values:
                return True
            # A package that imports a module below itself binds that module, not another thing of its name.
            if any(self._modules.module(path, item.module) != module for item in shown.imports.get(name, ())):
                return True
        return False

    def _look(self, path: str) -> Interface | None:
        self._consulted.add(path)
        return self._interface_of(path)

    # Expressions

    def _expression(self, path: str, expression: str) -> Answer | None:
        head, rest = self._titled(path, expression) or _split_head(expression)
        titled = bool(head) and self._open_types and head[0] not in _MARKED and not head.isidentifier()
        answer = Answer(Definition(path, head), Rule.SCOPE) if titled else self._head(path, head)
        steps = _steps(rest)
        while answer is None and head.startswith(":") and steps and steps[0].isidentifier():
            # `class Minitest::Test` opens a class of a module that no file opens.
            head = f"{head}.{steps.pop(0)}"
            answer = self._head(path, head)
        for at, step in enumerate(steps):
            if answer is None:
                return None
            # A method may have the name of a field (Rust): without a call, the way leads through the field.
            through_field = at + 1 < len(steps) and steps[at + 1] != "()"
            answer = (through_field and self._field(answer, step)) or self._step(answer, step)
        return answer

    def _titled(self, path: str, expression: str) -> tuple[str, str] | None:
        """Return the head and the steps of an expression that begins with a function inside a block with a
        title, which may be any text."""
        if not self._open_types or expression[0] in _MARKED:
            return None
        shown = self._look(path)
        ends = [at for at, mark in enumerate(expression) if mark in ".(["]
        for end in reversed([*ends, len(expression)]):
            if shown is not None and expression[:end] in shown.kinds:
                return expression[:end], expression[end:]
        return None

    def _field(self, answer: Answer, name: str) -> Answer | None:
        """Return what an attribute of an object holds, if its class says so."""
        if not isinstance(answer.meaning, Instance) or answer.meaning.above:
            return None
        owner = answer.meaning.type
        shown = self._look(owner.path)
        for expression in shown.values.get((owner.name, name), ()) if shown is not None else ():
            held = self._guarded(owner.path, "value", expression)
            if held is not None:
                return Answer(held.meaning, weaker(answer.rule, Rule.ATTRIBUTE))
        return None

    def _head(self, path: str, head: str) -> Answer | None:
        if head.startswith("<"):
            found = self._type(path, head[1:-1])
            return Answer(found, Rule.ANNOTATION) if found is not None else None
        if head.startswith(("{", "^")):
            name = head.strip("^{}")
            shown = self._look(path)
            if shown is None:
                return None
            owner = self._own_class(shown, name)
            return Answer(Instance(owner, head[0] == "^"), Rule.SELF) if owner is not None else None
        if head.startswith(":"):
            return self._guarded(path, "constant", head)
        if head == "?" or not head:
            return None
        return self.name(path, head)

    def _own_class(self, shown: Interface, name: str) -> Definition | None:
        """Return the class of a qualified name in a file, or in its package (Go, Rust, Kotlin)."""
        if shown.kinds.get(name) is not None:
            return Definition(shown.path, name)
        answer = self.name(shown.path, name)
        return answer.meaning if answer is not None and isinstance(answer.meaning, Definition) else None

    def _type(self, path: str, written: str) -> Meaning | None:
        """Return a value of a type."""
        if written.startswith("["):
            inner = self._type(path, written[1:-1])
            return Elements(inner) if inner is not None else None
        answer = self._expression(path, written)
        if answer is None:
            return None
        return self._as_type(answer.meaning)

    def _as_type(self, meaning: Meaning) -> Meaning | None:
        """Return a value of the type that a definition is, through aliases of types."""
        if not isinstance(meaning, Definition):
            return None
        shown = self._look(meaning.path)
        if shown is None:
            return None
        if self._is_type(shown, meaning.name):
            return Instance(meaning)
        for expression in shown.values.get(_owner_and_name(meaning.name), ()):
            answer = self._guarded(meaning.path, "alias", expression)
            if answer is not None:
                return answer.meaning if isinstance(answer.meaning, Instance) else self._as_type(answer.meaning)
        return None

    def _is_type(self, shown: Interface, name: str) -> bool:
        return shown.is_type(name) or (self._open_types and shown.kinds.get(name) is ChunkKind.MODULE)

    def _step(self, answer: Answer, step: str) -> Answer | None:
        if step == "()":
            return self._called(answer)
        if step == "[]":
            return self._element(answer)
        return self._member(answer, step)

    def _called(self, answer: Answer) -> Answer | None:
        meaning = answer.meaning
        if isinstance(meaning, Instance):  # `cls()`, or an object that can be called
            return Answer(meaning, weaker(answer.rule, Rule.CONSTRUCTOR))
        if not isinstance(meaning, Definition):
            return None
        shown = self._look(meaning.path)
        if shown is None:
            return None
        if self._is_type(shown, meaning.name):
            return Answer(Instance(meaning), weaker(answer.rule, Rule.CONSTRUCTOR))
        return self._returned(meaning, shown, answer.rule)

    def _returned(self, meaning: Definition, shown: Interface, rule: Rule) -> Answer | None:
        expression = shown.returns.get(meaning.name)
        if expression is None:
            return None
        found = self._guarded(meaning.path, "return", expression)
        return Answer(found.meaning, weaker(rule, Rule.RETURN)) if found is not None else None

    def _element(self, answer: Answer) -> Answer | None:
        meaning = answer.meaning
        if isinstance(meaning, Elements):
            return Answer(meaning.element, weaker(answer.rule, Rule.ANNOTATION))
        held = self._held(answer) if isinstance(meaning, Definition) else None
        return self._element(held) if held is not None and isinstance(held.meaning, Elements) else None

    def _member(self, answer: Answer, name: str) -> Answer | None:
        meaning = answer.meaning
        if isinstance(meaning, Module):
            return self._module_member(meaning, name, answer.rule)
        if isinstance(meaning, Instance):
            return self._type_member(meaning.type, name, answer.rule, above=meaning.above)
        if isinstance(meaning, Elements):
            return None
        shown = self._look(meaning.path)
        if shown is None:
            return None
        inner = f"{meaning.name}.{name}"
        if self._open_types and (part := self._part(meaning.path, inner)) is not None:
            return Answer(part, answer.rule)
        if inner in shown.kinds:
            return Answer(Definition(meaning.path, inner), answer.rule)
        for item in shown.imports.get(inner, ()):  # of a module inside the file
            found = self._imported(meaning.path, item)
            if found is not None:
                return Answer(found.meaning, weaker(answer.rule, found.rule))
        if self._is_type(shown, meaning.name):
            return self._type_member(meaning, name, answer.rule)
        held = self._held(answer)
        return self._member(held, name) if held is not None and held.meaning != meaning else None

    def _held(self, answer: Answer) -> Answer | None:
        """Return what a variable, an attribute or a property holds."""
        meaning = answer.meaning
        if not isinstance(meaning, Definition):
            return None
        shown = self._look(meaning.path)
        if shown is None:
            return None
        for expression in shown.values.get(_owner_and_name(meaning.name), ()):
            found = self._guarded(meaning.path, "value", expression)
            if found is not None:
                return Answer(found.meaning, weaker(answer.rule, _rule_of_value(expression, found.rule)))
        kind = shown.kinds.get(meaning.name)
        if kind is ChunkKind.METHOD or (self._open_types and kind is ChunkKind.FUNCTION):  # a property
            return self._returned(meaning, shown, answer.rule)
        return None

    # Names

    def name(self, path: str, name: str) -> Answer | None:
        """Return what a name of a file means."""
        return self._guarded(path, "name", name)

    def _guarded(self, path: str, kind: str, written: str) -> Answer | None:
        """Return the answer to a question about a file, kept or found once."""
        key = path, kind, written
        kept = self._kept.get(key)
        if kept is not None:
            self._consulted |= kept.consulted
            return kept.answer
        if key in self._open or len(self._open) > _DEEPEST:
            self._cut += 1
            return None
        before, cut = self._consulted, self._cut
        self._consulted = set()
        self._open.add(key)
        if kind == "name":
            answer = self._find_name(path, written)
        elif kind == "constant":
            answer = self._find_constant(path, written)
        else:
            answer = self._expression(path, written)
        self._open.discard(key)
        if self._cut == cut or not self._open:
            self._kept[key] = _Kept(answer, frozenset(self._consulted))
        self._consulted |= before
        return answer

    def _find_name(self, path: str, name: str) -> Answer | None:
        shown = self._look(path)
        if shown is None:
            return None
        if name in shown.kinds:
            return Answer(Definition(path, name), Rule.SCOPE)
        for item in shown.imports.get(name, ()):
            found = self._imported(path, item)
            if found is not None:
                return found
        for expression in shown.values.get(("", name), ()):
            answer = self._expression(path, expression) if expression != name else None
            if answer is not None:
                return answer
        home = self._modules.home(path)
        if home is not None:
            found = self._module_member(home, name, Rule.SCOPE)
            if found is not None:
                # A module that every file knows by its name is as good as imported.
                rule = Rule.IMPORT if isinstance(found.meaning, Module) else Rule.PACKAGE
                return Answer(found.meaning, weaker(found.rule, rule))
        for written in shown.stars:
            answer = self._imported(path, Import("", written, name, 0))
            if answer is not None:
                return answer
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
        found = most_likely(self._definers_of(name), path, name)
        if found is None:
            return None
        self._consulted.add(found)
        return Definition(found, name)

    def _imported(self, path: str, item: Import) -> Answer | None:
        module = self._modules.module(path, item.module)
        if module is None:
            found = self._by_path(path, item)
            return Answer(found.meaning, weaker(found.rule, Rule.IMPORT)) if found is not None else None
        if not item.imported:
            return Answer(module, Rule.IMPORT)
        return self._module_member(module, item.imported, Rule.IMPORT)

    def _by_path(self, path: str, item: Import) -> Answer | None:
        """Return what an import names step by step, if its module is no file: a module inside of one, a
        type, a module under another name."""
        if "::" not in item.module and not item.imported:
            return None
        written = item.module.replace("::", ".").removeprefix("self.")
        return self._guarded(path, "path", f"{written}.{item.imported}" if item.imported else written)

    def _module_member(self, module: Module, name: str, rule: Rule) -> Answer | None:
        """Return a name of a module: of one of its files, or a module below it."""
        found = self._package_member(module, name)
        if found is not None:
            return Answer(found.meaning, weaker(rule, found.rule))
        below = self._modules.submodule(module, name)
        return Answer(below, weaker(rule, Rule.IMPORT)) if below is not None else None

    def _package_member(self, module: Module, name: str) -> Answer | None:
        for path in module.paths:
            shown = self._look(path)
            if shown is not None and name in shown.kinds:
                return Answer(Definition(path, name), Rule.SCOPE)
        for path in module.paths:
            found = self.name(path, name)
            if found is not None:
                return found
        return None

    # Classes

    def _type_member(self, owner: Definition, name: str, rule: Rule, *, above: bool = False) -> Answer | None:
        """Return a member of a class, or of the first of its bases that has it."""
        for at, found in enumerate(self._with_bases(owner)):
            if above and not at:
                continue
            shown = self._look(found.path)
            if shown is None:
                continue
            inner = f"{found.name}.{name}"
            if inner in shown.kinds:
                return Answer(Definition(found.path, inner), rule)
            for path in sorted(self._definers_of(inner)):
                if path != found.path and self._is_member_of(path, found):
                    return Answer(Definition(path, inner), rule)
            for part, expression in self._part_facts(found, _values_of(found.name, name)):
                held = self._guarded(part, "value", expression)
                if held is not None:
                    return Answer(held.meaning, weaker(rule, Rule.ATTRIBUTE))
        return None

    def _part_facts(
        self, owner: Definition, of: Callable[[Interface], tuple[str, ...]]
    ) -> Iterator[tuple[str, str]]:
        """Yield what the parts of a type say, each with the file that says so; its own file first."""
        others = self._definers_of(owner.name) if self._open_types else ()
        for path in (owner.path, *sorted(path for path in others if path != owner.path)):
            shown = self._look(path)
            for expression in of(shown) if shown is not None else ():
                yield path, expression

    def _is_member_of(self, path: str, owner: Definition) -> bool:
        """Return whether what a file defines below the name of a class belongs to that class of another
        file."""
        shown = self._look(path)
        if self._open_types:
            return shown is not None and self._is_type(shown, owner.name)
        return shown is not None and self._own_class(shown, owner.name) == owner

    def _with_bases(self, owner: Definition) -> Iterator[Definition]:
        """Yield a class and its bases, each once, nearest first."""
        seen: set[Definition] = set()
        waiting = [owner]
        while waiting and len(seen) < _MOST_BASES:
            found = waiting.pop(0)
            if found in seen:
                continue
            seen.add(found)
            yield found
            for path, base in self._part_facts(found, _bases_of(found.name)):
                answer = self._guarded(path, "base", base)
                if answer is not None and isinstance(answer.meaning, Definition):
                    waiting.append(answer.meaning)


def _values_of(owner: str, name: str) -> Callable[[Interface], tuple[str, ...]]:
    return lambda shown: shown.values.get((owner, name), ())


def _bases_of(name: str) -> Callable[[Interface], tuple[str, ...]]:
    return lambda shown: shown.bases.get(name, ())


def _rule_of_value(expression: str, rule: Rule) -> Rule:
    return weaker(rule, Rule.CONSTRUCTOR) if expression.endswith("()") else rule


def _owner_and_name(qualified: str) -> tuple[str, str]:
    owner, _, name = qualified.rpartition(".")
    return owner, name


def _split_head(expression: str) -> tuple[str, str]:
    """Return the head of an expression and its steps."""
    first = expression[:1]
    if first == ":":
        second = expression.index(":", 1)
        marks = (at for at in range(second, len(expression)) if expression[at] in ".([")
        end = next(marks, len(expression))
    elif first == "<":
        end = expression.index(">") + 1
    elif first in ("{", "^"):
        end = expression.index("}") + 1
    else:
        end = next((at for at, mark in enumerate(expression) if mark in ".(["), len(expression))
    return expression[:end], expression[end:]


def _steps(rest: str) -> list[str]:
    return [match[1] or match[0] for match in _STEP.finditer(rest)]
