"""VS Code: `mcp.json` with the key `servers`; a file of instructions in a project, a skill for the user."""

from __future__ import annotations

from satchel.serving.clients import (
    WORKSPACE,
    Client,
    ClientFile,
    Folder,
    InstructionsFile,
    Registration,
    typed_entry,
)
from satchel.serving.installing.instructions import INSTRUCTIONS_HEAD, SKILL_HEAD

_USER = Folder("{config}/Code/User", "{home}/Library/Application Support/Code/User", "{appdata}/Code/User")
_COPILOT = Folder("{home}/.copilot")

CLIENT = Client(
    "vscode",
    "VS Code",
    executables=("code",),
    marks=(_USER,),
    entry=typed_entry,
    user=Registration(
        ClientFile(_USER, "mcp.json"),
        ("servers",),
        WORKSPACE,  # a user's servers start in the home folder
        InstructionsFile(ClientFile(_COPILOT, "skills/satchel/SKILL.md"), SKILL_HEAD),
    ),
    project=Registration(
        ClientFile(Folder("{project}/.vscode"), "mcp.json"),
        ("servers",),
        WORKSPACE,
        # not copilot-instructions.md: where Zed finds that, it reads no AGENTS.md
        InstructionsFile(
            ClientFile(Folder("{project}/.github/instructions"), "satchel.instructions.md"), INSTRUCTIONS_HEAD
        ),
    ),
)
