"""Claude Desktop: one file for the user; it knows no projects, so the folder is written down."""

from __future__ import annotations

from satchel.serving.clients import FIXED, Client, ClientFile, Folder, Registration

_USER = Folder("{config}/Claude", "{home}/Library/Application Support/Claude", "{appdata}/Claude")

CLIENT = Client(
    "claude_desktop",
    "Claude Desktop",
    executables=(),
    marks=(_USER,),
    user=Registration(
        ClientFile(_USER, "claude_desktop_config.json"),
        ("mcpServers",),
        FIXED,
        remark="it answers about this one folder; quit Claude Desktop and start it again",
    ),
)
