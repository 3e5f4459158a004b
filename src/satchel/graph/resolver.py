"""Resolve expressions to definitions by the rules of their language: scope, imports, classes, types.

Nothing is guessed: an expression either follows a rule at every step, or it has no answer. What was looked at
on the way is noted, so that an edit leads to the files whose answers may change.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from satchel import languages
from satchel.code_facts import ALL_NAMES, DEFAULT_NAME, ELEMENTS, WHOLE_MODULE, Import, Rule
from satchel.graph.interfaces import ORDINARY, Definition, Interface, Member
from satchel.graph.modules.module_system import Module, ModuleSystem, is_named, most_likely
from satchel.languages.language import GraphRules, OuterPackages
from satchel.types import ChunkKind

_NAME = re.compile(r"[^\W\d]\w*")
_HEAD = re.compile(r"<[^>]*>|:[^:]*:[^.(\[]*|\^?\{[^}]*\}|[^.(\[]*")
_PLAIN_HEAD = re.compile(r"[^.(\[]*")
_STEP = re.compile(r"\.([^.()\[\]]+)|(\(\d*\))|(\[\])")
_MARKED = "<{^:?"  # what begins a head that is no name
_NAMED_RECEIVER = re.compile(r"^<(?:.*:)?(\w+)>$|^(?:.*:)?(\w+)\(\)$")
_RULE_ORDER = {rule: place for place, rule in enumerate(Rule)}
_DEEPEST = 40  # look-ups inside each other; longer chains of imports and bases are cycles
_MOST_PATHS_NOTED = 16  # files of a package; in a larger one the names that were looked for are noted
_MOST_NAMES = 8  # variables that hold each other, one behind the other
_MOST_BASES = 60  # classes that a member is looked for in


class Instance(NamedTuple):
    """A value of a type."""

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


def folder_key(path: str) -> str:
    """Return what a file notes that looked for names in the folder of another."""
    return path.rpartition("/")[0] + "/"


def import_key(name: str) -> str:
    """Return what a file notes that imports something whose path ends with a name."""
    return f":{name}"


def linkage_key(name: str) -> str:
    """Return what a file notes that looked for a name in the whole repository."""
    return f"={name}"


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

    `interface_of` returns what a file shows, `interfaces` has those that were loaded. Answers about names of
    a file are kept: most files ask for the same. An answer that a cycle cut short is not kept, because it
    depends on where the question began.
    """

    def __init__(
        self,
        modules: ModuleSystem,
        interface_of: Callable[[str], Interface | None],
        interfaces: Mapping[str, Interface] | None = None,
    ) -> None:
        self._modules = modules
        self._finds_by_name = modules.finds_by_name
        self._has_open_types = modules.has_open_types
        self._fields_apart = modules.fields_apart
        self._interface_of = interface_of
        self._interfaces = interfaces if interfaces is not None else {}
        self._kept: dict[tuple[str, str, str], _Kept] = {}
        self._members: dict[Definition, _Members] = {}
        self._open: set[tuple[str, str, str]] = set()
        self._cut = 0
        self._consulted: set[str] = set()
        self._is_plain = not (modules.has_open_types or modules.finds_by_name or modules.fields_apart)
        self._asking = ""  # the file whose expressions are asked for
        self._heads: dict[str, Answer | None] = {}
        self._packages: dict[str, dict[str, str]] = {}  # qualified names of packages → their file

    def resolve(self, path: str, expression: str) -> Answer | None:
        """Return what an expression of a file means, None if no rule tells."""
        is_type = expression[0] == "<" and expression[-1] == ">"
        answer = self._asked(path, expression[1:-1] if is_type else expression)
        if answer is None or not isinstance(answer.meaning, Definition):
            return answer
        target = answer.meaning
        shown = self._look(target.path)
        if shown is None or target.name in shown.containers:
            return None
        if self._has_open_types and self._is_scattered(target, shown):
            return None
        if not is_type and target.name in shown.types_and_values:
            return Answer(target._replace(is_value=True), answer.rule)
        return answer

    def _asked(self, path: str, expression: str) -> Answer | None:
        """Return what an expression means. The expressions of a file begin alike, so what they begin with is
        found once for each file."""
        if not self._is_plain:
            return self._expression(path, expression)
        if path != self._asking:
            self._asking, self._heads = path, {}
        head, steps = _parts(expression)
        if head in self._heads:
            answer = self._heads[head]
        else:
            answer = self._heads[head] = self._head(path, head)
        for step in steps:
            if answer is None:
                return None
            answer = self._step(answer, step)
        return answer

    def _is_scattered(self, target: Definition, shown: Interface) -> bool:
        """Return whether a module is opened by several files of which none has its name: a namespace that has
        no place of its own."""
        if shown.kinds.get(target.name) is not ChunkKind.MODULE or is_named(target.path, target.name):
            return False
        return len(self._definers(target.name)) > 1

    def consulted(self) -> set[str]:
        """Return the files that the answers since the last call rest on."""
        found, self._consulted = self._consulted, set()
        return found

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

    def _module(self, path: str, written: str) -> Module | None:
        """Return the module of an import as written, and note that it was looked for."""
        self._consulted.update(import_key(name) for name in _NAME.findall(written)[-2:])
        # `./line-items.js` may lead to a new file `line-items.ts`, and `..` to a new `index.ts`.
        self._consulted.add(import_key(written.rpartition("/")[2].partition(".")[0] or "index"))
        module = self._modules.module(path, written)
        if module is not None:
            self._consulted.update(map(folder_key, module.paths))
        return module

    def _submodule(self, module: Module, name: str) -> Module | None:
        self._consulted.add(import_key(name))
        return self._modules.submodule(module, name)

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
        return self._interfaces.get(path) or self._interface_of(path)

    # Expressions

    def _expression(self, path: str, expression: str) -> Answer | None:
        if self._finds_by_name:
            return self._extended_expression(path, expression)
        if self._has_open_types:
            answer, steps = self._open_head(path, expression)
        else:
            head, steps = _parts(expression)
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
        head, steps = _parts(expression)
        shown = self._look(path) if steps else None
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
            shown = self._look(path)
            ends = [at for at, mark in enumerate(expression) if mark in ".(["]
            for end in reversed([*ends, len(expression)]):
                title = expression[:end]
                if shown is not None and title in shown.kinds and not title.isidentifier():
                    return Answer(Definition(path, title), Rule.SCOPE), _steps(expression, end)
        head, steps = _parts(expression)
        answer = self._head(path, head)
        while answer is None and head[:1] == ":" and steps and steps[0].isidentifier():
            # `class Minitest::Test` opens a class of a module that no file opens.
            head, steps = f"{head}.{steps[0]}", steps[1:]
            answer = self._head(path, head)
        return answer, steps

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

    def _extended(self, path: str, before: Answer | None, receiver: str, name: str) -> Answer | None:
        """Return a function that extends a value by a name."""
        if before is not None and isinstance(before.meaning, Instance):
            return self._extension(path, before.meaning.type, name)
        shown = self._look(path)
        if before is not None or shown is None or not _rules_of(shown).extensions_are_members:
            return None
        return self._extension_of_unknown(shown, receiver, name)

    def _head(self, path: str, head: str) -> Answer | None:
        if head[:1] in ("<", "{") and head[-1] not in ">}":
            return self._seen_name(path, head)
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

    def _seen_name(self, path: str, head: str) -> Answer | None:
        """Return what a name means inside of classes: a member of the innermost that has it, or a name of the
        file."""
        owners, _, name = head.rpartition(":")
        while owners:
            end = _owner_end(owners, 0)
            around, owners = self._head(path, owners[:end]), owners[end:]
            if around is not None and isinstance(around.meaning, Instance):
                owner = around.meaning.type
                found = self._type_member(owner, name, Rule.SELF)
                if found is None and (shown := self._look(path)) is not None:
                    can_extend = _rules_of(shown).extensions_are_members
                    found = self._extension(path, owner, name) if can_extend else None
                if found is not None and not isinstance(found.meaning, Definition) and name[:1].isupper():
                    # A property of C# may have the name of a type, which then has the same members.
                    found = self._type_named(path, name) or found
                if found is not None and not _is_constructor(found.meaning):
                    return found
        return self.name(path, name)

    def _type_named(self, path: str, name: str) -> Answer | None:
        """Return what a name of a file means if that is a type."""
        answer = self.name(path, name)
        found = answer.meaning if answer is not None else None
        shown = self._look(found.path) if isinstance(found, Definition) else None
        return (
            answer
            if shown is not None and isinstance(found, Definition) and shown.is_type(found.name)
            else None
        )

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

    def _as_type(self, meaning: Meaning, names: int = 0) -> Meaning | None:
        """Return a value of the type that a definition is, through aliases of types. `names` counts them as
        in `_called`."""
        if not isinstance(meaning, Definition):
            return None
        shown = self._look(meaning.path)
        if shown is None:
            return None
        if self._is_type(shown, meaning.name):
            return Instance(meaning)
        for expression in shown.values.get(_owner_and_name(meaning.name), ()):
            answer = self._guarded(meaning.path, "alias", expression)
            if answer is not None and isinstance(answer.meaning, Instance):
                return answer.meaning
            if answer is not None:
                return self._as_type(answer.meaning, names + 1) if names < _MOST_NAMES else None
        return None

    def _is_type(self, shown: Interface, name: str) -> bool:
        """Return whether a qualified name is that of a type; modules are types where types are open."""
        if shown.is_type(name):
            return True
        return self._has_open_types and shown.kinds.get(name) is ChunkKind.MODULE

    def _step(self, answer: Answer, step: str) -> Answer | None:
        if step.startswith("("):
            return self._called(answer, step[1:-1])
        if step == "[]":
            return self._element(answer)
        return self._member(answer, step)

    def _called(self, answer: Answer, number: str, names: int = 0) -> Answer | None:
        """Return the result of a call, of several the one of a number. `names` counts the variables that the
        called one was reached by: they may hold each other."""
        meaning = answer.meaning
        if isinstance(meaning, Instance):  # `cls()`, or an object that can be called
            shown = self._look(meaning.type.path)
            method = ""
            if shown is not None and self._finds_by_name and answer.rule is not Rule.SELF:
                method = _rules_of(shown).call_method
            run = self._type_member(meaning.type, method, answer.rule) if method else None
            if run is not None and isinstance(run.meaning, Definition):
                return self._called(run, number)
            if shown is not None and meaning.type.name in shown.returns:
                return self._returned(meaning.type, shown, answer.rule, number)
            return Answer(meaning, weaker(answer.rule, Rule.CONSTRUCTOR))
        if not isinstance(meaning, Definition):
            return None
        shown = self._look(meaning.path)
        if shown is None:
            return None
        if self._is_type(shown, meaning.name) and (
            meaning.name not in shown.returns or meaning.name not in shown.types_and_values
        ):
            return Answer(Instance(meaning), weaker(answer.rule, Rule.CONSTRUCTOR))
        found = self._returned(meaning, shown, answer.rule, number)
        if found is None and _makes_objects(meaning, shown):
            return Answer(Instance(meaning), weaker(answer.rule, Rule.CONSTRUCTOR))
        if found is not None or shown.kinds.get(meaning.name) is not ChunkKind.CONST:
            return found
        held = self._held(answer) if names < _MOST_NAMES else None  # another name for a function or a class
        if held is None or not isinstance(held.meaning, Definition):
            return None
        return self._called(held, number, names + 1)

    def _returned(self, meaning: Definition, shown: Interface, rule: Rule, number: str = "") -> Answer | None:
        expression = shown.returns.get(f"{meaning.name}#{number}" if number else meaning.name)
        if expression is None:
            return None
        found = self._guarded(meaning.path, "return", expression)
        return Answer(found.meaning, weaker(rule, Rule.RETURN)) if found is not None else None

    def _element(self, answer: Answer) -> Answer | None:
        meaning = answer.meaning
        if isinstance(meaning, Elements):
            return Answer(meaning.element, weaker(answer.rule, Rule.ANNOTATION))
        if isinstance(meaning, Instance):
            return self._element_of_type(meaning, answer.rule)
        if isinstance(meaning, Definition) and self._is_generic(meaning):
            return answer  # `Queue[Job]`
        held = self._held(answer) if isinstance(meaning, Definition) else None
        return self._element(held) if held is not None and isinstance(held.meaning, Elements) else None

    def _element_of_type(self, meaning: Instance, rule: Rule) -> Answer | None:
        """Return an element of a value whose type is another name of a container."""
        shown = self._look(meaning.type.path)
        for expression in shown.values.get((meaning.type.name, ELEMENTS), ()) if shown is not None else ():
            found = self._guarded(meaning.type.path, "value", expression)
            if found is not None and isinstance(found.meaning, Elements):
                return Answer(found.meaning.element, weaker(rule, Rule.ANNOTATION))
        return None

    def _is_generic(self, meaning: Definition) -> bool:
        """Return whether brackets behind a name hold type arguments: it is that of a type or a function."""
        shown = self._look(meaning.path)
        return shown is not None and (
            shown.is_type(meaning.name) or shown.kinds.get(meaning.name) is ChunkKind.FUNCTION
        )

    def _member(self, answer: Answer, name: str, names: int = 0) -> Answer | None:
        """Return a member of what an answer means. `names` counts as in `_called`."""
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
        if self._has_open_types and (part := self._part(meaning.path, inner)) is not None:
            return Answer(part, answer.rule)
        if inner in shown.kinds or inner in shown.containers:
            return Answer(Definition(meaning.path, inner), answer.rule)
        for item in shown.imports.get(inner, ()):  # of a module inside the file
            found = self._imported(meaning.path, item)
            if found is not None:
                return Answer(found.meaning, weaker(answer.rule, found.rule))
        if self._is_type(shown, meaning.name):
            found = self._type_member(meaning, name, answer.rule)
            return answer if found is None and name in _rules_of(shown).own_members else found
        held = self._held(answer) if names < _MOST_NAMES else None
        return self._member(held, name, names + 1) if held is not None else None

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
        is_open_function = self._has_open_types and kind is ChunkKind.FUNCTION
        if kind is ChunkKind.METHOD or is_open_function:  # a property
            return self._returned(meaning, shown, answer.rule)
        return None

    # Names

    def name(self, path: str, name: str) -> Answer | None:
        """Return what a name of a file means."""
        if self._modules.has_linkage:  # names mean no other names: no answer is asked for twice
            return self._find_name(path, name)
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
        answer = self._find(path, kind, written)
        self._open.discard(key)
        if self._cut == cut or not self._open:
            self._kept[key] = _Kept(answer, frozenset(self._consulted))
        self._consulted |= before
        return answer

    def _find(self, path: str, kind: str, written: str) -> Answer | None:
        if kind == "name":
            return self._find_name(path, written)
        if kind == "star":
            return self._from_stars(path, written)
        if kind == "module":
            return self._written_module(path, written)
        if kind == "constant":
            return self._find_constant(path, written)
        if kind in ("member", "member above"):
            return self._find_spread_member(path, written, above=kind == "member above")
        return self._expression(path, written)

    def _find_name(self, path: str, name: str) -> Answer | None:
        shown = self._look(path)
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
        by_name = self._finds_by_name
        if by_name and name in shown.imports:
            return None  # it is from another repository
        for expression in shown.values.get(("", name), ()):
            answer = self._expression(path, expression) if expression != name else None
            if answer is not None:
                return answer
        if by_name and not self._modules.is_defined(plain):
            self._consulted.add(linkage_key(plain.rpartition(".")[2]))
            return self._outermost(path, name)
        for home in self._homes(shown):
            if home.paths or home.rests_on:
                self._consulted.add(folder_key(path))
                self._consulted.update(home.rests_on)
            found = self._package_member(home, name)
            if found is None and not home.shared and not by_name:
                found = self._module_below(home, name)
            if found is not None:
                # A module that every file knows by its name is as good as imported.
                rule = Rule.IMPORT if isinstance(found.meaning, Module) else Rule.PACKAGE
                return Answer(found.meaning, weaker(found.rule, rule))
        found = self._from_stars(path, name)
        if found is None and by_name:
            return self._outermost(path, name)
        if found is None and self._modules.modules_name_themselves:
            found = self._named_by_itself(shown, name)
        if found is None and self._modules.has_linkage:
            found = self._linked(path, name)
        if found is None and plain in shown.containers:
            return Answer(Definition(path, plain), Rule.SCOPE)
        return found

    def _from_stars(self, path: str, name: str) -> Answer | None:
        """Return a name of the modules that a file imports all names of."""
        shown = self._look(path)
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

    def _homes(self, shown: Interface) -> Sequence[Module]:
        """Return the packages whose names a file sees without importing them, nearest first."""
        home = self._modules.home(shown.path)
        if home is None:
            return ()
        if not self._finds_by_name:
            return (home,)
        found = [home]
        outer = _rules_of(shown).outer_packages
        around = self._modules.outer(home) if outer is not OuterPackages.NONE else None
        while around is not None:
            if outer is OuterPackages.ALL or not around.name:
                found.append(around)
            around = self._modules.outer(around)
        return found

    def _outermost(self, path: str, name: str) -> Answer | None:
        """Return a definition of no package, or an outermost package."""
        return self._module_member(Module("", importer=path), name, Rule.IMPORT)

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

    def _imported(self, path: str, item: Import) -> Answer | None:
        if self._finds_by_name:
            around = self._guarded(path, "module", item.module)
            return self._member(around, item.imported) if around is not None and item.imported else around
        module = self._module(path, item.module)
        if module is None:
            inner = self._by_path(path, item)
            return Answer(inner.meaning, weaker(inner.rule, Rule.IMPORT)) if inner is not None else None
        if not item.imported:
            return self._whole(module) or Answer(module, Rule.IMPORT)
        found = self._module_member(module, item.imported, Rule.IMPORT)
        if found is None and item.imported == DEFAULT_NAME:
            return self._whole(module)
        return found

    def _by_path(self, path: str, item: Import) -> Answer | None:
        """Return what an import names step by step, if its module is no file: a module inside of one, a
        type, a module under another name."""
        written = self._modules.inner_path(item.module)
        if not written or ("." not in written and not item.imported):
            return None
        return self._guarded(path, "path", f"{written}.{item.imported}" if item.imported else written)

    def _whole(self, module: Module) -> Answer | None:
        """Return what a module says that it is as a whole, if it does."""
        for path in module.paths:
            shown = self._look(path)
            if shown is not None and ("", WHOLE_MODULE) in shown.values:
                found = self.name(path, WHOLE_MODULE)
                return Answer(found.meaning, weaker(found.rule, Rule.IMPORT)) if found is not None else None
        return None

    def _written_module(self, path: str, written: str) -> Answer | None:
        """Return the module of an import, or the type that it imports from: `import static a.Type.name`."""
        if not self._finds_by_name or "/" in written:
            module = self._module(path, written)
            return Answer(module, Rule.IMPORT) if module is not None else None
        answer: Answer | None = Answer(Module("", importer=path), Rule.IMPORT)
        for name in _NAME.findall(written):
            answer = self._member(answer, name) if answer is not None else None
        return answer

    def _module_member(self, module: Module, name: str, rule: Rule) -> Answer | None:
        """Return a name of a module: of one of its files, or a module below it."""
        found = self._package_member(module, name)
        if found is not None:
            return Answer(found.meaning, weaker(rule, found.rule))
        below = self._module_below(module, name)
        return Answer(below.meaning, weaker(rule, Rule.IMPORT)) if below is not None else None

    def _module_below(self, module: Module, name: str) -> Answer | None:
        below = self._submodule(module, name)
        return Answer(below, Rule.IMPORT) if below is not None else None

    def _package_member(self, module: Module, name: str) -> Answer | None:
        if self._finds_by_name and not module.paths:
            self._consulted.add(linkage_key(name.rpartition(".")[2]))
            if not self._modules.is_defined(name):
                return None
            known = self._modules.definition(module, name)
            return Answer(Definition(*known), Rule.SCOPE) if known is not None else None
        if module.shared:
            path = self._package_path(module, name)
            return Answer(Definition(path, name), Rule.SCOPE) if path else None
        for path in module.paths:
            shown = self._look(path)
            if shown is None or name not in shown.kinds or name in shown.imports:
                continue
            if not shown.exports or name in shown.exports:
                return Answer(Definition(path, name), Rule.SCOPE)
        for path in module.paths:
            found = self.name(path, name) if self._shows(path, name) else self._handed_on(path, name)
            if found is not None:
                return found
        return None

    def _shows(self, path: str, name: str) -> bool:
        """Return whether others see a name of a file. A file that does not say which they are shows all."""
        shown = self._look(path)
        return shown is None or not shown.exports or name in shown.exports

    def _handed_on(self, path: str, name: str) -> Answer | None:
        """Return a name of the modules whose names a file hands on as its own."""
        return self._guarded(path, "star", name)

    # Classes

    def _type_member(self, owner: Definition, name: str, rule: Rule, *, above: bool = False) -> Answer | None:
        """Return a member of a class, or of the first of its bases that has it."""
        if self._modules.members_are_spread:
            question = "member above" if above else "member"
            answer = self._guarded(owner.path, question, f"{owner.name}.{name}")
            return Answer(answer.meaning, weaker(rule, answer.rule)) if answer is not None else None
        members = self._members_of(owner)
        self._consulted |= members.consulted
        if members.is_spread:
            self._consulted.add(linkage_key(name))
        found = next(
            (each[name] for each in (members.of_bases if above else members.own) if name in each), None
        )
        if found is None:
            return None
        if isinstance(found, Definition):
            return Answer(found, rule)
        for path, expression in found:
            held = self._guarded(path, "value", expression)
            if held is not None:
                return Answer(held.meaning, weaker(rule, Rule.ATTRIBUTE))
        return None

    def _find_spread_member(self, path: str, qualified: str, *, above: bool) -> Answer | None:
        """Return a member of a class, or of the first of its bases that has it, where members may stand in
        other files than their class."""
        owner, _, name = qualified.rpartition(".")
        for one in self._with_bases(Definition(path, owner)):
            shown = self._look(one.path)
            if shown is None or (above and one.name == owner):
                continue
            inner = f"{one.name}.{name}"
            if inner in shown.kinds:
                return Answer(Definition(one.path, inner), Rule.SCOPE)
            for other in sorted(self._definers(inner)):
                if other != one.path and self._is_member_of(other, one):
                    return Answer(Definition(other, inner), Rule.SCOPE)
            for expression in shown.values.get((one.name, name), ()):
                held = self._guarded(one.path, "value", expression)
                if held is not None:
                    return Answer(held.meaning, Rule.ATTRIBUTE)
        return None

    def _is_member_of(self, path: str, owner: Definition) -> bool:
        """Return whether what a file defines below the name of a class belongs to that class of another
        file."""
        shown = self._look(path)
        if shown is None:
            return False
        if self._has_open_types:
            return self._is_type(shown, owner.name)
        return self._own_class(shown, owner.name) == owner

    def _members_of(self, owner: Definition) -> _Members:
        """Return the members of a class together with those that it inherits, found once."""
        kept = self._members.get(owner)
        if kept is not None:
            return kept
        before, cut = self._consulted, self._cut
        self._consulted = set()
        own: list[Mapping[str, Member]] = []
        of_bases: list[Mapping[str, Member]] = []
        is_spread = False
        for at, one in enumerate(self._with_bases(owner)):
            shown = self._look(one.path)
            if shown is None:
                continue
            others = self._beside(one.path)
            is_spread = is_spread or len(others) >= _MOST_PATHS_NOTED
            found = [each.members(one.name) for each in (shown, *others)]
            own += filter(None, found)
            if at and one.name != owner.name:
                of_bases += filter(None, found)
        made = _Members(own, of_bases, frozenset(self._consulted), is_spread)
        if self._cut == cut or not self._open:
            self._members[owner] = made
        self._consulted |= before
        return made

    def _beside(self, path: str) -> list[Interface]:
        """Return the other files of a shared package: a method of Go may stand in any of them."""
        home = self._modules.home(path)
        if home is None or not home.shared:
            return []
        self._consulted.add(folder_key(path))
        if len(home.paths) <= _MOST_PATHS_NOTED:
            self._consulted.update(home.paths)
        found = (self._interface_of(each) for each in home.paths if each != path)
        return [shown for shown in found if shown is not None]

    def _package_path(self, module: Module, name: str) -> str:
        """Return the first file of a shared package that defines a qualified name, empty if none does."""
        if len(module.paths) <= _MOST_PATHS_NOTED:
            self._consulted.update(module.paths)
        else:
            self._consulted.add(linkage_key(name.rpartition(".")[2]))
        if module.name not in self._packages:
            found: dict[str, str] = {}
            for each in reversed(module.paths):
                shown = self._interface_of(each)
                found.update(dict.fromkeys(shown.kinds, each) if shown is not None else {})
            self._packages[module.name] = found
        path = self._packages[module.name].get(name, "")
        if path:
            self._consulted.add(path)
        return path

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
            shown = self._look(found.path)
            waiting = self._parts_of(found) + waiting
            for base in shown.bases.get(found.name, ()) if shown is not None else ():
                answer = self._guarded(found.path, "base", base)
                if answer is not None and isinstance(answer.meaning, Definition):
                    waiting.append(answer.meaning)

    def _parts_of(self, owner: Definition) -> list[Definition]:
        """Return the other definitions that make up a type together with one."""
        shown = self._look(owner.path)
        if shown is None or not (self._has_open_types or _rules_of(shown).types_have_parts):
            return []
        self._consulted.add(linkage_key(owner.name.rpartition(".")[2]))
        return [Definition(path, owner.name) for path in self._modules.parts(owner.path, owner.name)]

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
        files = [self._look(part.path) for part in (around.meaning, *self._parts_of(around.meaning))]
        return [
            Definition(shown.path, name)
            for shown in files
            if shown is not None
            for name in shown.kinds
            if name.startswith(prefix) and name.endswith(tail) and len(name) > len(prefix) + len(tail)
        ]

    def _is_extension(self, found: Definition) -> bool:
        """Return whether a definition `T.name` stands outside of T."""
        shown = self._look(found.path)
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
        shown = self._look(answer.meaning.path)
        if shown is None or shown.is_type(extended.rpartition(".")[0]):
            return None
        return Answer(answer.meaning, weaker(answer.rule, Rule.ANNOTATION))

    def _extension(self, path: str, owner: Definition, name: str) -> Answer | None:
        """Return the function that extends a type, or a base of it, by a name that a file sees."""
        shown = self._look(path)
        if shown is None or not _rules_of(shown).has_extensions:
            return None
        if not _rules_of(shown).extensions_are_members:
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
                other = self._look(path)
                for (extended, called), held in other.values.items() if other is not None else ():
                    if called == name and extended[:1] == "+" and qualified in held:
                        extending[extended[1:]].add(Definition(path, qualified))
        for found in self._with_bases(owner) if extending else ():
            if fitting := extending.get(found.name.rpartition(".")[2]):
                # Which of several classes holds the fitting function depends on the arguments.
                is_one = len({each.name for each in fitting}) == 1
                return Answer(min(fitting), Rule.ANNOTATION) if is_one else None
        return None


