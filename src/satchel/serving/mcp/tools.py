"""The list of MCP tools: the commands with their descriptions and schemas, made from the command registry.

The whole list is in an agent's context from its first turn on, so it is short. Fields that few calls need
are not listed (but accepted), answers are described by their top-level fields alone, and the only text of a
repository in the list are the names of the served folders, if there are several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args, get_type_hints

import msgspec

from satchel.commands.command import Command, LocalPath
from satchel.commands.freshness import DEFAULT_REINDEX_MS
from satchel.commands.tool_results import not_facts
from satchel.serving.mcp.tool_arguments import DEFAULT_PACK_TOKENS, commands_by_tool_name
from satchel.types import ResponseMode

# Fields that few calls need. They are listed only where a command says so, and every call may give them.
_RARE_FIELDS = frozenset(
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
_RESPONSE_MODES = [mode.value for mode in ResponseMode]
_ANNOTATIONS = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}

# These clients show the model only the structured content of a result, whenever there is any. The quoted code
# is in the text alone and would never be seen.
_CLIENTS_WITHOUT_TEXT = ("claude-code", "claude code", "codex", "visual studio code", "vscode")


def hides_text(client_name: str) -> bool:
    """Whether a client hides the text of a result that has structured content.

    Such a client gets tools without output schemas and results of text alone, unless the whole data is asked
    for. Clients are told apart by the name that they give in the handshake.
    """
    name = client_name.lower()
    return any(known in name for known in _CLIENTS_WITHOUT_TEXT)


def tool_list(projects: Sequence[str] = (), *, with_output: bool = True) -> list[dict[str, Any]]:
    """Return all tools, sorted by name. If several projects are served, every call has to name one."""
    return [
        _tool(name, command, projects, with_output=with_output)
        for name, command in sorted(commands_by_tool_name().items())
    ]


def _tool(name: str, command: Command, projects: Sequence[str], *, with_output: bool) -> dict[str, Any]:
    tool = {
        "name": name,
        "description": " ".join(command.help.split()),
        "inputSchema": input_schema(command, projects),
        "annotations": {"title": name.replace("_", " ").capitalize(), **_ANNOTATIONS},
    }
    return {**tool, "outputSchema": output_schema(command)} if with_output else tool


def input_schema(command: Command, projects: Sequence[str] = ()) -> dict[str, Any]:
    """Return the JSON Schema of the arguments of a command's tool."""
    properties, required = _properties(command.request)
    if len(projects) > 1:
        required = [*required, "project"]
    local = _marked(command.request, LocalPath)
    listed = {
        name: _argument(name, schema, command)
        for name, schema in properties.items()
        if name not in local and name not in _RARE_FIELDS - command.tool_fields
    }
    return {
        "type": "object",
        "properties": {**listed, **_shared_arguments(command, projects)},
        **({"required": required} if required else {}),
    }


def output_schema(command: Command) -> dict[str, Any]:
    """Return the JSON Schema of the structured content: the top-level fields that every answer has."""
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


def _shared_arguments(command: Command, projects: Sequence[str]) -> dict[str, Any]:
    """Return the arguments that tools have beside their own fields; some are listed for packs alone."""
    # The text of a page says how a cursor is used.
    shared: dict[str, Any] = {"cursor": {"type": "string"}}
    if command.counted:
        shared["response_mode"] = {"enum": _RESPONSE_MODES, "default": ResponseMode.FACTS.value}
    if command.counted and command.fresh:
        shared["auto_index"] = {"type": "boolean", "default": True}
        shared["auto_index_budget_ms"] = {"type": "integer", "default": DEFAULT_REINDEX_MS}
    if len(projects) > 1:
        shared["project"] = {"enum": list(projects)}
    return shared


def _argument(name: str, schema: dict[str, Any], command: Command) -> dict[str, Any]:
    """Return the schema of an argument; an empty default is left out.

    A rarely used argument is described only if its name and type do not explain it: if it has choices, or is
    a switch.
    """
    shown = _type_of(schema)
    is_plain = name in _RARE_FIELDS and "enum" not in shown and shown.get("type") != "boolean"
    if "description" in schema and not is_plain:
        shown["description"] = schema["description"].replace(" (repeatable)", "")
    default = DEFAULT_PACK_TOKENS if command.counted and name == "budget_tokens" else schema.get("default")
    return {**shown, "default": default} if default else shown


def _properties(kind: type[msgspec.Struct]) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the schemas of the fields of a struct, with references resolved, and the required fields."""
    schema = msgspec.json.schema(kind)
    definitions = schema["$defs"]
    own = definitions[schema["$ref"].rpartition("/")[2]]
    properties = {name: _resolved(part, definitions) for name, part in own["properties"].items()}
    return properties, own.get("required", [])


def _resolved(schema: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a field with its references resolved and without the null of an unset field."""
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
    """Return the type, the choices or the item type of a schema, and nothing else of it."""
    if "enum" in schema:
        return {"enum": [value for value in schema["enum"] if value is not None]}
    if schema.get("type") == "array":
        items = schema.get("items")
        return {"type": "array", "items": _type_alone(items) if isinstance(items, dict) else {}}
    return {"type": schema["type"]} if isinstance(schema.get("type"), str) else {}


def _type_alone(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the bare type of a schema; nothing if the value may be null."""
    may_be_null = any(part.get("type") == "null" for part in schema.get("anyOf", []))
    kind = schema.get("type", "string" if "enum" in schema else None)
    return {"type": kind} if isinstance(kind, str) and not may_be_null else {}


def _marked(kind: type[msgspec.Struct], mark: type) -> frozenset[str]:
    """Return the names of the fields that are annotated with a mark."""
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(
        name for name, hint in hints.items() if any(isinstance(note, mark) for note in get_args(hint))
    )
