"""`satchel impact`: what may break when a definition, a file or a change changes something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import Command, Flag, GitName, Group, Positional
from satchel.commands.shared import RepositoryRefs, repository_refs
from satchel.errors import InvalidRequest, SymbolNotFound

if TYPE_CHECKING:
    from satchel.code_facts import Target
    from satchel.engine import Engine

_DEEPEST = 6


class ImpactRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(description="a name, Class.method, or a file of the project"), Positional()] = (
        ""
    )
    diff: Annotated[
        str,
        Meta(description="instead of a name, the definitions that a change touches: A..B, or A"),
        GitName(),
    ] = ""
    depth: Annotated[int, Meta(description=f"steps from user to user, 1 to {_DEEPEST}"), Flag("-d")] = 3
    limit: Annotated[int, Meta(description="definitions at most")] = 200


class ImpactItem(msgspec.Struct, frozen=True):
    """A definition that may break. At `line` it uses `through`, which changes or may break itself."""

    path: str
    line: int
    name: str
    label: str
    distance: int
    through: str
    in_test: bool


class ImpactResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """`changed` are the definitions asked about; `tests` the tests that reach them, nearest first. With
    `truncated`, there are more than the limit. Of definitions in the languages `matched_by_name` no sure use
    is known, because there are no rules for these: `refs` has the uses that share their names."""

    name: str
    depth: int
    changed: list[str]
    counts: dict[str, int]
    items: list[ImpactItem]
    tests: list[ImpactItem]
    truncated: bool
    matched_by_name: list[str]
    refs: RepositoryRefs = msgspec.field(default_factory=dict)


def run(engine: Engine, request: ImpactRequest) -> ImpactResponse:
    """Show what may break before you edit: who uses a definition, who uses those, and which tests reach it.

    Only sure edges of the code graph are followed. Ask with a name, a file, or `diff` for what a change
    touches.
    """
    if bool(request.name.strip()) == bool(request.diff):
        raise InvalidRequest(
            "give a name or a file, or a change with --diff", hint="satchel impact Basket.total"
        )
    if not 1 <= request.depth <= _DEEPEST or request.limit < 1:
        limits = f"the depth goes from 1 to {_DEEPEST}, the limit from 1"
        raise InvalidRequest(f"the depth is {request.depth} and the limit {request.limit}: {limits}")
    if request.diff:
        with engine.changed_side(request.diff) as (side, targets):
            return _response(side, request, targets)
    name = request.name.strip()
    targets = engine.definitions_meant(name)
    if not targets:
        near = engine.near_symbols(name)
        hint = f"near names: {', '.join(near)}" if near else "search for it: satchel search"
        raise SymbolNotFound(f"nothing here is called {name!r}", hint=hint, details={"near": near})
    return _response(engine, request, targets)


def _response(engine: Engine, request: ImpactRequest, targets: Sequence[Target]) -> ImpactResponse:
    found = engine.dependants(targets, request.depth, request.limit + 1)
    items = [
        ImpactItem(
            item.path,
            item.line,
            item.name,
            item.label.value,
            item.distance,
            _named(item.through),
            item.is_test,
        )
        for item in found[: request.limit]
    ]
    counts = Counter(str(item.distance) for item in items)
    return ImpactResponse(
        name=request.name.strip() or request.diff,
        depth=request.depth,
        changed=list(map(_named, targets)),
        counts=dict(sorted(counts.items())),
        items=[item for item in items if not item.in_test],
        tests=[item for item in items if item.in_test],
        truncated=len(found) > request.limit,
        matched_by_name=sorted(
            {language for item in targets if (language := engine.language_without_rules(item.path))}
        ),
        refs=repository_refs(engine, (*(item.path for item in items), *(item.path for item in targets))),
    )


def _named(target: Target) -> str:
    return f"{target.path}:{target.name}" if target.name else target.path


COMMAND = Command("impact", ImpactRequest, ImpactResponse, run, group=Group.LOOK)