def _rules_of(shown: Interface) -> GraphRules:
    return _rules_of_language(shown.language)


@lru_cache(maxsize=64)
def _rules_of_language(name: str) -> GraphRules:
    rules = languages.get(name).graph
    assert rules is not None
    return rules


@dataclass(slots=True)
class _Members:
    """The members of a class by name, nearest first: with its own, and of its bases alone."""

    own: list[Mapping[str, Member]]
    of_bases: list[Mapping[str, Member]]
    consulted: frozenset[str]
    is_spread: bool  # over a package of so many files that the names are noted instead


def _makes_objects(meaning: Definition, shown: Interface) -> bool:
    """Return whether a function makes objects, as those of JavaScript that have methods do."""
    name = meaning.name.rpartition(".")[2]
    is_function = shown.kinds.get(meaning.name) is ChunkKind.FUNCTION
    return is_function and name[:1].isupper() and bool(shown.members(meaning.name))


def _is_constructor(meaning: Meaning) -> bool:
    """Return whether a definition has the name of the class that it is a member of."""
    parts = meaning.name.split(".")[-2:] if isinstance(meaning, Definition) else ()
    return len(parts) == 2 and parts[0] == parts[1]


def _rule_of_value(expression: str, rule: Rule) -> Rule:
    return weaker(rule, Rule.CONSTRUCTOR) if expression.endswith("()") else rule


