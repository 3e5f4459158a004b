"""The seam between packs and their formats: what a format promises, and how a command is handed the formats.

The formats themselves are plug-ins above the commands (`rendering/packs`), and so is the text that agents
read. Whoever makes a session hands them in, so that no command has to know where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from satchel.packing.pack import Pack
from satchel.verifying.saved_pack import CitedPack, one_line_each


class Renderer(msgspec.Struct, frozen=True):
    """One format of packs.

    `render` gives the same bytes for the same pack. `read` takes the citations out of a text that `render`
    wrote, and only those: nothing that the content of an item says can pass for one. It returns None for a
    text of another format, and raises InvalidRequest for one of its own that was cut or cannot be what
    `render` wrote. `show` is what `render` makes of the content of an item, one line for each of its lines:
    by it a text that was edited is told from that of the file. `render_flat` writes the items in their own
    order, without sections, where a format can.
    """

    name: str
    render: Callable[[Pack], str]
    read: Callable[[str], CitedPack | None]
    show: Callable[[str], str] = one_line_each
    render_flat: Callable[[Pack], str] | None = None


class PackFormats(Protocol):
    """The formats that there are."""

    def get(self, name: str) -> Renderer:
        """Return the format of that name; raise Unsupported if there is none."""

    def names(self) -> list[str]:
        """Return the names of all formats, sorted."""

    def agent_text(self, response: Any) -> str:
        """Return any answer as the text that agents read."""
