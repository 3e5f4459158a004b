"""Cline: the file of its command line; the extension of an editor keeps a file of its own."""

from __future__ import annotations

from satchel.serving.clients import FIXED, Client, ClientFile, Folder, Registration

# https://docs.cline.bot/mcp/mcp-overview names the file and its format.
CLIENT = Client(
    "cline",
    "Cline",
    executables=("cline",),
    marks=(Folder("{home}/.cline"),),
    user=Registration(
        ClientFile(Folder("{home}/.cline/data/settings"), "cline_mcp_settings.json"),
        ("mcpServers",),
        FIXED,
        remark="it answers about this one folder; in an editor, add the same entry by Configure MCP Servers",
    ),
)