def _owner_and_name(qualified: str) -> tuple[str, str]:
    owner, _, name = qualified.rpartition(".")
    return owner, name


@lru_cache(maxsize=50_000)
def _parts(expression: str) -> tuple[str, tuple[str, ...]]:
    """Return the head of an expression and its steps."""
    match = _HEAD.match(expression)
    assert match is not None
    end = match.end()
    if expression[:1] in ("<", "{") and (
        expression[end : end + 1] in (":", "<", "{") or expression[1] in "<{"
    ):
        # A name as classes see it, or a type that holds one.
        end = 0
        while expression[end : end + 1] in ("<", "{"):
            end = _owner_end(expression, end)
        if expression[end : end + 1] == ":":
            end = _PLAIN_HEAD.match(expression, end).end()  # type: ignore[union-attr]
    return expression[:end], _steps(expression, end)


def _steps(expression: str, start: int) -> tuple[str, ...]:
    return tuple(step[1] or step[0] for step in _STEP.finditer(expression, start))


def _owner_end(expression: str, at: int) -> int:
    """Return where a head in brackets ends. A type may hold one itself: `<{Outer}:Entry>`."""
    depth = 0
    for end in range(at, len(expression)):
        if expression[end] in "<{":
            depth += 1
        elif expression[end] in ">}":
            depth -= 1
            if not depth:
                return end + 1
    return len(expression)
