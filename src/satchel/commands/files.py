"""`satchel files`: the indexed files and folders, with how large, central and changed each is."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import Command, Flag, Group, Positional
from satchel.commands.shared import CommitName, at_ref
from satchel.errors import InvalidRequest

if TYPE_CHECKING:
    from satchel.engine import Engine
    from satchel.retrieval.file_figures import FileFigures


class FileOrder(StrEnum):
    """What files are sorted by; all but the path with the largest first."""

    PATH = "path"
    BYTES = "bytes"
    LINES = "lines"
    USED_BY = "used_by"
    CHANGES = "changes"


class FilesRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    path_prefix: Annotated[str, Meta(description="only below this folder"), Positional()] = ""
    depth: Annotated[
        int,
        Meta(description="fold what lies deeper than this into its folder; 0: list every file"),
        Flag("-d"),
    ] = 0
    sort: Annotated[FileOrder, Meta(description="by path, or the largest of a figure first")] = FileOrder.PATH
    fast: Annotated[bool, Meta(description="leave out who uses each: no read of the whole code graph")] = (
        False
    )
    redacted: Annotated[bool, Meta(description="only files with secret values that were replaced")] = False
    limit: Annotated[int, Meta(description="entries at most")] = 1000
    ref: CommitName = ""


class FileItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file, or a folder with all that is in it; the path of a folder ends with `/`.

    `used_by` counts the other files with a sure use of what a file defines; of a folder it is that of its
    most used file; it is not there if it was left out. `changes` counts commits of the kept history.
    `redactions` counts secret values that were replaced, `redacted_lines` are the lines of a file that held
    them.
    """

    path: str
    bytes: int
    lines: int
    language: str
    changes: int
    used_by: int | None = None
    files: int = 1
    redactions: int = 0
    redacted_lines: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()


class FilesResponse(msgspec.Struct, frozen=True):
    """`total` counts all entries, also those beyond the limit."""

    path_prefix: str
    total: int
    files: list[FileItem]


def run(engine: Engine, request: FilesRequest) -> FilesResponse:
    """List what is indexed, by file or by folder: size, lines, language, how many other files use it and how
    many commits changed it.

    `--depth 1` gives the folders of the project at a glance, `--sort used_by` the files that most others rest
    on, `--sort changes` those that change most.
    """
    if request.fast and request.sort is FileOrder.USED_BY:
        raise InvalidRequest("--fast leaves out what --sort used_by sorts by", hint="give one of them")
    if request.limit < 1 or request.depth < 0:
        raise InvalidRequest(
            f"the limit is {request.limit} and the depth {request.depth}, the least are 1 and 0"
        )
    with at_ref(engine, request.ref) as side:
        found = side.files(request.path_prefix, request.depth, with_uses=not request.fast)
    if request.redacted:
        found = [item for item in found if item.redactions]
    if request.sort is not FileOrder.PATH:
        found.sort(key=lambda item: (-getattr(item, request.sort.value), item.path))
    items = [_item(file, with_uses=not request.fast) for file in found[: request.limit]]
    return FilesResponse(request.path_prefix, len(found), items)


def _item(file: FileFigures, *, with_uses: bool) -> FileItem:
    figures = {name: getattr(file, name) for name in FileItem.__struct_fields__}
    return FileItem(**figures if with_uses else {**figures, "used_by": None})


COMMAND = Command("files", FilesRequest, FilesResponse, run, group=Group.LOOK)
