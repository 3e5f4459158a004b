"""The commands that agents are offered, as tools: name, when to use it, what it takes, what it gives.

Everything is read off the registry. The whole list stands in an agent's context from its first turn on, so it
is kept short: fields that few calls need are left out of it (and still taken), answers are described to the
depth of their first fields, and nothing of any repository is in it but the names of several served folders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args, get_type_hints

import msgspec

from satchel.commands.command import Command, LocalPath
from satchel.commands.freshness import DEFAULT_REINDEX_MS
from satchel.commands.tool_results import not_facts
from satchel.serving.agents.arguments import (
    DEFAULT_PACK_TOKENS,
    commands_by_tool_name,
)
from satchel.types import ResponseMode

# What few calls need: listed only where a command says so, and taken from every call.
_RARE = frozenset(
    {
        "anchor_policy",
        "budget_counts",
        "chunk_type",
        "explain",
        "file_pattern",
        "file_type",
        "include_docs",
        "language",
        "limit",
        "max_candidates",
        "max_chars",
        "max_chunks",
        "max_related_per_primary",
        "path_prefix",
        "prefer_code",
        "related_mode",
        "reserve_tokens",
        "response_mode",
        "section_caps",
        "strategy",
        "tags",
        "trace",
    }
)
_MODES = [mode.value for mode in ResponseMode]
_HINTS = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}


def tool_list(projects: Sequence[str] = (), *, with_output: bool = True) -> list[dict[str, Any]]:
    """All tools, in the order of their names. Where several projects are served, each call names one."""
    return [
        _tool(name, command, projects, with_output=with_output)
        for name, command in sorted(commands_by_tool_name().items())
    ]


def _tool(name: str, command: Command, projects: Sequence[str], *, with_output: bool) -> dict[str, Any]:
    tool = {
        "name": name,
        "description": " ".join(command.help.split()),
        "inputSchema": input_schema(command, projects),
        "annotations": {"title": name.replace("_", " ").capitalize(), **_HINTS},
    }
    return {**tool, "outputSchema": output_schema(command)} if with_output else tool


def input_schema(command: Command, projects: Sequence[str] = ()) -> dict[str, Any]:
    """What a call may say."""
    properties, required = _properties(command.request)
    if len(projects) > 1:
        required = [*required, "project"]
    local = _marked(command.request, LocalPath)
    listed = {
        name: _argument(name, schema, command)
        for name, schema in properties.items()
        if name not in local and name not in _RARE - command.tool_fields
    }
    return {
        "type": "object",
        "properties": {**listed, **_shared(command, projects)},
        **({"required": required} if required else {}),
    }


def output_schema(command: Command) -> dict[str, Any]:
    """What the structured content holds, to the depth of the fields that every answer has."""
    properties, always = _properties(command.response)
    left_out = not_facts(command.response)
    fields = {name: _type_alone(properties[name]) for name in always if name not in left_out}
    return {
        "type": "object",
        "properties": {
            "data": {"type": "object", "properties": fields},
            "next_cursor": {"type": "string"},
        },
    }


def _shared(command: Command, projects: Sequence[str]) -> dict[str, Any]:
    """What tools take beside their own fields; how fresh and how much is listed where answers are long."""
    shared: dict[str, Any] = {"cursor": {"type": "string"}}  # the text of a page says how to use it
    if command.counted:
        shared["response_mode"] = {"enum": _MODES, "default": ResponseMode.FACTS.value}
    if command.counted and command.fresh:
        shared["auto_index"] = {"type": "boolean", "default": True}
        shared["auto_index_budget_ms"] = {"type": "integer", "default": DEFAULT_REINDEX_MS}
    if len(projects) > 1:
        shared["project"] = {"enum": list(projects)}
    return shared


def _argument(name: str, schema: dict[str, Any], command: Command) -> dict[str, Any]:
    """A field with what is said of it; an empty default says nothing. What few calls need is described where
    its name and type leave it open: its values, or what true means."""
    shown = _type_of(schema)
    is_plain = name in _RARE and "enum" not in shown and shown.get("type") != "boolean"
    if "description" in schema and not is_plain:
        shown["description"] = schema["description"].replace(" (repeatable)", "")
    default = DEFAULT_PACK_TOKENS if command.counted and name == "budget_tokens" else schema.get("default")
    return {**shown, "default": default} if default else shown


def _properties(kind: type[msgspec.Struct]) -> tuple[dict[str, dict[str, Any]], list[str]]:
    schema = msgspec.json.schema(kind)
    definitions = schema["$defs"]
    own = definitions[schema["$ref"].rpartition("/")[2]]
    properties = {name: _resolved(part, definitions) for name, part in own["properties"].items()}
    return properties, own.get("required", [])


def _resolved(schema: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """A field's schema with what it refers to, and without the null that stands for an unset one."""
    if "$ref" in schema:
        schema = {**definitions[schema["$ref"].rpartition("/")[2]], **schema}
    for union in ("anyOf", "allOf"):
        parts = [part for part in schema.get(union, []) if part.get("type") != "null"]
        if len(parts) == 1:
            schema = {**_resolved(parts[0], definitions), **schema}
    if isinstance(schema.get("items"), dict):
        schema = {**schema, "items": _resolved(schema["items"], definitions)}
    return schema


def _type_of(schema: dict[str, Any]) -> dict[str, Any]:
    if "enum" in schema:
        return {"enum": [value for value in schema["enum"] if value is not None]}
    if schema.get("type") == "array":
        items = schema.get("items")
        return {"type": "array", "items": _type_alone(items) if isinstance(items, dict) else {}}
    return {"type": schema["type"]} if isinstance(schema.get("type"), str) else {}


def _type_alone(schema: dict[str, Any]) -> dict[str, Any]:
    may_be_null = any(part.get("type") == "null" for part in schema.get("anyOf", []))
    kind = schema.get("type", "string" if "enum" in schema else None)
    return {"type": kind} if isinstance(kind, str) and not may_be_null else {}


def _marked(kind: type[msgspec.Struct], mark: type) -> frozenset[str]:
    """The fields that carry a mark."""
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(
        name for name, hint in hints.items() if any(isinstance(note, mark) for note in get_args(hint))
    )
