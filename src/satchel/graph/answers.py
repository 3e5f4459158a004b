"""What expressions mean, how sure that is, and what files note that an answer rests on."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from satchel import languages
from satchel.code_facts import Rule
from satchel.graph.interfaces import Definition, Interface, outermost
from satchel.graph.modules.module_system import Module
from satchel.languages.language import GraphRules

_HEAD = re.compile(r"<[^>]*>|:[^:]*:[^.(\[]*|\^?\{[^}]*\}|[^.(\[]*")
_PLAIN_HEAD = re.compile(r"[^.(\[]*")
_STEP = re.compile(r"\.([^.()\[\]]+)|(\(\d*\))|(\[\])")
_NO_STEP = frozenset("<>{}^:")  # marks of a head: the dot before them stands inside of it
_RULE_ORDER = {rule: place for place, rule in enumerate(Rule)}


class Instance(msgspec.Struct, frozen=True, gc=False):
    """A value of a type."""

    type: Definition
    above: bool = False  # seen as its base classes


class Elements(msgspec.Struct, frozen=True, gc=False):
    """A container, by what its elements are."""

    element: Meaning


Meaning = Definition | Instance | Elements | Module


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What an expression means, and the least certain rule that it took."""

    meaning: Meaning
    rule: Rule


def folder_key(path: str) -> str:
    """Return what a file notes that looked for names in the folder of another."""
    return path.rpartition("/")[0] + "/"


@lru_cache(maxsize=50_000)
def name_key(path: str, name: str) -> str:
    """Return what a file notes that looked for a name in another, or for a member of what has that name."""
    return f"{path}#{outermost(name)}"


def all_names_key(path: str) -> str:
    """Return what a file notes whose answers may change with any name of another."""
    return f"*{path}"


def import_key(name: str) -> str:
    """Return what a file notes that imports something whose path ends with a name."""
    return f":{name}"


def linkage_key(name: str) -> str:
    """Return what a file notes that looked for a name in the whole repository."""
    return f"={name}"


def weaker(first: Rule, second: Rule) -> Rule:
    """Return the less certain of two rules."""
    return first if first is second or _RULE_ORDER[first] >= _RULE_ORDER[second] else second


def rules_of(shown: Interface) -> GraphRules:
    return _rules_of_language(shown.language)


@lru_cache(maxsize=64)
def _rules_of_language(name: str) -> GraphRules:
    rules = languages.get(name).graph
    assert rules is not None
    return rules


@lru_cache(maxsize=50_000)
def parts_of_expression(expression: str) -> tuple[str, tuple[str, ...]]:
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
            end = owner_end(expression, end)
        if expression[end : end + 1] == ":":
            end = _PLAIN_HEAD.match(expression, end).end()  # type: ignore[union-attr]
    return expression[:end], steps_of(expression, end)


def without_last_step(expression: str) -> tuple[str, str]:
    """Return an expression without its last step, and that step; no step if it is a head."""
    before, _, name = expression.rpartition(".")
    if name.isidentifier():  # most
        return (before, name) if before else (expression, "")
    last = expression[-1:]
    if last == ")":
        at = expression.rfind("(")
        return expression[:at], expression[at:]
    if last == "]":
        return expression[:-2], "[]"
    return (before, name) if before and _NO_STEP.isdisjoint(name) else (expression, "")


def steps_of(expression: str, start: int) -> tuple[str, ...]:
    return tuple(step[1] or step[0] for step in _STEP.finditer(expression, start))


def owner_end(expression: str, at: int) -> int:
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
