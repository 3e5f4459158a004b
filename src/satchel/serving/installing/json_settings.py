"""Entries of JSON settings files, added and removed as text: everything else in the file stays as it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from satchel.errors import ConfigError
from satchel.serving.installing.file_edits import EditTrace, append_paragraph
from satchel.serving.installing.json_text import (
    SPACE,
    JsonDocument,
    JsonPair,
    comment_ranges,
    find_comma_after,
    follow_keys,
    pairs,
    parse_json,
)

if TYPE_CHECKING:
    import tree_sitter

_DEFAULT_INDENT = "  "
_REMOTE_FIELDS = frozenset(
    {"url", "httpUrl", "serverUrl"}
)  # of a remote server, whose other fields do not fit

_Edit = tuple[int, int, bytes]  # start, end, replacement


def read_entry(data: bytes, keys: tuple[str, ...]) -> Any:
    """Return the value at these keys; None if there is none."""
    value: Any = parse_json(data).value
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def add_entry(data: bytes, keys: tuple[str, ...], wanted: Any) -> tuple[bytes, EditTrace]:
    """Return the file with the entry. Of an existing entry only the fields that differ are changed."""
    document = parse_json(data)
    objects, pair = follow_keys(document, keys)
    if document.root is None:
        text = json.dumps(_nested(keys, wanted), indent=_DEFAULT_INDENT, ensure_ascii=False)
        result, trace = append_paragraph(data, _lines(text, data) + _newline(data))
        trace = EditTrace(len(keys), trace.space)
    elif pair is None:
        missing = keys[len(objects) - 1 :]
        value = _nested(missing[1:], wanted)
        result, space = _inserted(document, objects[-1], missing[0], value)
        trace = EditTrace(len(missing) - 1, space)
    else:
        result, trace = _updated(document, keys, pair, wanted), EditTrace()
    _check(result, keys, wanted)
    return result, trace


def remove_entry(data: bytes, keys: tuple[str, ...], trace: EditTrace) -> bytes:
    """Return the file without the entry, and without the objects created for it that are empty now."""
    made = trace.made
    while True:
        document = parse_json(data)
        objects, pair = follow_keys(document, keys)
        if pair is None:
            return data
        node, keys = objects[-1], keys[:-1]
        data = _removed(document, node, pair, trace.space if not made else "")
        document = parse_json(data)
        left = follow_keys(document, (*keys, ""))[0][-1]
        if not made or pairs(left) or comment_ranges(left):
            return data
        made -= 1
        if not keys:
            return _without_document(document, trace.space)


def add_element(data: bytes, keys: tuple[str, ...], wanted: dict[str, Any]) -> tuple[bytes, EditTrace]:
    """Return the file with an element at the end of the list at these keys, made if there is none."""
    document = parse_json(data)
    pair = follow_keys(document, keys)[1] if document.root is not None else None
    if pair is None:
        return add_entry(data, keys, [wanted])
    if pair.value.type != "array":
        line = data.count(b"\n", 0, pair.start) + 1
        raise ConfigError(f"line {line}: {keys[-1]!r} is not a list", hint="correct the file by hand")
    elements = _elements(pair.value)
    if not elements:
        text = _written(document, pair.start, [wanted], wide=True)
        return _apply_edits(data, [(pair.value.start_byte, pair.value.end_byte, text)]), EditTrace()
    last = elements[-1].end_byte
    comma = find_comma_after(document, pair.value, last)
    inner = _indent(data, elements[0].start_byte)
    lead = b" " if inner is None else _newline(data) + inner
    text = lead + _dumped(document, wanted, inner or b"", wide=inner is not None)
    if comma is None:
        return _apply_edits(data, [(last, last, b"," + text)]), EditTrace()
    return _apply_edits(data, [(comma + 1, comma + 1, text + b",")]), EditTrace()


def remove_element(
    data: bytes, keys: tuple[str, ...], is_wanted: Callable[[Any], bool], trace: EditTrace
) -> bytes:
    """Return the file without the element of a list that `is_wanted` finds; a list that had no other goes
    with it, and so do the objects created for it."""
    document = parse_json(data)
    values = read_entry(data, keys)
    number = next(place for place, value in enumerate(values) if is_wanted(value))
    if len(values) == 1:
        return remove_entry(data, keys, trace)
    pair = follow_keys(document, keys)[1]
    assert pair is not None
    elements = _elements(pair.value)
    if number:
        start, end = elements[number - 1].end_byte, elements[number].end_byte
    else:
        start, end = elements[0].start_byte, elements[1].start_byte
    return _apply_edits(data, [(start, end, b"")])


def _elements(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    return [child for child in node.named_children if child.type != "comment"]


def _updated(document: JsonDocument, keys: tuple[str, ...], pair: JsonPair, wanted: dict[str, Any]) -> bytes:
    """Return the file with the fields of an existing entry changed to the wanted ones."""
    old = read_entry(document.data, keys)
    if not isinstance(old, dict) or _REMOTE_FIELDS & old.keys():
        text = _written(document, pair.start, wanted, wide=True)
        return _apply_edits(document.data, [(pair.value.start_byte, pair.value.end_byte, text)])
    for field, value in wanted.items():
        if field in old and old[field] == value:
            continue
        objects, found = follow_keys(document, (*keys, field))
        if found is None:
            data = _inserted(document, objects[-1], field, value)[0]
        else:
            start, end = found.value.start_byte, found.value.end_byte
            wide = b"\n" in document.data[start:end]
            text = _written(document, found.start, value, wide=wide)
            data = _apply_edits(document.data, [(start, end, text)])
        document = parse_json(data)
    return document.data


def _inserted(document: JsonDocument, node: tree_sitter.Node, key: str, value: Any) -> tuple[bytes, str]:
    """Add a last pair to an object. Return the file, and the white space that was added after the pair."""
    data, existing = document.data, pairs(node)
    last = existing[-1] if existing else None
    comma = find_comma_after(document, node, last.end) if last else None
    place = node.start_byte + 1 if last is None else last.end if comma is None else comma + 1
    # A comment stays with the line that it is about.
    for start, end in comment_ranges(node):
        if start >= place and (last is None or b"\n" not in data[place:start]):
            place = end
    wide = _is_wide(document, node, last) or place in _line_comment_ends(document, node)
    inner = _indent(data, last.start) if last else None
    if inner is None:
        inner = (_indent(data, node.start_byte, any_text=True) or b"") + _indent_step(document)
    lead = _newline(data) + inner if wide else b" " if last else b""
    name = json.dumps(key, ensure_ascii=False).encode() + b": "
    text = lead + name + _dumped(document, value, inner, wide=wide) + (b"," if comma is not None else b"")
    space = b""
    if last is None and wide and b"\n" not in data[place : node.end_byte]:
        space = _newline(data) + (_indent(data, node.start_byte, any_text=True) or b"")
    edits = [(place, place, text + space)]
    if last is not None and comma is None:
        edits.insert(0, (last.end, last.end, b","))
    return _apply_edits(data, edits), space.decode()


def _removed(document: JsonDocument, node: tree_sitter.Node, pair: JsonPair, space: str) -> bytes:
    """Return the file without a pair, the white space before it, and its comma."""
    data, existing = document.data, pairs(node)
    number = next(index for index, other in enumerate(existing) if other.start == pair.start)
    start = len(data[: pair.start].rstrip(SPACE))
    # Blanks at the end of a comment are the comment's.
    start = max([start, *(end for _, end in comment_ranges(node) if end <= pair.start)])
    comma = find_comma_after(document, node, pair.end)
    edits = [(start, pair.end, b"")]
    if comma is not None:
        edits = [(start, pair.end, b""), (comma, comma + 1, b"")]
        if not data[pair.end : comma].strip():
            edits = [(start, comma + 1, b"")]
    elif number:
        before = find_comma_after(document, node, existing[number - 1].end)
        assert before is not None
        edits.insert(0, (before, before + 1, b""))
        if not data[before + 1 : pair.start].strip():
            edits = [(before, pair.end, b"")]
    elif space and data.startswith(space.encode(), pair.end):
        edits = [(start, pair.end + len(space.encode()), b"")]
    follows = data[edits[-1][1] : edits[-1][1] + 1]
    if start in _line_comment_ends(document, node) and follows not in (b"\r", b"\n"):
        # The line break stays, or the comment would swallow the text that follows.
        edits[-1] = (pair.start, edits[-1][1], b"")
    return _apply_edits(data, edits)


def _line_comment_ends(document: JsonDocument, node: tree_sitter.Node) -> list[int]:
    return [end for start, end in comment_ranges(node) if document.data.startswith(b"//", start)]


def _without_document(document: JsonDocument, space: str) -> bytes:
    """Return the text around the top-level object, which is removed."""
    assert document.root is not None
    before, after = document.data[: document.root.start_byte], document.data[document.root.end_byte :]
    # The line endings of the rest of the file may have changed since.
    newline = b"\r\n" if after.startswith(b"\r\n") else b"\n"
    return before.removesuffix(space.encode()) + after.removeprefix(newline)


def _is_wide(document: JsonDocument, node: tree_sitter.Node, last: JsonPair | None) -> bool:
    """Return whether the pairs of an object are on lines of their own."""
    root = document.root
    assert root is not None
    if last is not None:
        return b"\n" in document.data[node.start_byte : last.start]
    return node.start_byte == root.start_byte or b"\n" in document.data[root.start_byte : root.end_byte]


def _written(document: JsonDocument, position: int, value: Any, *, wide: bool) -> bytes:
    return _dumped(document, value, _indent(document.data, position, any_text=True) or b"", wide=wide)


def _dumped(document: JsonDocument, value: Any, inner: bytes, *, wide: bool) -> bytes:
    """Return a value as JSON text, indented like the line where it begins."""
    text = json.dumps(value, indent=_indent_step(document).decode() if wide else None, ensure_ascii=False)
    return _lines(text, document.data).replace(b"\n", b"\n" + inner)


def _indent_step(document: JsonDocument) -> bytes:
    """Return one step of indentation, as the file has it."""
    first = pairs(document.root)[:1] if document.root is not None else []
    return (_indent(document.data, first[0].start) if first else None) or _DEFAULT_INDENT.encode()


def _indent(data: bytes, position: int, *, any_text: bool = False) -> bytes | None:
    """Return the white space at the start of the line; None if other text comes before `position`."""
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


def _apply_edits(data: bytes, edits: list[_Edit]) -> bytes:
    ordered = sorted(edits, key=lambda edit: edit[:2])
    # Sorting with reverse=True would swap two edits at one position.
    for start, end, text in ordered[::-1]:
        data = data[:start] + text + data[end:]
    return data


def _check(data: bytes, keys: tuple[str, ...], wanted: Any) -> None:
    """Raise unless the edited file has the wanted value, or the wanted fields of an object."""
    found = read_entry(data, keys)
    if found == wanted:
        return
    if (
        not isinstance(wanted, dict)
        or not isinstance(found, dict)
        or any(found.get(field) != value for field, value in wanted.items())
    ):
        raise ConfigError("the file cannot be edited as text", hint="add the server by hand")
