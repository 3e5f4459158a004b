"""Claude Code: `.mcp.json` in a project, `.claude.json` for the user, and a skill."""

from __future__ import annotations

from satchel.serving.clients.client import HERE, Client, Folder, Guide, Link, Place, typed_entry
from satchel.serving.installing.guide import SKILL_HEAD

_SKILL = "skills/satchel/SKILL.md"
_HOME = Folder("{home}", variable="CLAUDE_CONFIG_DIR")  # the file is beside the folder, unless it was moved
_FOLDER = Folder("{home}/.claude", variable="CLAUDE_CONFIG_DIR")

CLIENT = Client(
    "claude_code",
    "Claude Code",
    executables=("claude",),
    marks=(_FOLDER,),
    entry=typed_entry,
    user=Link(Place(_HOME, ".claude.json"), ("mcpServers",), HERE, Guide(Place(_FOLDER, _SKILL), SKILL_HEAD)),
    project=Link(
        Place(Folder("{project}"), ".mcp.json"),
        ("mcpServers",),
        ".",
        Guide(Place(Folder("{project}/.claude"), _SKILL), SKILL_HEAD),
        remark="a project's servers are asked for once: start claude in the project and approve",
    ),
)
