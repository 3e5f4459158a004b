"""`build`: write the three-layer pack."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import Command, Flag, Group, LocalPath
from satchel.file_writing import cannot_write, replace_file
from satchel.packing.layers import DigestEntry, LayeredPack
from satchel.settings import INDEX_FOLDER
from satchel.visible_json import indented
from satchel.walking import own_output

if TYPE_CHECKING:
    from satchel.engine import Engine

PACK_FILE = "context_pack.json"


class Scope(StrEnum):
    """Which files go into the pack."""

    DOCS = "docs"
    ALL = "all"


class BuildRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    scope: Annotated[Scope, Meta(description="documents only, or code as well")] = Scope.DOCS
    output: Annotated[
        str, Meta(description="write here instead of _ctx/context_pack.json"), LocalPath(), Flag("-o")
    ] = ""
    dry_run: Annotated[bool, Meta(description="say what would be written, write nothing"), Flag("-n")] = False
    force: Annotated[bool, Meta(description="build the index anew first"), Flag("-f")] = False
    verbose: Annotated[bool, Meta(description="show the digest"), Flag("-v")] = False


class BuildResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    path: str
    written: bool
    docs: int
    chunks: int
    digest_entries: int
    index_entries: int
    digest: list[DigestEntry] = msgspec.field(default_factory=list)


def run(engine: Engine, request: BuildRequest) -> BuildResponse:
    """Write the three-layer pack: a digest and an index for every prompt, chunks to fetch on demand.

    The file is replaced in one step, so the last good pack survives any crash; unchanged input
    changes nothing in it but `created_at`.
    """
    engine.refresh(force=request.force)
    pack = engine.pack_layers(documents_only=request.scope is Scope.DOCS)
    path = pack_path(engine, request.output)
    if not request.dry_run:
        write_pack(pack, path)
        ignore = path.with_name(".gitignore")
        if not request.output and not ignore.exists():  # the index is kept elsewhere and wrote none
            replace_file(ignore, own_output.GITIGNORE)
    return BuildResponse(
        path=str(path),
        written=not request.dry_run,
        docs=len(pack.docs),
        chunks=len(pack.chunks),
        digest_entries=len(pack.digest),
        index_entries=len(pack.index),
        digest=pack.digest if request.verbose else [],
    )


def pack_path(engine: Engine, output: str) -> Path:
    """Return where the pack is: the output that was asked for, else beside the index."""
    if output:
        return Path(output)
    return (engine.store.scratch or engine.root / INDEX_FOLDER) / PACK_FILE


def write_pack(pack: LayeredPack, path: Path) -> None:
    """Replace the file in one step."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(f"the folder {str(path.parent)!r}", error) from error
    replace_file(path, f"{indented(pack, 1)}\n".encode())


COMMAND = Command(
    "build", BuildRequest, BuildResponse, run, fresh=False, group=Group.SET_UP, of_one_folder=True
)
