"""Entries of TOML settings files: tables that are added at the end and removed as text."""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache
from typing import TYPE_CHECKING, Any

from satchel.errors import ConfigError
from satchel.serving.installing.file_edits import EditTrace, append_paragraph, remove_paragraph

if TYPE_CHECKING:
    import tree_sitter

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_entry(data: bytes, keys: tuple[str, ...]) -> Any:
    """Return the value at these keys; None if there is none."""
    value: Any = _parse(data)
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def add_entry(data: bytes, keys: tuple[str, ...], wanted: dict[str, Any]) -> tuple[bytes, EditTrace]:
    """Return the file with the entry. Of an existing table only the fields that differ are changed."""
    old = read_entry(data, keys)
    if old is None:
        lines = [f"[{'.'.join(keys)}]", *(_field(name, value) for name, value in wanted.items())]
        newline = "\r\n" if b"\r\n" in data else "\n"
        result, trace = append_paragraph(data, (newline.join(lines) + newline).encode())
    else:
        result, trace = _updated(data, keys, old, wanted), EditTrace()
    found = _read_edited(result, keys)
    if not isinstance(found, dict) or any(found.get(name) != value for name, value in wanted.items()):
        raise ConfigError("the file cannot be edited as text", hint="add the server by hand")
    return result, trace


def remove_entry(data: bytes, keys: tuple[str, ...], trace: EditTrace) -> bytes:
    """Return the file without the table of the entry and the tables below it."""
    if read_entry(data, keys) is None:
        return data
    ours = [table for table in _tables(data) if _key_path(table)[: len(keys)] == keys]
    if not ours:
        raise _unsupported_form(data, keys)
    for table in reversed(ours):
        own = _key_path(table) == keys
        data = remove_paragraph(data, table.start_byte, _table_end(data, table), trace.space if own else "")
    if _read_edited(data, keys) is not None:
        raise _unsupported_form(data, keys)
    return data


def _updated(data: bytes, keys: tuple[str, ...], old: Any, wanted: dict[str, Any]) -> bytes:
    """Return the file with the fields of an existing table changed to the wanted ones."""
    if isinstance(old, dict) and all(old.get(name) == value for name, value in wanted.items()):
        return data
    for name, value in wanted.items():
        table = next((one for one in _tables(data) if _key_path(one) == keys), None)
        if table is None or not isinstance(old, dict) or "url" in old:
            raise _unsupported_form(data, keys)
        pair = next(
            (child for child in table.children if child.type == "pair" and _key_path(child) == (name,)), None
        )
        if pair is not None:
            start, stop = pair.children[2].start_byte, pair.children[2].end_byte
            data = data[:start] + _value(value).encode() + data[stop:]
        else:
            place = len(data[: _line_end(data, table.start_byte)].rstrip(b"\r\n"))
            newline = b"\r\n" if b"\r\n" in data else b"\n"
            data = data[:place] + newline + _field(name, value).encode() + data[place:]
    return data


def _parse(data: bytes) -> dict[str, Any]:
    """Parse a file; an error names the line."""
    try:
        return tomllib.loads(data.removeprefix(_BYTE_ORDER_MARK).decode())
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))  # or "at end of document"
        line = found[1] if found else data.rstrip().count(b"\n") + 1
        raise ConfigError(f"line {line}: {error}", hint="correct the file; nothing was written") from error
    # Bytes that are not UTF-8, a number of thousands of digits, or nesting that is too deep.
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"it is not TOML in UTF-8: {error}", hint="correct the file") from error


def _read_edited(data: bytes, keys: tuple[str, ...]) -> Any:
    """Return the value at these keys in an edited file.

    An edited file that cannot be parsed any more has a form that the edit does not fit, such as an inline
    table.
    """
    try:
        return read_entry(data, keys)
    except ConfigError as error:
        raise _unsupported_form(data, keys) from error


def _unsupported_form(data: bytes, keys: tuple[str, ...]) -> ConfigError:
    """Return the error for a file that does not write its servers as tables."""
    place = max(data.find(keys[0].encode()), 0)
    line = data.count(b"\n", 0, place) + 1
    return ConfigError(
        f"line {line}: {keys[0]} is not written as tables",
        hint=f"write each server as a table [{keys[0]}.NAME], or edit the file by hand",
    )


def _tables(data: bytes) -> list[tree_sitter.Node]:
    marked = b"   " + data[3:] if data.startswith(_BYTE_ORDER_MARK) else data
    return [child for child in _parser().parse(marked).root_node.children if child.type == "table"]


def _key_path(node: tree_sitter.Node) -> tuple[str, ...]:
    """Return the key of a table or a pair as its parts; tomllib resolves quotes and escapes."""
    key = next((child for child in node.children if child.type.endswith("_key")), None)
    if key is None or key.text is None:
        return ()
    path, value = [], tomllib.loads(key.text.decode() + " = 0")
    while isinstance(value, dict):
        ((name, value),) = value.items()
        path.append(name)
    return tuple(path)


def _table_end(data: bytes, table: tree_sitter.Node) -> int:
    """Return where the last field of a table ends; comments below it belong to the next table."""
    parts = [child.end_byte for child in table.children if child.type in ("pair", "]")]
    return _line_end(data, len(data[: max(parts)].rstrip(b"\r\n")))


def _line_end(data: bytes, position: int) -> int:
    end = data.find(b"\n", position)
    return len(data) if end < 0 else end + 1


def _field(name: str, value: Any) -> str:
    return f"{name} = {_value(value)}"


def _value(value: str | list[str]) -> str:
    """Return a value as TOML; strings and lists of strings are written as in JSON."""
    return json.dumps(value, ensure_ascii=False)


@cache
def _parser() -> tree_sitter.Parser:
    import tree_sitter
    import tree_sitter_toml

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language()))
