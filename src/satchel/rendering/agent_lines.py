"""Any answer as plain lines, for those that have no form of their own."""

from __future__ import annotations

from enum import Enum
from typing import Any

import msgspec

from satchel.rendering.packs.quoting import fence_for, quoted_line
from satchel.rendering.visible import visible

_INDENT = "  "


def plain_lines(value: Any) -> list[str]:
    """One line for each value, indented by depth; a text of several lines stands in a fence."""
    if isinstance(value, msgspec.Struct):
        return plain_lines({name: getattr(value, name) for name in value.__struct_fields__})
    if isinstance(value, dict):
        return [line for name, part in value.items() for line in _named(quoted_line(str(name)), part)]
    if isinstance(value, list | tuple):
        return [line for part in value for line in _named("-", part)]
    return [_scalar(value)]


def _named(name: str, value: Any) -> list[str]:
    label = name if name == "-" else f"{name}:"
    if isinstance(value, str) and "\n" in value:
        text = visible(value).rstrip("\n")
        fence = fence_for(text)
        return [label, fence, *text.split("\n"), fence]
    if isinstance(value, msgspec.Struct | dict | list | tuple):
        inner = plain_lines(value)
        return [label, *(f"{_INDENT}{line}" for line in inner)] if inner else []
    told = _scalar(value)
    return [f"{label} {told}"] if told else []


def _scalar(value: Any) -> str:
    if value is None or value is msgspec.UNSET:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return quoted_line(str(value.value if isinstance(value, Enum) else value))
