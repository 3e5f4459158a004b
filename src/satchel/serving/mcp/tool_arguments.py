"""The arguments of a tool call, as a request of the Command API."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from satchel import plugins
from satchel.commands.command import Command
from satchel.commands.freshness import DEFAULT_REINDEX_MS, StalePolicy
from satchel.commands.session import CallOptions
from satchel.errors import InvalidRequest
from satchel.serving.envelope import Request, take_mode
from satchel.types import Counted, ResponseMode

DEFAULT_PACK_TOKENS = 8_000  # clients warn at 10,000 tokens
_ENVELOPE_TOKENS = 100  # of a result beside its text and data: the index state, and the fields around all
MIN_REINDEX_MS, MAX_REINDEX_MS = 100, 120_000


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
