"""opencode: one list for the command and its words, and a skill."""

from __future__ import annotations

from typing import Any

from satchel.serving.clients import HERE, Client, ClientFile, Folder, InstructionsFile, Registration
from satchel.serving.installing.instructions import SKILL_HEAD

_USER = Folder("{config}/opencode")  # on every system
_PROJECT = Folder("{project}")
# a new AGENTS.md would hide the CLAUDE.md that opencode reads in its stead; a skill hides nothing
_SKILL = "skills/satchel/SKILL.md"


def _entry(command: list[str]) -> dict[str, Any]:
    return {"type": "local", "command": command, "enabled": True}


CLIENT = Client(
    "opencode",
    "opencode",
    executables=("opencode",),
    marks=(_USER,),
    entry=_entry,
    user=Registration(
        ClientFile(_USER, "opencode.json", ("opencode.jsonc",)),
        ("mcp",),
        HERE,
        InstructionsFile(ClientFile(_USER, _SKILL), SKILL_HEAD),
    ),
    project=Registration(
        ClientFile(_PROJECT, "opencode.json", ("opencode.jsonc",)),
        ("mcp",),
        ".",
        InstructionsFile(ClientFile(Folder("{project}/.opencode"), _SKILL), SKILL_HEAD),
    ),
)
