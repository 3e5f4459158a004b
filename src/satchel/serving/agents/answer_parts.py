"""The parts of an answer: its typed data, its ids, and the items of one page.

All of it is read off the fields of the answer, so a new command needs nothing here.
"""

from __future__ import annotations

from typing import Any

import msgspec

from satchel.commands.command import Command
from satchel.serving.envelope import Response

_ID_FIELDS = ("chunk_id", "snippet_id", "id")  # the first that an item has is what `get` finds it by


def typed_data(command: Command, response: Response) -> Any:
    """The data of an answer as the command gave it; other processes hand it over as JSON."""
    data = response.data
    return msgspec.json.decode(data, type=command.response) if isinstance(data, msgspec.Raw) else data


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
