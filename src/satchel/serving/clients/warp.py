"""Warp: `.mcp.json` in `.warp`, for the user or in a project."""

from __future__ import annotations

from satchel.serving.clients import FIXED, Client, ClientFile, Folder, Registration

_REMARK = "it answers about this one folder: Warp starts servers anywhere"


def _registration(folder: str) -> Registration:
    return Registration(
        ClientFile(Folder(f"{folder}/.warp"), ".mcp.json"), ("mcpServers",), FIXED, remark=_REMARK
    )


# https://docs.warp.dev/agents/capabilities/mcp names the files and the format.
CLIENT = Client(
    "warp",
    "Warp",
    executables=("warp-terminal", "warp"),
    marks=(Folder("{home}/.warp"),),
    user=_registration("{home}"),
    project=_registration("{project}"),
)
