"""Continue: a file of its own in `.continue/mcpServers` of a project. Its user settings are a YAML
list, and the editor of YAML here writes mappings."""

from __future__ import annotations

from satchel.serving.clients import FIXED, Client, ClientFile, Folder, Registration

# https://docs.continue.dev/customize/deep-dives/mcp names the folder and the format.
CLIENT = Client(
    "continue_dev",
    "Continue",
    executables=("cn",),
    marks=(Folder("{home}/.continue"),),
    user=None,
    project=Registration(
        ClientFile(Folder("{project}/.continue/mcpServers"), "satchel.json"),
        ("mcpServers",),
        FIXED,
        remark="the file names this folder: where Continue starts servers is not documented",
    ),
)
