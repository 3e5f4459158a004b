"""`satchel path`: how two symbols are connected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import Command, Group, Positional
from satchel.commands.shared import RepositoryRefs, repository_refs
from satchel.errors import InvalidRequest, SymbolNotFound

if TYPE_CHECKING:
    from satchel.code_facts import Target
    from satchel.engine import Engine


class PathRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    start: Annotated[str, Meta(description="a name or Class.method"), Positional()]
    end: Annotated[str, Meta(description="another one"), Positional()]


class PathStep(msgspec.Struct, frozen=True):
    """`user` uses `used`, at `line` of `path`."""

    user: str
    used: str
    path: str
    line: int
    label: str


class PathResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """`steps` is empty if no chain of uses connects the two."""

    start: str
    end: str
    steps: list[PathStep]
    refs: RepositoryRefs = msgspec.field(default_factory=dict)


def run(engine: Engine, request: PathRequest) -> PathResponse:
    """Show how two definitions are connected: the shortest chain of uses between them, in either direction,
    over sure edges of the code graph."""
    if not request.start.strip() or not request.end.strip():
        raise InvalidRequest("two names are needed", hint="satchel path Basket.total charge")
    starts, ends = _meant(engine, request.start.strip()), _meant(engine, request.end.strip())
    ways = (engine.path_between(start, end) for start in starts for end in ends)
    best = min((way for way in ways if way), key=len, default=[])
    return PathResponse(
        start=_named(starts[0]),
        end=_named(ends[0]),
        steps=[
            PathStep(_named(step.user), _named(step.used), step.path, step.line, step.label.value)
            for step in best
        ],
        refs=repository_refs(engine, (step.path for step in best)),
    )


_MOST_MEANT = 3  # definitions of one name that are tried


def _meant(engine: Engine, name: str) -> list[Target]:
    found = [target for target in engine.definitions_meant(name) if target.name][:_MOST_MEANT]
    if not found:
        near = engine.near_symbols(name)
        hint = f"near names: {', '.join(near)}" if near else "search for it: satchel search"
        raise SymbolNotFound(f"nothing here is called {name!r}", hint=hint, details={"near": near})
    return found


def _named(target: Target) -> str:
    return f"{target.path}:{target.name}"


COMMAND = Command("path", PathRequest, PathResponse, run, group=Group.LOOK)
