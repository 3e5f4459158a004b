"""Gemini CLI: `settings.json` in `.gemini`, and GEMINI.md."""

from __future__ import annotations

from satchel.serving.clients.client import HERE, Client, Folder, Guide, Link, Place

_USER = Folder("{home}/.gemini", variable="GEMINI_CLI_HOME/.gemini")
_TRUST = "its servers, the user's own too, start only in a folder that it trusts"

CLIENT = Client(
    "gemini",
    "Gemini CLI",
    executables=("gemini",),
    marks=(_USER,),
    user=Link(
        Place(_USER, "settings.json"),
        ("mcpServers",),
        HERE,
        Guide(Place(_USER, "GEMINI.md")),
        remark=_TRUST,
    ),
    project=Link(
        Place(Folder("{project}/.gemini"), "settings.json"),
        ("mcpServers",),
        ".",
        Guide(Place(Folder("{project}"), "GEMINI.md")),
        remark=_TRUST,
    ),
)
