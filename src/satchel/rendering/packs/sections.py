"""The pack by sections: compact JSON, the shape of the command `build_context_pack`."""

from __future__ import annotations

from satchel.commands.build_context_pack import response_of
from satchel.commands.pack_formats import Renderer
from satchel.packing.pack import Pack
from satchel.verifying.json_pack import read_json
from satchel.verifying.saved_pack import CitedPack
from satchel.visible_json import compact


def render(pack: Pack) -> str:
    """Return the pack as text."""
    return compact(response_of(pack))


def read(text: str) -> CitedPack | None:
    """Read a pack in this format; return None if the text is in another one."""
    found = read_json(text)
    return found.cited if found and found.cited.format == "sections" else None


RENDERER = Renderer("sections", render, read)
