"""Follow the steps of expressions from value to value: calls, elements, members, types."""

from __future__ import annotations

from satchel.code_facts import ELEMENTS, Rule
from satchel.graph.answers import Answer, Elements, Instance, Meaning, rules_of, weaker
from satchel.graph.extensions import Extensions
from satchel.graph.interfaces import Definition, Interface
from satchel.graph.modules.module_system import Module
from satchel.types import ChunkKind

_MOST_NAMES = 8  # variables that hold each other, one behind the other


class ValueRules(Extensions):
    """Knows what calls, elements and members of values are."""

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
        shown = self._look(meaning.path, meaning.name)
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

    def _type_named(self, path: str, name: str) -> Answer | None:
        """Return what a name of a file means if that is a type."""
        answer = self.name(path, name)
        found = answer.meaning if answer is not None else None
        shown = self._look(found.path, found.name) if isinstance(found, Definition) else None
        return (
            answer
            if shown is not None and isinstance(found, Definition) and shown.is_type(found.name)
            else None
        )

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
            shown = self._look(meaning.type.path, meaning.type.name)
            method = ""
            if shown is not None and self._finds_by_name and answer.rule is not Rule.SELF:
                method = rules_of(shown).call_method
            run = self._type_member(meaning.type, method, answer.rule) if method else None
            if run is not None and isinstance(run.meaning, Definition):
                return self._called(run, number)
            if shown is not None and meaning.type.name in shown.returns:
                return self._returned(meaning.type, shown, answer.rule, number)
            return Answer(meaning, weaker(answer.rule, Rule.CONSTRUCTOR))
        if not isinstance(meaning, Definition):
            return None
        shown = self._look(meaning.path, meaning.name)
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
        shown = self._look(meaning.type.path, meaning.type.name)
        for expression in shown.values.get((meaning.type.name, ELEMENTS), ()) if shown is not None else ():
            found = self._guarded(meaning.type.path, "value", expression)
            if found is not None and isinstance(found.meaning, Elements):
                return Answer(found.meaning.element, weaker(rule, Rule.ANNOTATION))
        return None

    def _is_generic(self, meaning: Definition) -> bool:
        """Return whether brackets behind a name hold type arguments: it is that of a type or a function."""
        shown = self._look(meaning.path, meaning.name)
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
        shown = self._look(meaning.path, meaning.name)
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
            return answer if found is None and name in rules_of(shown).own_members else found
        held = self._held(answer) if names < _MOST_NAMES else None
        return self._member(held, name, names + 1) if held is not None else None

    def _held(self, answer: Answer) -> Answer | None:
        """Return what a variable, an attribute or a property holds."""
        meaning = answer.meaning
        if not isinstance(meaning, Definition):
            return None
        shown = self._look(meaning.path, meaning.name)
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

    def _field(self, answer: Answer, name: str) -> Answer | None:
        """Return what an attribute of an object holds, if its class says so."""
        if not isinstance(answer.meaning, Instance) or answer.meaning.above:
            return None
        owner = answer.meaning.type
        shown = self._look(owner.path, owner.name)
        for expression in shown.values.get((owner.name, name), ()) if shown is not None else ():
            held = self._guarded(owner.path, "value", expression)
            if held is not None:
                return Answer(held.meaning, weaker(answer.rule, Rule.ATTRIBUTE))
        return None


def _makes_objects(meaning: Definition, shown: Interface) -> bool:
    """Return whether a function makes objects, as those of JavaScript that have methods do."""
    name = meaning.name.rpartition(".")[2]
    is_function = shown.kinds.get(meaning.name) is ChunkKind.FUNCTION
    return is_function and name[:1].isupper() and bool(shown.members(meaning.name))


def _rule_of_value(expression: str, rule: Rule) -> Rule:
    return weaker(rule, Rule.CONSTRUCTOR) if expression.endswith("()") else rule


def _owner_and_name(qualified: str) -> tuple[str, str]:
    owner, _, name = qualified.rpartition(".")
    return owner, name
