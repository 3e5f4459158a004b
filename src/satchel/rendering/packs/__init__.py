"""Which formats can a pack be written in? One plug-in each, a file in this folder (`renderer`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from satchel import plugins

if TYPE_CHECKING:
    from satchel.commands.pack_formats import Renderer
    from satchel.rendering import agent_text
else:  # loads the format `context`, which a pack in another one does without
    agent_text = plugins.late("satchel.rendering.agent_text")


class PluginFormats:
    """The formats that are plug-ins. Each is loaded when it is first asked for."""

    def get(self, name: str) -> Renderer:
        """Return the format of that name; raise Unsupported if there is none."""
        renderer: Renderer = plugins.load("renderer", name)
        return renderer

    def names(self) -> list[str]:
        """Return the names of all formats, sorted."""
        return plugins.names("renderer")

    def agent_text(self, response: Any) -> str:
        """Return any answer as the text that agents read."""
        return agent_text.render(response)


PACK_FORMATS = PluginFormats()


def pack_format(name: str) -> Renderer:
    """Return the format of that name, as `context`, `markdown`, `xml` or `json`."""
    return PACK_FORMATS.get(name)
