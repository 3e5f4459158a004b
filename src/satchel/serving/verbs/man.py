"""`satchel man`: the manual pages of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import Group, LocalPath, Positional
from satchel.errors import InvalidRequest, Unsupported
from satchel.file_writing import make_folder, replace_file
from satchel.rendering.style import Style
from satchel.rendering.visible import one_line
from satchel.serving.man_pages import PROGRAM, man_pages, page_name
from satchel.serving.verbs import Verb


class ManRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `satchel man`."""

    word: Annotated[
        str, Meta(description="the command (default: the page of satchel itself)"), Positional()
    ] = ""
    output: Annotated[str, Meta(description="write all pages into this folder"), LocalPath()] = ""
    json: Annotated[bool, Meta(description="print the answer as JSON")] = False


class ManResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """One page, or the files that were written."""

    page: str = ""
    written: list[str] = msgspec.field(default_factory=list)


def run(request: ManRequest) -> ManResponse:
    """Print the manual page of a command, or write the pages of all of them into a folder.

    satchel man pack | man -l -
    satchel man --output ~/.local/share/man/man1
    """
    pages = man_pages()
    if not request.output:
        name = page_name(request.word) if request.word else f"{PROGRAM}.1"
        if name not in pages:
            raise Unsupported(
                f"there is no command {request.word!r}", hint="satchel --help lists all commands"
            )
        return ManResponse(page=pages[name])
    if request.word:
        raise InvalidRequest("--output writes the pages of all commands", hint="leave out the command")
    folder = Path(request.output)
    make_folder(folder, what="the folder of the manual pages", elsewhere="name another folder")
    for name, page in pages.items():
        replace_file(folder / name, page.encode())
    return ManResponse(written=[str(folder / name) for name in pages])


def show(response: ManResponse, style: Style) -> str:
    """Return the page alone, or the files that were written."""
    if response.page:
        return response.page
    return "".join(f"{style.path(one_line(path))}\n" for path in response.written)


VERB = Verb("man", ManRequest, run, show, group=Group.SET_UP)
