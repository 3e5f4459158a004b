"""Kiro: `mcp.json` in `.kiro/settings`, and a steering file."""

from __future__ import annotations

from satchel.serving.clients import FIXED, Client, ClientFile, Folder, InstructionsFile, Registration

_REMARK = "it answers about this one folder: where Kiro starts servers is not documented"


def _registration(folder: str) -> Registration:
    return Registration(
        ClientFile(Folder(f"{folder}/.kiro/settings"), "mcp.json"),
        ("mcpServers",),
        FIXED,
        InstructionsFile(ClientFile(Folder(f"{folder}/.kiro/steering"), "satchel.md")),
        remark=_REMARK,
    )


# https://kiro.dev/docs/mcp/configuration and https://kiro.dev/docs/steering name the files.
CLIENT = Client(
    "kiro",
    "Kiro",
    executables=("kiro", "kiro-cli"),
    marks=(Folder("{home}/.kiro"),),
    user=_registration("{home}"),
    project=_registration("{project}"),
)
