"""`satchel map`: the most-referenced symbols of a repository, inside a token budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel import tokenizers
from satchel.commands.command import Command, Group, LocalPath, Verbatim
from satchel.errors import InvalidBudget
from satchel.packing.repository_map import render

if TYPE_CHECKING:
    from satchel.engine import Engine


class MapRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    budget_tokens: Annotated[int, Meta(description="tokens the map may take")] = 1024
    tokenizer: Annotated[str, Meta(description="how tokens are counted"), LocalPath(or_name=True)] = (
        tokenizers.DEFAULT
    )


class MapItem(msgspec.Struct, frozen=True):
    """A symbol worth knowing: `mentions` counts the chunks elsewhere that name it."""

    path: str
    line: int
    kind: str
    name: str
    signature: str
    mentions: int


class MapResponse(msgspec.Struct, frozen=True):
    budget_tokens: int
    used_tokens: int
    tokenizer: str
    text: Annotated[str, Verbatim()]
    symbols: list[MapItem]


def run(engine: Engine, request: MapRequest) -> MapResponse:
    """Show the repository at a glance, before you list folders or open files: its most-referenced symbols by
    file, inside a token budget."""
    if request.budget_tokens < 1:
        raise InvalidBudget(
            f"the budget is {request.budget_tokens} tokens, it must be at least 1", details={"min_tokens": 1}
        )
    tokenizer = tokenizers.get(request.tokenizer)
    chosen = engine.map(request.budget_tokens, tokenizer)
    text = render(chosen)
    return MapResponse(
        budget_tokens=request.budget_tokens,
        used_tokens=tokenizer.count(text),
        tokenizer=tokenizer.name,
        text=text,
        symbols=[
            MapItem(item.path, item.line, item.kind.value, item.name, item.signature, item.mentions)
            for item in chosen
        ],
    )


COMMAND = Command("map", MapRequest, MapResponse, run, tool="map", group=Group.LOOK)
