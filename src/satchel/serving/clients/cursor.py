"""Cursor: `mcp.json` in `.cursor`, a rule in a project, a skill for the user."""

from __future__ import annotations

from satchel.serving.clients.client import WORKSPACE, Client, Folder, Guide, Link, Place
from satchel.serving.installing.guide import RULE_HEAD, SKILL_HEAD

_HOME = Folder("{home}/.cursor")
_PROJECT = Folder("{project}/.cursor")

CLIENT = Client(
    "cursor",
    "Cursor",
    executables=("cursor", "cursor-agent"),
    marks=(_HOME,),
    user=Link(
        Place(_HOME, "mcp.json"),
        ("mcpServers",),
        WORKSPACE,
        Guide(Place(_HOME, "skills/satchel/SKILL.md"), SKILL_HEAD),
    ),
    project=Link(
        Place(_PROJECT, "mcp.json"),
        ("mcpServers",),
        WORKSPACE,
        Guide(Place(_PROJECT, "rules/satchel.mdc"), RULE_HEAD),
    ),
)
