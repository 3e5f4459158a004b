"""Which lines does a pack in JSON cite? A pack has one of three shapes, bare or inside the answer of a call.

json       {"items": [{"file", "start_line", "end_line", "content", …}], "budget": {"max_chars"}, …}
sections   {"sections": {"definitions": [{"path", "line_start", "line_end", "content", …}], …}, …}
layers     {"chunks": [{"source_path", "start_line", "end_line", "text", …}], "index", "digest", …}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from satchel import ids
from satchel.errors import InvalidRequest
from satchel.packing.pack import WORK_TREE
from satchel.verifying.saved_pack import FULL_HASH, SHORT_HASH, Citation, CitedPack, one_line_each

_ENVELOPES = ("data", "structuredContent", "result")  # the keys under which answers keep their data
_HASH = re.compile(rf"[0-9a-f]{{{SHORT_HASH},{FULL_HASH}}}")
_AGAIN = "make the pack again, or restore the file"


class ItemKeys(msgspec.Struct, frozen=True):
    """The keys under which a shape keeps the fields of a citation."""

    path: str
    first: str
    last: str
    content: str
    kind: str
    id: str


KEYS = {
    "json": ItemKeys("file", "start_line", "end_line", "content", "type", "id"),
    "sections": ItemKeys("path", "line_start", "line_end", "content", "kind", "snippet_id"),
    "layers": ItemKeys("source_path", "start_line", "end_line", "text", "kind", "id"),
}


class JsonPack(msgspec.Struct, frozen=True):
    """A decoded JSON pack. `data` is the object inside `document` that is the pack itself; `entries` are its
    items, one for each citation of `cited`."""

    document: Any
    data: dict[str, Any]
    cited: CitedPack
    entries: list[dict[str, Any]]

    @property
    def keys(self) -> ItemKeys:
        """Return the keys of this pack's shape."""
        return KEYS[self.cited.format]

    def part(self, name: str) -> dict[str, Any]:
        """Return the object of that name in the pack; an empty one if there is none."""
        return _part(self.data, name)


def read_json(text: str) -> JsonPack | None:
    """Read the pack in a JSON text; return None if the text is no JSON object."""
    if not text.lstrip("\ufeff \t\r\n").startswith("{"):
        return None
    try:
        document = msgspec.json.decode(text.removeprefix("\ufeff"))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidRequest(
            f"the pack is no JSON that can be read: {error}: it was cut or edited", hint=_AGAIN
        ) from error
    data = _unwrapped(document)
    shape = _shape(data)
    found = list(_entries(data, shape))
    _check_count(data, shape, len(found))
    citations = [_citation(entry, KEYS[shape], section, data) for section, entry in found]
    return JsonPack(document, data, _cited(data, shape, citations), [entry for _, entry in found])


def _unwrapped(document: Any) -> dict[str, Any]:
    """Return the pack inside the envelopes of an answer; raise InvalidRequest if there is none."""
    data = document
    while isinstance(data, dict) and not _is_pack(data):
        inside = [data[key] for key in _ENVELOPES if isinstance(data.get(key), dict)]
        if not inside:
            break
        data = inside[0]
    if not isinstance(data, dict) or not _is_pack(data):
        failed = isinstance(document, dict) and document.get("status") == "error"
        what = "the answer of a call that failed" if failed else "JSON, but no context pack"
        raise InvalidRequest(
            f"this is {what}", hint="give what `satchel pack` or `satchel build` wrote, in any format"
        )
    return data


def _is_pack(data: dict[str, Any]) -> bool:
    """Return whether an object has one of the three shapes."""
    return (
        isinstance(data.get("items"), list)
        or isinstance(data.get("sections"), dict)
        or (isinstance(data.get("chunks"), list) and "source_files" in data)
    )


def _shape(data: dict[str, Any]) -> str:
    return "sections" if "sections" in data else "layers" if "source_files" in data else "json"


def _entries(data: dict[str, Any], shape: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the items of a pack, each with the name of its section (empty for shapes without sections)."""
    lists = (
        data["sections"] if shape == "sections" else {"": data["chunks" if shape == "layers" else "items"]}
    )
    for section, entries in lists.items():
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise InvalidRequest(f"{section or 'items'} is not a list of items", hint=_AGAIN)
        for entry in entries:
            yield section, entry


def _check_count(data: dict[str, Any], shape: str, found: int) -> None:
    """Raise InvalidRequest if the shape with sections has another number of items than it states."""
    stated = _part(data, "metadata").get("selected", found)
    if shape == "sections" and stated != found:
        raise InvalidRequest(
            f"the pack says that it has {stated} items and has {found}: it was cut or edited", hint=_AGAIN
        )


def _cited(data: dict[str, Any], shape: str, citations: list[Citation]) -> CitedPack:
    named = (data, _part(data, "metadata"), _part(data, "budget"))
    tokenizer = next(filter(None, (part.get("tokenizer") for part in named)), "")
    return CitedPack(
        format=shape,
        query=_text(data.get("query")),
        citations=tuple(citations),
        ref=_ref(data),
        tokenizer=_text(tokenizer),
        max_tokens=_size(data.get("budget_tokens")) or _size(_part(data, "budget").get("max_tokens")),
        max_chars=max(_size(part.get("max_chars")) for part in named),
        headroom_tokens=max(_size(part.get("headroom_tokens")) for part in named),
    )


def _citation(entry: dict[str, Any], keys: ItemKeys, section: str, data: dict[str, Any]) -> Citation:
    path, first, last = entry.get(keys.path), entry.get(keys.first), entry.get(keys.last)
    content = entry.get(keys.content)
    if not isinstance(path, str) or not isinstance(content, str | None):
        raise InvalidRequest(f"an item has no {keys.path} or no {keys.content} that is text", hint=_AGAIN)
    if not (type(first) is int and type(last) is int and 1 <= first <= last):
        raise InvalidRequest(f"the item of {path!r} has lines {first!r} to {last!r}", hint=_AGAIN)
    digits = entry.get("content_hash") or (ids.hash_text(content) if content is not None else "")
    if not isinstance(digits, str) or not _HASH.fullmatch(digits):
        raise InvalidRequest(f"the item of {path!r} has no sha256 of its content", hint=_AGAIN)
    title_path = entry.get("title_path")
    titles = ".".join(map(str, title_path)) if isinstance(title_path, list) else ""
    return Citation(
        path=path,
        start_line=first,
        end_line=last,
        content_hash=digits,
        ref=_text(entry.get("ref")) or _ref(data),
        section=section or _text(entry.get("section")),
        shown=None if content is None else one_line_each(content),
        kind=_text(entry.get(keys.kind)),
        symbol=_text(entry.get("symbol")) or titles,
    )


def _ref(data: dict[str, Any]) -> str:
    return _text(data.get("ref")) or _text(_part(data, "meta").get("ref")) or WORK_TREE


def _part(data: dict[str, Any], name: str) -> dict[str, Any]:
    part = data.get(name)
    return part if isinstance(part, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _size(value: Any) -> int:
    return value if type(value) is int and value > 0 else 0
