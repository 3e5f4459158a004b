"""`satchel refs`: the references to a symbol or a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import Command, Flag, Group, Positional
from satchel.commands.shared import (
    CommitName,
    RepositoryRefs,
    SymbolItem,
    UsedDefinition,
    at_ref,
    repository_refs,
    symbol_item,
)
from satchel.errors import InvalidRequest, SymbolNotFound
from satchel.storage.records import SymbolRecord
from satchel.types import Label, ResolvedReference

if TYPE_CHECKING:
    from satchel.engine import Engine

_MOST_OVERRIDES = 20


class RefsRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(description="a name, Class.method, or a file"), Positional()]
    labels: Annotated[
        tuple[Label, ...],
        Meta(description="calls, uses, extends, imports, tested_by (repeatable)"),
        Flag("--label"),
    ] = ()
    outgoing: Annotated[
        bool, Meta(description="what the definitions of the name use, instead of who uses them")
    ] = False
    possible: Annotated[bool, Meta(description="also uses that only share the name")] = False
    limit: Annotated[int, Meta(description="uses at most")] = 200
    ref: CommitName = ""


class RefItem(msgspec.Struct, frozen=True):
    """A use of the name: where, how, inside which definition, and which definition it means.

    `rule` says what decided that: scope, import, package, linkage, self, constructor, annotation, attribute,
    return, scip; it is empty for a use that only shares the name. `confidence` is the measured share of uses
    decided so that are right; 0 where nobody measured it.
    """

    path: str
    line: int
    label: str
    name: str
    target: str
    target_name: str
    confidence: float
    in_test: bool
    rule: str
    sure: bool
    within: str


class RefsResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """`total` and `counts` are of the uses that the answer is about; `possible` counts the uses that share
    the name and that no rule decided, shown or not. Uses of definitions in the languages `matched_by_name`
    are never sure: there are no rules for these.

    `overrides` are the members of base types that the definitions override or implement, whose uses may run
    the definitions; `overridden_by` are the members of derived types that override them. Of each the first
    twenty are shown."""

    name: str
    total: int
    counts: dict[str, int]
    possible: int
    matched_by_name: list[str]
    definitions: list[UsedDefinition]
    references: list[RefItem]
    overrides: list[UsedDefinition] = []
    overridden_by: list[SymbolItem] = []
    refs: RepositoryRefs = msgspec.field(default_factory=dict)


def run(engine: Engine, request: RefsRequest) -> RefsResponse:
    """Find who calls, imports, extends or uses a name, where grep would mix in its namesakes; or who imports
    a file."""
    name = request.name.strip()
    if not name or request.limit < 1:
        raise InvalidRequest(
            "a name and a limit of at least 1 are needed", hint="ask for one name, such as QuerySet"
        )
    with at_ref(engine, request.ref) as side:
        return _response(side, request, name)


def _response(engine: Engine, request: RefsRequest, name: str) -> RefsResponse:
    path = engine.known_path(name)
    name = path or name
    definitions = [item for item in engine.symbols(name) if item.path != name]
    every = (
        engine.uses_made(name, request.labels)
        if request.outgoing
        else engine.references(name, request.labels, possible=True)
    )
    sure = [item for item in every if item.is_sure]
    without_rules = [engine.language_without_rules(item.path) for item in definitions]
    shows_all = request.possible or request.outgoing or all(without_rules)
    found = every if shows_all else sure
    if not definitions and not every and not path:
        near = engine.near_symbols(name)
        hint = f"near names: {', '.join(near)}" if near else "search for it: satchel search"
        raise SymbolNotFound(f"nothing here defines or uses {name!r}", hint=hint, details={"near": near})
    ordered = sorted(
        found, key=lambda item: (not item.is_sure, item.path, item.line, item.label, item.target)
    )
    shown = ordered[: request.limit]
    overrides = engine.overridden(name)[:_MOST_OVERRIDES]
    overridden_by = engine.overriding(name)[:_MOST_OVERRIDES]
    cited = (item.path for items in (definitions, shown, overrides, overridden_by) for item in items)
    return RefsResponse(
        name=name,
        total=len(found),
        counts=dict(sorted(Counter(item.label.value for item in found).items())),
        possible=len(every) - len(sure),
        matched_by_name=sorted({*filter(None, without_rules)}),
        definitions=[_definition(item, sure) for item in definitions],
        references=[_item(engine, item) for item in shown],
        overrides=[_used(engine, item) for item in overrides],
        overridden_by=[symbol_item(item) for item in overridden_by],
        refs=repository_refs(engine, cited),
    )


def _definition(record: SymbolRecord, sure: Sequence[ResolvedReference]) -> UsedDefinition:
    """Return a definition with the uses that mean it."""
    place = f"{record.path}:{record.symbol.start_line}:{record.symbol.end_line}"
    own = [item for item in sure if item.target == place]
    fields = msgspec.structs.asdict(symbol_item(record))
    return UsedDefinition(**fields, uses=len(own), files=len({item.path for item in own}))


def _used(engine: Engine, record: SymbolRecord) -> UsedDefinition:
    """Return a definition with all its sure uses."""
    return _definition(
        record, [item for item in engine.references(record.symbol.qualified_name) if item.is_sure]
    )


def _item(engine: Engine, reference: ResolvedReference) -> RefItem:
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
        reference.rule,
        reference.is_sure,
        engine.enclosing(reference.path, reference.line),
    )


COMMAND = Command("refs", RefsRequest, RefsResponse, run, tool="references", group=Group.LOOK)
