"""Junie, in JetBrains' editors and as a command line: `mcp.json` in `.junie/mcp`."""

from __future__ import annotations

from satchel.serving.clients import FIXED, Client, ClientFile, Folder, Registration

_REMARK = "it answers about this one folder: where Junie starts servers is not documented"


def _registration(folder: str) -> Registration:
    return Registration(
        ClientFile(Folder(f"{folder}/.junie/mcp"), "mcp.json"), ("mcpServers",), FIXED, remark=_REMARK
    )


# https://junie.jetbrains.com/docs/junie-cli-mcp-configuration.html names the files and the format.
CLIENT = Client(
    "junie",
    "Junie (JetBrains)",
    executables=("junie",),
    marks=(Folder("{home}/.junie"),),
    user=_registration("{home}"),
    project=_registration("{project}"),
)
