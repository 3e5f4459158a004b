"""The seam between a pack and its formats: what every format promises.

`render` gives the same bytes for the same pack. `read` takes the citations out of a text that `render` wrote,
and only those: nothing that an item's content says can pass for one. It answers None for a text of another
format, and raises InvalidRequest for one of its own that was cut or cannot be what `render` wrote. `show` is
what `render` makes of an item's content, one line for each of its lines: by it a text that was edited is told
from the file's.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from satchel.packing.pack import Pack
from satchel.verifying.saved_pack import CitedPack, one_line_each


class Renderer(msgspec.Struct, frozen=True):
    """A format by name."""

    name: str
    render: Callable[[Pack], str]
    read: Callable[[str], CitedPack | None]
    show: Callable[[str], str] = one_line_each
    render_flat: Callable[[Pack], str] | None = None  # the items in their own order, without sections
