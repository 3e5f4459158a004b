"""What should a caller do after an error? The call that works is the next action of the error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from satchel import plugins
from satchel.commands.command import Command
from satchel.errors import (
    IndexCorrupt,
    IndexMissing,
    IndexProblem,
    IndexStale,
    InvalidBudget,
    SatchelError,
)

_CURED_BY_INDEX = (IndexMissing, IndexStale, IndexCorrupt)
# The fields of a request that a detail of the error is a value for.
_FIELDS = {
    "min_tokens": ("budget_tokens", "budget"),
    "min_chars": ("max_chars",),
    "max_tokens": ("budget_tokens", "budget"),
    "max_chars": ("max_chars",),
}


def with_retry(error: SatchelError, action: str, arguments: Mapping[str, Any]) -> SatchelError:
    """Return the error; if a budget is too small, the same call with one that works is its next action."""
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


def with_index_first(error: IndexProblem, project: str) -> IndexProblem:
    """Return the error; if an index would cure it, the call that makes one is its next action. The call names
    the project, because without it whatever folder is the default would be indexed."""
    if isinstance(error, _CURED_BY_INDEX) and not error.next_actions:
        arguments: dict[str, Any] = {"project": project} if project else {}
        if isinstance(error, IndexCorrupt):  # what is kept may be what cannot be read
            arguments["force"] = True
        reason = "build the index, however long it takes"
        error.next_actions = [{"tool": "index", "args": arguments, "reason": reason}]
    return error
