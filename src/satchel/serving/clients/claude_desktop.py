"""Claude Desktop: one file for the user; it knows no projects, so the folder is written down."""

from __future__ import annotations

from satchel.serving.clients.client import FIXED, Client, Folder, Link, Place

_USER = Folder("{config}/Claude", "{home}/Library/Application Support/Claude", "{appdata}/Claude")

CLIENT = Client(
    "claude_desktop",
    "Claude Desktop",
    executables=(),
    marks=(_USER,),
    user=Link(
        Place(_USER, "claude_desktop_config.json"),
        ("mcpServers",),
        FIXED,
        remark="it answers about this one folder; quit Claude Desktop and start it again",
    ),
)
