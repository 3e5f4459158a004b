"""Entries of YAML settings files, added and removed as text: everything else in the file stays as it is.

The parser is tree-sitter's, which the core has for indexing. It keeps positions, comments, anchors and
styles, which a YAML library loses; it resolves no aliases and no tags, so an entry that uses them is left to
a person.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from satchel.errors import ConfigError
from satchel.serving.installing.file_edits import EditTrace, append_paragraph, remove_paragraph

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_STEP = "  "
# A remote server's fields do not fit those of a program.
_REMOTE_FIELDS = frozenset({"uri", "url"})
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


def read_entry(data: bytes, keys: tuple[str, ...]) -> Any:
    """Return the value at these keys; None if there is none."""
    pair = _find_pair(_parse(data), keys)
    return None if pair is None else _value(pair.child_by_field_name("value"))


def add_entry(data: bytes, keys: tuple[str, ...], wanted: dict[str, Any]) -> tuple[bytes, EditTrace]:
    """Return the file with the entry. Of an existing entry only the fields that differ are changed, and a
    number or a truth value, such as `enabled`, stays as the person chose it."""
    servers, name = keys
    document = _parse(data)
    trace = EditTrace()
    holder = _find_pair(document, (servers,))
    if (old := _find_pair(document, keys)) is not None:
        result, wanted = _updated(data, keys, old, wanted)
    elif holder is None:
        lines = _lines({servers: {name: wanted}}, " " * _column(document), data)
        result, trace = append_paragraph(data, lines)
        trace = EditTrace(made=1, space=trace.space)
    else:
        result, trace = _inserted(data, holder, name, wanted)
    _check(data, result, keys, wanted)
    return result, trace


def remove_entry(data: bytes, keys: tuple[str, ...], trace: EditTrace) -> bytes:
    """Return the file without the entry, and without the mapping created for it if that is empty now."""
    servers, _ = keys
    document = _parse(data)
    holder, pair = _find_pair(document, (servers,)), _find_pair(document, keys)
    if holder is None or pair is None:
        return data
    if re.search(rb"(?m)(^|\s)&\S", data[pair.start_byte : _content_end(pair)]):
        raise _unsupported(data, pair, "has an anchor, which other entries may use")
    mapping = _mapping(holder.child_by_field_name("value"))
    assert mapping is not None
    if mapping.type == "flow_mapping":
        if len(_pairs(mapping)) > 1:
            raise _unsupported(data, holder, "is not written as a block")
        result = data[: pair.start_byte] + data[pair.end_byte :]
    elif trace.made and len(mapping.named_children) == 1:
        result = remove_paragraph(data, *_whole_lines(data, holder), trace.space)
    else:
        result = remove_paragraph(data, *_whole_lines(data, pair), "" if trace.made else trace.space)
    _check(data, result, keys, None)
    return result


def _inserted(data: bytes, holder: Node, name: str, wanted: dict[str, Any]) -> tuple[bytes, EditTrace]:
    """Return the file with a new first entry in the mapping `holder`: below a line that is surely its own,
    while the end of its last entry may be hidden in comments and blank lines."""
    value = holder.child_by_field_name("value")
    mapping = _mapping(value)
    if mapping is not None and mapping.type == "flow_mapping" and not mapping.named_children:
        place = mapping.start_byte + 1
        text = f"{json.dumps(name)}: {json.dumps(wanted, ensure_ascii=False)}"
        return data[:place] + text.encode() + data[place:], EditTrace()
    if value is not None and (mapping is None or mapping.type != "block_mapping"):
        raise _unsupported(data, holder, "is not written as a block")
    indent = " " * (mapping.start_point.column if mapping else holder.start_point.column + len(_STEP))
    return _below(data, holder, _lines({name: wanted}, indent, data))


def _updated(
    data: bytes, keys: tuple[str, ...], old: Node, wanted: dict[str, Any]
) -> tuple[bytes, dict[str, Any]]:
    """Return the file with the fields of an existing entry changed, and what the entry has to hold then."""
    values = _value(old.child_by_field_name("value"))
    if not isinstance(values, dict) or _REMOTE_FIELDS & values.keys():
        raise _unsupported(data, old, "does not start a program")
    chosen = {name: values[name] for name, value in wanted.items() if name in values and _is_choice(value)}
    wanted = wanted | chosen
    for name, value in wanted.items():
        if name in values and values[name] == value:
            continue
        text = json.dumps(value, ensure_ascii=False).encode()
        entry, field = _find_pair(_parse(data), keys), _find_pair(_parse(data), (*keys, name))
        assert entry is not None
        if field is not None:
            colon = next(child for child in field.children if child.type == ":")
            data = data[: colon.end_byte] + b" " + text + data[_content_end(field) :]
            continue
        mapping = _mapping(entry.child_by_field_name("value"))
        if mapping is None or mapping.type != "block_mapping":
            raise _unsupported(data, entry, "is not written as a block")
        data, _ = _below(data, entry, _lines({name: value}, " " * mapping.start_point.column, data))
    return data, wanted


def _is_choice(value: Any) -> bool:
    return isinstance(value, (bool, int))


def _below(data: bytes, pair: Node, text: bytes) -> tuple[bytes, EditTrace]:
    """Return the file with lines below the line of a key, its anchor and its tag."""
    value = pair.child_by_field_name("value")
    heads = [child for child in pair.children if child.type == ":"]
    heads += [child for child in value.children if child.type in ("anchor", "tag")] if value else []
    place = _line_end(data, max(head.end_byte for head in heads))
    if data[:place].endswith(b"\n"):
        return data[:place] + text + data[place:], EditTrace()
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    return data + newline + text.removesuffix(newline), EditTrace(space=newline.decode())


def _lines(value: dict[str, Any], indent: str, data: bytes) -> bytes:
    """Return a mapping as lines; a list, a text or a number is written as JSON, which is YAML, too."""
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    result = b""
    for name, field in value.items():
        if isinstance(field, dict):
            result += f"{indent}{name}:".encode() + newline + _lines(field, indent + _STEP, data)
        else:
            result += f"{indent}{name}: {json.dumps(field, ensure_ascii=False)}".encode() + newline
    return result


def _parse(data: bytes) -> Node | None:
    """Return the top-level mapping of a file; None if the file has no values. An error names the line."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"it is not UTF-8: {error}", hint="correct the file") from error
    stream = _parser().parse(data).root_node
    if stream.has_error:
        node = stream
        while node.type != "ERROR" and (inside := [one for one in node.children if one.has_error]):
            node = inside[0]
        line = node.start_point.row + 1
        raise ConfigError(f"line {line}: it is not YAML", hint="correct the file; nothing was written")
    documents = [one for one in stream.named_children if one.type == "document"]
    if len(documents) > 1:
        raise ConfigError("it holds several documents", hint="add the server by hand")
    content = [one for document in documents for one in document.named_children if one.type.endswith("_node")]
    if not content:
        return None
    mapping = _mapping(content[0])
    if mapping is None or mapping.type != "block_mapping":
        raise _unsupported(data, content[0], "is not written as a block")
    return mapping


