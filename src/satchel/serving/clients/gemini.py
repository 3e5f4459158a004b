"""Gemini CLI: `settings.json` in `.gemini`, and GEMINI.md."""

from __future__ import annotations

from satchel.serving.clients import HERE, Client, ClientFile, Folder, InstructionsFile, Registration

_USER = Folder("{home}/.gemini", variable="GEMINI_CLI_HOME/.gemini")
_TRUST = "its servers, the user's own too, start only in a folder that it trusts"

CLIENT = Client(
    "gemini",
    "Gemini CLI",
    executables=("gemini",),
    marks=(_USER,),
    user=Registration(
        ClientFile(_USER, "settings.json"),
        ("mcpServers",),
        HERE,
        InstructionsFile(ClientFile(_USER, "GEMINI.md")),
        remark=_TRUST,
    ),
    project=Registration(
        ClientFile(Folder("{project}/.gemini"), "settings.json"),
        ("mcpServers",),
        ".",
        InstructionsFile(ClientFile(Folder("{project}"), "GEMINI.md")),
        remark=_TRUST,
    ),
)
