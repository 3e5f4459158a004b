"""Claude Code: `.mcp.json` in a project, `.claude.json` for the user, and a skill."""

from __future__ import annotations

from satchel.serving.clients import (
    HERE,
    Client,
    ClientFile,
    Folder,
    HookSettings,
    InstructionsFile,
    Registration,
    typed_entry,
)
from satchel.serving.installing.instructions import SKILL_HEAD

_SKILL = "skills/satchel/SKILL.md"
_HOME = Folder("{home}", variable="CLAUDE_CONFIG_DIR")  # the file is beside the folder, unless it was moved
_FOLDER = Folder("{home}/.claude", variable="CLAUDE_CONFIG_DIR")

CLIENT = Client(
    "claude_code",
    "Claude Code",
    executables=("claude",),
    marks=(_FOLDER,),
    entry=typed_entry,
    user=Registration(
        ClientFile(_HOME, ".claude.json"),
        ("mcpServers",),
        HERE,
        InstructionsFile(ClientFile(_FOLDER, _SKILL), SKILL_HEAD),
    ),
    project=Registration(
        ClientFile(Folder("{project}"), ".mcp.json"),
        ("mcpServers",),
        ".",
        InstructionsFile(ClientFile(Folder("{project}/.claude"), _SKILL), SKILL_HEAD),
        remark="a project's servers are asked for once: start claude in the project and approve",
    ),
    hooks=HookSettings(
        user=ClientFile(_FOLDER, "settings.json"),
        project=ClientFile(Folder("{project}/.claude"), "settings.json"),
        keys=("hooks", "UserPromptSubmit"),
    ),
)