def _mapping(node: Node | None) -> Node | None:
    """Return the mapping that a node holds behind its anchor and its tag."""
    return next((one for one in node.children if one.type.endswith("_mapping")), None) if node else None


def _pairs(mapping: Node | None) -> list[Node]:
    return [one for one in mapping.children if one.type.endswith("_pair")] if mapping else []


def _find_pair(mapping: Node | None, keys: tuple[str, ...]) -> Node | None:
    """Return the pair that these keys lead to."""
    found = None
    for key in keys:
        pairs = [one for one in _pairs(mapping) if _value(one.child_by_field_name("key")) == key]
        if not pairs:
            return None
        found = pairs[0]
        mapping = _mapping(found.child_by_field_name("value"))
    return found


def _value(node: Node | None) -> Any:
    """Return a value of the few kinds that entries are made of; another one is its own text."""
    if node is None or node.text is None:
        return None
    child = node.named_children[-1] if node.named_children else node
    match child.type:
        case "block_mapping" | "flow_mapping":
            pairs = [
                (one.child_by_field_name("key"), one.child_by_field_name("value")) for one in _pairs(child)
            ]
            return {str(_value(key)): _value(value) for key, value in pairs}
        case "block_sequence":
            return [
                _value(one.named_children[-1] if one.named_children else None) for one in child.named_children
            ]
        case "flow_sequence":
            return [_value(one) for one in child.named_children]
    return _scalar(node.text.decode())


def _scalar(text: str) -> Any:
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if text.startswith('"'):
        try:
            return json.loads(text)
        # YAML has more escapes than JSON.
        except ValueError:
            return text
    if text in _WORDS:
        return _WORDS[text]
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else text


def _check(before: bytes, after: bytes, keys: tuple[str, ...], wanted: dict[str, Any] | None) -> None:
    """Raise unless the edited file holds the wanted fields, or no entry, and all else that it held."""
    failed = ConfigError("the file cannot be edited as text", hint="edit the file by hand")
    try:
        found = read_entry(after, keys)
    except ConfigError as error:
        raise failed from error
    if wanted is None:
        right = found is None
    else:
        right = isinstance(found, dict) and all(found.get(name) == value for name, value in wanted.items())
    if not right or _others(before, keys) != _others(after, keys):
        raise failed


def _others(data: bytes, keys: tuple[str, ...]) -> list[bytes]:
    """Return the text of every entry but ours: of the whole file, and of the mapping that holds ours."""
    document = _parse(data)
    holder = _find_pair(document, keys[:1])
    inside = _pairs(_mapping(holder.child_by_field_name("value"))) if holder else []
    ours = _find_pair(document, keys)
    pairs = [one for one in (*_pairs(document), *inside) if one not in (holder, ours)]
    texts = [data[one.start_byte : _content_end(one)] for one in pairs]
    # Blank lines below a block of text count only if it keeps them (`|+`).
    return [text if re.search(rb"[|>]\d?\+", text) else text.rstrip() for text in texts]


def _content_end(node: Node) -> int:
    """Return where the last text of a node ends: the parser counts comments below it as part of it."""
    while children := [one for one in node.children if one.type != "comment"]:
        node = children[-1]
        if node.type == "block_scalar":
            break
    return node.end_byte


def _whole_lines(data: bytes, pair: Node) -> tuple[int, int]:
    end = len(data[: _content_end(pair)].rstrip(b"\r\n"))
    return pair.start_byte - pair.start_point.column, _line_end(data, end)


def _line_end(data: bytes, position: int) -> int:
    end = data.find(b"\n", position)
    return len(data) if end < 0 else end + 1


def _column(mapping: Node | None) -> int:
    return mapping.start_point.column if mapping else 0


def _unsupported(data: bytes, node: Node, trouble: str) -> ConfigError:
    name = data[node.start_byte : node.end_byte].split(b":")[0].decode()[:40]
    return ConfigError(
        f"line {node.start_point.row + 1}: {name} {trouble}",
        hint="edit the file by hand; nothing was written",
    )


@cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_yaml

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_yaml.language()))
