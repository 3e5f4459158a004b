"""Entries put into settings files as text: found again, taken out to the byte, everything else as it was."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonc import read_json

from satchel.errors import ConfigError
from satchel.serving.installing import instructions, json_settings, toml_settings
from satchel.serving.installing.file_edits import EditTrace

KEYS = ("mcpServers", "satchel")
ENTRY: dict[str, Any] = {"command": "/opt/satchel", "args": ["serve", "mcp"]}


def comments_of(data: bytes) -> list[bytes]:
    return re.findall(rb"//c\d|/\*c\d[^*]*\*/", data)


LITTLE = st.sampled_from(["", " ", "\n", "\n  ", "\t", " //c1\n", "/*c2*/", "\n  //c3\n  ", " /*c4\n x*/ "])
KEY = st.sampled_from(["a", "mcpServers", "other", "satchel2", "b c", 'q"u', "ü", "//x", "/*"])


@st.composite
def json_values(draw: st.DrawFn, depth: int = 3) -> str:
    kind = draw(st.sampled_from("sno" if depth else "sn"))
    if kind == "s":
        return json.dumps(draw(st.sampled_from(["", "x", "// no", "/* no", 'a"b', "\\", ", ]", "é"])))
    if kind == "n":
        return draw(st.sampled_from(["1", "-2.5", "true", "null", "[]", "[1, {}]", "[ 1 ,]"]))
    return draw(json_objects(depth - 1))


@st.composite
def json_objects(draw: st.DrawFn, depth: int = 3) -> str:
    keys = draw(st.lists(KEY, unique=True, max_size=3))
    pairs = [
        f"{draw(LITTLE)}{json.dumps(key)}{draw(LITTLE)}:{draw(LITTLE)}"
        + (draw(json_objects(depth - 1)) if key == "mcpServers" and depth else draw(json_values(depth)))
        + draw(LITTLE)
        for key in keys
    ]
    trailing: bool = draw(st.booleans())
    comma = "," + draw(LITTLE) if pairs and trailing else ""
    return "{" + ",".join(pairs) + comma + (draw(LITTLE) if not pairs else "") + "}"


@st.composite
def json_files(draw: st.DrawFn) -> bytes:
    text = draw(LITTLE) + draw(json_objects()) + draw(LITTLE)
    text = text.replace("\n", "\r\n") if draw(st.booleans()) else text
    return ("\ufeff" if draw(st.booleans()) else "").encode() + text.encode()


def fits(data: bytes) -> bool:
    servers = read_json(data).get("mcpServers", {})
    return isinstance(servers, dict)


@given(json_files().filter(fits))
def test_an_entry_of_json_is_found_again_and_goes_without_a_trace(data: bytes) -> None:
    written, trace = json_settings.add_entry(data, KEYS, ENTRY)
    values = read_json(written)
    assert values["mcpServers"].pop("satchel") == ENTRY
    before = read_json(data)
    assert values == before | {"mcpServers": before.get("mcpServers", {})}
    assert json_settings.add_entry(written, KEYS, ENTRY)[0] == written
    assert json_settings.remove_entry(written, KEYS, trace) == data


@given(json_files().filter(fits))
def test_every_comment_of_json_survives(data: bytes) -> None:
    written, _ = json_settings.add_entry(data, KEYS, ENTRY)
    assert comments_of(written) == comments_of(data)


@given(
    json_files().filter(fits),
    st.sampled_from([("mcpServers", "later"), ("later",), ("mcpServers", "a", "b")]),
)
def test_what_was_written_into_json_meanwhile_stays(data: bytes, keys: tuple[str, ...]) -> None:
    written, trace = json_settings.add_entry(data, KEYS, ENTRY)
    try:
        edited, _ = json_settings.add_entry(written, keys, {"x": 1})
    except ConfigError:
        return
    rest, wanted = read_json(json_settings.remove_entry(edited, KEYS, trace)), read_json(edited)
    del wanted["mcpServers"]["satchel"]
    if trace.made and not wanted["mcpServers"]:
        del wanted["mcpServers"]
    assert rest == wanted


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\xef\xbb\xbf", b"// only\n", b"{}", b"{ }", b"{\n}\n", b'{"a":1}']
)
def test_an_almost_empty_json_file_comes_back(data: bytes) -> None:
    written, trace = json_settings.add_entry(data, KEYS, ENTRY)
    assert read_json(written)["mcpServers"]["satchel"] == ENTRY
    assert json_settings.remove_entry(written, KEYS, trace) == data


def test_json_is_indented_as_the_file_is() -> None:
    written, _ = json_settings.add_entry(
        b'{\n\t"mcpServers": {\n\t\t"a": {}\n\t}\n}\n', KEYS, {"command": "x"}
    )
    assert written == (
        b'{\n\t"mcpServers": {\n\t\t"a": {},\n\t\t"satchel": {\n\t\t\t"command": "x"\n\t\t}\n\t}\n}\n'
    )


def test_a_comment_stays_with_its_line() -> None:
    written, _ = json_settings.add_entry(b'{\n  "a": 1 // about a\n}', ("satchel",), {"command": "x"})
    assert b'"a": 1, // about a\n  "satchel": {' in written


def test_of_an_entry_of_json_only_our_fields_change() -> None:
    data = b'{"mcpServers": {"satchel": {"command": "old", "env": {"A": "b"} /* mine */}}}'
    written, _ = json_settings.add_entry(data, KEYS, ENTRY)
    assert read_json(written)["mcpServers"]["satchel"] == {**ENTRY, "env": {"A": "b"}}
    assert b"/* mine */" in written


def test_an_entry_for_a_remote_server_is_replaced() -> None:
    data = b'{"mcpServers": {"satchel": {"url": "http://x"}}}'
    assert read_json(json_settings.add_entry(data, KEYS, ENTRY)[0])["mcpServers"]["satchel"] == ENTRY


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b'{\n"a": 1\n"b": 2}', 3),
        (b'{\n"a": tru}', 2),
        (b"[]", 1),
        (b'{\n"mcpServers": []}', 2),
        (b'{"a": "\n"}', 1),
        (b'{ // c\r"a": 1\r}', 1),
        (b"{\n,}", 2),
        (b'{"a": [1,,]}', 1),
    ],
)
def test_json_that_cannot_be_read_is_named_by_its_line(data: bytes, line: int) -> None:
    with pytest.raises(ConfigError, match=f"line {line}"):
        json_settings.add_entry(data, KEYS, ENTRY)


TABLE = ("mcp_servers", "satchel")
TOML_PARTS = [
    "a = 1",
    "# [mcp_servers.satchel]",
    'b = """\n[mcp_servers.satchel]\n"""',
    "",
    "[t]",
    "x.y = [1,\n 2] # end",
    "[mcp_servers.other]\ncommand = 'z'",
    '[mcp_servers."ü.1"]',
    "[[list]]",
    "[mcp_servers.other.env]\nK = 'v'",
]


@st.composite
def toml_files(draw: st.DrawFn) -> bytes:
    parts = draw(st.lists(st.sampled_from(TOML_PARTS), max_size=6, unique=True))
    text = "\n".join(parts) + draw(st.sampled_from(["", "\n", "\n\n", "\n# last", "\n\n\n"]))
    return text.replace("\n", "\r\n").encode() if draw(st.booleans()) else text.encode()


def is_toml(data: bytes) -> bool:
    try:
        tomllib.loads(data.decode())
    except tomllib.TOMLDecodeError:
        return False
    return True


@given(toml_files().filter(is_toml))
def test_a_table_of_toml_is_found_again_and_goes_without_a_trace(data: bytes) -> None:
    written, trace = toml_settings.add_entry(data, TABLE, ENTRY)
    values = tomllib.loads(written.decode())
    assert written.startswith(data) and values["mcp_servers"].pop("satchel") == ENTRY
    before = tomllib.loads(data.decode())
    assert values == before | {"mcp_servers": before.get("mcp_servers", {})}
    assert toml_settings.add_entry(written, TABLE, ENTRY)[0] == written
    assert toml_settings.remove_entry(written, TABLE, trace) == data


@given(
    toml_files().filter(is_toml), st.sampled_from(["\n# mine\n[later]\nz = 1\n", "extra = 'x'\n[later]\n"])
)
def test_what_was_written_into_toml_meanwhile_stays(data: bytes, addition: str) -> None:
    written, trace = toml_settings.add_entry(data, TABLE, ENTRY)
    rest = toml_settings.remove_entry(written + addition.encode(), TABLE, trace)
    assert rest.startswith(data.rstrip(b"\r\n"))
    assert tomllib.loads(rest.decode())["later"] == tomllib.loads(addition)["later"]
    assert ("# mine" in addition) == (b"# mine" in rest)


def test_a_table_of_toml_is_updated_in_its_place() -> None:
    data = b'[mcp_servers.satchel] # ours\nargs = ["old"] # why\nstartup_timeout_sec = 20\n[z]\n'
    written, _ = toml_settings.add_entry(data, TABLE, ENTRY)
    values = tomllib.loads(written.decode())
    assert values["mcp_servers"]["satchel"] == {**ENTRY, "startup_timeout_sec": 20} and "z" in values
    assert b"# ours" in written and b"# why" in written


@pytest.mark.parametrize(
    "data",
    [b"mcp_servers = { a = { command = 'x' } }", b"[mcp_servers]\nsatchel = { command = 'x' }", b"a = "],
)
def test_toml_that_cannot_be_edited_is_named_by_its_line(data: bytes) -> None:
    with pytest.raises(ConfigError, match="line 1"):
        toml_settings.add_entry(data, TABLE, ENTRY)


@given(st.text(alphabet="a# \n", max_size=20), st.booleans())
def test_a_block_goes_without_a_trace(text: str, windows: bool) -> None:
    data = text.replace("\n", "\r\n").encode() if windows else text.encode()
    written, trace = instructions.add_block(data, "")
    block = instructions.find_block(written)
    assert block is not None and instructions.is_current(block)
    assert instructions.add_block(written, "")[0] == written
    assert instructions.remove_block(written, trace, "") == (
        data if data.strip() else instructions.remove_block(written, trace, "")
    )


def test_text_around_a_block_stays() -> None:
    written, trace = instructions.add_block(b"# Mine", "")
    assert instructions.remove_block(written + b"\nbelow\n", trace, "") == b"# Mine\n\nbelow\n"


def test_an_old_block_is_replaced() -> None:
    old = f"above\n{instructions.BEGIN}\nold\n{instructions.END}\nbelow\n".encode()
    assert instructions.add_block(old, "")[0] == f"above\n{instructions.BLOCK}below\n".encode()


def test_half_a_block_is_an_error_with_its_line() -> None:
    with pytest.raises(ConfigError, match="line 2"):
        instructions.remove_block(f"a\n{instructions.BEGIN}\n".encode(), EditTrace(), "")


@pytest.mark.parametrize("data", [b"{// \n}\n", b"{ //b\n  // c \n}\n", b'{"a": 1, // c \t\n}\n'])
def test_blanks_at_the_end_of_a_comment_stay(data: bytes) -> None:
    keys = ("mcpServers", "satchel")
    edited, trace = json_settings.add_entry(data, keys, {"command": "satchel"})
    assert json_settings.remove_entry(edited, keys, trace) == data
