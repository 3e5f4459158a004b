"""What of an answer stands in structured content: its facts, its ids, and the items of one page.

All of it is read off the answer's own annotations, so a new command needs nothing here.
"""

from __future__ import annotations

from functools import cache
from typing import Any, get_args, get_type_hints

import msgspec

from satchel.commands.command import Command, Verbatim
from satchel.commands.index_state import IndexStateItem
from satchel.serving.envelope import Response

_ID_FIELDS = ("chunk_id", "snippet_id", "id")  # the first that an item has is what `get` finds it by

_HASH = "_hash"


def typed_data(command: Command, response: Response) -> Any:
    """The data of an answer as the command gave it; other processes hand it over as JSON."""
    data = response.data
    return msgspec.json.decode(data, type=command.response) if isinstance(data, msgspec.Raw) else data


def facts(answer: Any) -> Any:
    """The answer without what the agent text shows already (repository text, and hashes, which are long), and
    without the state of the index, which stands beside every answer."""
    return _pruned(answer, msgspec.to_builtins(answer))


def ids_of(answer: Any) -> list[str]:
    """The ids of all items, in their order."""
    if isinstance(answer, msgspec.Struct):
        own = next((name for name in _ID_FIELDS if name in answer.__struct_fields__), None)
        if own is not None:
            return [str(getattr(answer, own))]
        return [found for name in answer.__struct_fields__ for found in ids_of(getattr(answer, name))]
    if isinstance(answer, list | tuple):
        return [found for item in answer for found in ids_of(item)]
    return []


def item_count(answer: Any) -> int:
    """How many items an answer has: the entries of its lists, and of those in its parts."""
    if not isinstance(answer, msgspec.Struct):
        return 0
    values = [getattr(answer, name) for name in answer.__struct_fields__]
    return sum(len(value) if isinstance(value, list) else item_count(value) for value in values)


def items_between(answer: Any, start: int, stop: int) -> Any:
    """The same answer with the items from `start` up to `stop` alone."""
    changed: dict[str, Any] = {}
    place = 0
    for name in answer.__struct_fields__:
        value = getattr(answer, name)
        if isinstance(value, list):
            changed[name] = value[max(0, start - place) : max(0, stop - place)]
            place += len(value)
        elif count := item_count(value):
            changed[name] = items_between(value, start - place, stop - place)
            place += count
    return msgspec.structs.replace(answer, **changed)


def _pruned(value: Any, told: Any) -> Any:
    if isinstance(value, msgspec.Struct) and isinstance(told, dict):
        shown_already = _left_out(type(value))
        kept = {name: part for name, part in told.items() if name not in shown_already}
        return {name: _pruned(getattr(value, name, None), part) for name, part in kept.items()}
    if isinstance(value, list | tuple) and isinstance(told, list):
        return [_pruned(item, part) for item, part in zip(value, told, strict=True)]
    if isinstance(value, dict) and isinstance(told, dict):
        return {name: _pruned(value.get(name), part) for name, part in told.items()}
    return told


@cache
def _left_out(kind: type[msgspec.Struct]) -> frozenset[str]:
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(name for name, hint in hints.items() if _is_left_out(name, hint))


def _is_left_out(name: str, hint: Any) -> bool:
    parts = get_args(hint)
    return name.endswith(_HASH) or any(isinstance(part, Verbatim) or part is IndexStateItem for part in parts)
