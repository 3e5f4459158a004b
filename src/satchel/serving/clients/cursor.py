"""Cursor: `mcp.json` in `.cursor`, a rule in a project, a skill for the user."""

from __future__ import annotations

from satchel.serving.clients import (
    WORKSPACE,
    Client,
    ClientFile,
    Folder,
    InstructionsFile,
    Registration,
)
from satchel.serving.installing.instructions import RULE_HEAD, SKILL_HEAD

_HOME = Folder("{home}/.cursor")
_PROJECT = Folder("{project}/.cursor")

CLIENT = Client(
    "cursor",
    "Cursor",
    executables=("cursor", "cursor-agent"),
    marks=(_HOME,),
    user=Registration(
        ClientFile(_HOME, "mcp.json"),
        ("mcpServers",),
        WORKSPACE,
        InstructionsFile(ClientFile(_HOME, "skills/satchel/SKILL.md"), SKILL_HEAD),
    ),
    project=Registration(
        ClientFile(_PROJECT, "mcp.json"),
        ("mcpServers",),
        WORKSPACE,
        InstructionsFile(ClientFile(_PROJECT, "rules/satchel.mdc"), RULE_HEAD),
    ),
)
