"""Which list of an answer is sent item by item? Found from the response's types, so no command is named."""

from __future__ import annotations

from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from satchel.serving.envelope import Response, encode
from satchel.visible_json import compact_bytes


@cache
def items_field(response: type[msgspec.Struct]) -> str:
    """The field that holds the records an answer consists of, if it is a list; otherwise nothing.

    That is the first field of records which the command defines itself: those that it shares with other
    commands stand beside its answer. A command that has only shared ones answers with the first of them.
    """
    held = {name: (kind, _records(kind)) for name, kind in get_type_hints(response).items()}
    with_records = [(name, kind, records) for name, (kind, records) in held.items() if records]
    own = [found for found in with_records if any(r.__module__ == response.__module__ for r in found[2])]
    name, kind, _ = (own or with_records or [("", None, [])])[0]
    return name if get_origin(kind) in (list, tuple) else ""


def _records(kind: Any) -> list[type[msgspec.Struct]]:
    """The structs that a type is made of."""
    if isinstance(kind, type) and get_origin(kind) is None:
        return [kind] if issubclass(kind, msgspec.Struct) else []
    return [record for part in get_args(kind) for record in _records(part)]


def split(response: Response, kind: type[msgspec.Struct]) -> tuple[str, list[bytes], bytes]:
    """The name of the list, its items as JSON, and the envelope without that list. The data may be JSON
    already; `kind` says what it is the JSON of."""
    name = items_field(kind)
    if not name:
        return "", [], encode(response)
    fields = msgspec.json.decode(compact_bytes(response.data), type=dict[str, msgspec.Raw])
    found = fields.pop(name, None)  # an empty list may have been left out
    items = [] if found is None else msgspec.json.decode(found, type=list[msgspec.Raw])
    return name, [bytes(item) for item in items], encode(msgspec.structs.replace(response, data=fields))
