"""The MCP tools: the list of them, made from the command registry, and their calls as requests.

The whole list is in an agent's context from its first turn on, so it is short. Fields that few calls need
are not listed (but accepted), answers are described by their top-level fields alone, and the only text of a
repository in the list are the names of the served folders, if there are several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, get_args, get_type_hints

import msgspec

from satchel import plugins
from satchel.commands.command import Command, LocalPath
from satchel.commands.freshness import DEFAULT_REINDEX_MS, StalePolicy
from satchel.commands.session import CallOptions
from satchel.commands.tool_results import not_facts
from satchel.errors import InvalidRequest
from satchel.serving.envelope import Request, take_mode
from satchel.types import Counted, ResponseMode

# Fields that few calls need. They are listed only where a command says so, and every call may give them.
_RARE_FIELDS = frozenset(
    {
        "anchor_policy",
        "budget_counts",
        "chunk_type",
        "count",
        "explain",
        "file_pattern",
        "file_type",
        "focus",
        "include_docs",
        "language",
        "limit",
        "max_candidates",
        "max_chars",
        "max_chunks",
        "max_related_per_primary",
        "outgoing",
        "path_prefix",
        "prefer_code",
        "ref",
        "related_mode",
        "reserve_tokens",
        "response_mode",
        "section_caps",
        "strategy",
        "tags",
        "trace",
        "word",
    }
)
_PLAIN_FIELDS = frozenset({"include_paths", "exclude_paths", "ref"})  # whose names say what they take
_RESPONSE_MODES = [mode.value for mode in ResponseMode]
_ANNOTATIONS = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}

# These clients show the model only the structured content of a result, whenever there is any. The quoted code
# is in the text alone and would never be seen.
_CLIENTS_WITHOUT_TEXT = ("claude-code", "claude code", "codex", "visual studio code", "vscode")
DEFAULT_PACK_TOKENS = 8_000  # clients warn at 10,000 tokens
_ENVELOPE_TOKENS = 100  # of a result beside its text and data: the index state, and the fields around all
MIN_REINDEX_MS, MAX_REINDEX_MS = 100, 120_000


def hides_text(client_name: str) -> bool:
    """Return whether a client hides the text of a result that has structured content.

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
    """Return the JSON Schema of the structured content: the top-level fields that every answer has, by name.
    The published contracts have their types, which would be a tenth of the list of tools."""
    _, always = _properties(command.response)
    left_out = not_facts(command.response)
    fields: dict[str, Any] = {name: {} for name in always if name not in left_out}
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
    is_plain = name in _RARE_FIELDS | _PLAIN_FIELDS and "enum" not in shown and shown.get("type") != "boolean"
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


def _marked(kind: type[msgspec.Struct], mark: type) -> frozenset[str]:
    """Return the names of the fields that are annotated with a mark."""
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(
        name for name, hint in hints.items() if any(isinstance(note, mark) for note in get_args(hint))
    )


class ToolCall(msgspec.Struct, frozen=True):
    """A parsed tool call: the command, its request, and how the result is to be sent."""

    command: Command
    request: Request
    mode: ResponseMode
    cursor: str  # where the page starts; empty for the first page
    with_data: bool  # whether structured content is sent beside the text
    counts_result: bool = False  # whether the token budget covers the whole result, not the text alone

    def with_fields(self, **fields: Any) -> ToolCall:
        """Return the same call with some fields of its payload set."""
        payload = {**self.request.payload, **fields}
        return msgspec.structs.replace(self, request=msgspec.structs.replace(self.request, payload=payload))


@cache
def commands_by_tool_name() -> dict[str, Command]:
    """Return the commands that are listed as tools, by the name of the tool."""
    commands = [plugins.load("command", name) for name in plugins.names("command")]
    return {command.tool: command for command in commands if command.tool}


def find_command(name: str) -> Command | None:
    """Return the command of a tool; an unlisted command is found by its own name."""
    command: Command | None = commands_by_tool_name().get(name) or plugins.find("command", name)
    return command


def tool_name(command_name: str) -> str:
    """Return the name of the tool that runs a command."""
    command = find_command(command_name)
    return command.tool or command_name if command is not None else command_name


def parse_tool_call(command: Command, arguments: Mapping[str, Any], *, with_facts: bool = True) -> ToolCall:
    """Parse the arguments that every tool has; the command itself validates its own fields later.

    Without `with_facts`, structured content is sent only if the whole data is asked for.
    """
    payload = dict(arguments)
    cursor = _pop(payload, "cursor", str, "")
    if "." in cursor and "cursor" in command.request.__struct_fields__:
        # The cursor of the command itself, which has a dot; that of a page of its text has none.
        payload["cursor"], cursor = cursor, ""
    options = _pop_freshness(payload) if command.fresh else None
    mode = take_mode(command, payload)
    with_data = with_facts or mode is ResponseMode.FULL
    counts_result = _set_budget(command, payload, mode, with_data=with_data)
    return ToolCall(command, Request(command.name, payload, options), mode, cursor, with_data, counts_result)


def _pop(payload: dict[str, Any], name: str, kind: type, default: Any) -> Any:
    """Remove a field from the payload and return its value, checked; the default if it is not given."""
    value = payload.pop(name, None)
    if value is None:
        return default
    if type(value) is not kind:
        raise InvalidRequest(f"{name} is {value!r}, it must be of type {kind.__name__}")
    return value


def _pop_freshness(payload: dict[str, Any]) -> CallOptions:
    """Remove the fields about refreshing the index from the payload, and return them as call options."""
    auto_index = _pop(payload, "auto_index", bool, True)
    budget_ms = _pop(payload, "auto_index_budget_ms", int, DEFAULT_REINDEX_MS)
    return CallOptions(
        stale_policy=StalePolicy.AUTO if auto_index else StalePolicy.FAIL,
        max_reindex_ms=min(max(budget_ms, MIN_REINDEX_MS), MAX_REINDEX_MS),
    )


def _set_budget(command: Command, payload: dict[str, Any], mode: ResponseMode, *, with_data: bool) -> bool:
    """Give a pack without a budget the default one, and let the budget count all that is sent.

    Return whether the whole result is counted: not if the call itself says what to count.
    """
    if "budget_counts" not in command.request.__struct_fields__:
        return False
    if payload.get("budget_tokens") is None and payload.get("max_chars") is None:
        payload["budget_tokens"] = DEFAULT_PACK_TOKENS
    if not {"budget_counts", "reserve_tokens"}.isdisjoint(payload):
        return False
    counted = Counted.TEXT_AND_DATA if mode is ResponseMode.FULL else Counted.TEXT_AND_FACTS
    payload["budget_counts"] = (counted if with_data else Counted.TEXT).value
    payload["reserve_tokens"] = _ENVELOPE_TOKENS if with_data else 0
    return True


def _type_alone(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the bare type of a schema; nothing if the value may be null."""
    may_be_null = any(part.get("type") == "null" for part in schema.get("anyOf", []))
    kind = schema.get("type", "string" if "enum" in schema else None)
    return {"type": kind} if isinstance(kind, str) and not may_be_null else {}
