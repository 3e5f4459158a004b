"""`satchel index`: build the index, or bring it up to date."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import Command, Group, LocalPath, Positional
from satchel.commands.scip_counts import ScipCounts, scip_counts
from satchel.errors import InvalidRequest

if TYPE_CHECKING:
    from satchel.engine import Engine


class IndexAction(StrEnum):
    """What is done with the index: brought up to date, written to a file, or begun from such a file."""

    UPDATE = "update"
    EXPORT = "export"
    IMPORT = "import"


class IndexRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    action: Annotated[
        IndexAction, Meta(description="export FILE or import FILE; update (default) otherwise"), Positional()
    ] = IndexAction.UPDATE
    file: Annotated[str, Meta(description="the file of an export or import"), Positional(), LocalPath()] = ""
    force: Annotated[bool, Meta(description="build everything anew")] = False
    scip: Annotated[
        tuple[str, ...],
        Meta(description="add the edges of a SCIP index; replaces those added before (repeatable)"),
        LocalPath(),
    ] = ()
    no_scip: Annotated[bool, Meta(description="drop the edges that SCIP indexes added")] = False


class IndexResponse(msgspec.Struct, frozen=True):
    """How many files were parsed, moved without parsing, touched without a change, dropped, kept, skipped,
    and how many documents of SCIP indexes are believed."""

    generation: int
    changed: bool
    parsed: int
    moved: int
    touched: int
    dropped: int
    kept: int
    skipped: int
    notes: tuple[str, ...]
    scip: ScipCounts | None = None
    exported_bytes: int | None = None


def run(engine: Engine, request: IndexRequest) -> IndexResponse:
    """Build the index of a folder, or bring it up to date.

    Other commands do this by themselves. Unchanged files are never read again, and content that
    only moved is never parsed again. A SCIP index of your language's own indexer adds uses that Satchel's
    rules leave open; of a file that changed since, it is not believed. `export FILE` writes the index for
    another machine or a cache of CI; `import FILE` begins from it, by content, whatever the times of files.
    """
    if (request.action is IndexAction.UPDATE) is bool(request.file):
        raise InvalidRequest("export and import take a file", hint="satchel index export index.satchel")
    if request.action is not IndexAction.UPDATE and (request.scip or request.no_scip or request.force):
        raise InvalidRequest(f"{request.action} takes no other option", hint="run satchel index afterwards")
    if request.scip and request.no_scip:
        raise InvalidRequest("--scip and --no-scip exclude each other", hint="--scip alone replaces")
    scip = request.scip if request.scip or request.no_scip else None
    exported = None
    if request.action is IndexAction.IMPORT:
        result = engine.import_index(Path(request.file))
    else:
        result = engine.refresh(force=request.force, scip=scip)
    if request.action is IndexAction.EXPORT:
        exported = engine.export_index(Path(request.file))
    return IndexResponse(
        generation=result.generation,
        changed=result.changed or scip is not None,
        parsed=result.parsed,
        moved=result.moved,
        touched=result.touched,
        dropped=result.dropped,
        kept=result.kept,
        skipped=result.skipped,
        notes=engine.notes,
        scip=scip_counts(engine.snapshot()),
        exported_bytes=exported,
    )


COMMAND = Command(
    "index", IndexRequest, IndexResponse, run, fresh=False, group=Group.SET_UP, of_one_folder=True
)
