"""What every format of a pack provides.

`render` returns the same bytes for the same pack. `read` returns the citations of a text that `render` wrote;
nothing in the content of an item can pass for a citation. It returns None for a text of another format, and
raises InvalidRequest for a text of its own format that was cut or edited. `show` returns the content of an
item as `render` writes it, one line for each of its lines; with it an edited text is told from the file's.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from satchel.packing.pack import Pack
from satchel.verifying.saved_pack import CitedPack, one_line_each


class Renderer(msgspec.Struct, frozen=True):
    """A format of packs."""

    name: str
    render: Callable[[Pack], str]
    read: Callable[[str], CitedPack | None]
    show: Callable[[str], str] = one_line_each
    render_flat: Callable[[Pack], str] | None = None  # the items in their own order, without sections
