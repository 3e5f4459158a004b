"""`satchel symbols`: the definitions in a file, or the definitions of a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel import ids
from satchel.commands.command import Command, Group, Positional
from satchel.commands.shared import (
    CommitName,
    RepositoryRefs,
    SymbolItem,
    at_ref,
    repository_refs,
    symbol_item,
)
from satchel.errors import CursorMismatch, InvalidCursor, InvalidRequest, SymbolNotFound
from satchel.storage.records import SymbolRecord

if TYPE_CHECKING:
    from satchel.engine import Engine


_CURSOR = "symbols"  # how a cursor begins
_DIGEST_CHARS = 16


class SymbolsRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[
        str,
        Meta(description="a file, a name or Class.method; nothing for all symbols"),
        Positional(),
    ] = ""
    limit: Annotated[int, Meta(description="symbols at most")] = 500
    cursor: Annotated[str, Meta(description="go on where an answer with this next_cursor ended")] = ""
    ref: CommitName = ""


class SymbolsResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """`total` counts all symbols; `next_cursor` is there while some of them are left."""

    name: str
    total: int
    symbols: list[SymbolItem]
    next_cursor: str = ""
    refs: RepositoryRefs = msgspec.field(default_factory=dict)


def run(engine: Engine, request: SymbolsRequest) -> SymbolsResponse:
    """List what a file defines without reading it, or where a name is defined without grep, with signatures
    and doc lines. Without a name: what the whole project defines, by path, up to the limit."""
    if request.limit < 1:
        raise InvalidRequest(f"the limit is {request.limit}, it must be at least 1")
    with at_ref(engine, request.ref) as side:
        return _response(side, request)


def _response(engine: Engine, request: SymbolsRequest) -> SymbolsResponse:
    name = request.name.strip()
    asked = ids.hash_text(f"{engine.snapshot().version}\n{name}")[:_DIGEST_CHARS]
    start = _start(request.cursor, asked)
    if not name:
        shown, total = engine.all_symbols(request.limit, start)
    else:
        found = _named(engine, name)
        shown, total = found[start : start + request.limit], len(found)
    end = start + len(shown)
    refs = repository_refs(engine, (item.path for item in shown))
    following = f"{_CURSOR}.{end}.{asked}" if end < total else ""
    return SymbolsResponse(
        request.name if name else "", total, list(map(symbol_item, shown)), following, refs
    )


def _named(engine: Engine, name: str) -> list[SymbolRecord]:
    """Return what a file defines, or the definitions of a name."""
    found = engine.symbols(name)
    if not found and not engine.known_path(name):
        near = engine.near_symbols(name)
        hint = f"near names: {', '.join(near)}" if near else "search for it: satchel search"
        raise SymbolNotFound(f"nothing here is called {name!r}", hint=hint, details={"near": near})
    return found


def _start(cursor: str, asked: str) -> int:
    """Return how many symbols earlier pages had. A cursor is of one question and one state of the index."""
    if not cursor:
        return 0
    kind, _, rest = cursor.partition(".")
    number, _, digest = rest.partition(".")
    if kind != _CURSOR or not (number.isascii() and number.isdecimal()):
        raise InvalidCursor("this is no cursor of symbols", hint="give next_cursor as it was answered")
    if digest != asked:
        raise CursorMismatch(
            "the cursor is of another name, or of an index that has changed since",
            hint="ask again without a cursor",
        )
    return int(number)


COMMAND = Command("symbols", SymbolsRequest, SymbolsResponse, run, tool="symbols", group=Group.LOOK)
