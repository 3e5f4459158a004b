"""`satchel index`: build the index, or bring it up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import Command, Group

if TYPE_CHECKING:
    from satchel.engine import Engine


class IndexRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    force: Annotated[bool, Meta(description="build everything anew")] = False


class IndexResponse(msgspec.Struct, frozen=True):
    """How many files were parsed, moved without parsing, touched without a change, dropped, kept, skipped."""

    generation: int
    changed: bool
    parsed: int
    moved: int
    touched: int
    dropped: int
    kept: int
    skipped: int
    notes: tuple[str, ...]


def run(engine: Engine, request: IndexRequest) -> IndexResponse:
    """Build the index of a folder, or bring it up to date.

    Other commands do this by themselves. Unchanged files are never read again, and content that
    only moved is never parsed again.
    """
    result = engine.refresh(force=request.force)
    return IndexResponse(
        generation=result.generation,
        changed=result.changed,
        parsed=result.parsed,
        moved=result.moved,
        touched=result.touched,
        dropped=result.dropped,
        kept=result.kept,
        skipped=result.skipped,
        notes=engine.notes,
    )


COMMAND = Command("index", IndexRequest, IndexResponse, run, fresh=False, group=Group.SET_UP)
