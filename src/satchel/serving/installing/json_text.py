"""JSON as people write it: with comments and trailing commas. What does it say, and where does it stand?"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from satchel.errors import ConfigError

if TYPE_CHECKING:
    import tree_sitter

_SKIPPED = re.compile(rb'"(?:\\.|[^"\\])*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(rb"[^\s,:{\[]\s*(,)(?=\s*[}\]])")  # after a value, at the end of what holds it
_STRING = re.compile(rb'"(?:\\.|[^"\\])*"', re.DOTALL)
_MARK = b"\xef\xbb\xbf"
SPACE = b" \t\r\n"


class Pair(NamedTuple):
    """A key and its value in an object."""

    key: str
    start: int
    end: int
    value: tree_sitter.Node


class Document(NamedTuple):
    """A text that was read: what it says, and the tree of its places. Neither is there in an empty text."""

    data: bytes
    value: Any
    root: tree_sitter.Node | None


def read(data: bytes) -> Document:
    """Read a text, or say in which line it is wrong."""
    plain = _without_comments(data)
    if not plain.strip():
        return Document(data, None, None)
    commas = [found.start(1) for found in _LAST_COMMA.finditer(_without_strings(plain))]
    try:
        value = json.loads(_blank(plain, commas).decode())
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"line {error.lineno}: {error.msg}", hint="correct the file; nothing was written"
        ) from error
    except (ValueError, RecursionError) as error:  # other bytes, a number of thousands of digits, deep nests
        raise ConfigError(f"it is not JSON in UTF-8: {error}", hint="correct the file") from error
    marked = b"   " + data[3:] if data.startswith(_MARK) else data
    tree = _parser().parse(_blank(marked, commas)).root_node
    root = next((child for child in tree.children if child.type != "comment"), None)
    if not isinstance(value, dict):
        raise ConfigError("line 1: it is not an object", hint="settings are an object: {…}")
    if root is None or root.type != "object" or tree.has_error:  # such as comments that end with a lone CR
        raise ConfigError("line 1: it cannot be edited as text", hint="edit the file by hand")
    return Document(data, value, root)


def pairs(node: tree_sitter.Node) -> list[Pair]:
    """What an object holds, in its order."""
    found = []
    for child in node.named_children:
        key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
        if child.type == "pair" and key is not None and value is not None:
            found.append(Pair(json.loads(key.text or b'""'), child.start_byte, child.end_byte, value))
    return found


def comments(node: tree_sitter.Node) -> list[tuple[int, int]]:
    """Where the comments of an object are. The parser counts the CR of a line's end to the comment."""
    spans = [(child.start_byte, child.text or b"") for child in node.children if child.type == "comment"]
    return [(start, start + len(text.rstrip(b"\r"))) for start, text in spans]


def follow(document: Document, keys: tuple[str, ...]) -> tuple[list[tree_sitter.Node], Pair | None]:
    """The objects on the way that the keys lead, as far as it goes, and the pair at its end."""
    objects = [document.root] if document.root is not None else []
    pair = None
    for position, key in enumerate(keys):
        if len(objects) <= position:
            return objects, None
        # a key that is there twice means its last value, as for every reader
        pair = next((one for one in reversed(pairs(objects[-1])) if one.key == key), None)
        if pair is None:
            return objects, None
        if position < len(keys) - 1:
            if pair.value.type != "object":
                line = document.data.count(b"\n", 0, pair.start) + 1
                raise ConfigError(f"line {line}: {key!r} is not an object", hint="correct the file by hand")
            objects.append(pair.value)
    return objects, pair


def comma_after(document: Document, node: tree_sitter.Node, position: int) -> int | None:
    """Where the comma after a pair is; there may be comments before it."""
    data, spans = document.data, dict(comments(node))
    while position < node.end_byte:
        if position in spans:
            position = spans[position]
        elif data[position : position + 1] in (b" ", b"\t", b"\r", b"\n"):
            position += 1
        else:
            return position if data[position : position + 1] == b"," else None
    return None


def _without_comments(data: bytes) -> bytes:
    """Comments and the byte order mark as white space of the same length, so that every place stays."""
    if data.startswith(_MARK):
        data = b"   " + data[3:]
    return _SKIPPED.sub(
        lambda found: found[0] if found[0].startswith(b'"') else re.sub(rb"[^\r\n]", b" ", found[0]), data
    )


def _without_strings(plain: bytes) -> bytes:
    return _STRING.sub(lambda found: b'"' * len(found[0]), plain)


def _blank(data: bytes, places: list[int]) -> bytes:
    changed = bytearray(data)
    for place in places:
        changed[place] = 0x20
    return bytes(changed)


@cache
def _parser() -> tree_sitter.Parser:
    import tree_sitter
    import tree_sitter_json

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_json.language()))
