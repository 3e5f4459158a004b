"""Windsurf: one file for the user; it has no file for projects, so the folder is written down."""

from __future__ import annotations

from satchel.serving.clients import FIXED, Client, ClientFile, Folder, Registration

_USER = Folder("{home}/.codeium/windsurf")

# https://docs.windsurf.com/windsurf/cascade/mcp names the file and its format.
CLIENT = Client(
    "windsurf",
    "Windsurf",
    executables=("windsurf",),
    marks=(_USER,),
    user=Registration(
        ClientFile(_USER, "mcp_config.json"),
        ("mcpServers",),
        FIXED,
        remark="it answers about this one folder; refresh the servers in Cascade's settings",
    ),
)
