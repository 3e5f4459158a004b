"""Entries put into YAML settings as text: what is written is read by a YAML library, all else keeps its bytes."""

from __future__ import annotations

from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from satchel.errors import ConfigError
from satchel.serving.installing import yaml_settings
from satchel.serving.installing.file_edits import EditTrace

KEYS = ("extensions", "satchel")
ENTRY: dict[str, Any] = {
    "name": "satchel",
    "cmd": 'C:\\Program Files\\it\'s #1: "satchel"',
    "args": ["serve", "mcp"],
    "enabled": True,
    "timeout": 300,
}
PARTS = [
    "GOOSE_MODEL: 'it''s' # mine",
    "# a comment",
    "",
    "text: |\n  extensions:\n    satchel: no\n\n  # inside\n",
    "folded: >-\n  a\n\n  b\n",
    "defaults: &defaults\n  timeout: 60\n  enabled: true",
    "list:\n- a\n- {b: [1, 2]}",
    "'quoted key': \"x\"",
]
SERVERS = [
    "extensions:",
    "extensions: # none",
    "extensions: {}",
    "extensions: { }  # none",
    "extensions: &all\n  # the developer's\n  dev:\n    cmd: dev\n    args:\n    - a\n\n  # last",
    "extensions:\n    dev:\n        cmd: dev\n        note: |\n            x\n\n    two: {cmd: two}",
    "extensions:\n\n  dev:\n    <<: *defaults\n    cmd: dev\n# end",
]


@st.composite
def files(draw: st.DrawFn) -> bytes:
    parts = draw(st.lists(st.sampled_from(PARTS), max_size=5, unique=True))
    servers = draw(st.sampled_from([*SERVERS, None]))
    if servers is not None:
        parts.insert(draw(st.integers(0, len(parts))), servers)
    if servers and "*defaults" in servers:
        parts = [PARTS[5], *(part for part in parts if part != PARTS[5])]
    text = "\n".join(parts) + draw(st.sampled_from(["", "\n", "\n\n", "\n# last", "\n\n\n"]))
    text = draw(st.sampled_from(["", "---\n"])) + text
    return text.replace("\n", "\r\n").encode() if draw(st.booleans()) else text.encode()


def is_yaml(data: bytes) -> bool:
    try:
        return isinstance(yaml.safe_load(data), dict | None)
    except yaml.YAMLError:
        return False


@given(files().filter(is_yaml))
def test_an_entry_is_read_by_a_library_and_goes_without_a_trace(data: bytes) -> None:
    written, trace = yaml_settings.add_entry(data, KEYS, ENTRY)
    before, after = yaml.safe_load(data) or {}, yaml.safe_load(written)
    assert after["extensions"].pop("satchel") == ENTRY
    assert after == before | {"extensions": before.get("extensions") or {}}
    assert yaml_settings.read_entry(written, KEYS) == ENTRY
    assert yaml_settings.add_entry(written, KEYS, ENTRY)[0] == written
    assert yaml_settings.remove_entry(written, KEYS, trace) == data


@given(files().filter(is_yaml))
def test_what_was_written_meanwhile_stays(data: bytes) -> None:
    written, trace = yaml_settings.add_entry(data.rstrip() + b"\n", KEYS, ENTRY)
    rest = yaml_settings.remove_entry(written + b"# mine\nlater: 1\n", KEYS, trace)
    assert rest.endswith(b"# mine\nlater: 1\n")
    assert {**(yaml.safe_load(rest) or {}), "extensions": 0} == {
        **(yaml.safe_load(data.rstrip() + b"\n") or {}),
        "later": 1,
        "extensions": 0,
    }


def test_what_the_client_wrote_anew_is_found_and_removed() -> None:
    """Goose writes its settings with a library: without comments, in another order and style."""
    written, trace = yaml_settings.add_entry(b"GOOSE_MODEL: x # mine\n", KEYS, ENTRY)
    values = yaml.safe_load(written)
    values["extensions"]["developer"] = {"enabled": True}
    again = yaml.safe_dump(values).encode()
    assert yaml_settings.add_entry(again, KEYS, ENTRY)[0] == again
    rest = yaml_settings.remove_entry(again, KEYS, trace)
    assert yaml.safe_load(rest) == {"GOOSE_MODEL": "x", "extensions": {"developer": {"enabled": True}}}


def test_an_entry_is_updated_in_its_place_and_stays_switched_off() -> None:
    data = b"extensions:\n  satchel: # ours\n    cmd: old # why\n    args:\n    - a\n    enabled: false\n  b: {}\n"
    written, _ = yaml_settings.add_entry(data, KEYS, ENTRY)
    values = yaml.safe_load(written)
    assert values == {"extensions": {"satchel": ENTRY | {"enabled": False}, "b": {}}}
    assert b"# ours" in written and b"# why" in written


@pytest.mark.parametrize(
    "data",
    [
        b"extensions: {a: {cmd: x}}",
        b"{extensions: {}}",
        b"extensions: [a]",
        b"extensions: *all",
        b"- a",
        b"extensions:\n\t- a: [",
        b"a: [1\nb: 2\n",
        b"a: 1\n---\nb: 2\n",
        b"a: \xff",
        b"extensions:\n  satchel: {uri: 'http://x', type: sse}\n",
        b"extensions:\n  satchel: *other\n",
        b"text: |+\n  kept\n",
    ],
)
def test_a_form_that_cannot_be_edited_is_left_alone(data: bytes) -> None:
    with pytest.raises(ConfigError):
        yaml_settings.add_entry(data, KEYS, ENTRY)


def test_an_anchor_in_the_entry_keeps_it_in_the_file() -> None:
    data = b"extensions:\n  satchel: &one\n    cmd: x\n  b: *one\n"
    with pytest.raises(ConfigError, match="line 2: satchel has an anchor"):
        yaml_settings.remove_entry(data, KEYS, EditTrace())
