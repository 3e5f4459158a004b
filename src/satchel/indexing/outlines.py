"""What does a file define, and what does it use of others? The few names that ranking asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from satchel.storage.records import Outline
from satchel.terms import terms
from satchel.types import ChunkKind, Label, Parsed

_TYPES = frozenset({ChunkKind.CLASS, ChunkKind.STRUCT, ChunkKind.ENUM, ChunkKind.INTERFACE, ChunkKind.TRAIT})
_MEMBERS = frozenset({ChunkKind.FUNCTION, ChunkKind.METHOD, ChunkKind.CONST})
_LINK, _IMPORT = Label.LINKS_TO, Label.IMPORTS  # looked up once: a file has hundreds of references
_MOST_NAMES = 2_000  # of each sort; only generated tables define more
_HEAD_LINES = 40
_HEAD_CHARS = 600  # an opening comment says what a file is for within its first sentences
_DOCSTRING = re.compile(r"[rRuU]?(\"\"\"|''')")
_LAST_NAME = re.compile(r"[^\W\d]\w*(?=\W*$)")
_TELLING = re.compile(r"[a-z0-9][A-Z]|[^\W_]_+[^\W_]|^[A-Z]\w{3,}")  # several words, or a type's name


def outline(parsed: Parsed, lines: Sequence[str]) -> Outline:
    """The outline of one parsed file."""
    types = _distinct([item.name for item in parsed.symbols if item.kind in _TYPES])
    others = _distinct([item.name for item in parsed.symbols if item.kind in _MEMBERS])
    used = {name: None for name, label, _ in parsed.references if label is not _LINK}
    own = {*types, *others, ""}
    return Outline(
        types=types,
        others=others,
        uses=_distinct([name for name in map(_telling, used) if name not in own]),
        imports=_distinct([name for name, label, _ in parsed.references if label is _IMPORT]),
        head=_distinct(terms(_head(parsed, lines))),
    )


@lru_cache(maxsize=100_000)
def _telling(written: str) -> str:
    """The name that a use ends in, if it says what is meant; else nothing."""
    match = _LAST_NAME.search(written)
    return match.group() if match and _TELLING.search(match.group()) else ""


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))[:_MOST_NAMES]


def _head(parsed: Parsed, lines: Sequence[str]) -> str:
    """The comments and the docstring among the first lines: what a file is for is said there."""
    found: list[str] = []
    for first, last in parsed.comments:
        if first > _HEAD_LINES:
            break
        found.extend(lines[first - 1 : last])
    for number, line in enumerate(lines[:_HEAD_LINES]):
        if match := _DOCSTRING.match(line):
            for part in lines[number : number + _HEAD_LINES]:
                found.append(part)
                if part.rstrip().endswith(match.group(1)) and (
                    part is not line or part.count(match.group(1)) > 1
                ):
                    break
            break
        if line.strip() and not line.startswith(("#", "from __future__")):
            break
    return "".join(found)[:_HEAD_CHARS]
