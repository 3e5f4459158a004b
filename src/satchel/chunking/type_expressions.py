"""Write the types that code names as the TYPEs of `satchel.code_facts`.

A type is read from its text, not from its syntax tree: types look alike in all languages that have them.
"""

from __future__ import annotations

import re
from functools import lru_cache

from satchel.chunking.bracket_text import closing_end, split_outside_brackets
from satchel.languages.language import GraphRules

_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_CHANNEL = re.compile(r"(?:<-)?\s*chan\b(?:\s*<-)?")
NOTHING_TYPES = frozenset({"None", "null", "undefined", "nil", "NoneType", "void"})
_LIFETIME = re.compile(r"'\w+\s+")
LONGEST = 4000  # characters; a longer receiver is a pipeline of calls that no rule follows to its end


def to_type(text: str, rules: GraphRules) -> str:
    """Return the TYPE that a type annotation names, or an empty string if no single type is meant."""
    return _to_type(text.strip(), rules) if len(text) <= LONGEST else ""


@lru_cache(maxsize=50_000)
def _to_type(text: str, rules: GraphRules) -> str:
    text = text.strip().lstrip(":").strip()
    if text[:2] == "->":
        text = text[2:].strip()
    if rules.quoted_types and text[:1] in "\"'" and text[-1:] == text[:1]:
        text = text[1:-1].strip()
    text = _without_prefixes(text, rules)
    while text[:1] in ("*", "&", "?", "(") or text[-1:] in ("?", "*", "&", "!"):
        if text[:1] == "(":
            if not text.endswith(")"):
                return ""
            text = text[1:-1].strip()
        else:
            text = text[1:].strip() if text[:1] in ("*", "&", "?") else text[:-1].strip()
        text = _without_prefixes(text, rules)
    if text.startswith("["):
        if element := _after_bracket(text).strip():  # `[]T`, `[8]T`
            return _container(element, rules)
        if text[-1] != "]" or len(split_outside_brackets(text[1:-1], ",")) > 1:
            return ""
        return _container(text[1:-1].partition(";")[0], rules)  # `[T]`, `[T; 8]`
    if channel := _CHANNEL.match(text):
        return _container(text[channel.end() :], rules)
    if text.startswith("map["):
        return _container(_after_bracket(text[3:]), rules)
    if text.endswith("[]"):
        return _container(text[:-2], rules)
    choices = [part for part in split_outside_brackets(text, "|") if part.strip() not in NOTHING_TYPES]
    if len(choices) != 1:
        return ""
    # Of a type that is several at once, the first is followed.
    first = split_outside_brackets(split_outside_brackets(choices[0], "&")[0], "+")[0]
    return _generic(first.strip(), rules)


def _without_prefixes(text: str, rules: GraphRules) -> str:
    if text[:1] == "'" and (lifetime := _LIFETIME.match(text)):
        text = text[lifetime.end() :]
    for word in rules.type_prefixes:
        text = text.removeprefix(word).strip()
    return text


def _generic(text: str, rules: GraphRules) -> str:
    match = _generic_pattern(rules.generic_marks, rules.name_marks).fullmatch(text)
    if not match:
        return ""
    name = match[1].replace("global::", "\\").replace("::", ".")
    name = name[:1] + name[1:].replace("\\", ".").rstrip(".")  # a leading `\` is the outermost namespace
    last = name.rpartition(".")[2]
    if match[2] is None:
        return "" if last in NOTHING_TYPES else name
    arguments = [part.strip().rpartition(" = ")[2] for part in split_outside_brackets(match[2], ",")]
    arguments = [part for part in arguments if part[:1] != "'" or part[-1:] == "'"]  # no lifetimes
    if not arguments:
        return name
    if last in rules.wrappers:
        return _to_type(arguments[0], rules)
    if last in rules.containers:
        return _container(arguments[-1], rules)
    return name


@lru_cache(maxsize=8)
def _generic_pattern(generic_marks: str, name_marks: str) -> re.Pattern[str]:
    opening = re.escape(generic_marks)
    closing = re.escape("".join(_CLOSING[mark] for mark in generic_marks))
    name = re.escape(name_marks)
    return re.compile(
        rf"(\\?(?:[^\W\d]|[{name}_])[\w.:\\{name}]*)\s*(?:[{opening}](.*)[{closing}])?", re.DOTALL
    )


def _container(element: str, rules: GraphRules) -> str:
    inner = _to_type(element.strip(), rules)
    return f"[{inner}]" if inner else ""


def _after_bracket(text: str) -> str:
    end = closing_end(text, 0, "[")
    return text[end:] if end else ""
