"""Codex: TOML tables, read from a project only if it is trusted, and AGENTS.md."""

from __future__ import annotations

from satchel.serving.clients import (
    HERE,
    Client,
    ClientFile,
    Folder,
    InstructionsFile,
    Registration,
    SettingsFormat,
)

_FOLDER = Folder("{home}/.codex", variable="CODEX_HOME")
_PROJECT = Folder("{project}")
_INSTRUCTIONS = ("AGENTS.override.md",)  # if it exists, AGENTS.md beside it is not read

CLIENT = Client(
    "codex",
    "Codex",
    executables=("codex",),
    marks=(_FOLDER,),
    user=Registration(
        ClientFile(_FOLDER, "config.toml"),
        ("mcp_servers",),
        HERE,
        InstructionsFile(ClientFile(_FOLDER, "AGENTS.md", _INSTRUCTIONS)),
        SettingsFormat.TOML,
    ),
    project=Registration(
        ClientFile(Folder("{project}/.codex"), "config.toml"),
        ("mcp_servers",),
        ".",
        InstructionsFile(ClientFile(_PROJECT, "AGENTS.md", _INSTRUCTIONS)),
        SettingsFormat.TOML,
        remark="a project's servers start only in a project that Codex trusts",
    ),
)
