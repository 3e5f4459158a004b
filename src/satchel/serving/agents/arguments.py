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
LEAST_REINDEX_MS, MOST_REINDEX_MS = 100, 120_000


class Asked(msgspec.Struct, frozen=True):
    """A call as it was understood: the request, how much to answer, and from which place on."""

    command: Command
    request: Request
    mode: ResponseMode
    cursor: str


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


def understood(command: Command, arguments: Mapping[str, Any]) -> Asked:
    """What a call asks for; what is wrong with the fields of the command itself is said by the command."""
    payload = dict(arguments)
    cursor = _taken(payload, "cursor", str, "")
    options = _freshness(payload) if command.fresh else None
    mode = take_mode(command, payload)
    _set_budget(command, payload, mode)
    return Asked(command, Request(command.name, payload, options), mode, cursor)


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


def _set_budget(command: Command, payload: dict[str, Any], mode: ResponseMode) -> None:
    """A pack without a budget gets what clients take without complaint. What an agent reads is counted: the
    text, unless the whole data was asked for."""
    if "budget_counts" not in command.request.__struct_fields__:
        return
    if mode is not ResponseMode.FULL:
        payload.setdefault("budget_counts", Counted.TEXT.value)
    if payload.get("budget_tokens") is None and payload.get("max_chars") is None:
        payload["budget_tokens"] = DEFAULT_PACK_TOKENS
