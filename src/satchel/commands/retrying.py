"""A budget that cannot be used: the same call with one that can, as the next action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from satchel import plugins
from satchel.commands.command import Command
from satchel.errors import InvalidBudget, SatchelError

# the fields of a request that a detail of the error is the value of
_FIELDS = {
    "min_tokens": ("budget_tokens", "budget"),
    "min_chars": ("max_chars",),
    "max_tokens": ("budget_tokens", "budget"),
    "max_chars": ("max_chars",),
}


def with_retry(error: SatchelError, action: str, arguments: Mapping[str, Any]) -> SatchelError:
    """The error, if it is one of a budget, with the call that works as its next action."""
    if not isinstance(error, InvalidBudget) or error.next_actions:
        return error
    command: Command = plugins.load("command", action)
    usable = {
        field: error.details[name]
        for name, fields in _FIELDS.items()
        if name in error.details
        for field in fields
        if field in command.request.__struct_fields__
    }
    if usable:
        told = " and ".join(f"{name} {value}" for name, value in usable.items())
        error.next_actions = [
            {"tool": action, "args": {**arguments, **usable}, "reason": f"{told} can be used"}
        ]
    return error
