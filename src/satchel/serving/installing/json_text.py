"""Parse JSON with comments and trailing commas: its values, and the byte ranges of its parts."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from satchel.errors import ConfigError

if TYPE_CHECKING:
    import tree_sitter

_STRING_OR_COMMENT = re.compile(rb'"(?:\\.|[^"\\])*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(rb"[^\s,:{\[]\s*(,)(?=\s*[}\]])")  # after the last value of an object or a list
_STRING = re.compile(rb'"(?:\\.|[^"\\])*"', re.DOTALL)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SPACE = b" \t\r\n"


class JsonPair(NamedTuple):
    """A key and its value in an object, with their byte range."""

    key: str
    start: int
    end: int
    value: tree_sitter.Node


class JsonDocument(NamedTuple):
    """A parsed text: its value, and its syntax tree. Both are None for an empty text."""

    data: bytes
    value: Any
    root: tree_sitter.Node | None


def parse_json(data: bytes) -> JsonDocument:
    """Parse a text; an error names the line."""
    plain = _without_comments(data)
    if not plain.strip():
        return JsonDocument(data, None, None)
    commas = [found.start(1) for found in _TRAILING_COMMA.finditer(_without_strings(plain))]
    try:
        value = json.loads(_blank_out(plain, commas).decode())
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"line {error.lineno}: {error.msg}", hint="correct the file; nothing was written"
        ) from error
    # Bytes that are not UTF-8, a number of thousands of digits, or nesting that is too deep.
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"it is not JSON in UTF-8: {error}", hint="correct the file") from error
    marked = b"   " + data[3:] if data.startswith(_BYTE_ORDER_MARK) else data
    tree = _parser().parse(_blank_out(marked, commas)).root_node
    root = next((child for child in tree.children if child.type != "comment"), None)
    if not isinstance(value, dict):
        raise ConfigError("line 1: it is not an object", hint="settings are an object: {…}")
    # The parsers disagree, for instance about a comment that ends with a lone CR.
    if root is None or root.type != "object" or tree.has_error:
        raise ConfigError("line 1: it cannot be edited as text", hint="edit the file by hand")
    return JsonDocument(data, value, root)


def pairs(node: tree_sitter.Node) -> list[JsonPair]:
    """Return the pairs of an object, in order."""
    found = []
    for child in node.named_children:
        key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
        if child.type == "pair" and key is not None and value is not None:
            found.append(JsonPair(json.loads(key.text or b'""'), child.start_byte, child.end_byte, value))
    return found


def comment_ranges(node: tree_sitter.Node) -> list[tuple[int, int]]:
    """Return the byte ranges of the comments of an object, without the CR that the parser includes."""
    spans = [(child.start_byte, child.text or b"") for child in node.children if child.type == "comment"]
    return [(start, start + len(text.rstrip(b"\r"))) for start, text in spans]


def follow_keys(
    document: JsonDocument, keys: tuple[str, ...]
) -> tuple[list[tree_sitter.Node], JsonPair | None]:
    """Return the objects that the keys lead through, as far as they exist, and the pair of the last key."""
    objects = [document.root] if document.root is not None else []
    pair = None
    for position, key in enumerate(keys):
        if len(objects) <= position:
            return objects, None
        # The last value of a repeated key counts, as in every JSON parser.
        pair = next((one for one in reversed(pairs(objects[-1])) if one.key == key), None)
        if pair is None:
            return objects, None
        if position < len(keys) - 1:
            if pair.value.type != "object":
                line = document.data.count(b"\n", 0, pair.start) + 1
                raise ConfigError(f"line {line}: {key!r} is not an object", hint="correct the file by hand")
            objects.append(pair.value)
    return objects, pair


def find_comma_after(document: JsonDocument, node: tree_sitter.Node, position: int) -> int | None:
    """Return the position of the comma after a pair, past white space and comments; None if there is none."""
    data, spans = document.data, dict(comment_ranges(node))
    while position < node.end_byte:
        if position in spans:
            position = spans[position]
        elif data[position : position + 1] in (b" ", b"\t", b"\r", b"\n"):
            position += 1
        else:
            return position if data[position : position + 1] == b"," else None
    return None


def _without_comments(data: bytes) -> bytes:
    """Replace comments and the byte order mark by white space of the same length: positions stay the same."""
    if data.startswith(_BYTE_ORDER_MARK):
        data = b"   " + data[3:]
    return _STRING_OR_COMMENT.sub(
        lambda found: found[0] if found[0].startswith(b'"') else re.sub(rb"[^\r\n]", b" ", found[0]), data
    )


def _without_strings(plain: bytes) -> bytes:
    """Replace the content of strings by quotes, so that no comma inside them is found."""
    return _STRING.sub(lambda found: b'"' * len(found[0]), plain)


def _blank_out(data: bytes, positions: list[int]) -> bytes:
    """Replace the bytes at some positions by spaces."""
    changed = bytearray(data)
    for position in positions:
        changed[position] = 0x20
    return bytes(changed)


@cache
def _parser() -> tree_sitter.Parser:
    import tree_sitter
    import tree_sitter_json

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_json.language()))
