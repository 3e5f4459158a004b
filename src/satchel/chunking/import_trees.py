"""Read an import statement that names several things as a tree: `a::{b::{self, C as D}, e::*}`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from satchel.code_facts import ALL_NAMES

_ALIAS = re.compile(r"\s+as\s+")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class TreeImport(NamedTuple):
    """One name of an import tree. `module` and `name` are as in `Import`, `name` empty for a module alone;
    `offset` is where the name stands in the text."""

    module: str
    name: str
    alias: str
    offset: int


def read_import_tree(text: str, separator: str, own_module: str) -> Iterator[TreeImport]:
    """Yield the names that an import tree binds. `own_module` in a list is the module before the list."""
    blank = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    yield from _branches(blank, 0, len(blank), "", separator, own_module)


def _branches(
    text: str, start: int, end: int, before: str, separator: str, own_module: str
) -> Iterator[TreeImport]:
    for first, last in _parts(text, start, end):
        opening = text.find("{", first, last)
        if opening >= 0:
            prefix = _joined(before, text[first:opening].strip().removesuffix(separator), separator)
            closing = text.rfind("}", opening, last)
            inner_end = closing if closing >= 0 else last
            yield from _branches(text, opening + 1, inner_end, prefix, separator, own_module)
        elif written := text[first:last].strip():
            path, alias = [*_ALIAS.split(written, maxsplit=1), ""][:2]
            path = _joined(before, path.strip(), separator)
            if before and path == _joined(before, own_module, separator):
                path = before
            module, _, name = path.rpartition(separator)
            if not module:
                module, name = name, ""
            offset = last - len(text[first:last].lstrip())
            yield TreeImport(module, ALL_NAMES if name == "*" else name, alias.strip(), offset)


def _joined(before: str, path: str, separator: str) -> str:
    path = "".join(path.split()).removeprefix(separator)
    return f"{before}{separator}{path}" if before and path else before or path


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges between commas that are not inside braces."""
    depth, first = 0, start
    for at in range(start, end):
        mark = text[at]
        if mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
        elif mark == "," and not depth:
            yield first, at
            first = at + 1
    yield first, end
