"""`get_context`: one chunk by its id, as `get` gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel.commands import get
from satchel.commands.command import Command, Positional
from satchel.packing.excerpts import Mode

if TYPE_CHECKING:
    from satchel.engine import Engine


class GetContextRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    chunk_id: Annotated[str, Meta(description="an id as `get` takes it"), Positional()]
    mode: Annotated[Mode, Meta(description="whole text, first lines, or signatures and headings")] = Mode.RAW
    budget: Annotated[int | None, Meta(description="tokens at most")] = None


def run(engine: Engine, request: GetContextRequest) -> get.GetResponse:
    """Fetch one chunk by its id: the same as `get`."""
    wanted = get.GetRequest(ids=(request.chunk_id,), mode=request.mode, budget=request.budget)
    return get.run(engine, wanted)


COMMAND = Command("get_context", GetContextRequest, get.GetResponse, run)
