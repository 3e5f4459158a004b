"""`satchel symbols`: the definitions in a file, or the definitions of a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import Command, Group, Positional
from satchel.commands.shared import SymbolItem, symbol_item
from satchel.errors import InvalidRequest, SymbolNotFound

if TYPE_CHECKING:
    from satchel.engine import Engine


class SymbolsRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[
        str,
        Meta(description="a file of the project, a name, or Class.method; nothing for all symbols, by path"),
        Positional(),
    ] = ""
    limit: Annotated[int, Meta(description="symbols at most")] = 500


class SymbolsResponse(msgspec.Struct, frozen=True):
    name: str
    total: int
    symbols: list[SymbolItem]


def run(engine: Engine, request: SymbolsRequest) -> SymbolsResponse:
    """List what a file defines without reading it, or where a name is defined without grep, with signatures
    and doc lines. Without a name: what the whole project defines, by path, up to the limit."""
    if request.limit < 1:
        raise InvalidRequest(f"the limit is {request.limit}, it must be at least 1")
    if not request.name.strip():
        everything, total = engine.all_symbols(request.limit)
        return SymbolsResponse("", total, [symbol_item(item) for item in everything])
    found = engine.symbols(request.name.strip())
    if not found and not engine.known_path(request.name.strip()):
        near = engine.near_symbols(request.name.strip())
        hint = f"near names: {', '.join(near)}" if near else "search for it: satchel search"
        raise SymbolNotFound(f"nothing here is called {request.name!r}", hint=hint, details={"near": near})
    return SymbolsResponse(request.name, len(found), [symbol_item(item) for item in found[: request.limit]])


COMMAND = Command("symbols", SymbolsRequest, SymbolsResponse, run, tool="symbols", group=Group.LOOK)
