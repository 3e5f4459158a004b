"""`satchel map`: the most central symbols of a repository, inside a token budget."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel import tokenizers
from satchel.commands.command import Command, Group, Verbatim
from satchel.commands.shared import RepositoryRefs, TokenizerName, repository_refs
from satchel.errors import InvalidBudget
from satchel.packing.repository_map import render

if TYPE_CHECKING:
    from satchel.engine import Engine


class MapRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    budget_tokens: Annotated[int, Meta(description="tokens the map may take")] = 1024
    focus: Annotated[
        str,
        Meta(description="see it from a file, folder, name or question"),
    ] = ""
    path_prefix: Annotated[str, Meta(description="only symbols below this folder")] = ""
    tokenizer: TokenizerName = tokenizers.DEFAULT


class MapItem(msgspec.Struct, frozen=True):
    """A symbol worth knowing: `files` counts the other files that refer to it."""

    path: str
    line: int
    kind: str
    name: str
    signature: str
    files: int


class MapResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    budget_tokens: int
    used_tokens: int
    tokenizer: str
    text: Annotated[str, Verbatim()]
    symbols: list[MapItem]
    refs: RepositoryRefs = msgspec.field(default_factory=dict)


def run(engine: Engine, request: MapRequest) -> MapResponse:
    """Show the repository at a glance, before you list folders or open files: the symbols that most files
    refer to, by file, inside a token budget."""
    tokenizer = tokenizers.get(request.tokenizer)
    ranked = engine.central_symbols(focus=request.focus, path_prefix=request.path_prefix)
    chosen = engine.map(request.budget_tokens, tokenizer, ranked)
    best = list(islice(ranked, 1))
    if (best and not chosen) or request.budget_tokens < 1:
        least = max(1, tokenizer.count(render(best)))
        raise InvalidBudget(
            f"the budget is {request.budget_tokens} tokens, the smallest map takes {least}",
            details={"min_tokens": least},
        )
    text = render(chosen)
    return MapResponse(
        budget_tokens=request.budget_tokens,
        used_tokens=tokenizer.count(text),
        tokenizer=tokenizer.name,
        text=text,
        symbols=[
            MapItem(item.path, item.line, item.kind.value, item.name, item.signature, item.files)
            for item in chosen
        ],
        refs=repository_refs(engine, (item.path for item in chosen)),
    )


COMMAND = Command("map", MapRequest, MapResponse, run, tool="map", group=Group.LOOK)
