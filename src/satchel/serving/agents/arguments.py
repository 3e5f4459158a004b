"""The arguments of a tool call as a request of the Command API."""

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
_AROUND_DATA = 100  # tokens of a result beside text and data: the state of the index, and what encloses all
LEAST_REINDEX_MS, MOST_REINDEX_MS = 100, 120_000


class Asked(msgspec.Struct, frozen=True):
    """A call as it was understood: the request, how much to answer, with or without structured content, and
    from which place on. `whole` says that the budget is one for all that is sent."""

    command: Command
    request: Request
    mode: ResponseMode
    cursor: str
    with_data: bool
    whole: bool = False

    def with_fields(self, **fields: Any) -> Asked:
        """The same call with some fields set."""
        payload = {**self.request.payload, **fields}
        return msgspec.structs.replace(self, request=msgspec.structs.replace(self.request, payload=payload))


@cache
def commands_by_tool_name() -> dict[str, Command]:
    """The commands that agents are offered, by the names of their tools."""
    commands = [plugins.load("command", name) for name in plugins.names("command")]
    return {command.tool: command for command in commands if command.tool}


def find_command(name: str) -> Command | None:
    """The command of a tool, or one called by its own name, which is not listed."""
    command: Command | None = commands_by_tool_name().get(name) or plugins.find("command", name)
    return command


def tool_name(command_name: str) -> str:
    """How agents call a command."""
    command = find_command(command_name)
    return command.tool or command_name if command is not None else command_name


def understood(command: Command, arguments: Mapping[str, Any], *, with_facts: bool = True) -> Asked:
    """What a call asks for; what is wrong with the fields of the command itself is said by the command.
    Without `with_facts`, structured content is sent only where the whole data was asked for."""
    payload = dict(arguments)
    cursor = _taken(payload, "cursor", str, "")
    options = _freshness(payload) if command.fresh else None
    mode = take_mode(command, payload)
    with_data = with_facts or mode is ResponseMode.FULL
    whole = _set_budget(command, payload, mode, with_data=with_data)
    return Asked(command, Request(command.name, payload, options), mode, cursor, with_data, whole)


def _taken(payload: dict[str, Any], name: str, kind: type, default: Any) -> Any:
    value = payload.pop(name, None)
    if value is None:
        return default
    if type(value) is not kind:
        raise InvalidRequest(f"{name} is {value!r}, it must be of type {kind.__name__}")
    return value


def _freshness(payload: dict[str, Any]) -> CallOptions:
    auto_index = _taken(payload, "auto_index", bool, True)
    budget = _taken(payload, "auto_index_budget_ms", int, DEFAULT_REINDEX_MS)
    return CallOptions(
        stale_policy=StalePolicy.AUTO if auto_index else StalePolicy.FAIL,
        max_reindex_ms=min(max(budget, LEAST_REINDEX_MS), MOST_REINDEX_MS),
    )


def _set_budget(command: Command, payload: dict[str, Any], mode: ResponseMode, *, with_data: bool) -> bool:
    """A pack without a budget gets what clients take without complaint. All that is sent is counted, unless
    the call says what to count; returns whether it is."""
    if "budget_counts" not in command.request.__struct_fields__:
        return False
    if payload.get("budget_tokens") is None and payload.get("max_chars") is None:
        payload["budget_tokens"] = DEFAULT_PACK_TOKENS
    if not {"budget_counts", "reserve_tokens"}.isdisjoint(payload):
        return False
    sent = Counted.TEXT_AND_DATA if mode is ResponseMode.FULL else Counted.TEXT_AND_FACTS
    payload["budget_counts"] = (sent if with_data else Counted.TEXT).value
    payload["reserve_tokens"] = _AROUND_DATA if with_data else 0
    return True
