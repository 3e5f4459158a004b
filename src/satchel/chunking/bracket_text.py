"""Read text with brackets and strings in it, whatever its language."""

from __future__ import annotations

import re

# A bracket and the one that closes it, and the start of a string where brackets do not count.
_BRACKETS = {
    "(": re.compile(r"[()\"'`]"),
    "[": re.compile(r"[\[\]\"'`]"),
    "{": re.compile(r"[{}\"'`]"),
    "<": re.compile(r"[<>]"),
}
_ANY_BRACKET = re.compile(r"[()\[\]{}\"'`]")
_STRING_ENDS = {"'": re.compile(r"[\\'\n]"), '"': re.compile(r'[\\"\n]'), "`": re.compile(r"[\\`]")}


def closing_end(text: str, at: int, opening: str) -> int:
    """Return where the brackets end that open at a position, with all that is in them; 0 if they never do."""
    depth = 0
    marks = _BRACKETS[opening]
    while found := marks.search(text, at):
        at = found.end()
        mark = found[0]
        if mark == opening:
            depth += 1
        elif mark in "\"'`":
            at = string_end(text, at - 1)
        elif not (mark == ">" and text[at - 2] in "-="):
            depth -= 1
            if not depth:
                return at
    return 0


def string_end(text: str, at: int) -> int:
    """Return where the string that starts at a position ends, an apostrophe in a comment with its line."""
    ends = _STRING_ENDS[text[at]]
    at += 1
    while found := ends.search(text, at):
        at = found.end()
        if found[0] != "\\":
            return at
        at += 1
    return len(text)


def split_outside_brackets(text: str, separator: str) -> list[str]:
    """Return the parts of a text between separators that are not inside brackets."""
    depth, start, parts = 0, 0, []
    for at, mark in enumerate(text):
        if mark in "([{<":
            depth += 1
        elif mark in ")]}" or (mark == ">" and text[at - 1 : at] not in ("-", "=")):
            depth -= 1
        elif mark == separator and not depth:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


def without_brackets(text: str) -> str:
    """Return a text of the same length in which strings and what stands in brackets are blank."""
    parts, at, depth, start = [], 0, 0, 0
    while found := _ANY_BRACKET.search(text, at):
        at = found.end()
        if found[0] in "\"'`":
            end = string_end(text, at - 1)
            if not depth:
                parts += [text[start : at - 1], "\0" * (end - at + 1)]
                start = end
            at = end
        elif found[0] in "([{":
            if not depth:
                parts.append(text[start:at])
                start = at
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                parts.append("\0" * (at - 1 - start))
                start = at - 1
    return "".join(parts) + ("\0" * (len(text) - start) if depth else text[start:])
