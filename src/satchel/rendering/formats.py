"""Which formats can a pack be written in? One plug-in each, in `rendering/packs`."""

from __future__ import annotations

from satchel import plugins
from satchel.commands.pack_formats import Renderer


class PluginFormats:
    """The formats that are plug-ins. Each is loaded when it is first asked for."""

    def get(self, name: str) -> Renderer:
        """Return the format of that name; raise Unsupported if there is none."""
        renderer: Renderer = plugins.load("renderer", name)
        return renderer

    def names(self) -> list[str]:
        """Return the names of all formats, sorted."""
        return plugins.names("renderer")


PACK_FORMATS = PluginFormats()
