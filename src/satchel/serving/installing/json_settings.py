"""An entry in a JSON settings file, put in and taken out as text: what others wrote stays as it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from satchel.errors import ConfigError
from satchel.serving.installing.json_text import (
    SPACE,
    Document,
    Pair,
    comma_after,
    comments,
    follow,
    pairs,
    read,
)
from satchel.serving.installing.trace import Trace, appended

if TYPE_CHECKING:
    import tree_sitter

_USUAL_UNIT = "  "
REMOTE = frozenset({"url", "httpUrl", "serverUrl"})  # an entry of another kind, of which nothing fits ours

Edit = tuple[int, int, bytes]  # from, to, what stands there instead


def entry(data: bytes, keys: tuple[str, ...]) -> Any:
    """What is there under these keys."""
    value: Any = read(data).value
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def put(data: bytes, keys: tuple[str, ...], wanted: dict[str, Any]) -> tuple[bytes, Trace]:
    """The file with the entry in it. Of an entry that is there only the fields that differ are changed."""
    document = read(data)
    objects, pair = follow(document, keys)
    if document.root is None:
        text = json.dumps(_nested(keys, wanted), indent=_USUAL_UNIT, ensure_ascii=False)
        result, trace = appended(data, _lines(text, data) + _newline(data))
        trace = Trace(len(keys), trace.space)
    elif pair is None:
        missing = keys[len(objects) - 1 :]
        value = _nested(missing[1:], wanted)
        result, space = _inserted(document, objects[-1], missing[0], value)
        trace = Trace(len(missing) - 1, space)
    else:
        result, trace = _updated(document, keys, pair, wanted), Trace()
    _check(result, keys, wanted)
    return result, trace


def take(data: bytes, keys: tuple[str, ...], trace: Trace) -> bytes:
    """The file without the entry, and without the objects that were made for it if they are empty now."""
    made = trace.made
    while True:
        document = read(data)
        objects, pair = follow(document, keys)
        if pair is None:
            return data
        node, keys = objects[-1], keys[:-1]
        data = _removed(document, node, pair, trace.space if not made else "")
        document = read(data)
        left = follow(document, (*keys, ""))[0][-1]
        if not made or pairs(left) or comments(left):
            return data
        made -= 1
        if not keys:
            return _without_document(document, trace.space)


def _updated(document: Document, keys: tuple[str, ...], pair: Pair, wanted: dict[str, Any]) -> bytes:
    old = entry(document.data, keys)
    if not isinstance(old, dict) or REMOTE & old.keys():
        text = _written(document, pair.start, wanted, wide=True)
        return _edited(document.data, [(pair.value.start_byte, pair.value.end_byte, text)])
    for field, value in wanted.items():
        if field in old and old[field] == value:
            continue
        objects, found = follow(document, (*keys, field))
        if found is None:
            data = _inserted(document, objects[-1], field, value)[0]
        else:
            start, end = found.value.start_byte, found.value.end_byte
            wide = b"\n" in document.data[start:end]
            text = _written(document, found.start, value, wide=wide)
            data = _edited(document.data, [(start, end, text)])
        document = read(data)
    return document.data


def _inserted(document: Document, node: tree_sitter.Node, key: str, value: Any) -> tuple[bytes, str]:
    """A new last pair in an object, and the white space that had to be put after it."""
    data, there = document.data, pairs(node)
    last = there[-1] if there else None
    comma = comma_after(document, node, last.end) if last else None
    place = node.start_byte + 1 if last is None else last.end if comma is None else comma + 1
    for start, end in comments(node):  # a comment stays with the line that it is about
        if start >= place and (last is None or b"\n" not in data[place:start]):
            place = end
    wide = _is_wide(document, node, last) or place in _line_comment_ends(document, node)
    inner = _indent(data, last.start) if last else None
    if inner is None:
        inner = (_indent(data, node.start_byte, any_text=True) or b"") + _unit(document)
    lead = _newline(data) + inner if wide else b" " if last else b""
    name = json.dumps(key, ensure_ascii=False).encode() + b": "
    text = lead + name + _dumped(document, value, inner, wide=wide) + (b"," if comma is not None else b"")
    space = b""
    if last is None and wide and b"\n" not in data[place : node.end_byte]:
        space = _newline(data) + (_indent(data, node.start_byte, any_text=True) or b"")
    edits = [(place, place, text + space)]
    if last is not None and comma is None:
        edits.insert(0, (last.end, last.end, b","))
    return _edited(data, edits), space.decode()


def _removed(document: Document, node: tree_sitter.Node, pair: Pair, space: str) -> bytes:
    """The text without a pair: with the white space before it and with the comma that was there for it."""
    data, there = document.data, pairs(node)
    place = next(index for index, one in enumerate(there) if one.start == pair.start)
    start = len(data[: pair.start].rstrip(SPACE))
    comma = comma_after(document, node, pair.end)
    edits = [(start, pair.end, b"")]
    if comma is not None:
        edits = [(start, pair.end, b""), (comma, comma + 1, b"")]
        if not data[pair.end : comma].strip():
            edits = [(start, comma + 1, b"")]
    elif place:
        before = comma_after(document, node, there[place - 1].end)
        assert before is not None
        edits.insert(0, (before, before + 1, b""))
        if not data[before + 1 : pair.start].strip():
            edits = [(before, pair.end, b"")]
    elif space and data.startswith(space.encode(), pair.end):
        edits = [(start, pair.end + len(space.encode()), b"")]
    follows = data[edits[-1][1] : edits[-1][1] + 1]
    if start in _line_comment_ends(document, node) and follows not in (b"\r", b"\n"):
        edits[-1] = (pair.start, edits[-1][1], b"")  # else the comment would swallow what follows
    return _edited(data, edits)


def _line_comment_ends(document: Document, node: tree_sitter.Node) -> list[int]:
    return [end for start, end in comments(node) if document.data.startswith(b"//", start)]


def _without_document(document: Document, space: str) -> bytes:
    """The text around an object that was all there was."""
    assert document.root is not None
    before, after = document.data[: document.root.start_byte], document.data[document.root.end_byte :]
    newline = b"\r\n" if after.startswith(b"\r\n") else b"\n"  # of the file it may be another by now
    return before.removesuffix(space.encode()) + after.removeprefix(newline)


def _is_wide(document: Document, node: tree_sitter.Node, last: Pair | None) -> bool:
    """Whether the pairs of an object stand on lines of their own."""
    root = document.root
    assert root is not None
    if last is not None:
        return b"\n" in document.data[node.start_byte : last.start]
    return node.start_byte == root.start_byte or b"\n" in document.data[root.start_byte : root.end_byte]


def _written(document: Document, position: int, value: Any, *, wide: bool) -> bytes:
    return _dumped(document, value, _indent(document.data, position, any_text=True) or b"", wide=wide)


def _dumped(document: Document, value: Any, inner: bytes, *, wide: bool) -> bytes:
    """A value as text, its lines as deep as the place where it begins."""
    text = json.dumps(value, indent=_unit(document).decode() if wide else None, ensure_ascii=False)
    return _lines(text, document.data).replace(b"\n", b"\n" + inner)


def _unit(document: Document) -> bytes:
    """One step of indentation, as the file has it."""
    first = pairs(document.root)[:1] if document.root is not None else []
    return (_indent(document.data, first[0].start) if first else None) or _USUAL_UNIT.encode()


def _indent(data: bytes, position: int, *, any_text: bool = False) -> bytes | None:
    """The white space that the line of a position begins with; none if other text stands before it."""
    line = data[data.rfind(b"\n", 0, position) + 1 : position]
    space = line[: len(line) - len(line.lstrip(b" \t"))]
    return space if any_text or space == line else None


def _newline(data: bytes) -> bytes:
    return b"\r\n" if b"\r\n" in data else b"\n"


def _lines(text: str, data: bytes) -> bytes:
    return text.encode().replace(b"\n", _newline(data))


def _nested(keys: Sequence[str], value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _edited(data: bytes, edits: list[Edit]) -> bytes:
    ordered = sorted(edits, key=lambda edit: edit[:2])
    for start, end, text in ordered[::-1]:  # reverse=True would turn round two edits at one place
        data = data[:start] + text + data[end:]
    return data


def _check(data: bytes, keys: tuple[str, ...], wanted: dict[str, Any]) -> None:
    """Before anything is written: does the text say what it was meant to?"""
    found = entry(data, keys)
    if not isinstance(found, dict) or any(found.get(field) != value for field, value in wanted.items()):
        raise ConfigError("the file cannot be edited as text", hint="add the server by hand")
