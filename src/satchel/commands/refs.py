"""`satchel refs`: the references to a symbol or a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import Command, Flag, Group, Positional
from satchel.commands.shared import SymbolItem, symbol_item
from satchel.errors import InvalidRequest, SymbolNotFound
from satchel.types import Label, ResolvedReference

if TYPE_CHECKING:
    from satchel.engine import Engine


class RefsRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(description="a name, Class.method, or a file of the project"), Positional()]
    labels: Annotated[
        tuple[Label, ...],
        Meta(description="only uses of this kind: calls, uses, extends, imports, tested_by (repeatable)"),
        Flag("--label"),
    ] = ()
    limit: Annotated[int, Meta(description="uses at most")] = 200


class RefItem(msgspec.Struct, frozen=True):
    """A use of the name: where, how, and which definition it most likely means."""

    path: str
    line: int
    label: str
    name: str
    target: str
    target_name: str
    confidence: float
    in_test: bool


class RefsResponse(msgspec.Struct, frozen=True):
    name: str
    total: int
    counts: dict[str, int]
    definitions: list[SymbolItem]
    references: list[RefItem]


def run(engine: Engine, request: RefsRequest) -> RefsResponse:
    """Find who calls, imports, extends or uses a name, where grep would mix in its namesakes; or who imports
    or links to a file.

    A use is resolved to a definition where imports and scope allow; `confidence` says how sure
    that is.
    """
    name = request.name.strip()
    if not name or request.limit < 1:
        raise InvalidRequest("a name and a limit of at least 1 are needed", hint="satchel refs QuerySet")
    path = engine.known_path(name)
    name = path or name
    definitions = [item for item in engine.symbols(name) if item.path != name]
    found = engine.references(name, request.labels)
    if not definitions and not found and not path:
        near = engine.near_symbols(name)
        hint = f"near names: {', '.join(near)}" if near else "search for it: satchel search"
        raise SymbolNotFound(f"nothing here defines or uses {name!r}", hint=hint, details={"near": near})
    counts: dict[str, int] = {}
    for item in found:
        counts[item.label.value] = counts.get(item.label.value, 0) + 1
    return RefsResponse(
        name=name,
        total=len(found),
        counts=dict(sorted(counts.items())),
        definitions=[symbol_item(item) for item in definitions],
        references=[_item(item) for item in found[: request.limit]],
    )


def _item(reference: ResolvedReference) -> RefItem:
    """Return a reference as the response has it."""
    return RefItem(
        reference.path,
        reference.line,
        reference.label.value,
        reference.name,
        reference.target,
        reference.target_name,
        reference.confidence,
        reference.in_test,
    )


COMMAND = Command("refs", RefsRequest, RefsResponse, run, tool="references", group=Group.LOOK)
