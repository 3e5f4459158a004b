"""Roo Code: `.roo/mcp.json` in a project. Where its user settings are is not documented."""

from __future__ import annotations

from satchel.serving.clients import FIXED, Client, ClientFile, Folder, Registration

# https://docs.roocode.com/features/mcp/using-mcp-in-roo names the file and the format.
CLIENT = Client(
    "roo",
    "Roo Code",
    executables=("roo",),
    marks=(Folder("{home}/.roo"),),
    user=None,
    project=Registration(
        ClientFile(Folder("{project}/.roo"), "mcp.json"),
        ("mcpServers",),
        FIXED,
        remark="the file names this folder: where Roo Code starts servers is not documented",
    ),
)
