"""An entry in a TOML settings file: a table of its own, put at the end and taken out as text."""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache
from typing import TYPE_CHECKING, Any

from satchel.errors import ConfigError
from satchel.serving.installing.trace import Trace, appended, without

if TYPE_CHECKING:
    import tree_sitter

_MARK = b"\xef\xbb\xbf"


def entry(data: bytes, keys: tuple[str, ...]) -> Any:
    """What is there under these keys."""
    value: Any = _values(data)
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def put(data: bytes, keys: tuple[str, ...], wanted: dict[str, Any]) -> tuple[bytes, Trace]:
    """The file with the entry in it. Of a table that is there only the fields that differ are changed."""
    old = entry(data, keys)
    if old is None:
        lines = [f"[{'.'.join(keys)}]", *(_field(name, value) for name, value in wanted.items())]
        newline = "\r\n" if b"\r\n" in data else "\n"
        result, trace = appended(data, (newline.join(lines) + newline).encode())
    else:
        result, trace = _updated(data, keys, old, wanted), Trace()
    found = _after(result, keys)
    if not isinstance(found, dict) or any(found.get(name) != value for name, value in wanted.items()):
        raise ConfigError("the file cannot be edited as text", hint="add the server by hand")
    return result, trace


def take(data: bytes, keys: tuple[str, ...], trace: Trace) -> bytes:
    """The file without the entry's table and the tables below it."""
    if entry(data, keys) is None:
        return data
    ours = [table for table in _tables(data) if _path(table)[: len(keys)] == keys]
    if not ours:
        raise _other_form(data, keys)
    for table in reversed(ours):
        own = _path(table) == keys
        data = without(data, table.start_byte, _end(data, table), trace.space if own else "")
    if _after(data, keys) is not None:
        raise _other_form(data, keys)
    return data


def _updated(data: bytes, keys: tuple[str, ...], old: Any, wanted: dict[str, Any]) -> bytes:
    if isinstance(old, dict) and all(old.get(name) == value for name, value in wanted.items()):
        return data
    for name, value in wanted.items():
        table = next((one for one in _tables(data) if _path(one) == keys), None)
        if table is None or not isinstance(old, dict) or "url" in old:
            raise _other_form(data, keys)
        pair = next(
            (child for child in table.children if child.type == "pair" and _path(child) == (name,)), None
        )
        if pair is not None:
            start, stop = pair.children[2].start_byte, pair.children[2].end_byte
            data = data[:start] + _value(value).encode() + data[stop:]
        else:
            place = len(data[: _line_end(data, table.start_byte)].rstrip(b"\r\n"))
            newline = b"\r\n" if b"\r\n" in data else b"\n"
            data = data[:place] + newline + _field(name, value).encode() + data[place:]
    return data


def _values(data: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(data.removeprefix(_MARK).decode())
    except tomllib.TOMLDecodeError as error:
        told = re.search(r"at line (\d+)", str(error))  # or "at end of document"
        line = told[1] if told else data.rstrip().count(b"\n") + 1
        raise ConfigError(f"line {line}: {error}", hint="correct the file; nothing was written") from error
    except (ValueError, RecursionError) as error:  # other bytes, a number of thousands of digits, deep nests
        raise ConfigError(f"it is not TOML in UTF-8: {error}", hint="correct the file") from error


def _after(data: bytes, keys: tuple[str, ...]) -> Any:
    """What an edited file says. One that was right before and is not now is written in a way that the edit
    does not fit, such as a closed inline table."""
    try:
        return entry(data, keys)
    except ConfigError as error:
        raise _other_form(data, keys) from error


def _other_form(data: bytes, keys: tuple[str, ...]) -> ConfigError:
    place = max(data.find(keys[0].encode()), 0)
    line = data.count(b"\n", 0, place) + 1
    return ConfigError(
        f"line {line}: {keys[0]} is not written as tables",
        hint=f"write each server as a table [{keys[0]}.NAME], or edit the file by hand",
    )


def _tables(data: bytes) -> list[tree_sitter.Node]:
    marked = b"   " + data[3:] if data.startswith(_MARK) else data
    return [child for child in _parser().parse(marked).root_node.children if child.type == "table"]


def _path(node: tree_sitter.Node) -> tuple[str, ...]:
    """The key of a table or a pair, its quotes read by the real reader."""
    key = next((child for child in node.children if child.type.endswith("_key")), None)
    if key is None or key.text is None:
        return ()
    path, value = [], tomllib.loads(key.text.decode() + " = 0")
    while isinstance(value, dict):
        ((name, value),) = value.items()
        path.append(name)
    return tuple(path)


def _end(data: bytes, table: tree_sitter.Node) -> int:
    """Where the last line of a table's own fields ends; comments below them belong to what follows."""
    parts = [child.end_byte for child in table.children if child.type in ("pair", "]")]
    return _line_end(data, len(data[: max(parts)].rstrip(b"\r\n")))


def _line_end(data: bytes, position: int) -> int:
    end = data.find(b"\n", position)
    return len(data) if end < 0 else end + 1


def _field(name: str, value: Any) -> str:
    return f"{name} = {_value(value)}"


def _value(value: str | list[str]) -> str:
    """Texts and lists of texts are written alike in JSON and TOML."""
    return json.dumps(value, ensure_ascii=False)


@cache
def _parser() -> tree_sitter.Parser:
    import tree_sitter
    import tree_sitter_toml

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language()))
